"""The folder of the data is for its user only, also one that was there before."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_a_folder_that_others_can_look_into_is_shut_and_that_is_said_once(
    run_ollm: Run, home: Path
) -> None:
    home.mkdir()
    home.chmod(0o755)
    first = run_ollm("sessions", "list")
    told = f"ollm: warning: data folder: {home}: was readable by others; now private\n"
    assert (first.returncode, first.stderr) == (0, told)
    assert home.stat().st_mode & 0o777 == 0o700
    assert run_ollm("sessions", "list").stderr == ""
    home.chmod(0o750)
    assert run_ollm("-p", "hello", script=[[{"text": "Yes."}]]).stderr == told
