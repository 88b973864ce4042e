"""`python -m tests.crash.snapshot_driver SCENARIO FOLDER`: the driver, for snapshots."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path

from tests.crash.driver import Driver

SCENARIOS = ("tests.crash.snapshot_scenarios", "tests.crash.restore_scenarios")


class SnapshotDriver(Driver):
    """Runs the scenarios of snapshots, and of going back to them."""

    def __init__(self, scenario_name: str, folder: Path) -> None:
        super().__init__("changing", folder)
        # Only now, when the system calls are counted.
        kept, restored = map(import_module, SCENARIOS)
        self._scenario = {**kept.ALL, **restored.ALL}[scenario_name]


if __name__ == "__main__":
    for each in SnapshotDriver(sys.argv[1], Path(sys.argv[2])).children():
        print(json.dumps(each), flush=True)
