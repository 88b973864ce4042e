"""Commands in the prompt: completing, running, refusing, and texts that only look like one."""

from __future__ import annotations

import pytest

from ollm_tui.tui.prompt.completion import Completion
from ollm_tui.tui.prompt.completion_list import CompletionList
from ollm_tui.tui.prompt.prompt import Prompt
from tests.cases import some
from tests.tui.prompt_desk import Desk, desk
from tests.tui.typing_in import type_in


def shown(app: Desk) -> list[str]:
    """The lines of the list, without the one that names the keys."""
    listed = app.query_one(CompletionList)
    if not listed.display:
        return []
    text = [listed.render_line(y).text.strip() for y in range(listed.size.height)]
    return text[:-1]


def chosen(app: Desk) -> str:
    return next(line for line in shown(app) if line.startswith("▌")).split()[1]


def words(app: Desk) -> list[str]:
    """The first word of each line."""
    return [line.removeprefix("▌ ").split()[0] for line in shown(app)]


async def test_a_slash_shows_every_command_with_what_it_does() -> None:
    async with desk() as (app, pilot):
        await pilot.press("slash")
        await pilot.pause()
        assert shown(app) == [
            "▌ /help             Help",
            "/theme [name]     Choose the colours",
            "/rename [title]   Rename this session",
            "/redo             Do it again",
        ]
        assert app.focused is app.prompt


async def test_typing_filters_by_beginning_then_by_part() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "/re")
        await pilot.pause()
        assert words(app) == ["/rename", "/redo"]
        await pilot.press("backspace", "backspace")
        await type_in(pilot, "me")
        await pilot.pause()
        assert words(app) == ["/theme", "/rename"]
        await type_in(pilot, "x")
        await pilot.pause()
        assert words(app) == []


async def test_arrows_choose_and_tab_completes() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "/re")
        await pilot.press("down")
        await pilot.pause()
        assert chosen(app) == "/redo"
        await pilot.press("down", "tab")
        await pilot.pause()
        assert app.prompt.text == "/rename " and words(app) == []
        assert app.focused is app.prompt


async def test_values_are_completed_after_the_name() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "/the")
        await pilot.press("tab")
        await pilot.pause()
        assert words(app) == ["dark", "dracula", "light"]
        await type_in(pilot, "dr")
        await pilot.press("tab")
        assert app.prompt.text == "/theme dracula"
        await pilot.press("enter")
        assert app.said == [Prompt.CommandSent("theme", "dracula")]


async def test_enter_runs_the_chosen_one_if_the_word_is_not_complete() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "/re")
        await pilot.press("down", "enter")
        await type_in(pilot, "/theme dr")
        await pilot.press("enter")
        assert app.said == [Prompt.CommandSent("redo", ""), Prompt.CommandSent("theme", "dracula")]
        await pilot.pause()
        assert shown(app) == [] and app.prompt.text == ""


async def test_enter_means_what_was_typed_where_any_words_may_follow() -> None:
    goal = Completion("goal", values=lambda: ("done", "pause"), is_free=True)
    async with desk([goal]) as (app, pilot):
        await type_in(pilot, "/goal d")
        await pilot.pause()
        assert words(app) == ["done"]
        await pilot.press("enter")
        await type_in(pilot, "/goal one")
        await pilot.pause()
        assert shown(app) == [], "a word within another is not meant"
        await pilot.press("enter")
        await type_in(pilot, "/goal pa")
        await pilot.press("tab", "enter")
        assert app.said == [
            Prompt.CommandSent("goal", "d"),
            Prompt.CommandSent("goal", "one"),
            Prompt.CommandSent("goal", "pause"),
        ]


@pytest.mark.more
async def test_enter_within_a_half_typed_name_takes_the_name() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "/the light")
        await pilot.press("home", "right", "right")
        await pilot.pause()
        await pilot.press("enter")
        assert app.said == [Prompt.CommandSent("theme", "light")]


async def test_enter_runs_what_was_typed_if_that_is_complete() -> None:
    async with desk((Completion("help"), Completion("helpful"))) as (app, pilot):
        await type_in(pilot, "/help")
        await pilot.press("enter")
        assert app.said == [Prompt.CommandSent("help", "")]


@pytest.mark.more
async def test_a_name_and_a_blank_run_without_an_argument() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "/theme ")
        await pilot.press("enter")
        assert app.said == [Prompt.CommandSent("theme", "")]


async def test_escape_closes_the_list_and_nothing_else() -> None:
    async with desk() as (app, pilot):
        await type_in(pilot, "/re")
        await pilot.press("escape")
        await pilot.pause()
        assert shown(app) == [] and app.prompt.text == "/re"
        await type_in(pilot, "n")
        await pilot.pause()
        assert shown(app) == []
        await pilot.press("tab")
        await pilot.pause()
        assert words(app) == ["/rename"]
        for _ in range(4):
            await pilot.press("backspace")
        await pilot.press("slash")
        await pilot.pause()
        assert len(shown(app)) == 4


@pytest.mark.more
async def test_walking_up_to_a_command_does_not_stop_the_walk() -> None:
    async with desk() as (app, pilot):
        app.prompt.remember(["first", "/help"])
        await pilot.press("up")
        await pilot.pause()
        assert shown(app) == []
        await pilot.press("up")
        assert app.prompt.text == "first"


async def test_a_click_takes_an_option() -> None:
    async with desk() as (app, pilot):
        await pilot.press("slash")
        await pilot.pause()
        await pilot.click(CompletionList, offset=(4, 2))
        await pilot.pause()
        assert app.prompt.text == "/rename "


async def test_a_long_list_shows_eight_and_follows_the_choice() -> None:
    names = [f"name{number:02}" for number in range(30)]
    async with desk([Completion(name) for name in names]) as (app, pilot):
        await pilot.press("slash")
        await pilot.pause()
        assert words(app) == [f"/{name}" for name in names[:8]]
        await pilot.press("up")
        await pilot.pause()
        assert chosen(app) == "/name29" and len(shown(app)) == 8
        await pilot.press("down", *["down"] * 9)
        await pilot.pause()
        assert words(app) == [f"/{name}" for name in names[2:10]]


async def test_long_arguments_leave_room_for_what_a_command_does() -> None:
    options = "[--" + "|--".join(("preview", "summary", "truncate", "above")) + "]"
    commands = [Completion("short", "", "Does little"), Completion("long", options, "Does much")]
    async with desk(commands) as (app, pilot):
        await pilot.press("slash")
        await pilot.pause()
        assert shown(app)[1].startswith("/long [--preview|--") and "…" in shown(app)[1]
        assert shown(app)[1].endswith("   Does much")
        await pilot.press("down")
        await pilot.pause()
        assert f"/long {options}" in shown(app)[1]


async def test_names_from_outside_cannot_style_or_steer() -> None:
    values = ("[bold]x[/", "[@click=app.quit()]y", "z\x1b[2J")
    async with desk([Completion("model", values=lambda: values)]) as (app, pilot):
        await type_in(pilot, "/model ")
        await pilot.pause()
        assert words(app) == ["[bold]x[/", "[@click=app.quit()]y"]


@some(
    2,
    ("text", "name", "argument"),
    (
        ("/help", "help", ""),
        ("/HELP", "help", ""),
        ("/rename  my words ", "rename", "my words"),
        ("/rename two\nlines", "rename", "two\nlines"),
        ("/rename\nbelow", "rename", "below"),
    ),
)
async def test_a_known_name_makes_a_command(text: str, name: str, argument: str) -> None:
    async with desk() as (app, pilot):
        app.prompt.put(text)
        await pilot.press("enter")
        assert app.said == [Prompt.CommandSent(name, argument)]


@some(
    1,
    ("text", "hint"),
    (
        ("/thme dark", "did you mean /theme? // sends it as text"),
        ("/usr/bin/env is what?", "// sends it as text"),
        ("/ help", "// sends it as text"),
    ),
)
async def test_an_unknown_command_is_kept_and_not_sent(text: str, hint: str) -> None:
    async with desk() as (app, pilot):
        app.prompt.put(text)
        await pilot.press("enter")
        [refused] = app.said
        assert isinstance(refused, Prompt.Refused)
        assert refused.message == f"Unknown command {text.split(' ')[0]}"
        assert refused.hint == hint
        assert app.prompt.text == text


@some(
    1,
    ("typed", "text"),
    (
        ("//help me", "/help me"),
        ("/usr/bin\nis a path", "/usr/bin\nis a path"),
        (" /help", " /help"),
    ),
)
async def test_texts_that_only_look_like_commands_are_sent(typed: str, text: str) -> None:
    async with desk() as (app, pilot):
        app.prompt.put(typed)
        await pilot.press("enter")
        [sent] = app.said
        assert isinstance(sent, Prompt.Sent) and sent.text == text
        app.prompt.restore(sent.draft)
        await pilot.press("enter")
        assert app.said[-1] == sent
