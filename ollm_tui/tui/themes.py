"""Themes, read from the files in themes/: one theme a file, and nothing but colours."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
"""The name of the colour `quiet` in stylesheets."""
_LINE = re.compile(r"""(\w+):\s+["']?(#[0-9a-fA-F]{6}|true|false)["']?\s*(?:#.*)?""")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
# The colour cube and the greys of the 256 colours; the first 16 differ between terminals.
_STEPS = (0, 95, 135, 175, 215, 255)
_GREYS = tuple(range(8, 239, 10))


def theme_names() -> list[str]:
    """Return the names of all themes, sorted."""
    return sorted(file.stem for file in themes_directory().glob("*.yaml"))


def load_theme(name: str) -> Theme:
    """Return a theme by its name. OllmError if there is none or its file is not valid.

    Theme files are YAML of the simplest kind, a colour a line; reading them by hand saves
    every start the 20 ms of importing a YAML parser.
    """
    path = themes_directory() / f"{Path(name).name}.yaml"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        hint = f"available: {', '.join(theme_names())}"
        raise OllmError(f"cannot read theme {name!r}", hint) from error
    values: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise OllmError(
                f"{path}:{number} is not a colour", 'write for example primary: "#8ab4f8"'
            )
        values[match[1]] = match[2]
    return made_theme(name, values)


def made_theme(name: str, values: Mapping[str, str]) -> Theme:
    """Return a theme of colours by name; `dark` is true or false. OllmError if one is missing."""
    missing = [colour for colour in _COLOURS if not _COLOUR.fullmatch(values.get(colour, ""))]
    if missing:
        hint = 'all colours are required, such as "#8ab4f8"'
        raise OllmError(f"theme {name!r} has no {missing[0]}", hint)
    theme = Theme(name=name, primary=values["primary"], dark=values.get("dark") != "false")
    colours = {colour: values[colour] for colour in _COLOURS}
    return replace(theme, variables={_QUIET: colours.pop("quiet")}, **colours)


def quiet_colour(theme: Theme) -> str:
    """Return the colour of secondary text: as quiet as it can be and still be read."""
    return theme.variables.get(_QUIET) or theme.foreground or "white"


def rounded(theme: Theme) -> Theme:
    """Return the theme in colours that a terminal with 256 of them has.

    Rounded later, one by one, dark backgrounds with a hint of blue would become navy.
    """
    names = [name for name in _COLOURS if name != "quiet"]
    colours = {name: _nearest(getattr(theme, name)) for name in names}
    variables = {name: _nearest(colour) for name, colour in theme.variables.items()}
    return replace(theme, variables=variables, **colours)


def _nearest(colour: str) -> str:
    """Return the nearest of the 240 colours that are the same everywhere; greys win a tie."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    cube = [min(_STEPS, key=lambda step: abs(step - part)) for part in (red, green, blue)]
    grey = min(_GREYS, key=lambda step: abs(step - (red + green + blue) / 3))
    far_cube = sum(abs(a - b) for a, b in zip(cube, (red, green, blue), strict=True))
    far_grey = sum(abs(grey - part) for part in (red, green, blue))
    chosen = [grey] * 3 if far_grey <= far_cube else cube
    return "#" + "".join(f"{part:02x}" for part in chosen)
