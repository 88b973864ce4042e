"""Themes: every file is whole, readable as YAML, and has enough contrast to read by."""

from __future__ import annotations

import pytest
import yaml
from textual.color import Color

from ollm_tui.core.errors import OllmError
from ollm_tui.settings.resources import themes_directory
from ollm_tui.tui.looks import transcript_styles
from ollm_tui.tui.themes import load_theme, theme_names

READABLE = 4.5
"""The contrast of body text that accessibility guidelines ask for."""


@pytest.mark.parametrize("name", theme_names())
def test_a_theme_is_what_its_yaml_says(name: str) -> None:
    values = yaml.safe_load((themes_directory() / f"{name}.yaml").read_text())
    theme = load_theme(name)
    assert {key: getattr(theme, key) for key in values} == values
    assert transcript_styles(theme)


def luminance(colour: Color) -> float:
    """How light a colour is to the eye, as the accessibility guidelines define it."""
    parts = [part / 255 for part in colour.rgb]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str | None, other: str | None) -> float:
    lights = sorted(luminance(Color.parse(str(colour))) for colour in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


@pytest.mark.parametrize("name", theme_names())
def test_text_can_be_read_on_every_ground(name: str) -> None:
    theme = load_theme(name)
    for ground in (theme.background, theme.surface, theme.panel):
        assert contrast(theme.foreground, ground) >= READABLE


@pytest.mark.parametrize("name", ("nope", "../secret", ""))
def test_an_unknown_theme_names_the_known_ones(name: str) -> None:
    with pytest.raises(OllmError) as caught:
        load_theme(name)
    assert "dark" in caught.value.hint
