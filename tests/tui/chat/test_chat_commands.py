"""Every command of the chat screen, by its key or its slash name, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from ollm_tui.core.provider import Completed, ReasoningDelta, TextDelta
from ollm_tui.core.session.message import Usage
from ollm_tui.engine.conversation.conversation import GO_ON
from ollm_tui.providers.scripted import Scripted, Step
from ollm_tui.settings.schema import Settings
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.browser.commands import file_name
from ollm_tui.tui.browser.screen import SessionBrowser
from ollm_tui.tui.browser.sidebar import ChatSidebar
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.context.prompt_screen import PromptScreen
from ollm_tui.tui.help.commands import CommandPalette
from ollm_tui.tui.help.screen import HelpScreen
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.find_bar import FindBar
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.kit.question import Question
from ollm_tui.tui.models.model_picker import ModelPicker
from ollm_tui.tui.prompt.completion_list import CompletionList
from ollm_tui.tui.settings.screen import SettingsScreen
from ollm_tui.tui.settings.theme_picker import ThemePicker
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, send, settled, state, stream, title
from tests.tui.typing_in import type_in

DONE = Completed(finish="stop", usage=Usage(input_tokens=700, output_tokens=40, output_seconds=2.0))
CODE = "Two blocks:\n\n```python\none = 1\n```\n\n```\ntwo\n```\n"


def answers(*texts: str) -> list[list[TextDelta | Completed]]:
    return [[TextDelta(text), DONE] for text in texts]


async def slash(app: OllmApp, pilot: Pilot[int], text: str) -> None:
    await type_in(pilot, text)
    await pilot.press("enter")
    await settled(app, pilot)


def completions(app: OllmApp) -> list[str]:
    """The lines of the list over the prompt, without the mark of the chosen one."""
    lines = str(app.screen.query_one(CompletionList).render()).splitlines()
    return [line[2:] for line in lines]


# The stream


async def test_alt_up_goes_to_the_stream_and_escape_back_to_the_prompt(open_app: OpenApp) -> None:
    async with open_app(answers("hello")) as (app, pilot):
        await send(app, pilot, "hi")
        await pilot.press("alt+up")
        assert app.focused is chat(app).transcript
        assert "j k move" in state(app)
        await pilot.press("escape")
        assert app.focused is prompt(app) and chat(app).transcript.cursor.key is None


@pytest.mark.more
async def test_j_k_g_and_capital_g_move_the_message_cursor(open_app: OpenApp) -> None:
    async with open_app(answers("one", "two")) as (app, pilot):
        await send(app, pilot, "a")
        await send(app, pilot, "b")
        await pilot.press("alt+up")
        keys, seen = chat(app).transcript.keys, list[int]()
        for key in ("g", "j", "j", "k", "G", "k"):
            await pilot.press(key)
            seen.append(keys.index(chat(app).transcript.cursor.key or ""))
        assert seen == [0, 1, 2, 1, 3, 2]


async def test_y_copies_the_message_as_it_was_written(open_app: OpenApp) -> None:
    async with open_app(answers("**bold**")) as (app, pilot):
        await send(app, pilot, "hi")
        await pilot.press("alt+up", "y")
        await settled(app, pilot)
        assert app.clipboard == "**bold**"
        assert "terminal" in state(app)


@pytest.mark.more
async def test_several_messages_are_marked_and_copied_together(open_app: OpenApp) -> None:
    async with open_app(answers("there")) as (app, pilot):
        await send(app, pilot, "hi")
        await pilot.press("alt+up", "K", "y")
        await settled(app, pilot)
        assert app.clipboard == "hi\n\nthere"
        assert "2 messages" in state(app)


@pytest.mark.more
async def test_c_copies_one_code_block_after_the_other(open_app: OpenApp) -> None:
    async with open_app(answers(CODE)) as (app, pilot):
        await send(app, pilot, "code please")
        await pilot.press("alt+up")
        copied: list[str] = []
        for _ in range(3):
            await pilot.press("c")
            await settled(app, pilot)
            copied.append(app.clipboard.strip())
        assert set(copied) == {"one = 1", "two"} and copied[0] == copied[2]


@pytest.mark.more
async def test_c_without_code_says_so(open_app: OpenApp) -> None:
    async with open_app(answers("no code")) as (app, pilot):
        await send(app, pilot, "hi")
        await pilot.press("alt+up", "c")
        assert "No code block here" in state(app)


async def test_e_edits_a_message_and_both_versions_stay(open_app: OpenApp, home: Path) -> None:
    async with open_app(answers("first", "second")) as (app, pilot):
        await send(app, pilot, "one")
        await pilot.press("alt+up", "k", "e")
        assert prompt(app).text == "one" and "Editing" in state(app)
        await pilot.press("x", "enter")
        await settled(app, pilot)
        assert stream(app) == ["▌ onex ‹ 2/2 ›", "┃ second"]
        await pilot.press("alt+up", "k", "left")
        await settled(app, pilot)
        assert stream(app) == ["▌ one ‹ 1/2 ›", "┃ first"]
    [file] = (home / "sessions").glob("*.json")
    assert len(json.loads(file.read_bytes())["messages"]) == 4


@pytest.mark.more
async def test_an_edit_can_be_given_up(open_app: OpenApp) -> None:
    async with open_app(answers("first")) as (app, pilot):
        await send(app, pilot, "one")
        await slash(app, pilot, "/edit")
        assert prompt(app).text == "one"
        await pilot.press("escape")
        assert prompt(app).text == "" and chat(app).chat.editing is None


@pytest.mark.more
async def test_the_models_words_cannot_be_edited(open_app: OpenApp) -> None:
    async with open_app(answers("first")) as (app, pilot):
        await send(app, pilot, "one")
        await pilot.press("alt+up", "e")
        assert "Only your own messages" in state(app)


async def test_r_has_the_answer_written_again(open_app: OpenApp) -> None:
    async with open_app(answers("first", "second")) as (app, pilot):
        await send(app, pilot, "one")
        await pilot.press("alt+up", "r")
        await settled(app, pilot)
        assert stream(app) == ["▌ one", "┃ second ‹ 2/2 ›"]


async def test_f_forks_from_a_message(open_app: OpenApp, home: Path) -> None:
    async with open_app(answers("A", "B", "C")) as (app, pilot):
        await send(app, pilot, "one")
        await send(app, pilot, "two")
        before = chat(app).chat.conversation.session_id
        await pilot.press("alt+up", "g", "j", "f")
        await settled(app, pilot)
        assert chat(app).chat.conversation.session_id != before
        assert stream(app) == ["▌ one", "┃ A"]
        assert "(fork)" in title(app)[0]
        assert "Forked: you are in the new session" in state(app)
        await send(app, pilot, "three")
        assert stream(app)[-1] == "┃ C"
    assert len(list((home / "sessions").glob("*.json"))) == 2


async def test_escape_twice_on_an_empty_prompt_goes_back_to_your_last_message(
    open_app: OpenApp,
) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "one")
        await pilot.press("escape", "escape")
        assert chat(app).transcript.cursor.key == chat(app).transcript.keys[0]
        await pilot.press("e")
        assert prompt(app).text == "one"


async def test_thoughts_are_folded_and_open_with_ctrl_o(open_app: OpenApp) -> None:
    script = [[ReasoningDelta("deep thought"), TextDelta("So: 42"), DONE]]
    async with open_app(script) as (app, pilot):
        await send(app, pilot, "why")
        assert "deep thought" not in " ".join(stream(app))
        assert any("thought for" in line for line in stream(app))
        await pilot.press("ctrl+o")
        assert "deep thought" in " ".join(stream(app))


@pytest.mark.more
async def test_details_show_model_tokens_and_speed(open_app: OpenApp) -> None:
    async with open_app(answers("A"), size=(100, 24)) as (app, pilot):
        await send(app, pilot, "one")
        assert "tok/s" not in " ".join(stream(app))
        await slash(app, pilot, "/details")
        assert "scripted · wrote 40 in 2.0 s, 20 tok/s" in " ".join(stream(app))


async def test_find_marks_words_and_n_goes_on(open_app: OpenApp) -> None:
    async with open_app(answers("apple pear", "apple plum")) as (app, pilot):
        await send(app, pilot, "one")
        await send(app, pilot, "two")
        await pilot.press("ctrl+f")
        await settled(app, pilot)
        await type_in(pilot, "apple")
        await pilot.pause()
        assert chat(app).transcript.finder.position == (2, 2)
        await pilot.press("enter", "n")
        assert chat(app).transcript.finder.position == (1, 2)
        assert "Match 1 of 2" in state(app)
        await pilot.press("escape")
        assert chat(app).transcript.finder.position == (0, 0)


@pytest.mark.more
async def test_closing_find_comes_back_to_the_prompt(open_app: OpenApp) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await slash(app, pilot, "/find nothing")
        assert chat(app).query_one(FindBar).display
        await pilot.press("escape")
        await pilot.pause()
        assert not chat(app).query_one(FindBar).display and app.focused is prompt(app)


# Sessions


async def test_a_new_session_keeps_the_old_one_and_its_draft(open_app: OpenApp) -> None:
    async with open_app(answers("A", "B")) as (app, pilot):
        await send(app, pilot, "one")
        await type_in(pilot, "draft")
        await pilot.press("ctrl+n")
        await settled(app, pilot)
        assert stream(app) == [] and prompt(app).text == ""
        await send(app, pilot, "two")
        await pilot.press("f3")
        await settled(app, pilot)
        assert isinstance(app.screen, SessionBrowser)
        await type_in(pilot, "one")
        await pilot.press("enter")
        await settled(app, pilot)
        await settled(app, pilot)
        assert stream(app) == ["▌ one", "┃ A"]
        assert prompt(app).text == "draft"


async def test_the_sidebar_opens_sessions_and_goes_away(open_app: OpenApp) -> None:
    async with open_app(answers("A", "B"), size=(100, 24)) as (app, pilot):
        await send(app, pilot, "one")
        await slash(app, pilot, "/new")
        await send(app, pilot, "two")
        await pilot.press("f2")
        await settled(app, pilot)
        await pilot.press("down", "enter")
        await settled(app, pilot)
        assert stream(app) == ["▌ one", "┃ A"]
        await pilot.press("ctrl+b")
        assert app.screen.query_one(ChatSidebar).has_focus_within
        await pilot.press("ctrl+b")
        assert not app.screen.query_one(ChatSidebar).display


async def test_deleting_in_the_sidebar_can_be_undone(open_app: OpenApp, home: Path) -> None:
    async with open_app(answers("A", "B"), size=(100, 24)) as (app, pilot):
        await send(app, pilot, "one")
        await slash(app, pilot, "/new")
        await send(app, pilot, "two")
        await pilot.press("f2")
        await settled(app, pilot)
        await pilot.press("down", "delete")
        await settled(app, pilot)
        assert len(await app.workspace.sessions()) == 1
        await pilot.press("u")
        await settled(app, pilot)
        assert len(await app.workspace.sessions()) == 2


async def test_rename_star_save_and_export(
    open_app: OpenApp, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "one")
        await slash(app, pilot, "/rename better")
        assert title(app)[0] == "better"
        await slash(app, pilot, "/star")
        assert chat(app).chat.conversation.state.header.pinned
        await slash(app, pilot, "/save")
        assert "Saved" in state(app)
        await slash(app, pilot, "/export talk.md")
        assert "A" in (tmp_path / "talk.md").read_text()
        await slash(app, pilot, "/export talk.md")
        assert "already exists" in state(app)
        await slash(app, pilot, "/export talk.doc")
        assert "end the name in .md, .html or .json" in state(app)


@pytest.mark.more
async def test_rename_asks_when_no_title_was_given(open_app: OpenApp) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "one")
        await slash(app, pilot, "/rename")
        assert isinstance(app.screen, Question)
        await pilot.press("end", "x", "enter")
        await settled(app, pilot)
        assert title(app)[0] == "onex"


@some(2, "command", ("/export", "/save", "/fork", "/edit", "/copy", "/rewind"))
async def test_commands_on_nothing_say_what_is_missing(open_app: OpenApp, command: str) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, command)
        assert "send a message first" in state(app)


# Screens


@some(
    3,
    ("key", "screen"),
    (
        ("ctrl+p", CommandPalette),
        ("f1", HelpScreen),
        ("question_mark", HelpScreen),
        ("f10", SettingsScreen),
        ("f9", ThemePicker),
        ("f7", ModelPicker),
        ("ctrl+s", SessionBrowser),
        ("f12", Picker),
    ),
)
async def test_a_key_opens_a_screen_and_escape_closes_it(
    open_app: OpenApp, key: str, screen: type
) -> None:
    async with open_app() as (app, pilot):
        await pilot.press(key)
        await settled(app, pilot)
        assert isinstance(app.screen, screen)
        await pilot.press("escape")
        await settled(app, pilot)
        assert isinstance(app.screen, ChatScreen) and app.focused is prompt(app)


@pytest.mark.more
async def test_a_question_mark_in_a_text_is_text(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "why?")
        assert prompt(app).text == "why?"


@pytest.mark.more
async def test_the_palette_runs_what_is_chosen(open_app: OpenApp) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "one")
        await pilot.press("ctrl+p")
        await settled(app, pilot)
        await type_in(pilot, "new session")
        await pilot.press("enter")
        await settled(app, pilot)
        await settled(app, pilot)
        assert stream(app) == []


@pytest.mark.more
async def test_the_palette_puts_the_best_first_and_then_what_was_used(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await pilot.press("ctrl+p")
        await settled(app, pilot)
        choices = app.screen.query_one(ChoiceList)
        assert choices.highlighted_key == "model.choose"  # the everyday ones, as in the / list
        await pilot.press("down")
        assert choices.highlighted_key == "session.new"
        await type_in(pilot, "model")
        assert choices.highlighted_key == "model.choose"
        await pilot.press("ctrl+a", "ctrl+k")
        await type_in(pilot, "delete")
        assert choices.highlighted_key == "session.picker"
        await pilot.press("ctrl+a", "ctrl+k")
        await type_in(pilot, "details")
        await pilot.press("enter")
        await settled(app, pilot)
        await pilot.press("ctrl+p")
        await settled(app, pilot)
        assert app.screen.query_one(ChoiceList).highlighted_key == "read.details"


@pytest.mark.more
async def test_slash_names_are_ranked_and_letters_are_enough(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "/mod")
        assert [line.split()[0] for line in completions(app)[:2]] == ["/model", "/mode"]
        await pilot.press("ctrl+a", "ctrl+k")
        await type_in(pilot, "/snp")
        assert completions(app)[0].startswith("/snapshot")


@pytest.mark.more
async def test_the_theme_picker_begins_at_the_theme_in_use(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/theme nord")
        await slash(app, pilot, "/theme")
        await settled(app, pilot)
        highlighted = app.screen.query_one(ChoiceList).highlighted
        assert highlighted and (highlighted.key, highlighted.mark) == ("nord", "✓")
        await pilot.press("enter")
        await settled(app, pilot)
        assert app.theme == "nord"


async def test_a_theme_is_chosen_by_name_and_kept(open_app: OpenApp, home: Path) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/theme nord")
        assert app.theme == "nord"
        assert "theme: nord" in (home / "config.yaml").read_text()
        await slash(app, pilot, "/theme nonsense")
        assert "Cannot read theme" in state(app) and app.theme == "nord"


async def test_a_model_is_chosen_by_name(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/model other")
        assert title(app)[1] == "other · scripted · this machine"


async def test_an_unknown_command_keeps_the_text_and_names_the_nearest(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await slash(app, pilot, "/thme")
        assert prompt(app).text == "/thme" and "did you mean /theme" in state(app)


@pytest.mark.more
async def test_earlier_prompts_are_found_again(open_app: OpenApp) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "remember me")
        await pilot.press("ctrl+r")
        await settled(app, pilot)
        await type_in(pilot, "remem")
        await pilot.press("enter")
        await settled(app, pilot)
        assert prompt(app).text == "remember me"


async def test_keys_are_remapped_by_the_settings(open_app: OpenApp) -> None:
    settings = Settings(keymap={"screen.palette": "f13", "prompt.send": "f11"})
    async with open_app(answers("A"), settings=settings) as (app, pilot):
        assert "F13 commands" in state(app)
        await type_in(pilot, "hi")
        await pilot.press("f11")
        await settled(app, pilot)
        assert stream(app) == ["▌ hi", "┃ A"]
        await pilot.press("f13")
        await settled(app, pilot)
        assert isinstance(app.screen, CommandPalette)


async def test_a_wrong_keymap_is_told_in_the_stream(open_app: OpenApp) -> None:
    async with open_app(settings=Settings(keymap={"chat.stopp": "f8"})) as (app, _):
        assert "did you mean chat.stop?" in " ".join(stream(app))


# Drafts


async def test_a_draft_survives_the_end_of_the_program(open_app: OpenApp) -> None:
    async with open_app() as (app, pilot):
        await type_in(pilot, "half a thou")
        await pilot.pause(0.7)
    async with open_app() as (app, pilot):
        assert prompt(app).text == "half a thou"


async def test_what_was_sent_is_in_the_history_of_the_next_start(open_app: OpenApp) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "one")
    async with open_app() as (app, pilot):
        await pilot.press("up")
        assert prompt(app).text == "one"


async def test_clear_says_where_the_old_session_went(open_app: OpenApp) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "one")
        left = chat(app).chat.conversation.session_id
        await slash(app, pilot, "/clear")
        assert f"New session · /load {left[:8]}" in state(app)


async def test_load_finds_a_session_by_the_words_of_its_title(open_app: OpenApp) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "Which knots should I know?")
        left = chat(app).chat.conversation.session_id
        await slash(app, pilot, "/new")
        await slash(app, pilot, "/load no such words")
        assert state(app).startswith("No session 'no such words' · F3 lists all")
        await slash(app, pilot, "/load know knots")
        assert chat(app).chat.conversation.session_id == left


@pytest.mark.more
async def test_a_command_that_goes_to_another_session_is_no_draft_of_the_one_left(
    open_app: OpenApp,
) -> None:
    async with open_app(answers("A", "B")) as (app, pilot):
        await send(app, pilot, "one")
        await slash(app, pilot, "/new")
        await type_in(pilot, "/load one")
        while app.memory.draft(None) != "/load one":  # it is on disk as a draft
            await pilot.pause(0.05)
        await pilot.press("enter")
        await settled(app, pilot)
        assert title(app)[0] == "one"
    async with open_app() as (app, pilot):
        await settled(app, pilot)
        assert prompt(app).text == ""


@pytest.mark.more
async def test_an_export_without_a_name_is_called_after_the_title(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "one")
        await slash(app, pilot, "/rename Über the Moon: a/b?")
        await slash(app, pilot, "/export")
        assert (tmp_path / "uber-the-moon-a-b.md").exists()
    assert file_name("月", "3f2a91c4ffff") == "3f2a91c4.md"


@pytest.mark.more
async def test_history_is_the_whole_conversation(open_app: OpenApp) -> None:
    async with open_app(answers("A", "B")) as (app, pilot):
        await slash(app, pilot, "/history")
        assert "No messages yet" in state(app)
        await send(app, pilot, "one")
        await pilot.press("alt+up", "x", "escape")
        await slash(app, pilot, "/history")
        assert isinstance(app.screen, PromptScreen)
        shown = app.screen.query_one(Transcript)
        text = shown.copy_text(shown.keys)
        assert "one" in text and "A" in text, "also what is excluded from the context"


@pytest.mark.more
async def test_context_takes_a_priority_and_a_snapshot(open_app: OpenApp) -> None:
    async with open_app(answers("A")) as (app, pilot):
        await send(app, pilot, "one")
        await slash(app, pilot, "/context add --priority 90 style short words")
        [entry] = chat(app).chat.conversation.notes.all
        assert (entry.key, entry.content, entry.priority) == ("style", "short words", 90)
        await slash(app, pilot, "/context add --priority high style words")
        assert "--priority needs a number" in state(app)
        await slash(app, pilot, "/context snapshot here")
        taken = await chat(app).chat.conversation.snapshots.list()
        assert taken[0].name == "here"


async def test_a_session_has_its_own_temperature_thinking_and_system_prompt(
    open_app: OpenApp,
) -> None:
    model = Scripted(answers("A", "B"))
    async with open_app(model) as (app, pilot):
        await slash(app, pilot, "/temperature 0.3")
        assert "Temperature: 0.3" in state(app)
        await slash(app, pilot, "/think high")
        await slash(app, pilot, "/system Speak like a pirate.")
        await send(app, pilot, "one")
        session_id = chat(app).chat.conversation.session_id
        await slash(app, pilot, "/temperature hot")
        assert "Not a temperature: hot · 0 to 2" in state(app)
        await slash(app, pilot, "/think a lot")
        assert "Not a thinking level: a lot" in state(app)
        await slash(app, pilot, "/system")
        assert prompt(app).text == "/system Speak like a pirate."
        await pilot.press("ctrl+c")
        await chat(app).drafts.flush()  # else it would stand in the prompt of the next one
    asked = model.requests[-1]
    assert asked.temperature == 0.3 and asked.thinking == "high"
    assert asked.messages[0].text.startswith("Speak like a pirate.")
    model = Scripted(answers("C", "D"))
    async with open_app(model, session_id=session_id) as (app, pilot):
        await send(app, pilot, "two")
        assert model.requests[-1].temperature == 0.3, "the session remembers it"
        for command in ("/temperature default", "/think off", "/system default"):
            await slash(app, pilot, command)
        await send(app, pilot, "three")
        assert model.requests[-1].temperature is None and model.requests[-1].thinking is False
        assert model.requests[-1].messages[0].text.startswith("You are a helpful assistant")


async def test_a_stopped_answer_goes_on_where_it_stopped(open_app: OpenApp) -> None:
    goes_on = asyncio.Event()
    script: list[list[Step]] = [
        [TextDelta("zero")],
        [TextDelta("One two"), asyncio.Event()],
        [TextDelta(" three"), goes_on],
    ]
    model = Scripted(script, continues=True)
    async with open_app(model) as (app, pilot):
        await send(app, pilot, "begin")
        await type_in(pilot, "count")
        await pilot.press("enter")
        while "┃ One two" not in stream(app):
            await pilot.pause(0.02)
        await pilot.press("escape")
        await settled(app, pilot)
        await type_in(pilot, "/continue")
        await pilot.press("enter")
        while "┃ One two three" not in stream(app):
            await pilot.pause(0.02)
        assert not [line for line in stream(app) if line == "┃ One two" or "stopped" in line]
        goes_on.set()
        await settled(app, pilot)
        shown = stream(app)
        said = [message.text for message in chat(app).chat.conversation.state.branch()]
        assert said == ["begin", "zero", "count", "One two three"]
        assert "▌ count" in shown and "┃ zero" in shown
        chat(app).chat.turn_display.show_branch()
        assert stream(app) == shown, "it looks the same when it is opened again"


async def test_a_stopped_answer_is_continued(open_app: OpenApp) -> None:
    script: list[list[Step]] = [[TextDelta("One two"), asyncio.Event()], [TextDelta(" three")]]
    async with open_app(script) as (app, pilot):
        await type_in(pilot, "count")
        await pilot.press("enter")
        while "┃ One two" not in stream(app):
            await pilot.pause(0.02)
        await pilot.press("escape")
        await settled(app, pilot)
        await slash(app, pilot, "/continue")
        said = [message.text for message in chat(app).chat.conversation.state.branch()]
        assert said == ["count", "One two", GO_ON, " three"]
        await slash(app, pilot, "/continue")
        assert "The last answer is complete" in state(app)
