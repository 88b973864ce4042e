"""Every setting is read by something."""

from __future__ import annotations

import re

import msgspec

from ollm_tui.settings.schema import Settings
from tests.conftest import REPOSITORY

WAITING_FOR_THEIR_FEATURE = frozenset(
    """
    loop_detection.enabled loop_detection.max_turns loop_detection.repeat_threshold
    loop_detection.strict loop_detection.nudge
    environment.policy environment.allow_list environment.deny_patterns
    retention.max_items retention.store_tool_outputs
    tools.permissions tools.allowed tools.scope tools.network tools.timeout_seconds
    """.split()
)
"""Understood in files today, used when the part they belong to is built. Only ever shorter."""


def keys() -> list[str]:
    found: list[str] = []
    for group in msgspec.structs.fields(Settings):
        kind = group.type
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            found += [f"{group.name}.{field.name}" for field in msgspec.structs.fields(kind)]
        else:
            found.append(group.name)
    return found


def is_read(key: str) -> bool:
    """Whether some module outside of the settings asks for this attribute."""
    wanted = re.compile(r"settings(?:\.\w+)*\." + re.escape(key) + r"\b")
    sources = [
        path.read_text(encoding="utf-8")
        for path in (REPOSITORY / "ollm_tui").rglob("*.py")
        if "settings" not in path.relative_to(REPOSITORY / "ollm_tui").parts[0]
        or path.name == "locations.py"
    ]
    return any(wanted.search(source) or f".{key}_seconds" in source for source in sources)


def test_every_setting_is_read_by_something() -> None:
    unread = {key for key in keys() if not is_read(key)}
    assert unread == WAITING_FOR_THEIR_FEATURE
