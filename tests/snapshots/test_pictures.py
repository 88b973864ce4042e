"""The main states look as they did when somebody looked at them last."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path

import pytest

from tests.snapshots.picture import made_with, take_picture, words_of
from tests.snapshots.scenes import SCENES

PICTURES = Path(__file__).parent / "pictures"
LARGE, SMALL = (120, 40), (80, 24)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("name", SCENES)
async def test_a_state_looks_as_before(name: str, tmp_path: Path, is_writing: bool) -> None:
    themes = ["dark", "light"]
    if list(SCENES).index(name) % 2:
        themes.reverse()
    taken: dict[str, str] = {}
    async with SCENES[name](tmp_path / "store") as (app, pilot):
        for (width, height), theme in zip((LARGE, SMALL), themes, strict=True):
            file = f"{name}-{width}x{height}-{theme}.svg"
            taken[file] = await take_picture(app, pilot, (width, height), theme)
    for file, picture in taken.items():
        if is_writing:
            (PICTURES / file).write_text(f"{made_with()}\n{picture}", encoding="utf-8")
        else:
            compare(picture, PICTURES / file, tmp_path / file)


def test_there_is_no_picture_of_a_state_that_is_gone() -> None:
    assert {file.name.rpartition("-1")[0] for file in PICTURES.glob("*-120x40-*")} == set(SCENES)
    assert len(list(PICTURES.iterdir())) == 2 * len(SCENES)


def compare(picture: str, known: Path, taken: Path) -> None:
    before = known.read_text(encoding="utf-8") if known.exists() else ""
    versions, _, before = before.partition("\n")
    if picture == before:
        return
    if versions and versions != made_with():
        pytest.skip(f"{known.name} was taken with others than {made_with()}")
    taken.write_text(picture, encoding="utf-8")
    words = list(unified_diff(words_of(before), words_of(picture), "before", "now", lineterm=""))
    what = "\n".join(words) or "the words are the same: colours or places are others"
    pytest.fail(f"{known.name} looks different, see {taken}\n{what}", pytrace=False)
