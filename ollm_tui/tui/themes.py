"""Themes: colours from files in themes/, one theme a file, and nothing but colours."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from textual.theme import Theme

from ollm_tui.core.errors import OllmError
from ollm_tui.settings.resources import themes_directory

DEFAULT_THEME = "dark"
_COLOURS = (
    *("primary", "secondary", "accent", "foreground", "background", "surface", "panel"),
    *("success", "warning", "error", "quiet"),
)
_QUIET = "text-muted"
"""What stylesheets call the colour of text that is said beside."""
_LINE = re.compile(r"""(\w+):\s+["']?(#[0-9a-fA-F]{6}|true|false)["']?\s*(?:#.*)?""")


def theme_names() -> list[str]:
    """Every theme there is."""
    return sorted(file.stem for file in themes_directory().glob("*.yaml"))


def load_theme(name: str) -> Theme:
    """A theme by its name. OllmError if there is none or its file makes no sense.

    Theme files are YAML of the plainest kind, a colour a line; reading them so saves every
    start the 20 ms of a YAML parser.
    """
    path = themes_directory() / f"{Path(name).name}.yaml"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        hint = f"there are: {', '.join(theme_names())}"
        raise OllmError(f"the theme {name!r} cannot be read", hint) from error
    values: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise OllmError(
                f"{path}:{number} is not a colour", 'a line looks like: primary: "#8ab4f8"'
            )
        values[match[1]] = match[2]
    missing = [colour for colour in _COLOURS if not values.get(colour, "").startswith("#")]
    if missing:
        raise OllmError(f"the theme {name!r} has no {missing[0]}", "every colour is needed")
    theme = Theme(name=name, primary=values["primary"], dark=values.get("dark") != "false")
    colours = {colour: values[colour] for colour in _COLOURS}
    return replace(theme, variables={_QUIET: colours.pop("quiet")}, **colours)


def quiet_colour(theme: Theme) -> str:
    """The colour of what is said beside: as quiet as it may be and still be read."""
    return theme.variables.get(_QUIET) or theme.foreground or "white"
