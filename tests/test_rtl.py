"""How modules of rtl/ are written: one a file, named as the file, of at most 500 lines; no output is
assigned on a clock, but from a register `_q`, except in the modules of REGISTERED."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LINES = 500
# The modules of the set core's PU, whose outputs are registers: with names of their own the same registers came out
# of synthesis with ways of 9 and 10 levels between them, and 8 is the limit.
REGISTERED = {f"gramer_set_{name}" for name in (
    "counter", "elements", "intersector", "level_engine", "list_buffer", "map", "map_bank", "plan", "plan_asker",
    "plan_lister", "plan_merger", "plan_packer", "plan_walker", "port", "pu", "reached", "roots", "row_memory", "row_ring", "rows", "stepper",
    "streamer", "sums", "by_map", "triple_products", "triple_sums", "triples", "wedge_sums", "wedges")}


def code(text):
    """Without comments; lines stay."""
    return re.sub(r"//[^\n]*", "", text)


def registers(text):
    """Names of outputs that are assigned as registers."""
    text = code(text)
    outputs = re.findall(r"\boutput\b[^,;)]*?(\w+)\s*(?:\[[^\]]*\]\s*)*(?=[,\n)])", text)
    # The target of `<=` at the beginning of a statement, whole or in part.
    target = r"(?:^|\bbegin\b|\belse\b|[;):])\s*{name}\b(?:\.\w+|\[[^;=\n]*\])*\s*<=\s"
    return [name for name in outputs if re.search(target.format(name=name), text, re.M)]


def faults(name, text):
    """What is wrong with a file of this name, without its ending."""
    found = [f"register {register} is an output" for register in registers(text)]
    units = re.findall(r"(?m)^\s*(?:module|package)\s+(\w+)", code(text))
    if units != [name]:
        found.append(f"it holds {', '.join(units) or 'nothing'}")
    if not name.startswith("gramer_"):
        found.append("its name does not begin with gramer_")
    if text.count("\n") > LINES:
        found.append(f"it has {text.count(chr(10))} lines")
    return found


MODULE = """module gramer_x (
  input  logic clk_i,
  output logic valid_o, // one
  output logic [3:0] word_o [2],
  output logic done_o
);
  logic valid_q;
  assign valid_o = valid_q;
  assign done_o  = word_o[0] <= word_o[1];
  always_ff @(posedge clk_i) begin
    valid_q <= !valid_o;
  end
endmodule
"""


class Modules(unittest.TestCase):
    def test_all_are_written_so(self):
        # The packages of machines are generated.
        paths = sorted(path for path in (ROOT / "rtl").rglob("*.sv") if path.parent.name != "machine")
        self.assertGreater(len(paths), 40)
        found, registered = [], set()
        for path in paths:
            for fault in faults(path.stem, path.read_text()):
                if path.stem in REGISTERED and fault.endswith("is an output"):
                    registered.add(path.stem)
                else:
                    found.append(f"{path.relative_to(ROOT)}: {fault}")
        self.assertEqual(found, [])
        self.assertEqual(registered, REGISTERED, "no module is excepted for nothing")

    def test_what_is_right_is_taken(self):
        self.assertEqual(faults("gramer_x", MODULE), [])

    def test_what_is_refused(self):
        for old, new in [("    valid_q <= !valid_o;", "    valid_o <= !valid_o;"),
                         ("    valid_q <= !valid_o;", "    if (done_o) word_o[0][1] <= 1'b1;"),
                         ("    valid_q <= !valid_o;", "    if (done_o) valid_q <= 1'b1; else done_o <= 1'b1;"),
                         ("endmodule\n", "endmodule\nmodule gramer_y;\nendmodule\n"),
                         ("endmodule\n", "\n" * LINES + "endmodule\n")]:
            self.assertIn(old, MODULE)
            self.assertEqual(len(faults("gramer_x", MODULE.replace(old, new))), 1, new)
        self.assertEqual(len(faults("gramer_y", MODULE)), 1)
        self.assertEqual(len(faults("x", MODULE.replace("gramer_x", "x"))), 1)


if __name__ == "__main__":
    unittest.main()
