"""Runs notebooks as Jupyter does, without Jupyter, and compares what they show.

    python host/python/tests/notebook.py NOTEBOOK...     runs them and writes what they show into them
"""

import ast
import contextlib
import io
import json
import pathlib
import sys


def lines(text):
    """A text as notebooks have it: a list of lines with their ends."""
    return text.splitlines(keepends=True)


def shown(value):
    """What a cell shows of its last expression: each form that the object has."""
    data = {}
    for form, method in (("text/html", "_repr_html_"), ("image/svg+xml", "_repr_svg_")):
        if hasattr(value, method):
            data[form] = lines(getattr(value, method)())
    return {**data, "text/plain": lines(repr(value))}


def outputs(source, namespace, number):
    """Runs a cell: its outputs."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, f"cell {number}", "exec"), namespace)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), namespace)
    found = []
    if printed.getvalue():
        found.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        found.append({"data": shown(value), "execution_count": number, "metadata": {},
                      "output_type": "execute_result"})
    return found


def run(notebook):
    """The notebook as it is after its cells ran, from the first to the last."""
    namespace, cells = {"__name__": "__main__"}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            number = 1 + sum(done["cell_type"] == "code" for done in cells)
            found = outputs("".join(cell["source"]), namespace, number)
            cell = {**cell, "execution_count": number, "outputs": found}
        cells.append(cell)
    return {**notebook, "cells": cells}


def text(notebook):
    """A notebook as its file has it."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = pathlib.Path(name)
        path.write_text(text(run(json.loads(path.read_text("utf-8")))), "utf-8")
