"""Programs of several commands, each a module of a package."""

import importlib
import re
import sys


def run(program, package, text):
    """Runs the command that the first argument names. `text` lists the commands, four blanks before each."""
    commands = re.findall(r"(?m)^    ([a-z-]+)  ", text)
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name in ("-h", "--help"):
        print(text.strip())
        return 0
    if name not in commands:
        print(f"{program}: there is no command {name!r}; the commands are {', '.join(commands)}", file=sys.stderr)
        return 2
    module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
    sys.argv[:2] = [f"{program}.py {name}"]
    try:
        return module.main()
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return 130
