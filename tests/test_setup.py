#!/usr/bin/env python3
"""Set-up scripts: the question before a package is installed, apt's locks, pinned packages and actions."""

import fcntl
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tempfile
import textwrap
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
PARTS = {"build": [], "one": ["aaa", "bbb"], "two": ["bbb", "ccc"]}


def script(path, text):
    path.write_text("#!/usr/bin/env bash\nset -euo pipefail\n" + textwrap.dedent(text))
    path.chmod(0o755)


class Repository:
    """A folder with the set-up scripts of the repository and three parts, whose packages a stand-in for apt-get
    installs: it makes a file of each package's name."""

    def __init__(self, folder, user=0):
        self.folder = pathlib.Path(folder)
        for name in ("scripts", "bin", "there"):
            (self.folder / name).mkdir()
        for name in ("common.sh", "setup.sh"):
            shutil.copy(SCRIPTS / name, self.folder / "scripts")
        for part, needs in PARTS.items():
            script(self.folder / f"scripts/setup-{part}.sh", 'cd "$(dirname "$0")/.."\n. scripts/common.sh\n'
                   + "".join(f"[ -e there/{name} ] || need {name}\n" for name in needs)
                   + f"install_needs\necho {part} is ready\n")
        script(self.folder / "bin/apt-get", """\
            echo "apt-get $*" >> log
            for word; do case $word in aaa | bbb | ccc) touch "there/$word" ;; esac; done
            """)
        script(self.folder / "bin/sudo", 'echo sudo >> log\nexec "$@"\n')
        script(self.folder / "bin/id", f"echo {user}\n")

    def environment(self, **more):
        env = {k: v for k, v in os.environ.items() if k not in ("YES", "CI", "SETUP_GATHER")}
        return {**env, "PATH": f"{self.folder}/bin:{os.environ['PATH']}", **more}

    def run(self, *parts, **more):
        """A run without a terminal."""
        return subprocess.run(["scripts/setup.sh", *parts], cwd=self.folder, env=self.environment(**more), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    def on_terminal(self, answer, *parts, errors=None, **more):
        """A run on a terminal, on which somebody types; gives what is shown there and the exit code."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            if errors:
                os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT), 2)
            os.execve("scripts/setup.sh", ["scripts/setup.sh", *parts], self.environment(**more))
        os.write(terminal, answer)
        shown = b""
        try:
            while more_shown := os.read(terminal, 4096):
                shown += more_shown
        except OSError:  # the other end is closed
            pass
        return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def log(self):
        path = self.folder / "log"
        return path.read_text().splitlines() if path.exists() else []


class Question(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.repository = Repository(place.name)

    def installed(self):
        return [line for line in self.repository.log() if " install " in line]

    def test_without_a_terminal_it_goes_on(self):
        done = self.repository.run("one", "two")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Debian packages to install as root: aaa bbb ccc\n", done.stderr)
        self.assertNotIn("[Y/n]", done.stderr)
        self.assertEqual(done.stdout.split("\n"), ["build is ready", "one is ready", "two is ready", ""])

    def test_all_parts_are_installed_at_once(self):
        self.repository.run("one", "two")
        self.assertEqual(len(self.installed()), 1)
        self.assertTrue(self.installed()[0].endswith(" --no-install-recommends aaa bbb ccc"), self.installed())
        self.assertNotIn("sudo", self.repository.log())

    def test_nothing_is_missing(self):
        self.repository.run("one")
        (self.repository.folder / "log").unlink()
        done = self.repository.run("one")
        self.assertEqual((done.returncode, done.stderr, self.repository.log()), (0, "", []))

    def test_a_terminal_is_asked_once(self):
        for answer in (b"y\n", b"\n", b"Yes\n"):
            shutil.rmtree(self.repository.folder / "there")
            (self.repository.folder / "there").mkdir()
            shown, code = self.repository.on_terminal(answer, "one", "two")
            self.assertEqual(code, 0, shown)
            self.assertEqual(shown.count("[Y/n]"), 1, shown)
            self.assertLess(shown.index("aaa bbb ccc"), shown.index("[Y/n]"))
            self.assertTrue((self.repository.folder / "there/ccc").exists())

    def test_no_installs_nothing(self):
        for answer in (b"n\n", b"what?\n", b"\x04"):  # the last one ends the input
            shown, code = self.repository.on_terminal(answer, "one", "two")
            self.assertEqual((code, self.repository.log()), (1, []), shown)
            self.assertIn("nothing was installed; needed: apt-get install aaa bbb ccc", shown)

    def test_the_question_is_seen_beside_a_file_of_errors(self):
        shown, code = self.repository.on_terminal(b"n\n", "one", errors="errors")
        self.assertEqual(code, 1)
        self.assertLess(shown.index("aaa bbb"), shown.index("[Y/n]"))

    def test_yes_beforehand(self):
        for name, value in (("YES", "1"), ("CI", "true")):
            shutil.rmtree(self.repository.folder / "there")
            (self.repository.folder / "there").mkdir()
            shown, code = self.repository.on_terminal(b"", "one", **{name: value})
            self.assertEqual(code, 0, shown)
            self.assertNotIn("[Y/n]", shown)
            self.assertIn("Debian packages to install as root: aaa bbb", shown)

    def test_a_part_alone_asks_too(self):
        done = subprocess.run(["scripts/setup-one.sh"], cwd=self.repository.folder, text=True, capture_output=True,
                              env=self.repository.environment(), stdin=subprocess.DEVNULL, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, "one is ready\n"))
        self.assertIn("aaa bbb", done.stderr)

    def test_an_unknown_part(self):
        done = self.repository.run("three")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no part three; parts: build one two", done.stderr)

    def test_a_part_that_cannot_be_set_up(self):
        script(self.repository.folder / "scripts/setup-build.sh", "echo 'setup: no cargo' >&2\nexit 1\n")
        done = self.repository.run("one")
        self.assertEqual((done.returncode, done.stderr, self.repository.log()), (1, "setup: no cargo\n", []))

    def test_another_user_is_root_by_sudo(self):
        with tempfile.TemporaryDirectory() as place:
            repository = Repository(place, user=1000)
            self.assertEqual(repository.run("one").returncode, 0)
            self.assertEqual(repository.log().count("sudo"), 2)

    def test_a_failure_of_apt_is_one(self):
        script(self.repository.folder / "bin/apt-get", "echo 'E: Unable to locate package aaa' >&2\nexit 100\n")
        done = self.repository.run("one")
        self.assertEqual(done.returncode, 1)
        self.assertIn("E: Unable to locate package aaa\nsetup: `apt-get update` ended with 100", done.stderr)


@unittest.skipUnless(shutil.which("apt-get"), "there is no apt-get")
class Locks(unittest.TestCase):
    """apt-get itself in a folder, whose locks another program holds."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)
        for name in ("lists/partial", "archives/partial", "parts", "dpkg/updates"):
            (self.folder / name).mkdir(parents=True)
        # A package that is there: installing it takes all locks and changes nothing.
        (self.folder / "dpkg/status").write_text("Package: aaa\nStatus: install ok installed\nVersion: 1\n"
                                                 "Architecture: all\nMaintainer: a <a@b>\nDescription: a\n\n")
        (self.folder / "sources").touch()
        (self.folder / "apt.conf").write_text("".join(f'{key} "{self.folder}/{value}";\n' for key, value in (
            ("Dir::State::lists", "lists"), ("Dir::Cache::archives", "archives"), ("Dir::State::status", "dpkg/status"),
            ("Dir::Etc::sourcelist", "sources"), ("Dir::Etc::sourceparts", "parts"), ("Dir::Etc::parts", "parts"),
            ("Dir::Cache::pkgcache", "pkgcache"), ("Dir::Cache::srcpkgcache", "srcpkgcache"),
            ("Dir::State::extended_states", "extended"))))

    def install(self, patience):
        (self.folder / "bin").mkdir(exist_ok=True)
        script(self.folder / "bin/id", "echo 0\n")  # every folder is ours
        env = dict(os.environ, APT_CONFIG=str(self.folder / "apt.conf"), APT_PATIENCE=str(patience),
                   PATH=f"{self.folder}/bin:{os.environ['PATH']}")
        text = f". {SCRIPTS}/common.sh; need aaa; install_packages"
        begun = time.monotonic()
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], env=env, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60)
        return done.returncode, done.stdout + done.stderr, time.monotonic() - begun

    def held(self, name):
        lock = open(self.folder / name, "w")
        self.addCleanup(lock.close)
        fcntl.lockf(lock, fcntl.LOCK_EX)
        return lock

    def test_a_free_lock(self):
        code, said, _ = self.install(60)
        self.assertEqual(code, 0, said)

    def test_a_lock_that_becomes_free(self):
        for name in ("lists/lock", "dpkg/lock-frontend", "dpkg/lock", "archives/lock"):
            lock = self.held(name)
            threading.Timer(2, lock.close).start()
            code, said, seconds = self.install(60)
            self.assertEqual(code, 0, f"{name}: {said}")
            if name != "archives/lock":  # nothing is downloaded
                self.assertGreater(seconds, 1.5, f"{name} wasn't waited for")

    def test_a_lock_that_stays(self):
        for name in ("lists/lock", "dpkg/lock-frontend"):
            lock = self.held(name)
            code, said, seconds = self.install(2)
            lock.close()
            self.assertEqual(code, 1, f"{name}: {said}")
            self.assertLess(seconds, 20)
            self.assertIn("ended with 100", said)


class Targets(unittest.TestCase):
    """Targets of the Makefile: the first prerequisite sets up all that the target and the others need."""

    def rules(self):
        text = (ROOT / "Makefile").read_text()
        return {name: words.split() for name, words in re.findall(r"^([a-z-]+):([^#=\n]*)(?:##.*)?$", text, re.M)}

    def parts(self, word):
        """The parts that a prerequisite sets up."""
        if word.startswith("setup"):
            return {"build", *word.split("+")[1:]}
        return set().union(*(self.parts(w) for w in self.rules().get(word, [])))

    def test_one_question_for_a_target(self):
        for name, words in self.rules().items():
            wanted = set().union(*(self.parts(word) for word in words))
            self.assertLessEqual(wanted, self.parts(words[0]) if words else set(), f"{name} asks more than once")
            for part in wanted:
                self.assertTrue((SCRIPTS / f"setup-{part}.sh").exists(), f"{name}: {part}")

    def test_every_part_has_a_target(self):
        for path in SCRIPTS.glob("setup-*.sh"):
            part = path.stem.removeprefix("setup-")
            if part not in ("build", "lint"):  # of `setup` and of `lint-rtl`
                self.assertEqual(self.rules().get(f"setup-{part}"), [f"setup+{part}"])

    def test_one_place_installs(self):
        for path in [*SCRIPTS.rglob("*.sh"), ROOT / "Makefile"]:
            lines = [line for line in path.read_text().splitlines() if not re.search(r"^\s*#|echo |## ", line)]
            found = re.findall(r"\bsudo\b|apt-get|pip install", "\n".join(lines))
            self.assertTrue(path.name == "common.sh" or not found, f"{path} installs by itself: {found}")


class Pins(unittest.TestCase):
    def test_locks_have_what_is_wanted(self):
        wanted = {"eda": ["eda", "formal"]}
        for lock in SCRIPTS.glob("requirements-*.lock"):
            name = lock.stem.removeprefix("requirements-")
            text = lock.read_text()
            for source in wanted.get(name, [name]):
                for line in (SCRIPTS / f"requirements-{source}.txt").read_text().splitlines():
                    self.assertIn("\n" + line.split(" ;")[0] + " ", "\n" + text, f"{lock.name}: run make lock")

    def test_every_set_has_a_lock(self):
        for path in SCRIPTS.glob("requirements-*.txt"):
            self.assertTrue(path.with_suffix(".lock").exists() or path.stem == "requirements-formal", path.name)

    def test_locks_have_versions_and_hashes(self):
        for lock in SCRIPTS.glob("requirements-*.lock"):
            for entry in lock.read_text().replace("\\\n", "").splitlines():
                self.assertRegex(entry, r"^[a-z0-9-]+==[\w.]+ (; [^:]*)?( *--hash=sha256:[0-9a-f]{64})+$", lock.name)

    def test_actions_are_pinned_by_digest(self):
        for path in (ROOT / ".github/workflows").glob("*.yml"):
            for action in re.findall(r"uses: (.*)", path.read_text()):
                self.assertRegex(action, r"^[\w/-]+@[0-9a-f]{40} # v[\d.]+$")


if __name__ == "__main__":
    unittest.main()
