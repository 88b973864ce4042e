"""`python -m ollm_tui` is the command `ollm`."""

from __future__ import annotations

import sys

from ollm_tui.cli.main import run

if __name__ == "__main__":
    sys.exit(run())
