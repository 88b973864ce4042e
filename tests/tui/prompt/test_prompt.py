"""The prompt: keys, sending, walking through what was sent, keeping what was not."""

from __future__ import annotations

import pytest

from ollm_tui.tui.prompt.kill_ring import KillingArea
from ollm_tui.tui.prompt.prompt import Prompt
from tests.cases import some
from tests.tui.prompt_desk import Desk, desk, lines_of
from tests.tui.typing_in import type_in


def sent(app: Desk) -> list[str]:
    return [event.text for event in app.said if isinstance(event, Prompt.Sent)]


async def test_enter_sends_and_empties_the_prompt() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "hello")
        await pilot.press("enter")
        assert sent(app) == ["hello"]
        assert app.prompt.text == ""


async def test_nothing_but_blanks_is_not_sent() -> None:
    async with desk() as (app, pilot):
        await pilot.press("space", "ctrl+j", "enter")
        assert app.said == []


@some(1, "key", ("shift+enter", "ctrl+j", "alt+enter"))
async def test_newline_keys_replace_what_is_selected(key: str) -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "abc")
        await pilot.press("shift+left", key)
        assert app.prompt.text == "ab\n"


async def test_a_backslash_before_enter_begins_a_new_line() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "a\\")
        await pilot.press("enter")
        assert app.prompt.text == "a\n" and app.said == []


async def test_every_key_can_be_mapped_to_another() -> None:
    async with desk() as (app, pilot):
        app.set_keymap({"prompt.send": "ctrl+s", "prompt.earlier": "ctrl+up"})
        await type_in(pilot, "one")
        await pilot.press("enter", "ctrl+s")
        assert sent(app) == ["one\n"]
        await type_in(pilot, "a")
        await pilot.press("ctrl+j", "b", "up")
        assert app.prompt.text == "a\nb" and app.prompt.cursor_location == (0, 1)
        await pilot.press("up")
        assert app.prompt.text == "a\nb"
        await pilot.press("ctrl+up")
        assert app.prompt.text == "one\n"


async def test_up_moves_within_a_wrapped_line_before_it_walks() -> None:
    async with desk(size=(40, 20)) as (app, pilot):
        app.prompt.remember(["before"])
        app.prompt.put("word " * 20)
        await pilot.pause()
        await pilot.press("up")
        assert app.prompt.text == "word " * 20
        await pilot.press("up", "up")
        assert app.prompt.text == "before"


async def test_walking_keeps_the_draft_and_what_was_changed_on_the_way() -> None:
    async with desk() as (app, pilot):
        app.prompt.remember(["one", "two"])
        await type_in(pilot, "draft")
        await pilot.press("up", "!", "up")
        assert app.prompt.text == "one"
        await pilot.press("up")
        assert app.prompt.text == "one"
        await pilot.press("down")
        assert app.prompt.text == "two!"
        await pilot.press("down")
        assert app.prompt.text == "draft"


async def test_sending_an_old_prompt_brings_the_draft_back() -> None:
    async with desk() as (app, pilot):
        app.prompt.remember(["one"])
        await type_in(pilot, "draft")
        await pilot.press("up", "enter")
        assert sent(app) == ["one"]
        assert app.prompt.text == "draft"


@pytest.mark.more
async def test_the_draft_to_keep_is_what_would_be_lost() -> None:
    async with desk() as (app, pilot):
        app.prompt.remember(["one"])
        await type_in(pilot, "draft")
        await pilot.press("up")
        assert app.prompt.draft == "draft"
        await pilot.press("!")
        assert app.prompt.draft == "one!"


async def test_what_was_put_aside_is_the_first_that_up_brings_back() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "precious")
        assert app.prompt.put_aside() == "precious"
        assert app.prompt.text == ""
        await pilot.press("up")
        assert app.prompt.text == "precious"


async def test_the_prompts_of_another_process_do_not_cost_the_draft() -> None:
    async with desk() as (app, pilot):
        app.prompt.remember(["one"])
        await type_in(pilot, "draft")
        await pilot.press("up")
        app.prompt.remember(["one", "two"])
        await pilot.press("up")
        assert app.prompt.text == "draft"


async def test_ctrl_d_deletes_and_leaves_only_when_there_is_nothing() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "ab")
        await pilot.press("home", "ctrl+d")
        assert app.prompt.text == "b" and app.said == []
        await pilot.press("ctrl+d", "ctrl+d")
        assert [type(event) for event in app.said] == [Prompt.LeaveRequested]


async def test_it_grows_with_its_text_and_leaves_room_for_the_rest() -> None:
    async with desk(size=(60, 20)) as (app, pilot):
        app.prompt.put("a\nb\nc")
        await pilot.pause()
        assert app.prompt.size.height == 3
        app.prompt.put(lines_of(30))
        await pilot.pause()
        assert app.prompt.size.height == 6
        app.prompt.put("")
        await pilot.pause()
        assert app.prompt.size.height == 1


async def test_the_cursor_does_not_blink() -> None:
    async with desk() as (app, _):
        assert not app.prompt.cursor_blink


async def test_every_change_is_told_with_what_to_keep() -> None:
    async with desk() as (app, pilot):
        await pilot.press("a", "b", "ctrl+underscore")
        await pilot.pause()
        assert app.edited == ["a", "ab", ""]


@some(2, "text", ("", "plain", "two\nlines", '{"text": "x"}', "{", "//a", "[x]"))
async def test_a_draft_comes_back_as_it_was(text: str) -> None:
    async with desk() as (app, pilot):
        app.prompt.put(text)
        draft = app.prompt.draft
        app.prompt.put("something else")
        app.prompt.restore(draft)
        await pilot.pause()
        assert app.prompt.text == text


async def test_a_draft_from_a_damaged_file_is_filtered() -> None:
    async with desk() as (app, _):
        app.prompt.restore("a\x1b[2Jb\u202e")
        assert app.prompt.text == "ab"


def test_every_binding_has_an_id_and_a_tooltip() -> None:
    for owner in (Prompt, KillingArea):
        for binding in owner.__dict__["BINDINGS"]:
            assert binding.id and binding.tooltip, binding
