#!/usr/bin/env python3
"""Sources are of a size that a reader can hold: no file over 500 lines, and in Rust and Python no function
over 80. Tests, benches and proofs may be longer: a case after the other is easily read."""

import ast
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["hls", "host", "rtl", "scripts", "sim"]
ENDINGS = {".rs", ".py", ".sv", ".cl", ".clh", ".cpp", ".hpp"}
# Generated files and other kinds of files.
APART = {"target", ".venv", "node_modules"}
TESTS = {"benches", "formal", "tests", "units"}
MOST_LINES = 500
MOST_OF_A_FUNCTION = 80

# A file, or `file: function`, and why it is longer.
LONGER = {
}


def sources():
    """The files that are neither tests nor built, from the root."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            parts = path.relative_to(ROOT).parts
            if path.suffix in ENDINGS and path.name != "tests.rs" and not (APART | TESTS) & set(parts):
                yield path


def functions_of_python(text):
    """Names and lines of functions; those within others by themselves as well."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.end_lineno - node.lineno + 1


def functions_of_rust(text):
    """The same of Rust as rustfmt writes it: a function ends with a brace below its first letter. The unit
    tests at the end of a file are left out."""
    lines = text.split("\n#[cfg(test)]\nmod ")[0].split("\n")
    for at, line in enumerate(lines):
        head = re.match(r'( *)(?:pub(?:\([a-z: ]+\))? )?(?:(?:const|async|unsafe|extern "C") )*fn (\w+)', line)
        if not head or line.endswith((";", "}")):
            continue
        for end in range(at + 1, len(lines)):
            rest = lines[end].removeprefix(head[1])
            # A declaration in a trait ends with its signature.
            if lines[end].startswith(head[1]) and (rest == "}" or re.match(r"\).*;$", rest)):
                yield head[2], end - at + 1
                break
        else:
            raise ValueError(f"line {at + 1}: the end of `{head[2]}` was not found")


FUNCTIONS = {".py": functions_of_python, ".rs": functions_of_rust}


class Sizes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.longer = {}
        cls.files = cls.functions = 0
        for path in sources():
            name, text = str(path.relative_to(ROOT)), path.read_text()
            cls.files += 1
            if text.count("\n") > MOST_LINES:
                cls.longer[name] = text.count("\n")
            for function, lines in FUNCTIONS.get(path.suffix, lambda _: ())(text):
                cls.functions += 1
                if lines > MOST_OF_A_FUNCTION:
                    cls.longer[f"{name}: {function}"] = lines

    def test_files_and_functions_can_be_held_by_a_reader(self):
        found = {name: lines for name, lines in self.longer.items() if name not in LONGER}
        self.assertEqual(found, {}, "split these by meaning, or give a reason in LONGER")
        self.assertGreater(self.files, 300)
        self.assertGreater(self.functions, 2000)

    def test_exceptions_are_still_needed(self):
        self.assertEqual([name for name in LONGER if name not in self.longer], [])

    def test_functions_are_measured(self):
        rust = "\n".join([
            "trait T {",
            "    fn declared(",
            "        a: u32,",
            "    ) -> u32;",
            "    fn short() {}",
            "}",
            "impl T for U {",
            "    pub(super) unsafe fn long<P>(a: P) -> u32",
            "    where",
            "        P: Q,",
            "    {",
            *["        1;"] * 90,
            "    }",
            "}",
            "#[cfg(test)]",
            "mod tests {",
            "    fn tested() {",
            "    }",
            "}",
        ])
        self.assertEqual(list(functions_of_rust(rust)), [("declared", 3), ("long", 95)])
        python = "class C:\n    def f(self):\n        x = '''\nno end\n'''\n        return x\n"
        self.assertEqual(list(functions_of_python(python)), [("f", 5)])


if __name__ == "__main__":
    unittest.main()
