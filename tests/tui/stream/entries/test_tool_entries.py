"""Tool calls as entries: their lines, and how results join their calls when a session is read."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ollm_tui.core.cut_output import cut_words
from ollm_tui.core.session.message import (
    Approval,
    Attachment,
    Message,
    Part,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.session.session import Session
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.tool import Decision
from ollm_tui.engine.tools import tool_calls, tool_output
from ollm_tui.tui.kit.diff_lines import TonedLine, argument_lines, diff_lines, exact_lines
from ollm_tui.tui.stream.entries.message_entries import branch_entries
from ollm_tui.tui.stream.entries.tool_entries import (
    CANCELLED,
    CUT,
    NOT_ALLOWED,
    ToolBlock,
    ToolFold,
    block_lines,
    block_title,
    decision_words,
    duration,
)
from ollm_tui.tui.stream.transcript.entry import Entry
from tests.tui.tool_desk import DIFF


def call(name: str = "read_file", call_id: str = "c1", **args: Any) -> ToolCallPart:
    return ToolCallPart(call_id=call_id, name=name, args=args or {"path": "a.py"})


def result(
    content: str = "one\ntwo", call_id: str = "c1", is_error: bool = False
) -> ToolResultPart:
    return ToolResultPart(call_id=call_id, name="read_file", content=content, is_error=is_error)


def read(*messages: tuple[Role, tuple[Part, ...]]) -> list[Entry]:
    """The entries of a session in which these were said one after the other."""
    said = tuple(
        Message(
            id=f"m{number}",
            role=role,
            parts=parts,
            timestamp=f"2025-11-16T14:00:0{number}.000Z",
            parent_id=f"m{number - 1}" if number else None,
        )
        for number, (role, parts) in enumerate(messages)
    )
    session = Session(
        session_id="s", start_time="", last_activity="", model="m", provider="p", messages=said
    )
    return branch_entries(SessionState(session))


def texts(block: ToolBlock) -> list[str]:
    return [line.text for line in block_lines(block)]


# One line


@pytest.mark.parametrize(
    ("block", "title"),
    (
        (ToolBlock(call()), "asks for read_file a.py"),
        (ToolBlock(call(), "waiting"), "read_file a.py · waiting for your answer"),
        (ToolBlock(call("exec", code="pytest -q"), "running", seconds=3.2), "exec pytest -q · 3 s"),
        (
            ToolBlock(call()).finished(result(), "212 lines", 0.008),
            "read_file a.py · 212 lines · 8 ms",
        ),
        (ToolBlock(call()).finished(result()), "read_file a.py · 2 lines"),
        (
            ToolBlock(call()).finished(result("1 failed\n[exit 1 · 3 s]")),
            "read_file a.py · exit 1 · 3 s",
        ),
        (ToolBlock(call()).finished(result("changed a.py")), "read_file a.py · changed a.py"),
        (ToolBlock(call()).finished(result("")), "read_file a.py · no output"),
        (
            ToolBlock(call()).finished(result("no such file", is_error=True), "failed", 0.01),
            "read_file a.py · failed: no such file · 10 ms",
        ),
        (
            ToolBlock(call()).finished(result(CANCELLED, is_error=True)),
            "read_file a.py · cancelled",
        ),
        (
            ToolBlock(call(), decision="denied by you").finished(
                result("the user refused this: use tox", is_error=True)
            ),
            "read_file a.py · denied: use tox",
        ),
    ),
)
def test_a_call_is_told_in_one_line(block: ToolBlock, title: str) -> None:
    assert block_title(block) == title


def test_the_line_is_about_the_argument_that_says_most() -> None:
    edit = call("edit_file", old="x" * 100, new="y", path="b.py")
    assert block_title(ToolBlock(edit)) == "asks for edit_file b.py"
    assert block_title(ToolBlock(call("tasks", what="list"))) == "asks for tasks list"
    hidden = call("exec", code="ls" + " " * 500 + "; rm -rf ~")
    assert block_title(ToolBlock(hidden)) == "asks for exec ls ; rm -rf ~"


def test_what_did_not_go_well_has_a_colour() -> None:
    failed = ToolFold(ToolBlock(call()).finished(result(is_error=True), "exit 1"))
    refused = ToolFold(ToolBlock(call()).finished(result(is_error=True), "refused"))
    assert (failed.tone, refused.tone) == ("failed", "stopped")
    assert ToolFold(ToolBlock(call()).finished(result())).tone == ""


@pytest.mark.parametrize(
    ("seconds", "words"), ((0.0001, "1 ms"), (0.45, "450 ms"), (3.24, "3.2 s"), (125, "2 min 5 s"))
)
def test_times_are_short(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_the_words_of_the_engine_are_known() -> None:
    assert CANCELLED == tool_calls.CANCELLED
    assert NOT_ALLOWED == tool_calls.NOT_ALLOWED


def test_the_line_says_that_an_output_was_cut_and_by_how_much() -> None:
    short = tool_output.cut("line\n" * 9000 + "[exit 0]", 200, len)
    block = ToolBlock(call()).finished(result(short))
    assert block_title(block) == f"read_file a.py · exit 0 · {cut_words(short)}"
    assert re.fullmatch(r"cut 8,9\d\d of 9,001 lines", cut_words(short))
    assert texts(block)[-1] == CUT


def test_a_call_that_the_rules_refuse_is_refused_also_without_its_summary() -> None:
    refused = result("not allowed: the settings forbid exec (ask)", is_error=True)
    for summary in ("refused", ""):
        block = ToolBlock(call()).finished(refused, summary)
        assert block_title(block) == "read_file a.py · denied: the settings forbid exec (ask)"


# Opened


def test_an_open_call_shows_arguments_decision_and_answer() -> None:
    block = ToolBlock(call(path="a.py", limit=9), decision="allowed by you").finished(result())
    assert texts(block) == ["path: a.py", "limit: 9", "allowed by you", "", "one", "two"]


def test_what_was_cut_says_how_to_see_it_whole() -> None:
    cut = tool_output.cut("line\n" * 9000, 200, len)
    assert texts(ToolBlock(call()).finished(result(cut)))[-1] == CUT


def test_an_edit_is_shown_as_a_diff_and_its_texts_only_once() -> None:
    edit = call("edit_file", path="a.py", old="return 1", new="return 2")
    lines = list(block_lines(ToolBlock(edit, diff=DIFF)))
    assert TonedLine("-    return 1", "gone") in lines
    assert TonedLine("+    return min(60, 2 ** attempt)", "added") in lines
    assert [line.text for line in lines][:2] == ["path: a.py", ""]


def test_an_edit_that_is_read_from_a_session_shows_what_went_and_what_came() -> None:
    lines = list(argument_lines({"path": "a.py", "old": "a\nb", "new": "c"}))
    assert lines[1:] == [
        TonedLine("old:"),
        TonedLine("- a", "gone"),
        TonedLine("- b", "gone"),
        TonedLine("new:"),
        TonedLine("+ c", "added"),
    ]


def test_a_removed_line_of_dashes_is_no_head_of_a_diff() -> None:
    lines = list(diff_lines("--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n--- old\n"))
    assert lines == [TonedLine("@@ -1 +0,0 @@", "quiet"), TonedLine("--- old", "gone")]


def test_nothing_is_hidden_by_blanks_empty_lines_or_unseen_characters() -> None:
    code = "ls" + " " * 300 + "; rm -rf ~" + "\n" * 9 + "echo \u202ea\x1b[2J\u200bb"
    assert [line.text for line in exact_lines(code)] == [
        "ls⟨300 spaces⟩; rm -rf ~",
        "⟨8 empty lines⟩",
        "echo ⟨U+202E⟩a␛[2J⟨U+200B⟩b",
    ]


def test_the_text_of_a_fold_knows_how_its_lines_are_meant() -> None:
    fold = ToolFold(ToolBlock(call("edit_file", path="a.py", old="a", new="b")))
    text = fold.text
    meant = {text[at:].split("\n")[0]: tone for at, tone in fold.tones}
    assert meant["- a"] == "gone" and meant["+ b"] == "added"


def test_a_decision_is_told_with_its_reach_and_its_words() -> None:
    assert decision_words(Decision("always", "project")) == "allowed for this project by you"
    assert decision_words(Decision("no", words="use tox")) == "denied by you: use tox"


# Read from a session


def test_results_stand_in_their_calls_when_a_session_is_read() -> None:
    two = (Text("Let me see."), call(), call("exec", "c2", code="ls"))
    refused = Approval(call_id="c2", decision="no")
    entries = read(
        ("user", (Text("go"),)),
        ("assistant", two),
        ("tool", (result(),)),
        ("tool", (result("the user refused this", "c2", is_error=True), refused)),
        ("assistant", (Text("done"),)),
    )
    assert [entry.key for entry in entries] == ["m0", "m1", "m4"]
    titles = [fold.title for fold in entries[1].folds]
    assert titles == ["read_file a.py · 2 lines", "exec ls · denied"]
    assert entries[1].covers == ("m2", "m3")


def test_a_result_without_its_call_stays_visible() -> None:
    entries = read(("user", (Text("go"),)), ("tool", (result("lost", "other"),)))
    assert [fold.text for fold in entries[1].folds] == ["lost"]
    asked = read(("assistant", (call(),)), ("tool", (result("lost", "other"),)))
    assert [entry.key for entry in asked] == ["m0", "m1"]
    assert asked[1].folds[0].text == "lost"


def test_a_picture_that_came_with_a_result_is_not_lost() -> None:
    picture = Attachment(name="plot.png", media_type="image/png", content="")
    entries = read(("assistant", (call(),)), ("tool", (result(), picture)))
    assert entries[0].folds[0].title == "read_file a.py · 2 lines"
    assert [fold.title for fold in entries[1].folds] == ["plot.png · picture"]


def test_what_the_program_told_the_model_is_a_note() -> None:
    entries = read(("system", (Text("Do not repeat it."),)))
    assert entries[0].speaker == "note" and entries[0].text == "to the model: Do not repeat it."
