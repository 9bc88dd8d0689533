#!/usr/bin/env python3
"""The documents: links lead to files and headings, the site has every page, written pages are those of their commands."""

import pathlib
import re
import subprocess
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def pages():
    """The Markdown files of the repository."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT,
                            check=True, stdout=subprocess.PIPE, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def prose(text):
    """A text without its fenced and indented code."""
    text = re.sub(r"(?ms)^(```|~~~).*?^\1", "", text)
    return "\n".join(line for line in text.splitlines() if not line.startswith("    "))


def anchors(text):
    """The anchors of the headings of a page."""
    found, names = {}, set()
    for heading in re.findall(r"(?m)^#+ (.*)$", prose(text)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        again = found.get(name, 0)
        found[name] = again + 1
        names.add(f"{name}-{again}" if again else name)
    return names


def broken(page, text):
    """The links of a page that lead nowhere."""
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(text))):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        if not target.exists():
            yield link
        elif anchor and target.suffix == ".md":
            known = anchors(text if target == page else target.read_text())
            if anchor not in known:
                yield link


class Docs(unittest.TestCase):
    def test_links_lead_somewhere(self):
        found = [f"{page.relative_to(ROOT)}: {link}" for page in pages() for link in broken(page, page.read_text())]
        self.assertEqual(found, [])

    def test_the_documents_stay_short(self):
        # A word has a letter or a digit; bars of tables do not count.
        words = {page: sum(any(map(str.isalnum, word)) for word in page.read_text().split()) for page in pages()}
        longest = sorted(words, key=words.get, reverse=True)[:5]
        self.assertLessEqual(sum(words.values()), 60_000, [f"{page.relative_to(ROOT)}: {words[page]}" for page in longest])

    def test_broken_links_are_noticed(self):
        page = DOCS / "README.md"
        for text in ("[a](gone.md)", "![a](gone.svg)", "# A b\n[a](#a-c)", "[a](reference/json.md#gone)"):
            self.assertEqual(len(list(broken(page, text))), 1, text)
        for text in ("# A b\n[a](#a-b)", "[a](https://example.org/gone)", "`[a](gone.md)`", "```\n[a](gone.md)\n```\n",
                     "## `a`, b\n## B\n## B\n[a](#a-b), [b](#b-1)"):
            self.assertEqual(list(broken(page, text)), [], text)

    def test_the_site_has_every_page(self):
        listed = re.findall(r"(?m)^ +- .*: ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text())
        self.assertEqual(len(listed), len(set(listed)))
        there = {str(page.relative_to(DOCS)) for page in pages() if DOCS in page.parents}
        self.assertEqual(set(listed), there)

    def test_links_to_sources_lead_to_the_repository(self):
        hooks = {}
        exec(compile((ROOT / "scripts/site.py").read_text(), "site.py", "exec"), hooks)
        page = types.SimpleNamespace(file=types.SimpleNamespace(src_uri="guide/a.md"))
        text = ("[code](../../host/a.rs#L1), [page](../reference/b.md), ![drawing](../../d.svg), [web](https://example.org)\n"
                "```text one.txt\n[kept](../../host/a.rs)\n```\n")
        fence = "```text\n[kept](../../host/a.rs)\n```\n"
        rest = "[page](../reference/b.md), ![drawing](../../d.svg), [web](https://example.org)\n"
        for address, link in ((None, "code"), ("https://x.org/g/", "[code](https://x.org/g/blob/main/host/a.rs)")):
            made = hooks["on_page_markdown"](text, page, {"repo_url": address})
            self.assertEqual(made, f"{link}, {rest}{fence}")

    def test_the_page_of_peers_is_that_of_its_figures(self):
        done = subprocess.run(["python3", "-B", "scripts/peers.py", "--check"], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_page_of_growth_is_that_of_its_figures(self):
        script = "import sys; sys.path.insert(0, 'scripts'); from measuring import growth_page; sys.exit(' '.join(growth_page.old()) or 0)"
        done = subprocess.run(["python3", "-B", "-c", script], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
