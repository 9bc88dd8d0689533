#!/usr/bin/env python3
"""What scripts/package.py refuses."""

import copy
import json
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import package  # noqa: E402


def crate(name, dependencies=()):
    """A package as cargo describes it."""
    return {"id": name, "name": name, "version": "0.1.0", "publish": None, "description": "d", "license": "l",
            "readme": "README.md", "keywords": ["k"], "categories": ["c"],
            "dependencies": [{"name": other, "req": wanted, "kind": kind, "path": "/somewhere"}
                             for other, wanted, kind in dependencies]}


class Manifests(unittest.TestCase):
    def test_what_a_registry_refuses(self):
        good = [crate("a"), crate("b", [("a", "^0.1.0", None), ("own", "*", "dev")])]
        self.assertEqual(list(package.faults_of_manifests(good)), [])
        for change, fault in [
            (lambda b: b.update(license=None), "b: Cargo.toml has no `license`"),
            (lambda b: b.update(keywords=[]), "b: Cargo.toml has no `keywords`"),
            (lambda b: b["dependencies"][0].update(req="*"), "b: the dependency a has no `version` beside its path"),
            (lambda b: b["dependencies"][0].update(req="^0.2"), "b: it needs a ^0.2, which is 0.1.0"),
            (lambda b: b["dependencies"][0].update(name="c"), "b: it needs c, which isn't meant for others"),
        ]:
            wrong = copy.deepcopy(good)
            change(wrong[1])
            self.assertEqual(list(package.faults_of_manifests(wrong)), [fault])

    def test_those_that_are_meant_for_others_are_packed(self):
        own = {"workspace_members": ["a", "b"], "packages": [crate("a"), {**crate("b"), "publish": []}, crate("c")]}
        self.assertEqual([of["name"] for of in package.published(own)], ["a"])
        asked = ["cargo", "metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]
        told = subprocess.run(asked, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        names = {of["name"] for of in package.published(json.loads(told))}
        self.assertLessEqual({"gramer", "gramer-engine", "gramer-graph", "gramer-machine"}, names)
        self.assertNotIn("gramer-cli", names)


    def test_each_comes_behind_what_it_is_built_with(self):
        crates = [crate("a", [("b", "^0.1.0", None), ("c", "*", "dev")]), crate("c", [("a", "^0.1.0", None)]),
                  crate("b", [("d", "^0.1.0", "build")]), crate("d")]
        self.assertEqual([of["name"] for of in package.in_order(crates)], ["d", "b", "a", "c"])


class Files(unittest.TestCase):
    def test_what_a_package_lacks(self):
        good = {"Cargo.toml": "t", "LICENSE": "l", "README.md": "r", "src/a/b.txt": "x",
                "src/a/mod.rs": 'const X: &str = include_str!("b.txt");\n#[doc = include_str!("../../README.md")]\n'
                                '#[path = "./c.rs"]\nmod c;\n\n#[cfg(test)]\nmod tests {\n include_str!("../no") }',
                "src/a/c.rs": "", "src/a/tests.rs": 'include_bytes!("../../../other")'}
        self.assertEqual(list(package.faults_of_files("n", good)), [])
        for absent, fault in [
            ("LICENSE", "n: the package has no LICENSE"),
            ("src/a/b.txt", "n: src/a/mod.rs includes b.txt, which isn't in the package"),
            ("src/a/c.rs", "n: src/a/mod.rs includes ./c.rs, which isn't in the package"),
        ]:
            self.assertEqual(list(package.faults_of_files("n", {k: v for k, v in good.items() if k != absent})), [fault])
        outside = {**good, "src/lib.rs": 'include_str!(\n    "../../../accelerator.yaml"\n)'}
        self.assertEqual(list(package.faults_of_files("n", outside)),
                         ["n: src/lib.rs includes ../../../accelerator.yaml, which isn't in the package"])


if __name__ == "__main__":
    unittest.main()
