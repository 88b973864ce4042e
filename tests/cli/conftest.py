"""Runs the real command in a process of its own, on a scripted model."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins import warm_command
from tests.stand_ins.warm_command import OLLM

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_ollm(home: Path) -> Run:
    """`ollm …` as a user types it; with `script` the model says that."""

    def run(
        *arguments: str, script: Any = None, stdin: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = dict(os.environ) | variables
        if script is not None:
            file = home.parent / "script.json"
            file.write_text(json.dumps(script))
            environment["OLLM_TEST_SCRIPT"] = str(file)
        if warm_command.can_be_warm(environment):
            return warm_command.run(arguments, environment, stdin)
        source: dict[str, Any] = {"input": stdin} if stdin is not None else {"stdin": -3}
        return subprocess.run(
            [str(OLLM), *arguments], capture_output=True, text=True, env=environment, **source
        )

    return run
