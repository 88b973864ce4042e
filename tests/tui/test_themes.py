"""Themes: every file is whole, readable as YAML, and has enough contrast to read by."""

from __future__ import annotations

import pytest
import yaml
from textual.color import Color
from textual.theme import Theme

from ollm_tui.core.errors import OllmError
from ollm_tui.settings.resources import themes_directory
from ollm_tui.tui.stream.transcript.looks import transcript_styles
from ollm_tui.tui.themes import load_theme, quiet_colour, rounded, theme_names
from tests.cases import every

READABLE, SEEN, EASY = 4.5, 3.0, 7.0
"""Contrasts that accessibility guidelines ask for: of text, of marks, and of text for all."""
READ = ("primary", "accent", "error")
"""Colours that words are written in: headings, code, what went wrong."""
MARKS = ("secondary", "success", "warning")
HIGH_CONTRAST = tuple(name for name in theme_names() if name.startswith("high-contrast"))


def luminance(colour: Color) -> float:
    """How light a colour is to the eye, as the accessibility guidelines define it."""
    parts = [part / 255 for part in colour.rgb]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str | None, other: str | None) -> float:
    lights = sorted(luminance(Color.parse(str(colour))) for colour in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def least(theme: Theme, colours: tuple[str, ...], grounds: tuple[str, ...]) -> float:
    """The worst contrast of some colours on some grounds."""
    return min(
        contrast(getattr(theme, colour), getattr(theme, ground))
        for colour in colours
        for ground in grounds
    )


def test_there_are_themes_for_every_taste() -> None:
    names = set(theme_names())
    assert len(names) >= 10
    assert {"dark", "light", "high-contrast", "high-contrast-light"} <= names
    grounds = [load_theme(name).dark for name in names]
    assert min(grounds.count(True), grounds.count(False)) >= 4


@every("name", theme_names())
def test_a_theme_is_what_its_yaml_says(name: str) -> None:
    values = yaml.safe_load((themes_directory() / f"{name}.yaml").read_text())
    theme = load_theme(name)
    assert quiet_colour(theme) == values.pop("quiet")
    assert {key: getattr(theme, key) for key in values} == values
    assert transcript_styles(theme)


@every("name", theme_names())
def test_a_theme_is_as_dark_as_it_says(name: str) -> None:
    theme = load_theme(name)
    ground = luminance(Color.parse(str(theme.background)))
    assert (ground < luminance(Color.parse(str(theme.foreground)))) == theme.dark


@every("name", theme_names())
def test_text_can_be_read_on_every_ground(name: str) -> None:
    theme = load_theme(name)
    assert least(theme, ("foreground",), ("background", "surface", "panel")) >= READABLE
    assert least(theme, READ, ("background", "surface")) >= READABLE


@every("name", theme_names())
def test_marks_and_quiet_words_can_be_seen_on_every_ground(name: str) -> None:
    theme = load_theme(name)
    assert least(theme, MARKS + READ, ("background", "surface", "panel")) >= SEEN
    for ground in (theme.background, theme.surface, theme.panel):
        assert contrast(quiet_colour(theme), ground) >= SEEN


@every("name", theme_names())
def test_quiet_words_are_quieter_than_the_others(name: str) -> None:
    theme = load_theme(name)
    quiet = contrast(quiet_colour(theme), theme.background)
    assert quiet < 0.8 * contrast(theme.foreground, theme.background)


@every("name", HIGH_CONTRAST)
def test_high_contrast_means_it(name: str) -> None:
    theme = load_theme(name)
    assert least(theme, ("foreground", *READ, *MARKS), ("background", "surface")) >= EASY
    assert contrast(quiet_colour(theme), theme.background) >= EASY
    assert contrast(quiet_colour(theme), theme.panel) >= EASY


@every("name", ("nope", "../secret", ""))
def test_an_unknown_theme_names_the_known_ones(name: str) -> None:
    with pytest.raises(OllmError) as caught:
        load_theme(name)
    assert "dark" in caught.value.hint


@every("name", theme_names())
def test_a_theme_in_256_colours_stays_readable_and_has_no_navy_grounds(name: str) -> None:
    theme = rounded(load_theme(name))
    for ground in (theme.background, theme.surface, theme.panel):
        red, green, blue = Color.parse(ground or "").rgb
        assert max(red, green, blue) - min(red, green, blue) <= 80
    assert contrast(theme.foreground, theme.background) >= READABLE
    assert contrast(theme.foreground, theme.surface) >= READABLE
