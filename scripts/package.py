#!/usr/bin/env python3
"""Publishable crates, packed as for a registry (target/package/*.crate).

These are the members of the workspace without `publish = false`. Each must have what a registry requires (description,
licence, README, keywords, categories; a version for each of our crates that it needs, which must be publishable, too) and
all files that its sources include. Nothing is published. With --build each is built from the packages alone.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tarfile

from built import BUILT

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKED = BUILT / "package"
WANTED = ("description", "license", "readme", "keywords", "categories")
# What every package has besides sources.
TEXTS = ("Cargo.toml", "LICENSE", "README.md")
INCLUDED = re.compile(r'include_(?:str|bytes)!\(\s*"([^"]+)"\s*\)|#\[path = "([^"]+)"\]')


def published(data):
    """The members of the workspace that may be published."""
    members = set(data["workspace_members"])
    return [package for package in data["packages"] if package["id"] in members and package["publish"] is None]


def faults_of_manifests(packages):
    """Why a registry would refuse them."""
    versions = {package["name"]: package["version"] for package in packages}
    for package in packages:
        name = package["name"]
        for key in WANTED:
            if not package[key]:
                yield f"{name}: Cargo.toml has no `{key}`"
        for dependency in package["dependencies"]:
            # Of those that only tests need, cargo leaves out what has no version.
            if dependency["kind"] == "dev" or not dependency.get("path"):
                continue
            other, wanted = dependency["name"], dependency["req"]
            if other not in versions:
                yield f"{name}: it needs {other}, which isn't meant for others"
            elif wanted == "*":
                yield f"{name}: the dependency {other} has no `version` beside its path"
            elif wanted != f"^{versions[other]}":
                yield f"{name}: it needs {other} {wanted}, which is {versions[other]}"


def in_order(packages):
    """The packages so that each comes behind those of them that it is built with: a registry takes none whose
    dependencies it doesn't have. Dependencies of tests are not checked."""
    names, done = {package["name"]: package for package in packages}, {}

    def take(package):
        for dependency in package["dependencies"]:
            other = names.get(dependency["name"])
            if dependency["kind"] != "dev" and dependency.get("path") and other:
                take(other)
        done[package["name"]] = package

    for package in packages:
        take(package)
    return list(done.values())


def without_tests(text):
    """A source without the unit tests at its end, which are only built where the repository is."""
    return text.split("\n#[cfg(test)]\nmod ")[0]


def faults_of_files(name, files):
    """What a package lacks; `files` has texts by path within it."""
    for path in TEXTS:
        if not files.get(path, "").strip():
            yield f"{name}: the package has no {path}"
    for path, text in sorted(files.items()):
        if not path.endswith(".rs") or not path.startswith("src/") or path.endswith("/tests.rs"):
            continue
        for match in INCLUDED.finditer(without_tests(text)):
            parts = []
            for part in [*pathlib.PurePosixPath(path).parent.parts, *(match[1] or match[2]).split("/")]:
                if part == ".." and parts:
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            if "/".join(parts) not in files:
                yield f"{name}: {path} includes {match[1] or match[2]}, which isn't in the package"


def files_of(crate):
    """The texts of a packed crate by path within it."""
    files = {}
    with tarfile.open(crate) as packed:
        for member in packed:
            if member.isfile():
                path = member.name.split("/", 1)[1]
                files[path] = packed.extractfile(member).read().decode(errors="replace")
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true", help="build each from its package")
    build = parser.parse_args().build
    asked = ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"]
    data = json.loads(subprocess.run(asked, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    packages = published(data)
    faults = list(faults_of_manifests(packages))
    if not faults:
        command = ["cargo", "package", "--locked", "--allow-dirty", "--quiet"]
        command += [] if build else ["--no-verify"]
        command += [f"--package={package['name']}" for package in packages]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        if code != 0:
            sys.exit("package.py: cargo doesn't pack them: its message is above")
        for package in packages:
            crate = PACKED / f"{package['name']}-{package['version']}.crate"
            faults += faults_of_files(package["name"], files_of(crate))
    if faults:
        sys.exit("\n".join(f"package.py: {fault}" for fault in faults))
    how = "packed, and built from their packages" if build else "packed"
    names = ", ".join(package["name"] for package in in_order(packages))
    print(f"{len(packages)} crates are {how}; to be published in this order: {names}")


if __name__ == "__main__":
    main()
