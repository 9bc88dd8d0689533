"""scripts/licences.py: what it refuses."""

import pathlib
import sys
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import licences  # noqa: E402


def package(name, version="1.0.0", license="MIT", source="registry+one"):
    return {"name": name, "version": version, "license": license, "source": source}


RULES = {"licenses": {"allow": ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"]},
         "bans": {"skip": [{"crate": "old@0.3"}]}}
BOTH = [package("old", "0.3.4"), package("old", "0.4.0")]


class Expressions(unittest.TestCase):
    def test_what_can_be_met(self):
        allow = set(RULES["licenses"]["allow"])
        for text in ["MIT", "GPL-3.0 OR MIT", "MIT/GPL-2.0", "Apache-2.0 / MIT", "(MIT OR GPL-2.0) AND Unicode-3.0",
                     "Apache-2.0 WITH LLVM-exception OR GPL-2.0", "GPL-2.0 AND GPL-3.0 OR MIT"]:
            self.assertTrue(licences.allowed(text, allow), text)

    def test_what_can_not(self):
        allow = set(RULES["licenses"]["allow"])
        for text in ["GPL-3.0-only", "MIT AND GPL-3.0", "(GPL-2.0 OR MPL-2.0) AND MIT", "MIT AND (GPL-2.0)",
                     "MIT WITH some-exception", "GPL-2.0 OR GPL-3.0 AND MIT"]:
            self.assertFalse(licences.allowed(text, allow), text)

    def test_what_is_none(self):
        for text in ["", "MIT OR", "(MIT", "MIT)", "MIT Apache-2.0", "AND MIT"]:
            with self.assertRaises(ValueError, msg=text):
                licences.allowed(text, {"MIT"})


class Faults(unittest.TestCase):
    def faults(self, *packages):
        return licences.faults([*packages, *BOTH], RULES)

    def test_nothing_wrong(self):
        self.assertEqual(self.faults(package("a"), package("own", source=None)), [])

    def test_a_licence_outside_the_list(self):
        self.assertIn("GPL-3.0", self.faults(package("a", license="GPL-3.0"))[0])
        self.assertIn("no licence", self.faults(package("a", license=None))[0])

    def test_two_versions(self):
        self.assertIn("1.0.0, 2.0.0", self.faults(package("a"), package("a", "2.0.0"))[0])
        self.assertIn("0.4.0, 0.5.0", self.faults(package("old", "0.5.0"))[0])

    def test_an_entry_that_nothing_needs(self):
        self.assertIn("old@0.3", licences.faults([package("old", "0.4.0")], RULES)[0])

    def test_a_source_of_another_kind(self):
        for source in ("git+https://example.org/a", "registry+another"):
            self.assertIn(source, self.faults(package("a", source=source))[0])
        self.assertIn("git+a", licences.faults([package("a", source="git+a")], {**RULES, "bans": {"skip": []}})[0])

    def test_versions_are_compared_by_numbers(self):
        self.assertTrue(licences.matches("a@0.3", "a", "0.3.4"))
        self.assertFalse(licences.matches("a@0.3", "a", "0.31.0"))
        self.assertTrue(licences.matches("a", "a", "9.0.0"))


class Texts(unittest.TestCase):
    def test_the_same_text_stands_once(self):
        packages = [dict(package(name), manifest_path=str(ROOT / "Cargo.toml")) for name in ("a", "b")]
        text = licences.gather(packages)
        own = (ROOT / "LICENSE").read_text().strip()
        self.assertEqual(text.count(own), 1)
        self.assertIn("a 1.0.0: MIT\nb 1.0.0: MIT\n", text)

    def test_a_package_without_a_text(self):
        bare = dict(package("bare"), manifest_path=str(ROOT / "scripts/vitis/x"), authors=["Someone"])
        self.assertIn("Copyright Someone", licences.gather([bare]))
        with self.assertRaises(SystemExit):
            licences.gather([dict(bare, license="ISC")])


class Rules(unittest.TestCase):
    def test_every_version_that_is_skipped_has_a_reason(self):
        rules = tomllib.loads(licences.RULES.read_text())
        self.assertTrue(all(entry["reason"] for entry in rules["bans"]["skip"]))


if __name__ == "__main__":
    unittest.main()
