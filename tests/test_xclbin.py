#!/usr/bin/env python3
"""`make xclbin` without Vitis, and builds in another folder than target/."""

import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOLS = ("vivado", "v++", "vitis_hls", "xclbinutil", "emconfigutil")


def make(*words, path=None, **more):
    """A run of make with no tool of Vitis on the PATH but those of a folder."""
    names = ("TARGET", "BOARD", "PLATFORM", "MACHINE", "FREQUENCY", "CARGO_TARGET_DIR", "PLATFORM_REPO_PATHS",
             "XILINX_VITIS", "MAKEFLAGS", "MAKELEVEL")
    env = {k: v for k, v in os.environ.items() if k not in names}
    env["PATH"] = (f"{path}:" if path else "") + ":".join(
        folder for folder in env["PATH"].split(":") if not os.path.exists(f"{folder}/v++"))
    begun = time.monotonic()
    done = subprocess.run(["make", *words], cwd=ROOT, env={**env, **more}, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=120)
    return done, time.monotonic() - begun


class WithoutVitis(unittest.TestCase):
    def test_the_tools_are_missed_at_once(self):
        quickest = []
        for words in ([], ["BOARD=u250", "TARGET=hw_emu"], ["MACHINE=set"]):
            done, seconds = make("xclbin", *words)
            quickest.append(seconds)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("Error 1", done.stderr)  # of the script
            self.assertIn("error: Vitis is not there: vivado v++ xclbinutil", done.stderr)
            self.assertEqual(done.stdout, "", "something was built")
        # The best of three: other programs may have the processors.
        self.assertLess(min(quickest), 1)

    def test_an_unknown_board(self):
        boards = re.findall(r"^(\w+):", (ROOT / "constraints/boards.yaml").read_text(), re.M)
        for name in ("u99", "U250", "", "../u250"):
            done, _ = make("xclbin", f"BOARD={name}")
            if name:
                self.assertIn(f"error: no board {name}; boards: {', '.join(boards)}", done.stderr)
                self.assertIn("Error 2", done.stderr)
            self.assertEqual(done.stdout, "", "something was built")

    def test_every_board_is_known(self):
        for name in re.findall(r"^(\w+):", (ROOT / "constraints/boards.yaml").read_text(), re.M):
            done, _ = make("xclbin", f"BOARD={name}", "TARGET=hw_emu")
            self.assertIn("error: Vitis is not there", done.stderr, name)

    def test_a_board_that_is_only_emulated(self):
        for words in ([], ["TARGET=hw"], ["TARGET=sw_emu"]):
            done, _ = make("xclbin", "BOARD=f2", *words)
            self.assertIn("error: BOARD=f2 is for TARGET=hw_emu alone, not", done.stderr)
            self.assertIn("Error 2", done.stderr)
            self.assertEqual(done.stdout, "", "something was built")

    def test_an_unknown_machine_and_target(self):
        done, _ = make("xclbin", "MACHINE=nothing")
        self.assertIn("error: no machine nothing; machines: accelerator", done.stderr)
        done, _ = make("xclbin", "TARGET=fast")
        self.assertIn("error: TARGET=fast; TARGET is hw, hw_emu or sw_emu", done.stderr)

    def test_the_platform_is_missed(self):
        with tempfile.TemporaryDirectory() as place:
            for tool in TOOLS:
                path = pathlib.Path(place, tool)
                path.write_text("#!/bin/sh\nexit 1\n")
                path.chmod(0o755)
            done, _ = make("xclbin", path=place, PLATFORM_REPO_PATHS=place)
            self.assertRegex(done.stderr, f"error: platform xilinx_u250_\\w+ is not there: no .*xpfm in {place} /opt")
            self.assertEqual(done.stdout, "", "something was built")
            own = pathlib.Path(place, "own.xpfm")
            own.touch()
            for platform in ("own", str(own)):
                script = ROOT / "scripts/vitis/build.sh"
                env = dict(os.environ, PATH=f"{place}:{os.environ['PATH']}", PLATFORM_REPO_PATHS=place,
                           PLATFORM=platform, BOARD="u250", MACHINE="small", TARGET="hw")
                done = subprocess.run([script, "--check"], env=env, text=True, capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)


class AnotherFolder(unittest.TestCase):
    def test_generated_files_come_of_the_program_there(self):
        for folder, absolute in (("/elsewhere", "/elsewhere"), ("nearby", f"{ROOT}/nearby")):
            for words, more in (([f"CARGO_TARGET_DIR={folder}"], {}), ([], {"CARGO_TARGET_DIR": folder})):
                done, _ = make("--dry-run", "generate", "install", *words, **more)
                self.assertIn(f'{absolute}/debug/examples/generate "$machine"', done.stdout, done.stderr)
                # cargo of the recipes has the same one, though they may change their folder
                done, _ = make("--eval=.PHONY: shown\nshown:\n\t@echo $$CARGO_TARGET_DIR", "shown", *words, **more)
                self.assertEqual(done.stdout, absolute + "\n", done.stderr)

    def test_no_program_is_looked_for_in_target_alone(self):
        files = [ROOT / "Makefile", *(ROOT / "scripts").rglob("*.sh"), *(ROOT / "scripts").rglob("*.py")]
        for path in files:
            # Not what help and comments say.
            code = re.sub(r'##.*|^\s*#.*|""".*?"""|help=".*?"', "", path.read_text(), flags=re.M | re.S
                          if path.suffix == ".py" else re.M)
            code = code.replace("${CARGO_TARGET_DIR:-target}", "")
            found = re.findall(r"""target(?:/|" / ")(?:release|debug|mpi)\b""", code)
            self.assertEqual(found, [], f"{path} doesn't regard CARGO_TARGET_DIR")


if __name__ == "__main__":
    unittest.main()
