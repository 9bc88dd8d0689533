"""Folder of cargo's builds: CARGO_TARGET_DIR, or target/ of the repository. Files of the scripts are always in target/ of
the repository."""

import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILT = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
