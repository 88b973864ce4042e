"""The main states look as they did when somebody looked at them last."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.snapshots.scenes import SCENES

PICTURES = Path(__file__).parent / "__snapshots__" / "test_pictures"
LARGE, SMALL = (120, 40), (80, 24)


def views() -> dict[str, tuple[str, tuple[int, int], str]]:
    """Every state, large and small, once dark and once light."""
    found: dict[str, tuple[str, tuple[int, int], str]] = {}
    for number, name in enumerate(SCENES):
        themes = ("light", "dark") if number % 2 else ("dark", "light")
        for (width, height), theme in zip((LARGE, SMALL), themes, strict=True):
            found[f"{name}-{width}x{height}-{theme}"] = (name, (width, height), theme)
    return found


def one_of_two() -> list[tuple[str, tuple[pytest.MarkDecorator, ...]]]:
    """`make test` looks at each state once: at one large, at the next one small."""
    return [
        (view, () if place % 2 == place // 2 % 2 else (pytest.mark.more,))
        for place, view in enumerate(views())
    ]


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("view", [pytest.param(view, marks=marks) for view, marks in one_of_two()])
def test_a_state(view: str, tmp_path: Path, looks_as_before: Callable[..., None]) -> None:
    name, size, theme = views()[view]
    scene = SCENES[name]
    app = scene.open(tmp_path / "store", theme)
    looks_as_before(app, terminal_size=size, run_before=partial(scene.bring_about, app))


def test_there_is_no_picture_of_a_state_that_is_gone() -> None:
    kept = {file.stem for file in PICTURES.iterdir()}
    assert kept == {f"test_a_state[{view}]" for view in views()}
