"""The keys of vim: what each does to a text, and how the prompt uses them."""

from __future__ import annotations

import pytest

from ollm_tui.settings.schema import Interface, Settings
from ollm_tui.tui.prompt.vim_keys import VimKeys
from tests.cases import every
from tests.tui.conftest import OpenApp
from tests.tui.jobs_desk import until
from tests.tui.seen import prompt, settled, stream
from tests.tui.tool_desk import says
from tests.tui.typing_in import type_in

VIM = Settings(ui=Interface(editing="vim"))


def typed(keys: str, text: str, cursor: int = 0) -> tuple[str, int, str]:
    """The text, the cursor and the mode after keys that begin in the normal mode; ␛ is Esc."""
    vim = VimKeys()
    vim.leave(text, cursor)
    for key in keys:
        if key != "␛" and vim.mode == "insert":
            text = text[:cursor] + key + text[cursor:]
            cursor += 1
            continue
        step = vim.leave(text, cursor) if key == "␛" else vim.press(key, text, cursor)
        if step.change:
            text = text[: step.change.start] + step.change.text + text[step.change.end :]
        cursor = step.cursor
    return text, cursor, vim.mode


@every(
    ("keys", "cursor"),
    [
        ("w", 4),
        ("2w", 7),
        ("W", 4),
        ("2W", 13),
        ("e", 2),
        ("3e", 7),
        ("4e", 11),
        ("$", 15),
        ("$b", 13),
        ("$2b", 8),
        ("$0", 0),
        ("$^", 0),
        ("fr", 9),
        ("tr", 8),
        ("$Fo", 14),
        ("$To", 15),
        ("fo;", 14),
        ("fo;,", 6),
        ("5lh", 4),
        ("99l", 15),
        ("fz", 0),
    ],
)
def test_motions_lead_where_vim_leads(keys: str, cursor: int) -> None:
    assert typed(keys, "one two-free four"[:16]) == ("one two-free four"[:16], cursor, "normal")


@every(
    ("keys", "text", "after"),
    [
        ("dw", "one two", "two"),
        ("d2w", "one two three", "three"),
        ("2dw", "one two three", "three"),
        ("dw", "one\ntwo", "\ntwo"),
        ("cwtwo␛", "one six", "two six"),
        ("cwx␛", "a b", "x b"),
        ("wD", "one two", "one "),
        ("x", "one", "ne"),
        ("3x", "one", ""),
        ("$X", "one", "oe"),
        ("wdb", "one two", "two"),
        ("de", "one two", " two"),
        ("df ", "one two", "two"),
        ("dt ", "one two", " two"),
        ("wdiw", "one two six", "one  six"),
        ("wdaw", "one two six", "one six"),
        ('fsci"new␛', 'say "say it" now', 'say "new" now'),
        ("fsda(", "call(this) now", "call now"),
        ("dd", "one\ntwo\nsix", "two\nsix"),
        ("2dd", "one\ntwo\nsix", "six"),
        ("Gdd", "one\ntwo\nsix", "one\ntwo"),
        ("dj", "one\ntwo\nsix", "six"),
        ("jdgg", "one\ntwo\nsix", "six"),
        ("dd", "one", ""),
        ("ccnew␛", "one\ntwo", "new\ntwo"),
        ("yyp", "one\ntwo", "one\none\ntwo"),
        ("ddp", "one\ntwo", "two\none"),
        ("jyyP", "one\ntwo", "one\ntwo\ntwo"),
        ("yiw$p", "one two", "one twoone"),
        ("xp", "one", "noe"),
        ("yw2P", "a b", "a a a b"),
        ("otwo␛", "one\nsix", "one\ntwo\nsix"),
        ("Otwo␛", "one", "two\none"),
        ("Atwo␛", "one", "onetwo"),
        ("wItwo␛", "  one six", "  twoone six"),
        ("aX␛", "one", "oXne"),
        ("rX", "one", "Xne"),
        ("2rX", "one", "XXe"),
        ("~~", "one", "ONe"),
        ("J", "one\n  two", "one two"),
        ("vwd", "one two", "wo"),
        ("vey$p", "one two", "one twoone"),
        ("Vd", "one\ntwo", "two"),
        ("Vjd", "one\ntwo\nsix", "six"),
        ("wviwcnew␛", "one two six", "one new six"),
        ("v~", "one", "One"),
        ("dz", "one", "one"),
        ("diq", "one", "one"),
        ("99999999dd", "one\ntwo", ""),
    ],
)
def test_operators_change_what_vim_changes(keys: str, text: str, after: str) -> None:
    assert typed(keys, text)[0] == after


@pytest.mark.parametrize("text", ["", "\n", "one", "  \n x"])
def test_no_key_fails_or_leaves_the_text_whatever_is_there(text: str) -> None:
    keys = "hjklwbeWBE0^$GxXDCYSspPJ~uvVoOiaIA"
    for first in (*keys, "gg", "fx", "Tx", "rx", ";", ",", "diw", 'ci"', "da("):
        for second in (*keys, "dd", "dw", "yyp"):
            result, cursor, _ = typed(f"{first}␛{second}␛", text)
            assert 0 <= cursor <= len(result)


async def test_the_prompt_is_edited_with_the_keys_of_vim_and_shows_the_mode(
    open_app: OpenApp,
) -> None:
    async with open_app([says("fine")], settings=VIM) as (app, pilot):
        await type_in(pilot, "one two six")
        await pilot.press("escape")
        assert prompt(app).border_subtitle == "NORMAL"
        await pilot.press("b", "d", "w", "0", "d", "w")
        assert prompt(app).text == "two "
        await pilot.press("u")
        assert prompt(app).text == "one two "
        await pilot.press("ctrl+r")
        assert prompt(app).text == "two "
        await pilot.press("v", "l")
        assert prompt(app).border_subtitle == "VISUAL" and prompt(app).selected_text == "tw"
        await pilot.press("c", *"al", "escape")
        assert prompt(app).text == "alo "
        await pilot.press("enter")
        await settled(app, pilot)
        assert "fine" in " ".join(stream(app)) and prompt(app).vim_mode == "insert"


async def test_j_and_k_walk_through_prompts_beyond_the_lines(open_app: OpenApp) -> None:
    async with open_app([says("fine")], settings=VIM) as (app, pilot):
        await type_in(pilot, "hello")
        await pilot.press("enter")
        await settled(app, pilot)
        await pilot.press("escape", "k")
        await settled(app, pilot)
        assert prompt(app).text == "hello"


async def test_a_command_begins_in_the_normal_mode_of_an_empty_prompt(open_app: OpenApp) -> None:
    async with open_app(settings=VIM) as (app, pilot):
        await pilot.press("escape", "x", "slash", "h")
        assert prompt(app).text == "/h" and prompt(app).vim_mode == "insert"


async def test_without_the_setting_letters_are_letters_after_esc(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "one")
        await pilot.press("escape", "x")
        assert prompt(app).text == "onex" and prompt(app).vim_mode is None


async def test_the_setting_changes_the_keys_at_once(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("f10", "slash", *"ui.editing", "enter", "enter")
        await pilot.pause()
        await pilot.press(*"vim", "enter")
        await until(pilot, lambda: app.loaded.settings.ui.editing == "vim")
        await pilot.press("escape", "escape")
        await type_in(pilot, "abc")
        await pilot.press("escape", "x")
        assert prompt(app).text == "ab"
