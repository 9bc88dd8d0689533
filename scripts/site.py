"""Hooks of MkDocs for `make site`: fenced blocks keep their language alone, and links to sources lead to the repository.

In the pages a second word of a fence names the file that a block is (host/cli/tests/docs.rs), and rustdoc takes words behind a
comma. Links to files outside of docs/ are relative, as one reads the pages in the repository. In the site they lead to `repo_url` of
mkdocs.yml, or become plain text while that is not set.
"""

import posixpath
import re

FENCED = re.compile(r"(?ms)^( *)(```|~~~).*?^\1\2 *$")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def outside(source, link, address):
    """A link of a page in the form of the site; `source` is the page's path in docs/."""
    text, target = link.group(1), link.group(2)
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), target.partition("#")[0]))
    if re.match(r"[a-z]+:", target) or not path.startswith("../"):
        return link.group(0)
    return f"[{text}]({address.rstrip('/')}/blob/main/{path[3:]})" if address else text


def on_page_markdown(markdown, page, config, **_):
    """The text of a page as MkDocs takes it."""
    parts, at = [], 0
    for block in [*FENCED.finditer(markdown), None]:
        end = block.start() if block else len(markdown)
        parts.append(LINK.sub(lambda link: outside(page.file.src_uri, link, config.get("repo_url") or ""), markdown[at:end]))
        if block:
            parts.append(re.sub(r"(?m)^( *```\w+)[ ,].*$", r"\1", block.group(0)))
            at = block.end()
    return "".join(parts)
