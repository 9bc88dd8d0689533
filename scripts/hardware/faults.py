"""Faults in the cores: all possible ones, the list of judged ones, and the copy of rtl/ that has them.
scripts/hardware/mutants.py uses them."""

import itertools
import pathlib
import random
import re
import shutil

import rtl_files

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "target/mutants"
LIST = ROOT / "scripts/hardware/mutants.tsv"
LEAST_A_MODULE = 2
# Faults of modules that no proof covers completely.
LEAST_OF = {"gramer_set_plan": 4, "gramer_set_plan_asker": 5, "gramer_set_plan_merger": 8,
            "gramer_set_plan_packer": 7, "gramer_set_plan_walker": 8, "gramer_set_wedges": 10,
            "gramer_set_wedge_lines": 4, "gramer_set_wedge_sums": 4, "gramer_set_reached": 4, "gramer_set_map": 6,
            "gramer_set_map_bank": 4, "gramer_set_triples": 8, "gramer_set_triple_lines": 4, "gramer_set_triple_sums": 5,
            "gramer_set_triple_products": 5}
# Kinds of which few can be made, so that a draw hardly meets them.
LEAST_A_KIND = {"reset lost": 4, "width": 4, "response code": 1, "upper bit": 2, "constant": 3, "cast": 3}
# Modules without own logic.
SKIP = {"gramer_types_pkg", "gramer_set_types_pkg"}
SET = "gramer_set_"

# What is replaced, by what, and what it is called. Each is tried at every place where it fits.
NAME = r"[a-z][\w.]*"
OPERATORS = [
    (r" == ", " != ", "inverted comparison"),
    (r" != ", " == ", "inverted comparison"),
    (r" < ", " <= ", "comparison off by one"),
    (r" > ", " >= ", "comparison off by one"),
    (r" >= ", " > ", "comparison off by one"),
    (r" <= ", " < ", "comparison off by one"),
    (r" && ", " || ", "condition widened"),
    (r" \|\| ", " && ", "condition narrowed"),
    (rf" (?:&&|\|\|) !?{NAME}(?=$| [&|]|\))", "", "term lost"),
    (r"\+ 1'b1", "+ 1'b0", "step lost"),
    (r"- 1'b1", "- 1'b0", "off by one"),
    (r" \+ ", " - ", "sign"),
    (r" >> ", " << ", "shift turned round"),
    (r"(?<![!=<>])!(?=[a-z(])", "", "negation lost"),
    (r"~", "", "complement lost"),
    (r" & ", " | ", "mask"),
    (r" \| ", " & ", "mask"),
    (r"1'b1$", "1'b0", "stuck at 0"),
    (r"^1'b0$", "1'b1", "stuck at 1"),
    (r"^'0$", "'1", "stuck at 1"),
    (rf"(?<![\w.'])({NAME}) - ({NAME})(?![\w.(\['])", r"\2 - \1", "operands swapped"),
    (rf"(?<![\w.'])({NAME}) (<|>|<=|>=) ({NAME})(?![\w.(\['])", r"\3 \2 \1", "operands swapped"),
    (r"^([^?:()]+) \? ([^?:()]+) : ([^?:()]+)$", r"\1 ? \3 : \2", "wrong choice"),
    # SLVERR alone is taken for an error: neither DECERR nor EXOKAY.
    (r"\b(\w*resp\w*) != '0", r"\1 == 2'b10", "response code"),
    # The highest bit of an address or an id isn't compared.
    (r"(?<![\w.'\])])((?:[a-z][\w.]*)?(?:line|address|id)\w*(?:\[\w+\])?) == ((?:[a-z][\w.]*)?(?:line|address|id)\w*(?:\[\w+\])?)"
     r"(?![\w.(\['])", r"((\1 ^ \2) << 1) == '0", "upper bit"),
    # A constant that something is compared with.
    (r" (==|!=|<|>|<=|>=) ((?:\(?\w+(?:\s*\+\s*1\))?'\()?)([A-Z][A-Z_0-9]*[A-VX-Z0-9])(?![\w'\[(])", r" \1 \2\3 - 1", "constant"),
    # A value cut to one bit too few.
    (r"(?<![\w*+-])([A-Z][A-Z_]*_W)'\(", r"(\1-1)'(", "cast"),
]
# Inputs that let something happen.
ENABLE = re.compile(r"(?:valid|write|push|pop|take|free|return|refer|fill|look|read|copy|miss|clear|"
                    r"forget|stall)_i$")
DECLARATION = re.compile(r"\b(?:localparam|parameter|logic|typedef|input|output|genvar|function)\b")


def blank(text):
    """Comments, strings and what is not synthesized, replaced by spaces: positions stay."""
    def spaces(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"//[^\n]*", spaces, text)
    text = re.sub(r'"[^"\n]*"', spaces, text)
    text = re.sub(r"`ifndef SYNTHESIS.*?`endif", spaces, text, flags=re.S)
    # What the small machine is built without.
    for absent in [r"(?m)^( *)end else begin : gen_far\b.*?^\1end\b",
                   r"begin : gen_states.*?end else begin", r"begin : gen_no_(?:pad|counters).*?\bend\b",
                   r"if \((?:\w+ && )?COMPACTION == 0(?: && \w+)?\).*?\bend\b",
                   r"if \(CANDIDATE_CHECK != 0\) begin : gen_checks.*?end else begin",
                   r"if \(CANDIDATE_CHECK != 0[^;]*;"]:
        text = re.sub(absent, spaces, text, flags=re.S)
    return text


def closing(text, at):
    """The position of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{"
        depth -= text[i] in ")]}"
        if depth == 0:
            return i
    raise ValueError("brackets")


def expressions(code):
    """(start, end, enable) of every expression that is assigned, tested or passed on; `enable` if
    it alone lets something happen."""
    body = code.find(");", code.find("module"))  # after the ports
    found = []
    for match in re.finditer(r"\b(?:assign\s+[\w\[\]:+\-*.' ]+?|wire\s[^=;]*?)\s*=\s", code):
        found.append((match.end(), code.index(";", match.end()), False))
    for match in re.finditer(r"(?m)^\s+(?:[^\n;]*\)\s|else\s)?[a-z][\w.]*(?:\[[^;\n]*?\])*(?:\.\w+)?"
                             r"\s*<?=\s(?=[^;]*;)", code):
        head = code[match.start():match.end()]
        if re.search(r"\b(localparam|parameter|logic|wire|assign|for|input|output)\b", head):
            continue
        found.append((match.end(), code.index(";", match.end()), False))
    for match in re.finditer(r"\bif\s*\(", code):
        end = closing(code, match.end() - 1)
        if not re.match(r"\s*begin\s*:", code[end + 1:]):
            found.append((match.end(), end, True))
    for match in re.finditer(r"\.([a-z]\w*_i)\s*\((?=[^)])", code):
        if match.group(1) != "clk_i":
            found.append((match.end(), closing(code, match.end() - 1),
                          bool(ENABLE.search(match.group(1)))))
    unique, reach = [], 0
    for start, end, enable in sorted(set(found)):
        # What a build decides is no fault of its logic.
        decided = re.search(r"'\{|COMPACTION|CANDIDATE_CHECK|UNIFORM|PERFORMANCE_COUNTERS", code[start:end])
        if start >= max(reach, body) and not decided:
            unique.append((start, end, enable))
            reach = end
    return unique


def indices(code):
    """(start, end) of every name that selects an element."""
    body = code.find(");", code.find("module"))
    loops = set(re.findall(r"\bfor\s*\(\s*(?:int\s+(?:unsigned\s+)?|genvar\s+)?(\w+)\s*=", code))
    for match in re.finditer(r"(?<=\w|\])\[([a-z][\w.]*)\]", code):
        line = code[code.rfind("\n", 0, match.start()) + 1:match.start()]
        if match.start() > body and match.group(1) not in loops and not DECLARATION.search(line):
            yield match.start(1), match.end(1)


def resets(code):
    """(start, end, register) of every value that a reset alone gives a register of one stage."""
    body = code.find(");", code.find("module"))
    for match in re.finditer(r"\bif \(rst_i(?: \|\| \w+)?\)\s*(begin\b)?", code):
        if match.start() < body:
            continue
        end = match.end() + re.search(r"\bend\b" if match.group(1) else ";", code[match.end():]).end()
        for reset in re.finditer(r"(?:^|[\s;])([a-z]\w*(?:\[\w+\])?)\s*<=\s*([^;]+);", code[match.end():end]):
            yield match.end() + reset.start(2), match.end() + reset.end(2), reset.group(1)


def faults(path):
    """Every fault that can be made in a file."""
    text = path.read_text()
    code = blank(text)

    def fault(start, end, made, kind):
        first = text.rfind("\n", 0, start) + 1
        last = text.find("\n", end)
        was, became = (" ".join(part.split()) for part in
                       (code[first:last], code[first:start] + made + code[end:last]))
        return {"module": path.stem, "start": start, "end": end, "made": made, "kind": kind,
                "line": text.count("\n", 0, start) + 1, "was": was, "became": became}

    made = []
    for start, end, enable in expressions(code):
        old = code[start:end]
        for pattern, new, kind in OPERATORS:
            for match in re.finditer(pattern, old):
                # A `?:` inside brackets does not belong to the outer expression.
                whole = all(part.count("[") == part.count("]") for part in match.groups())
                if whole and "\n" not in match.group():
                    made.append(fault(start, end, old[:match.start()] + match.expand(new)
                                      + old[match.end():], kind))
        if enable and re.fullmatch(r"[\w.]+", old):
            made.append(fault(start, end, "'0", "enable lost"))
        # A sum that is one bit too narrow.
        if re.fullmatch(r"[\w.\[\]]+ \+ (?:1'b1|[\w.\[\]]+)", old):
            made.append(fault(start, end, f"({old}) & ~($bits({old})'(1) << ($bits({old}) - 1))", "width"))
    for start, end, register in resets(code):
        made.append(fault(start, end, register, "reset lost"))
    for start, end in indices(code):
        made.append(fault(start, end, f"{code[start:end]} + 1'b1", "index off by one"))
    seen, done = {}, set()
    for one in made:
        same = (one["start"], one["end"], one["made"])
        if same in done or one["was"] == one["became"]:
            continue
        done.add(same)
        # The same text may stand there twice.
        same = (one["was"], one["became"])
        seen[same] = seen.get(same, 0) + 1
        one["nth"] = seen[same]
        yield one


def key(fault):
    return "\t".join([fault["module"], fault["was"], fault["became"], str(fault["nth"])])


def sources():
    """The modules of both cores."""
    return [ROOT / file for file in rtl_files.every()]


def source(module):
    """The file of a module, from the root; None if it is no module of the cores."""
    return next((file for file in rtl_files.every() if pathlib.Path(file).stem == module), None)


def all_faults():
    """Every fault of every module."""
    return {path.stem: list(faults(path)) for path in sources() if path.stem not in SKIP}


def listed(modules):
    """The faults of the list, where they are now."""
    made = {key(fault): fault for pool in modules.values() for fault in pool}
    found, gone = [], []
    for line in LIST.read_text().splitlines() if LIST.exists() else []:
        if not line or line.startswith("#"):
            continue
        number, quick, kind, rest = line.split("\t", 3)
        if rest in made:
            found.append(dict(made[rest], number=int(number), quick=quick == "quick", kind=kind))
        else:
            gone.append(line)
    return found, gone


def draw(modules, chosen, seed, total, total_set):
    """Fills the list up, for each core on its own."""
    numbers = {fault["number"] for fault in chosen}
    filled = []
    for of_set, most in ((False, total), (True, total_set)):
        def ours(module):
            return module.startswith(SET) == of_set
        filled += draw_core({name: pool for name, pool in modules.items() if ours(name)},
                            [fault for fault in chosen if ours(fault["module"])], seed, most, numbers)
    return sorted(filled, key=lambda f: f["number"])


def draw_core(modules, chosen, seed, total, numbers):
    """Fills the list of a core up: at least a few a module, then any, a kind as likely as another."""
    rng = random.Random(seed)

    def free(fault):
        return not any(fault["module"] == other["module"] and fault["start"] < other["end"]
                       and other["start"] < fault["end"] for other in chosen)

    def take(pool, kinds):
        pool = [fault for fault in pool if free(fault)]
        if not pool:
            return False
        fresh = [fault for fault in pool if fault["kind"] not in kinds] or pool
        kind = rng.choice(sorted({fault["kind"] for fault in fresh}))
        chosen.append(rng.choice([fault for fault in fresh if fault["kind"] == kind]))
        return True

    for module, pool in modules.items():
        while True:
            here = [fault for fault in chosen if fault["module"] == module]
            if len(here) >= LEAST_OF.get(module, LEAST_A_MODULE) or not take(pool, {f["kind"] for f in here}):
                break
    everything = [fault for pool in modules.values() for fault in pool]
    for kind, least in LEAST_A_KIND.items():
        of_kind = [fault for fault in everything if fault["kind"] == kind]
        while sum(f["kind"] == kind for f in chosen) < least and take(of_kind, set()):
            pass
    while len(chosen) < total and take(everything, set()):
        pass
    spare = (n for n in itertools.count(1) if n not in numbers)
    fresh = [fault for fault in chosen if "number" not in fault]
    for fault in sorted(fresh, key=lambda f: (f["module"], f["start"])):
        fault["number"] = next(spare)
        numbers.add(fault["number"])
    return chosen


def write_list(chosen):
    """The list, for people and for the next run."""
    lines = ["# Faults: number, quick (CI runs it), kind, module, statement, what it became, and which"
             " of the same statements. Drawn by scripts/hardware.py mutants --draw."]
    lines += ["\t".join([str(f["number"]), "quick" if f.get("quick") else "", f["kind"], key(f)])
              for f in chosen]
    LIST.write_text("\n".join(lines) + "\n")


def write(chosen):
    """The copy of rtl/ with every fault in it."""
    for one, other in itertools.combinations(chosen, 2):
        if (one["module"] == other["module"] and one["start"] < other["end"]
                and other["start"] < one["end"]):
            raise SystemExit(f"mutants: {one['number']} and {other['number']} are in the same expression")
    target = WORK / "rtl"
    shutil.rmtree(target, ignore_errors=True)
    for part in ("common", "paper", "set"):
        (target / part).mkdir(parents=True)
    for path in [*sources(), *(ROOT / "rtl").glob("*.vlt")]:
        text = path.read_text()
        for fault in sorted((f for f in chosen if f["module"] == path.stem),
                            key=lambda f: -f["start"]):
            old = text[fault["start"]:fault["end"]]
            old = re.sub(r"//[^\n]*", "", old)
            made = f"(gramer_mutant_pkg::mutant == {fault['number']} ? ({fault['made']}) : ({old}))"
            text = text[:fault["start"]] + made + text[fault["end"]:]
        if path.suffix == ".sv":
            text = PACKAGE + text
        if path.suffix == ".vlt":
            # Faults break the rules of the linter, not of the language.
            text += "".join(f"lint_off -rule {rule}\n" for rule in
                            ["WIDTH", "CMPCONST", "UNSIGNED", "UNUSEDSIGNAL", "UNOPTFLAT",
                             "DECLFILENAME", "SELRANGE"])
        (target / path.relative_to(ROOT / "rtl")).write_text(text)


# Which fault acts, read when the simulation starts. The first file of a compilation declares it.
PACKAGE = """`ifndef GRAMER_MUTANT_PKG
`define GRAMER_MUTANT_PKG
package gramer_mutant_pkg;
  function automatic int chosen();
    int number;
    number = 0;
    if ($value$plusargs("mutant=%d", number) == 0) number = 0;
    return number;
  endfunction
  int mutant = chosen();
endpackage
`endif
"""
