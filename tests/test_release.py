"""scripts/release.py, with programs of a few lines: what is packed, where, and that it is the same twice."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "release.py"
GRAMER = """#!/bin/sh
case "$1" in
  man) for page in gramer gramer-mine; do echo ".TH $page" > "$2/$page.1"; done ;;
  completions) echo "# $2" ;;
  *) echo "gramer from $0" ;;
esac
"""
# What must be there, below a prefix.
WANTED = ["bin/gramer", "bin/gramer-lab", "lib/gramer/gramer-emulator", "lib/gramer/libgramer_sleep.so",
          "share/gramer/Bender.yml", "share/gramer/rtl/paper/gramer_core.sv", "share/gramer/sim/shim/shim.cpp", "share/gramer/accelerator.yaml",
          "share/gramer/machines/small.yaml", "share/bash-completion/completions/gramer",
          "share/zsh/site-functions/_gramer", "share/fish/vendor_completions.d/gramer.fish",
          "share/bash-completion/completions/gramer-lab", "share/zsh/site-functions/_gramer-lab",
          "share/doc/gramer/LICENSES-of-dependencies.txt"]


class Release(unittest.TestCase):
    def setUp(self):
        self.work = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.work)
        self.programs = self.work / "programs"
        self.programs.mkdir()
        for name in ("gramer", "gramer-emulator", "gramer-lab", "libgramer_sleep.so"):
            (self.programs / name).write_text(GRAMER)
            (self.programs / name).chmod(0o755)

    def run_script(self, *words, code=0, **variables):
        done = subprocess.run([sys.executable, "-B", SCRIPT, "--programs", self.programs, "--out",
                               self.work / "out", *words], env=dict(os.environ, **variables),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def packed(self, command):
        """The one file that a command makes, and its bytes."""
        shutil.rmtree(self.work / "out", ignore_errors=True)
        self.run_script(command, SOURCE_DATE_EPOCH="1700000000")
        [out] = (self.work / "out").iterdir()
        return out, out.read_bytes()

    def check_tree(self, prefix):
        for name in WANTED:
            self.assertTrue((prefix / name).is_file(), name)
        for path in prefix.rglob("*"):
            self.assertEqual(path.stat().st_mode & 0o022, 0, f"{path} can be written by all")
        said = subprocess.run([prefix / "bin/gramer"], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(said, f"gramer from {prefix}/bin/gramer\n")

    def test_install(self):
        self.run_script("install", str(self.work / "root"), "/opt/gramer")
        prefix = self.work / "root/opt/gramer"
        self.check_tree(prefix)
        self.assertIn(".TH gramer-mine", (prefix / "share/man/man1/gramer-mine.1").read_text())
        self.assertEqual((prefix / "share/zsh/site-functions/_gramer").read_text(), "# zsh\n")
        # Over itself, as an update does.
        self.run_script("install", str(self.work / "root"), "/opt/gramer")

    def test_a_prefix_that_is_no_path(self):
        self.assertIn("must begin with /", self.run_script("install", "", "opt", code=1))

    def test_a_program_that_was_not_built(self):
        (self.programs / "gramer-lab").unlink()
        self.assertIn("gramer-lab is not there", self.run_script("dist", code=1))
        self.assertFalse((self.work / "out").exists())

    def test_archive(self):
        out, first = self.packed("dist")
        with tarfile.open(out) as tar:
            entries = tar.getmembers()
            # Older versions of Python have no filters and trust every archive.
            trusted = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
            tar.extractall(self.work / "unpacked", **trusted)
        self.check_tree(self.work / "unpacked" / out.name.removesuffix(".tar.gz"))
        self.assertEqual({(e.uid, e.gid, e.mtime) for e in entries}, {(0, 0, 1700000000)})
        self.assertEqual([e.name for e in entries], sorted(e.name for e in entries))
        for name in ("gramer", "gramer-lab"):  # built again at another time
            os.utime(self.programs / name, (1, 1))
        self.assertEqual(self.packed("dist")[1], first)
        (self.programs / "gramer-lab").write_text("#!/bin/sh\n")
        self.assertNotEqual(self.packed("dist")[1], first)

    @unittest.skipUnless(shutil.which("dpkg-deb"), "there is no dpkg-deb")
    def test_debian_package(self):
        out, first = self.packed("deb")
        self.assertEqual(self.packed("deb")[1], first)
        root = self.work / "root"
        subprocess.run(["dpkg-deb", "-x", out, root], check=True)
        self.check_tree(root / "usr")
        self.assertTrue((root / "usr/share/man/man1/gramer.1.gz").is_file())
        self.assertIn("Apache-2.0", (root / "usr/share/doc/gramer/copyright").read_text())
        fields = subprocess.run(["dpkg-deb", "-f", out, "Package", "Depends", "Recommends"], check=True,
                                stdout=subprocess.PIPE, text=True).stdout
        self.assertIn("Package: gramer\n", fields)
        self.assertIn("verilator", fields)
        subprocess.run(["dpkg-deb", "-e", out, root / "DEBIAN"], check=True)
        subprocess.run(["md5sum", "--quiet", "-c", "DEBIAN/md5sums"], cwd=root, check=True)


class Workflow(unittest.TestCase):
    def test_it_runs_every_step(self):
        steps = re.search(r"(?m)^steps=\((.*)\)$", (ROOT / ".ci/run").read_text()).group(1).split()
        matrix = re.search(r"step: \[(.*)\]", (ROOT / ".github/workflows/ci.yml").read_text()).group(1)
        # Jobs over MPI run there alone.
        self.assertEqual([*steps, "test-cluster"], matrix.split(", "))


if __name__ == "__main__":
    unittest.main()
