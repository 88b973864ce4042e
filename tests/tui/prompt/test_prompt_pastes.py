"""Long pastes in the prompt: chips that are whole or gone, and never lose what they stand for."""

from __future__ import annotations

import pytest

from ollm_tui.core.session.message import Attachment
from ollm_tui.tui.prompt.prompt import Prompt
from tests.cases import some
from tests.tui.prompt_desk import Desk, desk, lines_of, paste
from tests.tui.typing_in import type_in

LONG = lines_of(41)
CHIP = "[paste 1 · 41 lines · 318 B]"


def last_sent(app: Desk) -> Prompt.Sent:
    event = app.said[-1]
    assert isinstance(event, Prompt.Sent)
    return event


def pasted(number: int, content: str) -> Attachment:
    return Attachment(name=f"paste {number}", media_type="text/plain", content=content)


@some(1, "text", (lines_of(40), lines_of(40) + "\n", "x" * 4_000))
async def test_a_short_paste_is_text(text: str) -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, text)
        assert app.prompt.text == text


@some(
    2,
    ("text", "chip"),
    (
        (LONG, CHIP),
        ("x" * 4_001, "[paste 1 · 1 line · 4 kB]"),
        ("ä\n" * 2_000_000, "[paste 1 · 2,000,000 lines · 6 MB]"),
    ),
)
async def test_a_long_paste_becomes_a_chip(text: str, chip: str) -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, text)
        assert app.prompt.text == chip
        assert app.prompt.whole_text == text


async def test_a_chip_is_sent_as_its_name_and_an_attachment() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "why ")
        await paste(app, pilot, LONG)
        await type_in(pilot, " fails")
        await pilot.press("enter")
        assert last_sent(app).text == "why [paste 1] fails"
        assert last_sent(app).attachments == (pasted(1, LONG),)
        await paste(app, pilot, LONG)
        await pilot.press("enter")
        assert last_sent(app).text == ""
        assert last_sent(app).attachments == (pasted(2, LONG),)


async def test_pastes_are_filtered_and_keep_their_tabs() -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, "a\x1b]52;c;eA==\x07\tb\r\nc\u202e")
        assert app.prompt.text == "a\tb\nc"
        await pilot.press("enter")
        await paste(app, pilot, "x\x1b[31m\r\n" * 50)
        await pilot.press("enter")
        assert last_sent(app).attachments == (pasted(1, "x\n" * 50),)


@some(2, "keys", (("backspace",), ("home", "delete"), ("ctrl+w",), ("ctrl+u",)))
async def test_deleting_into_a_chip_deletes_it_whole(keys: tuple[str, ...]) -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.press(*keys)
        assert app.prompt.text == ""
        await pilot.press("ctrl+z")
        assert app.prompt.text == CHIP
        await pilot.press("enter")
        assert last_sent(app).attachments == (pasted(1, LONG),)


async def test_a_deleted_chip_sends_nothing() -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.press("backspace", "a", "enter")
        assert (last_sent(app).text, last_sent(app).attachments) == ("a", ())


async def test_the_cursor_steps_over_a_chip() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "a")
        await paste(app, pilot, LONG)
        await type_in(pilot, "b")
        end = 1 + len(CHIP)
        seen: list[int] = []
        for key in ("left", "left", "left", "right", "right", "right", "ctrl+left", "ctrl+left"):
            await pilot.press(key)
            seen.append(app.prompt.cursor_location[1])
        assert seen == [end, 1, 0, 1, end, end + 1, end, 1]
        await pilot.press("shift+right", "x")
        assert app.prompt.text == "axb"


@pytest.mark.more
async def test_a_click_into_a_chip_lands_beside_it() -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.click(Prompt, offset=(6, 1))
        assert app.prompt.cursor_location == (0, 0)
        await pilot.click(Prompt, offset=(24, 1))
        assert app.prompt.cursor_location == (0, len(CHIP))


async def test_nothing_is_put_inside_of_a_chip() -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, LONG)
        app.prompt.insert("x", (0, 5))
        assert app.prompt.text == f"{CHIP}x"


@pytest.mark.more
async def test_a_damaged_chip_is_text_and_its_paste_still_goes_along() -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, LONG)
        app.prompt.text = "see [paste 1 · 41 li"
        await pilot.press("enter")
        assert last_sent(app).text == "see [paste 1 · 41 li"
        assert last_sent(app).attachments == (pasted(1, LONG),)


async def test_a_chip_can_be_written_out_and_back() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "a ")
        await paste(app, pilot, LONG)
        await pilot.press("alt+e")
        assert app.prompt.text == f"a {LONG}"
        await pilot.press("ctrl+z")
        assert app.prompt.text == f"a {CHIP}"


async def test_a_text_with_a_chip_survives_a_crash() -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, LONG)
        await type_in(pilot, " why")
        draft = app.prompt.draft
    async with desk() as (app, pilot):
        app.prompt.restore(draft)
        await pilot.pause()
        assert app.prompt.text == f"{CHIP} why"
        await paste(app, pilot, "other\n" * 50)
        await pilot.press("enter")
        assert last_sent(app).text == "[paste 1] why[paste 2]"
        assert last_sent(app).attachments == (pasted(1, LONG), pasted(2, "other\n" * 50))


async def test_walking_back_to_a_sent_chip_brings_its_paste() -> None:
    async with desk() as (app, pilot):
        await paste(app, pilot, LONG)
        await pilot.press("enter", "up", "enter")
        assert len(app.said) == 2
        assert last_sent(app).attachments == (pasted(1, LONG),)


@pytest.mark.more
async def test_commands_get_the_paste_written_out() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "/rename ")
        await paste(app, pilot, LONG)
        await pilot.press("enter")
        assert app.said == [Prompt.CommandSent("rename", LONG)]


@pytest.mark.more
async def test_what_an_editor_left_unchanged_is_a_chip_again() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "a ")
        await paste(app, pilot, LONG)
        app.prompt.put_whole(f"{app.prompt.whole_text} and more")
        assert app.prompt.text == f"a {CHIP} and more"
        app.prompt.put_whole(app.prompt.whole_text.replace("line 7", "line seven"))
        assert app.prompt.text == f"a {LONG} and more".replace("line 7", "line seven")
        await pilot.press("enter")
        assert last_sent(app).attachments == ()


@pytest.mark.more
async def test_what_was_copied_in_the_program_is_pasted_the_same_way() -> None:
    async with desk() as (app, pilot):
        app.copy_to_clipboard(LONG)
        await pilot.press("ctrl+v")
        assert app.prompt.text == CHIP
