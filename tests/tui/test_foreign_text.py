"""Foreign text never meets a markup parser: brackets are shown as they are, and do nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ollm_tui.core.errors import Unavailable
from ollm_tui.core.provider import ReasoningDelta, TextDelta, ToolCallArrived
from ollm_tui.core.session.message import Message, Text, ToolCallPart
from ollm_tui.core.session.session import SessionSummary
from ollm_tui.providers.scripted import Scripted
from ollm_tui.tui.browser.session_preview import SessionPreview
from ollm_tui.tui.chat.message_queue import MessageQueue
from ollm_tui.tui.chat.status import TwoTexts
from ollm_tui.tui.help.commands import CommandPalette, PaletteEntry
from ollm_tui.tui.help.screen import HelpEntry, HelpScreen
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.kit.question import Confirmation, Question
from ollm_tui.tui.prompt.completion import Option
from ollm_tui.tui.prompt.completion_list import CompletionList
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.entry import Entry, Fold
from ollm_tui.tui.stream.transcript.transcript import Transcript
from tests.conftest import REPOSITORY, Tell
from tests.tui.conftest import OpenApp
from tests.tui.dialog_host import Host
from tests.tui.seen import send, settled
from tests.tui.stream.transcript.looks import LOOKS

COUNT, BATCH = 10_000, 250
MOST_CLICKS = 3
"""In each state of the screen."""
EXIT = "[@click=app.exit()]x[/]"
BRICKS = (
    *("[bold]", "[/bold]", "[/]", "[/", "[", "]", "[[", "]]", "[/x]", "[b]x[/b]", "[not bold]"),
    *(EXIT, "[@click=app.bell]", "[@click=screen.command('app.leave')]out[/]", "[@click"),
    *("[link=http://e.x]y[/link]", "[link", "[$primary]", "[$nothing 50%]", "[red on blue]"),
    *("[#ff0000]", "[on red]", "[a=b]", "[!]", "[reverse]", "[bold", "\\[", "\\", "\\\\[b]"),
    *(":smile:", ":x:", "x", "y", " ", "=", "'", '"', "(", ")", "{", "}", "$", "%s", "{0}"),
)


def bracket_strings() -> list[str]:
    """Ten thousand different ones, the same every time."""
    dice = random.Random(7)
    found: dict[str, None] = dict.fromkeys(brick for brick in BRICKS if brick.strip())
    while len(found) < COUNT:
        found["".join(dice.choices(BRICKS, k=dice.randint(2, 6))).strip() or "["] = None
    return list(found)


def batches() -> Iterator[list[str]]:
    strings = bracket_strings()
    for start in range(0, COUNT, BATCH):
        yield strings[start : start + BATCH]


def drawn(screen: Screen[Any]) -> list[list[Segment]]:
    lines = screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage] there is no public way to the cells
    return [list(line) for line in lines]


OWN_CLICK = re.compile(r"screen\.command\('[\w.]+', '[\w-]*'\)|app\.simulate_key\('[\w+]+'\)")
"""What a click on words of ours does: a command by its id, or a key."""


def taken_for_markup(screen: Screen[Any]) -> list[str]:
    """Texts on the screen that would do something else than ours do, or lead somewhere."""
    return [
        segment.text
        for line in drawn(screen)
        for segment in line
        if segment.style
        and (segment.style.link or not OWN_CLICK.fullmatch(_click(segment.style.meta)))
    ]


def _click(meta: Mapping[str, Any]) -> str:
    return str(meta.get("@click", "app.simulate_key('none')"))


def one_line(text: str) -> str:
    return " ".join(text.split())


class Everything(App[None]):
    """Every widget that shows foreign text."""

    CSS = """
    ChoiceList, SessionPreview { height: 1fr; }
    #stream { height: 2fr; }
    LiveKeys { height: 3; }
    """

    def compose(self) -> ComposeResult:
        yield TwoTexts(id="two")
        yield MessageQueue()
        yield CompletionList()
        yield LiveKeys()
        yield SessionPreview(LOOKS)
        yield ChoiceList()
        yield Transcript(LOOKS, id="stream")

    def show_texts(self, texts: Sequence[str]) -> None:
        """Show some texts in every one."""
        first, second, *_ = texts
        joined = " ".join(texts)
        self.query_one("#two", TwoTexts).show(left=joined, right=first)
        self.query_one(MessageQueue).messages.clear()
        for text in texts[:3]:
            self.query_one(MessageQueue).messages.add(Prompt.Sent(text))
        options = [Option(text, second, joined) for text in texts]
        self.query_one(CompletionList).show(options, 0)
        self.query_one(LiveKeys).say(joined)
        preview = self.query_one(SessionPreview)
        preview.show(
            SessionSummary("id", first, "", "", second, first, 1, 1, joined, tags=(first,))
        )
        preview.show_messages([Message("m", "assistant", (Text(joined),), "")])
        choices = [
            Choice(text, text, second[:9], first[:2], heading=not n) for n, text in enumerate(texts)
        ]
        self.query_one(ChoiceList).show(choices)
        self.query_one("#stream", Transcript).show(_entries(texts))


def _entries(texts: Sequence[str]) -> Iterator[Entry]:
    for number, text in enumerate(texts):
        fold = Fold("fold", "tool", text, text, is_open=True)
        speaker = ("user", "assistant", "note", "error")[number % 4]
        yield Entry(str(number), speaker, text, text, folds=[fold])


async def test_ten_thousand_bracket_strings_are_shown_as_they_are(record_property: Tell) -> None:
    app = Everything()
    record_property("texts", COUNT)
    async with app.run_test(size=(120, 80)) as pilot:
        for texts in batches():
            app.show_texts(texts)
            await pilot.pause()
            assert taken_for_markup(app.screen) == []
            left, right = app.query("#two Static").results(Static)
            assert left.visual == Content(" ".join(texts))
            assert right.visual == Content(texts[0])
            waiting = app.query_one(MessageQueue).visual
            assert isinstance(waiting, Content)
            assert waiting.plain.splitlines()[0] == f"next  {one_line(texts[0])}"
            seen = _rows(app.query_one(ChoiceList))
            assert seen >= {one_line(text)[:40].strip() for text in texts[1:9]}


def _rows(choices: ChoiceList) -> set[str]:
    """The beginnings of its lines, without the mark in front."""
    lines = [choices.render_line(y).text for y in range(choices.size.height)]
    return {line[4:][:40].strip() for line in lines}


def dialogs(texts: list[str]) -> list[Screen[Any]]:
    """Every dialog with texts in every place."""
    first, joined = texts[0], " ".join(texts)
    choices = [Choice(text, text, first) for text in texts]
    entries = [PaletteEntry(text, text, first, text, text) for text in texts]
    helps = [HelpEntry(first, text, text, text, text) for text in texts]
    return [
        Confirmation(joined, joined),
        Question(f"{first}\n{joined}", joined, first, lambda _: joined),
        Picker(first, choices, empty=joined, keys=joined),
        CommandPalette(entries),
        HelpScreen(helps, [(first, joined)]),
    ]


@pytest.mark.parametrize("number", range(5))
async def test_dialogs_show_brackets_as_they_are(number: int) -> None:
    for texts in list(batches())[:: COUNT // BATCH // 2]:
        texts = [EXIT, *texts]
        app = Host(dialogs(texts)[number])
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.press("enter")
            await pilot.pause()
            assert taken_for_markup(app.screen) == []
            assert not isinstance(app.screen, Confirmation) or app.screen is app.opened


async def test_a_click_on_foreign_text_runs_nothing(open_app: OpenApp) -> None:
    call = ToolCallArrived(ToolCallPart("c", EXIT, {EXIT: EXIT}))
    turns = [
        [ReasoningDelta(EXIT), TextDelta(f"{EXIT} `{EXIT}` **{EXIT}**"), call],
        [Unavailable(EXIT, EXIT)],
    ]
    async with open_app(Scripted(turns, name=EXIT), size=(160, 50)) as (app, pilot):
        await send(app, pilot, "hello")
        await send(app, pilot, "again")
        conversation = app.conversation
        assert conversation
        await app.workspace.rename(conversation.session_id, EXIT)
        for keys in (("ctrl+o",), ("ctrl+b",), ("escape",), ("ctrl+s",), ("escape",), ("f7",)):
            await pilot.press(*keys)
            await settled(app, pilot)
            places = list(_places(app.screen, EXIT))
            assert places
            assert taken_for_markup(app.screen) == []
            for place in places[:: len(places) // MOST_CLICKS + 1]:
                shown = app.screen
                await pilot.click(offset=place)
                assert app.return_code is None
                assert app.is_running
                if app.screen is not shown:  # the model's name leads to the choice of a model
                    await pilot.press("escape")


def _places(screen: Screen[Any], text: str) -> Iterator[tuple[int, int]]:
    """The middle of every place on the screen where a text stands."""
    for y, line in enumerate(drawn(screen)):
        row = "".join(segment.text for segment in line)
        for found in re.finditer(re.escape(text), row):
            yield found.start() + text.index("x["), y


def test_no_part_of_the_screen_asks_for_markup() -> None:
    asks = re.compile(
        r"markup=True|from_markup|\.notify\((?![^)]*markup=False)|\.tooltip = "
        r"|render_markup|Text\.from_"
    )
    files = (REPOSITORY / "ollm_tui" / "tui").rglob("*.py")
    assert [file for file in files if asks.search(file.read_text(encoding="utf-8"))] == []


def test_every_text_widget_is_told_that_its_text_is_no_markup() -> None:
    """A Static that is given a plain string would parse it."""
    made = re.compile(
        r"Static\((?!\)|id=|Content|places_text|classes=\"[\w-]+\", markup=False)[^)]*\)"
    )
    for file in sorted(Path(REPOSITORY, "ollm_tui", "tui").rglob("*.py")):
        for call in made.finditer(file.read_text(encoding="utf-8")):
            assert "markup=False" in call[0] or "class " in call[0], f"{file}: {call[0]}"
