"""Every setting is read by something."""

from __future__ import annotations

import re

import msgspec

from ollm_tui.settings.schema import Settings
from tests.conftest import REPOSITORY


def keys() -> dict[str, str]:
    """Every key, and the class of the group it belongs to."""
    found: dict[str, str] = {}
    for group in msgspec.structs.fields(Settings):
        kind = group.type
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            names = [field.name for field in msgspec.structs.fields(kind)]
            found |= {f"{group.name}.{name}": kind.__name__ for name in names}
        else:
            found[group.name] = ""
    return found


def is_read(key: str, kind: str) -> bool:
    """Whether some module outside of the settings asks for this attribute."""
    wanted = re.compile(r"settings(?:\.\w+)*\." + re.escape(key) + r"\b")
    sources = [
        path.read_text(encoding="utf-8")
        for path in (REPOSITORY / "ollm_tui").rglob("*.py")
        if "settings" not in path.relative_to(REPOSITORY / "ollm_tui").parts[0]
        or path.name == "locations.py"
    ]
    if any(wanted.search(source) or f".{key}_seconds" in source for source in sources):
        return True
    return bool(kind) and is_read_of_its_group(key, kind, sources)


def is_read_of_its_group(key: str, kind: str, sources: list[str]) -> bool:
    """Whether the group is handed on as a whole, and a module that takes it asks for the rest."""
    group, name = key.split(".")
    handed_on = re.compile(rf"settings\.{group}\b(?!\.)")
    takes_it = re.compile(rf"settings\.schema import .*\b{kind}\b")
    asks = re.compile(rf"\b_?settings\.{name}\b")
    return any(map(handed_on.search, sources)) and any(
        takes_it.search(source) and asks.search(source) for source in sources
    )


def test_every_setting_is_read_by_something() -> None:
    unread = {key for key, kind in keys().items() if not is_read(key, kind)}
    assert not unread
