#!/usr/bin/env python3
"""Releases: an installed tree, an archive, a Debian package.

    release.py install ROOT PREFIX    programs, sources of the models, machines, manual pages, completions
                                      and licences under ROOT/PREFIX (ROOT is / or empty for this machine)
    release.py dist                   target/dist/gramer-VERSION-TARGET.tar.gz, stripped
    release.py deb                    target/dist/gramer_VERSION_ARCH.deb, stripped

They take the programs from target/release (`--programs FOLDER`), which `make dist` and `make deb` build
first. The same programs give the same bytes: packed times are SOURCE_DATE_EPOCH or that of the last commit, owners are root, and
names are in order.
"""

import argparse
import gzip
import hashlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from built import BUILT

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIST = ROOT / "target" / "dist"
PROGRAMS = ["gramer", "gramer-lab"]
# Started by the others; they lie in lib/gramer.
HELPERS = ["gramer-emulator", "libgramer_sleep.so"]
# Where each shell looks for completions, below share.
COMPLETIONS = {"bash": "bash-completion/completions/{}", "zsh": "zsh/site-functions/_{}",
               "fish": "fish/vendor_completions.d/{}.fish"}
# What `--device emulator` and `gramer-lab explore` build their models with, as in scripts/setup-*.sh.
RECOMMENDS = ["verilator", "g++", "make", "clang", "zlib1g-dev", "libxrt1", "ocl-icd-libopencl1", "unzip"]


def version() -> str:
    """That of the workspace."""
    return re.search(r'(?m)^version = "(.*)"$', (ROOT / "Cargo.toml").read_text()).group(1)


def epoch() -> int:
    """The time of everything that is packed, in seconds since 1970."""
    if value := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(value)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True)
    return int(done.stdout) if done.returncode == 0 else 0


def say(*command) -> str:
    """Output of a command."""
    return subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def put(source: pathlib.Path, target: pathlib.Path, mode: int):
    """Copies a file as `install` does: what runs from it goes on with the old one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.copyfile(source, target)
    target.chmod(mode)


def write(target: pathlib.Path, text: str | bytes):
    """Writes a file that everybody may read."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text if isinstance(text, bytes) else text.encode())
    target.chmod(0o644)


def stage(prefix: pathlib.Path, programs: pathlib.Path, strip: bool):
    """Everything below a prefix."""
    for folder, names in (("bin", PROGRAMS), ("lib/gramer", HELPERS)):
        for name in names:
            file = prefix / folder / name
            if not (programs / name).is_file():
                sys.exit(f"release: {programs / name} is not there: `make install`, `make dist` and `make deb` build it")
            put(programs / name, file, 0o755)
            if strip and file.read_bytes()[:4] == b"\x7fELF":
                # Of a library, what others link stays.
                say("strip", "--strip-unneeded" if file.suffix == ".so" else "--strip-all", file)
    share = prefix / "share"
    for folder in ("rtl", "sim/shim", "machines"):
        for file in below(ROOT / folder):
            if file.is_file():
                put(file, share / "gramer" / file.relative_to(ROOT), 0o644)
    put(ROOT / "Bender.yml", share / "gramer" / "Bender.yml", 0o644)
    put(ROOT / "accelerator.yaml", share / "gramer" / "accelerator.yaml", 0o644)
    for name in PROGRAMS:
        with tempfile.TemporaryDirectory() as pages:
            say(programs / name, "man", pages)
            for page in sorted(pathlib.Path(pages).iterdir()):
                put(page, share / "man" / "man1" / page.name, 0o644)
        for shell, place in COMPLETIONS.items():
            write(share / place.format(name), say(programs / name, "completions", shell))
    for name in ("LICENSE", "NOTICE", "README.md", "CHANGELOG.md"):
        put(ROOT / name, share / "doc" / "gramer" / name, 0o644)
    say(ROOT / "scripts" / "licences.py", "--gather", share / "doc" / "gramer" / "LICENSES-of-dependencies.txt")


def below(folder: pathlib.Path) -> list[pathlib.Path]:
    """Files and folders, in an order that doesn't depend on the file system."""
    return sorted(folder.rglob("*"))


def pack(folder: pathlib.Path, out: pathlib.Path):
    """A tar.gz of a folder whose bytes depend on its files alone."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in [folder, *below(folder)]:
            entry = tar.gettarinfo(path, arcname=str(path.relative_to(folder.parent)))
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = "root"
            entry.mtime = epoch()
            entry.mode = 0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644
            with path.open("rb") if path.is_file() else io.BytesIO() as data:
                tar.addfile(entry, data if path.is_file() else None)
    finished(out, gzip.compress(raw.getvalue(), mtime=epoch()))


def finished(out: pathlib.Path, data: bytes):
    """Puts a file in its place atomically, and reports it."""
    out.parent.mkdir(parents=True, exist_ok=True)
    new = out.with_name(out.name + ".new")
    new.write_bytes(data)
    new.replace(out)
    print(f"{out}: {len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")


def install(options):
    """On this machine, or under a folder for a package."""
    prefix = pathlib.Path(str(options.root or "") + str(options.prefix))
    if not options.prefix.startswith("/"):
        sys.exit(f"release: PREFIX is {options.prefix}, but must begin with /")
    stage(prefix, options.programs, strip=False)
    print(f"installed: {prefix}/bin/gramer and gramer-lab, with {prefix}/lib/gramer and {prefix}/share")


def dist(options):
    """An archive to be unpacked anywhere: bin finds lib and share beside it."""
    target = re.search(r"(?m)^host: (\S+)$", say("rustc", "-vV")).group(1)
    name = f"gramer-{version()}-{target}"
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / name
        stage(folder, options.programs, strip=True)
        pack(folder, options.out / f"{name}.tar.gz")


def needs(files: list[pathlib.Path], work: pathlib.Path) -> str:
    """The packages whose libraries the programs are linked with."""
    programs = [file for file in files if file.read_bytes()[:4] == b"\x7fELF"]
    if not programs or not shutil.which("dpkg-shlibdeps"):
        return "libc6"
    (work / "debian").mkdir()
    (work / "debian" / "control").write_text("Source: gramer\n\nPackage: gramer\nArchitecture: any\n")
    found = subprocess.run(["dpkg-shlibdeps", "--ignore-missing-info", "-O", *map(str, programs)], cwd=work,
                           check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return found.strip().removeprefix("shlibs:Depends=")


def deb(options):
    """A Debian package, by dpkg-deb."""
    if not shutil.which("dpkg-deb"):
        sys.exit("release: there is no dpkg-deb here: a Debian package is made on Debian")
    arch = say("dpkg", "--print-architecture").strip()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        root = work / "gramer"
        root.mkdir()
        stage(root / "usr", options.programs, strip=True)
        doc = root / "usr/share/doc/gramer"
        # Policy, chapter 12: pages and the changelog are compressed, and the licence is `copyright`.
        for page in (root / "usr/share/man/man1").iterdir():
            write(page.with_name(page.name + ".gz"), gzip.compress(page.read_bytes(), mtime=0))
            page.unlink()
        write(doc / "changelog.gz", gzip.compress((doc / "CHANGELOG.md").read_bytes(), mtime=0))
        write(doc / "copyright",
              "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
              "Upstream-Name: gramer\n\nFiles: *\nCopyright: the authors of gramer\nLicense: Apache-2.0\n"
              " On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.\nComment:\n"
              " The programs contain packages of others, whose licences are in\n"
              " /usr/share/doc/gramer/LICENSES-of-dependencies.txt.\n")
        for name in ("LICENSE", "CHANGELOG.md"):
            (doc / name).unlink()
        files = [path for path in below(root) if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        sums = "".join(f"{hashlib.md5(p.read_bytes()).hexdigest()}  {p.relative_to(root)}\n" for p in files)
        write(root / "DEBIAN/md5sums", sums)
        write(root / "DEBIAN/control",
              f"Package: gramer\nVersion: {version()}\nArchitecture: {arch}\nSection: science\nPriority: optional\n"
              "Maintainer: the authors of gramer <gramer@localhost>\n"
              f"Installed-Size: {size // 1024 + 1}\nDepends: {needs(files, work)}\n"
              f"Recommends: {', '.join(RECOMMENDS)}\n"
              "Description: counts patterns in graphs, exactly\n"
              " Cliques, motifs, frequent labelled subgraphs and matches of a query, on the CPU or on\n"
              " the accelerator GRAMER: on a card, or simulated behind the Xilinx Runtime.\n")
        for path in [root, *below(root)]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (epoch(), epoch()))
        out = work / "gramer.deb"
        # dpkg-deb takes the time from the same variable.
        env = dict(os.environ, SOURCE_DATE_EPOCH=str(epoch()))
        subprocess.run(["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(out)], env=env,
                       check=True, stdout=subprocess.DEVNULL)
        finished(options.out / f"gramer_{version()}_{arch}.deb", out.read_bytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=pathlib.Path, default=BUILT / "release", metavar="FOLDER",
                        help="where the built programs are (target/release)")
    parser.add_argument("--out", type=pathlib.Path, default=DIST, metavar="FOLDER",
                        help="where archive and package go (target/dist)")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("install", help="the tree, under ROOT/PREFIX")
    one.add_argument("root")
    one.add_argument("prefix")
    one.set_defaults(run=install)
    commands.add_parser("dist", help="an archive").set_defaults(run=dist)
    commands.add_parser("deb", help="a Debian package").set_defaults(run=deb)
    options = parser.parse_args()
    # The programs are started from other folders.
    options.programs = options.programs.resolve()
    options.run(options)


if __name__ == "__main__":
    main()
