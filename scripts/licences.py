#!/usr/bin/env python3
"""Dependencies against deny.toml, without a network: licences, versions and sources.

    licences.py                  fails on a licence outside the list, a package of two versions that no
                                 entry of `skip` allows, an entry that nothing needs, and a source that
                                 is neither this repository nor the one registry of all others
    licences.py --gather FILE    writes the licence texts of all packages linked into the programs

Both read `cargo metadata --locked`. `cargo deny check` also checks advisories, but must be installed and needs a
network.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
RULES = ROOT / "deny.toml"
# The programs that are given to others.
PROGRAMS = ["gramer-cli", "gramer-laboratory", "gramer-sim", "gramer-sleep"]
TEXTS = re.compile(r"(?i)^(licen[cs]e|copying|unlicense|notice|copyright)")

MIT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction, including
without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the
following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT
LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO
EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR
THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def metadata(*options: str) -> dict:
    """Cargo's metadata of the workspace and its dependencies."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", *options]
    text = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(text)


def allowed(expression: str, allow: set[str]) -> bool:
    """Whether an SPDX expression can be met by licences of the list. `A/B` is the old way to say OR.

    Raises ValueError for what is no expression.
    """
    words = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def either() -> bool:
        met = both()
        while words and words[0] == "OR":
            words.pop(0)
            met = both() or met
        return met

    def both() -> bool:
        met = one()
        while words and words[0] == "AND":
            words.pop(0)
            met = one() and met
        return met

    def one() -> bool:
        word = words.pop(0) if words else ""
        if word == "(":
            met = either()
            if not words or words.pop(0) != ")":
                raise ValueError(f"a parenthesis is missing in {expression!r}")
            return met
        if word in ("", ")", "OR", "AND", "WITH"):
            raise ValueError(f"{expression!r} is no SPDX expression")
        if len(words) > 1 and words[0] == "WITH":
            word += f" WITH {words[1]}"
            del words[:2]
        return word in allow

    met = either()
    if words:
        raise ValueError(f"{expression!r} goes on after its end")
    return met


def matches(entry: str, name: str, version: str) -> bool:
    """Whether an entry of `skip`, NAME or NAME@VERSION with as many numbers as matter, means a package."""
    wanted, _, numbers = entry.partition("@")
    return wanted == name and (not numbers or f"{version}.".startswith(f"{numbers}."))


def faults(packages: list[dict], rules: dict) -> list[str]:
    """Violations of the rules by the packages."""
    found = []
    allow = set(rules["licenses"]["allow"])
    versions = collections.defaultdict(set)
    sources = collections.Counter(package["source"] for package in packages if package["source"])
    registry = sources.most_common(1)[0][0] if sources else None
    for package in packages:
        name = f"{package['name']} {package['version']}"
        versions[package["name"]].add(package["version"])
        try:
            if not package["license"]:
                found.append(f"{name} names no licence")
            elif not allowed(package["license"], allow):
                found.append(f"{name} has the licence {package['license']}, which is not in deny.toml")
        except ValueError as error:
            found.append(f"{name}: {error}")
        source = package["source"]
        if source is not None and (not source.startswith("registry+") or source != registry):
            found.append(f"{name} comes from {source}")
    needed = set()
    for name, several in sorted(versions.items()):
        if len(several) < 2:
            continue
        entries = {v: [e["crate"] for e in rules["bans"]["skip"] if matches(e["crate"], name, v)]
                   for v in several}
        needed.update(entry for of in entries.values() for entry in of)
        rest = sorted(version for version, of in entries.items() if not of)
        if len(rest) > 1:
            found.append(f"{name} is there in the versions {', '.join(rest)}; make it one, or name the "
                         "older one in `skip` of deny.toml with the reason")
    for entry in rules["bans"]["skip"]:
        if entry["crate"] not in needed:
            found.append(f"`skip` of deny.toml has {entry['crate']}, which nothing needs")
    return found


def linked(data: dict) -> list[dict]:
    """The packages from elsewhere that are compiled into the programs."""
    by_id = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    todo = [key for key, package in by_id.items() if package["name"] in PROGRAMS]
    seen = set(todo)
    while todo:
        for dependency in nodes[todo.pop()]["deps"]:
            normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
            if normal and dependency["pkg"] not in seen:
                seen.add(dependency["pkg"])
                todo.append(dependency["pkg"])
    return sorted((by_id[key] for key in seen if by_id[key]["source"]),
                  key=lambda package: (package["name"], package["version"]))


def texts(package: dict) -> list[str]:
    """The licence texts that a package brings."""
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and TEXTS.match(path.name))
    if files:
        return [path.read_text(errors="replace").strip() for path in files]
    if allowed(package["license"], {"MIT"}):
        who = ", ".join(package["authors"]) or f"the authors of {package['name']}"
        return [f"Copyright {who}\n\n{MIT}".strip()]
    raise SystemExit(f"licences: {package['name']} {package['version']} brings no text of "
                     f"{package['license']}")


def gather(packages: list[dict]) -> str:
    """All texts, each once, with the packages that have it."""
    users = collections.defaultdict(list)
    for package in packages:
        for text in texts(package):
            users[text].append(f"{package['name']} {package['version']}: {package['license']}")
    parts = ["Gramer's programs contain these packages. Each is here with its licence and the texts that\n"
             "it brings; the same text stands once."]
    for text, names in sorted(users.items(), key=lambda item: item[1]):
        parts.append("\n".join(names) + "\n\n" + text)
    return f"\n\n{'-' * 80}\n\n".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gather", metavar="FILE", type=pathlib.Path,
                        help="write the licence texts of what is linked into the programs")
    options = parser.parse_args()
    if options.gather:
        host = subprocess.run(["rustc", "-vV"], check=True, stdout=subprocess.PIPE, text=True).stdout
        triple = re.search(r"(?m)^host: (\S+)$", host).group(1)
        packages = linked(metadata("--filter-platform", triple))
        options.gather.parent.mkdir(parents=True, exist_ok=True)
        options.gather.write_text(gather(packages))
        print(f"licences: those of {len(packages)} packages are in {options.gather}")
        return 0
    # Of what is built on demand, too.
    packages = metadata("--all-features")["packages"]
    found = faults(packages, tomllib.loads(RULES.read_text()))
    for fault in found:
        print(f"licences: {fault}", file=sys.stderr)
    print(f"licences: {len(packages)} packages, {len(found)} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
