"""Files of other programs in shapes they should not have: a conversation or a clear error."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.session.encoding import CannotDecode, encode
from ollm_tui.storage.importers.programs.reading_programs import read_source
from tests.storage.importers.program_samples import claude_code, codex, gemini, opencode_files

JUNK: tuple[Any, ...] = (None, True, -1, 1e308, "", "x", "\ud800", [], {}, [[]], [{}], {"text": 1})
ROUNDS = 40
BUILDERS = (
    ("claude-code", claude_code),
    ("codex", codex),
    ("gemini-cli", gemini),
    ("opencode", opencode_files),
)


def spoilt(value: Any, chance: random.Random) -> Any:
    """A value of which some parts are gone, or are something else."""
    if chance.random() < 0.1:
        return chance.choice(JUNK)
    if isinstance(value, dict):
        return {key: spoilt(each, chance) for key, each in value.items() if chance.random() > 0.05}  # pyright: ignore[reportUnknownVariableType] - any JSON
    return [spoilt(each, chance) for each in value] if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType] - any JSON


@pytest.mark.parametrize(("program", "build"), BUILDERS, ids=[name for name, _ in BUILDERS])
def test_a_spoilt_file_gives_a_session_that_can_be_stored_or_an_error(
    program: str, build: Callable[[Path], Path], tmp_path: Path
) -> None:
    path, chance = build(tmp_path), random.Random(22)
    root = path.parents[2] if program == "opencode" else path.parent
    whole = {file: file.read_text().split("\n") for file in root.rglob("*.json*")}
    for _ in range(ROUNDS):
        for file, lines in whole.items():
            trees = [json.loads(line) for line in lines if line.endswith("}")]
            file.write_text("\n".join(json.dumps(spoilt(tree, chance)) for tree in trees))
        try:
            sessions = [talk.session() for talk in read_source(program, path)]
        except CannotDecode:
            continue
        assert all(encode(session) for session in sessions if session)
