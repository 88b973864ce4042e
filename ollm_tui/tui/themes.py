"""Themes: colours from files in themes/, one theme a file, and nothing but colours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import yaml
from textual.theme import Theme

from ollm_tui.core.errors import OllmError
from ollm_tui.settings.resources import themes_directory

DEFAULT_THEME = "dark"
_COLOURS = (
    *("primary", "secondary", "accent", "foreground", "background", "surface", "panel"),
    *("success", "warning", "error"),
)


def theme_names() -> list[str]:
    """Every theme there is."""
    return sorted(file.stem for file in themes_directory().glob("*.yaml"))


def load_theme(name: str) -> Theme:
    """A theme by its name. OllmError if there is none or its file makes no sense."""
    path = themes_directory() / f"{Path(name).name}.yaml"
    try:
        found: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        hint = f"there are: {', '.join(theme_names())}"
        raise OllmError(f"the theme {name!r} cannot be read", hint) from error
    values = cast(dict[str, object], found) if isinstance(found, dict) else {}
    missing = [colour for colour in _COLOURS if not isinstance(values.get(colour), str)]
    if missing:
        raise OllmError(f"the theme {name!r} has no {missing[0]}", "every colour is needed")
    theme = Theme(name=name, primary=str(values["primary"]), dark=bool(values.get("dark", True)))
    return replace(theme, **{colour: str(values[colour]) for colour in _COLOURS})
