"""Stands in for pip: `python pip_command.py PLAN download …` writes the archive of a plan."""

from __future__ import annotations

import json
import os
import sys
import time
import zipfile
from pathlib import Path
from typing import Any


def run(plan_file: Path, arguments: list[str]) -> int:
    """Do what the plan says for the requirement that is asked for."""
    wheels = Path(arguments[arguments.index("--dest") + 1])
    wanted = Path(arguments[arguments.index("-r") + 1]).read_text()
    with (plan_file.parent / "pip.log").open("a") as log:
        log.write(json.dumps({"pid": os.getpid(), "arguments": arguments, "wanted": wanted}) + "\n")
    plan: dict[str, Any] = json.loads(plan_file.read_text())[wanted.split()[0]]
    wheels.mkdir(exist_ok=True)
    if "file" in plan:
        with zipfile.ZipFile(wheels / "package-1-py3-none-any.whl", "w") as archive:
            archive.write(plan["file"], plan["member"])
    if plan.get("hangs"):
        time.sleep(600)
    print(plan.get("complaint", ""), file=sys.stderr)
    return int(plan.get("exit", 0))


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[3:]))
