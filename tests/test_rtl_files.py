"""The file lists of the RTL: Bender.yml and rtl/*.core name the same files, all that are there, and the cores
elaborate by them alone in Verilator, slang and Icarus Verilog. A tool that isn't installed is skipped, visibly."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import rtl_files  # noqa: E402

TOPS = {"paper": "gramer_core", "set": "gramer_set_core"}
# The first release of Icarus that knows `localparam int unsigned`, which every package has.
ICARUS = 12


def skip(test: unittest.TestCase, missing: str):
    """Skips a test, and notes it for the summary of scripts/test.py."""
    if "GRAMER_SKIPPED" in os.environ:
        with open(os.environ["GRAMER_SKIPPED"], "a") as file:
            file.write(f"test_rtl_files.py\t{test.id()}\t{missing}\n")
    test.skipTest(missing)


def whole(core: str) -> list[str]:
    """The files of a core with the package of its default machine."""
    return [rtl_files.machine(core), *rtl_files.files(core)]


def of_core(name: str) -> tuple[dict, list]:
    """The file sets of a FuseSoC core description, and the cores that it depends on."""
    sets: dict[str, list[str]] = {}
    depends, part = [], ""
    text = (ROOT / "rtl" / f"gramer_{name}.core").read_text().split("\nfilesets:\n")[1].split("\ntargets:\n")[0]
    for line in text.splitlines():
        if match := re.fullmatch(r"  (\w+):", line):
            current = sets.setdefault(match[1], [])
        elif match := re.fullmatch(r"    (\w+):(?: \w+)?", line):
            part = match[1]
        elif match := re.fullmatch(r"      - (\S+)", line):
            (current if part == "files" else depends).append(match[1])
    return sets, depends


class Lists(unittest.TestCase):
    def test_every_file_is_listed_once(self):
        there = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "rtl").rglob("*.sv"))
        listed = sorted(file for _, files in rtl_files.groups() for file in files)
        self.assertEqual(listed, there)
        self.assertGreater(len(there), 80)

    def test_each_core_has_its_own_and_the_common_files(self):
        for core in rtl_files.CORES:
            folders = [file.split("/")[1] for file in rtl_files.files(core)]
            self.assertEqual(list(dict.fromkeys(folders)), ["common", core])
            # What a module imports is read before it.
            types = next(file for file in rtl_files.files(core) if file.startswith(f"rtl/{core}/"))
            self.assertTrue(types.endswith("_types_pkg.sv"), types)

    def test_fusesoc_has_the_same_lists(self):
        common, none = of_core("common")
        self.assertEqual(none, [])
        for core in rtl_files.CORES:
            sets, depends = of_core(core)
            self.assertEqual(depends, ["gramer:rtl:common"])
            self.assertEqual([f"rtl/{file}" for file in common["rtl"] + sets["rtl"]], rtl_files.files(core))
            self.assertEqual([f"rtl/{file}" for file in sets["machine"]], [rtl_files.machine(core)])

    def test_fusesoc_reads_them(self):
        """By FuseSoC itself, where it is installed."""
        if not (fusesoc := shutil.which("fusesoc")):
            skip(self, "there is no fusesoc on the PATH")
        for core in rtl_files.CORES:
            with tempfile.TemporaryDirectory() as work:
                done = subprocess.run([fusesoc, "--cores-root", ROOT / "rtl", "run", "--setup", "--no-export",
                                       "--work-root", work, "--target", "lint", f"gramer:rtl:{core}"],
                                      cwd=work, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                (listed,) = pathlib.Path(work).glob("*.vc")
                files = [line.split("/rtl/rtl/" if "/rtl/rtl/" in line else "/rtl/")[-1]
                         for line in listed.read_text().split() if line.endswith(".sv")]
            common = [file for file in rtl_files.files(core) if file.startswith("rtl/common/")]
            own = [file for file in whole(core) if file not in common]
            self.assertEqual([f"rtl/{file}" for file in files], common + own)

    def test_bender_reads_them(self):
        """By Bender itself, where it is installed."""
        if not (bender := shutil.which("bender")):
            skip(self, "there is no bender on the PATH")
        for core in rtl_files.CORES:
            done = subprocess.run([bender, "-d", ROOT, "script", "flist", "-t", f"gramer_{core}"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.split(), [str(ROOT / file) for file in whole(core)])


class Elaboration(unittest.TestCase):
    def run_all(self, command):
        for core, top in TOPS.items():
            done = subprocess.run(command(top, [str(ROOT / file) for file in whole(core)]), cwd=ROOT / "rtl",
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            self.assertEqual(done.returncode, 0, f"{top}:\n{done.stdout[-2000:]}")

    def test_verilator(self):
        if not shutil.which("verilator"):
            skip(self, "there is no verilator on the PATH")
        self.run_all(lambda top, files: ["verilator", "--lint-only", "-Wall", "--assert", "--top-module", top,
                                         "verilator.vlt", *files])

    def test_slang(self):
        python = ROOT / ".venv/bin/python"
        if not python.exists() or subprocess.run([python, "-c", "import pyslang"], capture_output=True).returncode:
            skip(self, "there is no pyslang in .venv (scripts/setup-eda.sh installs it)")
        self.run_all(lambda top, files: [python, "-B", __file__, "--slang", top, *files])

    def test_icarus(self):
        if not (icarus := shutil.which("iverilog")):
            skip(self, "there is no iverilog on the PATH")
        said = subprocess.run([icarus, "-V"], capture_output=True, text=True).stdout
        version = int(re.search(r"version (\d+)", said)[1])
        if version < ICARUS:
            skip(self, f"iverilog is version {version}, and packages need {ICARUS} (localparam int unsigned)")
        self.run_all(lambda top, files: [icarus, "-g2012", "-t", "null", "-s", top, *files])


def slang(top: str, files: list[str]) -> int:
    """Elaborates by pyslang; prints its errors."""
    from pyslang.driver import Driver

    driver = Driver()
    driver.addStandardArgs()
    if not (driver.parseCommandLine(f"slang --top {top} {' '.join(files)}") and driver.processOptions()
            and driver.parseAllSources()):
        return 1
    wrong = [d for d in driver.createCompilation().getAllDiagnostics() if d.isError()]
    for diagnostic in wrong:
        print(diagnostic.code, diagnostic.location)
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--slang"]:
        sys.exit(slang(sys.argv[2], sys.argv[3:]))
    unittest.main()
