"""The ledger: what it records and quotes, that every entry is literally true, and its sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from ollm_tui.core.session.compression import GAP, Fact, FactKind, Ledger
from ollm_tui.core.session.message import (
    Message,
    Part,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.tool_events import REFUSED
from ollm_tui.engine.compression.ledger.ledger import ledger_of, merged, rendered
from tests.engine.compression.entry_sources import unfounded
from tests.engine.compression.fact_conversations import conversation
from tests.engine.compression.fact_phrases import KNOWN, VARIED
from tests.engine.compression.random_histories import RandomHistory

AT = "2026-03-01T10:00:00.000Z"
EVERYTHING = 100_000


def count(text: str) -> int:
    """Tokens as most models count them, roughly."""
    return (len(text) + 3) // 4


def said(number: int, role: Role, *parts: Part) -> Message:
    return Message(f"m{number}", role, parts, AT)


def used(
    name: str, args: dict[str, object], output: str, *, failed: bool = False, trusted: bool = False
) -> list[Message]:
    """A call of a tool and its result."""
    call = ToolCallPart(f"c-{name}-{len(output)}", name, args)
    result = ToolResultPart(call.call_id, name, output, is_error=failed, trusted=trusted)
    return [said(1, "assistant", call), said(2, "tool", result)]


def facts(messages: Sequence[Message], kind: str) -> list[tuple[str, str]]:
    return [(fact.text, fact.about) for fact in ledger_of(messages).facts if fact.kind == kind]


def test_files_are_changed_by_writing_tools_and_read_by_others() -> None:
    messages = [
        *used("read_file", {"path": "src/a.py"}, "import os"),
        *used("write_file", {"path": "src/b.py", "content": "x = 1"}, "written"),
        *used("edit_file", {"path": "src/a.py", "old": "os", "new": "sys"}, "changed"),
        *used("edit_file", {"path": "src/c.py", "old": "o", "new": "s"}, "not found", failed=True),
    ]
    assert facts(messages, "changed") == [("src/b.py", ""), ("src/a.py", "")]
    assert facts(messages, "read") == [], "a changed file is listed once, a failed change is none"


@pytest.mark.parametrize(
    ("output", "failed", "ended"),
    [
        ("ok\nexit 0 · 1 s", False, "exit 0"),
        ("exit code: 2", False, "exit 2"),
        ('{"exitCode": 3}', False, "exit 3"),
        ("?", True, "failed"),
    ],
)
def test_commands_are_told_with_how_they_ended(output: str, failed: bool, ended: str) -> None:
    messages = used("exec", {"code": "make all"}, output, failed=failed)
    assert facts(messages, "command") == [("make all", ended)]


def test_of_a_failed_result_the_last_lines_are_quoted_and_of_a_good_one_none() -> None:
    trace = "\n".join(f"line {n}" for n in range(50)) + "\nKeyError: 'campaign'"
    [(text, about)] = facts(used("exec", {"code": "run"}, trace, failed=True), "failed")
    assert text == "line 47 line 48 line 49 KeyError: 'campaign'" and about == "exec run"
    source = "raise KeyError('campaign')  # the error that was failing"
    assert facts(used("read_file", {"path": "a.py"}, source), "failed") == []


def test_a_result_belongs_to_the_call_before_it_where_ids_are_used_again() -> None:
    messages: list[Message] = []
    for number, command in enumerate(("make one", "make two")):
        messages += [
            said(2 * number, "assistant", ToolCallPart("call_0", "exec", {"code": command})),
            said(2 * number + 1, "tool", ToolResultPart("call_0", "exec", f"exit {number}")),
        ]
    assert facts(messages, "command") == [("make one", "exit 0"), ("make two", "exit 1")]


def test_the_outcome_of_tests_is_kept() -> None:
    output = "....F\n==== 1 failed, 4 passed in 0.31s ====\nexit 1"
    messages = used("exec", {"code": "pytest -q"}, output)
    assert facts(messages, "test") == [("1 failed, 4 passed in 0.31s", "pytest -q")]


def test_a_refusal_is_the_users_word_and_no_error() -> None:
    words = f"{REFUSED}: use campaign_id instead of id"
    messages = used("exec", {"code": "alter"}, words, failed=True, trusted=True)
    assert facts(messages, "user") == [(words, "exec alter")] and not facts(messages, "failed")
    # A program that prints the same words does not speak for the user.
    assert not facts(used("exec", {"code": "alter"}, words, failed=True), "user")


def test_nothing_said_is_filed_as_decided_open_or_tried() -> None:
    talk = conversation(KNOWN, 3, rounds=8).messages
    kinds = {fact.kind for fact in ledger_of(talk).facts}
    assert kinds <= {
        "user",
        "changed",
        "read",
        "command",
        "failed",
        "test",
        "said",
        "name",
        "excerpt",
    }


def test_a_correction_is_two_quotes_the_newer_one_first() -> None:
    messages = [
        said(1, "assistant", Text("The cache is the cause.")),
        said(2, "assistant", Text("No: the cause is the clock.")),
    ]
    lines = rendered(ledger_of(messages), 100, count).text.splitlines()
    assert lines[:3] == [
        "the model said, newest first:",
        "- No: the cause is the clock.",
        "- The cache is the cause.",
    ]


def test_names_that_the_model_sees_anyway_are_not_listed() -> None:
    folded = [said(1, "tool", ToolResultPart("c", "look", "see load_rows and save_rows " * 40))]
    kept = [said(2, "user", Text("What about load_rows?"))]
    names = [fact.text for fact in ledger_of(folded, kept).facts if fact.kind == "name"]
    assert names == ["save_rows"]


def test_no_long_entry_pushes_the_others_out() -> None:
    messages = [
        *used("read_file", {"path": "src/a.py"}, "word " * 4_000),
        *used("exec", {"code": "make"}, "broken pipe", failed=True),
        said(3, "assistant", Text("I looked at it. " * 400)),
    ]
    text = rendered(ledger_of(messages), 150, count).text
    for word in ("src/a.py", "make → failed", "broken pipe", "I looked at it.", "word word"):
        assert word in text


@pytest.mark.parametrize("room", [40, 150, 600, 2_000])
@pytest.mark.parametrize("seed", range(6))
def test_a_ledger_is_within_its_room_and_uses_it(room: int, seed: int) -> None:
    talk = conversation(VARIED, seed, rounds=12).messages
    text = rendered(ledger_of(talk), room, count).text
    assert count(text) <= room
    everything = count(rendered(ledger_of(talk), EVERYTHING, count).text)
    assert count(text) >= min(room * 0.75, everything * 0.75)


@pytest.mark.parametrize("room", [120, 500, EVERYTHING])
@pytest.mark.parametrize("seed", range(8))
def test_every_entry_has_its_source(room: int, seed: int) -> None:
    history, odd = RandomHistory(seed), list[Message]()
    for _ in range(12):
        odd += history.turn(odd[-1].id if odd else None, 60)
    talks = [conversation(phrases, seed, rounds=10).messages for phrases in (KNOWN, VARIED)]
    for messages in (*talks, odd):
        shown = rendered(ledger_of(messages), room, count)
        assert not list(unfounded(shown.ledger, shown.text, messages))


def test_what_has_no_source_is_found() -> None:
    messages = used("exec", {"code": "make all"}, "ok\nexit 0")
    for kind, text, about in (
        ("command", "make all", "exit 1"),
        ("command", "make none", "exit 0"),
        ("said", "ok", ""),
        ("excerpt", "ok … make", ""),
        ("decided", "ok", ""),
    ):
        ledger = Ledger((Fact(cast(FactKind, kind), text, about, "m2"),))
        assert list(unfounded(ledger, text, messages)), kind


def test_long_titles_leave_room_for_what_they_are_about() -> None:
    messages: list[Message] = []
    for number in range(60):
        path = f"{'deep/' * 15}part_{number}.py"
        messages += used("read_file", {"path": path}, f"value {number} is set " * 60)
    shown = rendered(ledger_of(messages), 2_000, count)
    quotes = [fact.text for fact in shown.ledger.facts if fact.kind == "excerpt"]
    assert count(shown.text) >= 1_800 and min(map(len, quotes)) >= 30


def test_a_ledger_is_never_empty_because_its_tokens_are_hard_to_foresee() -> None:
    talk = conversation(VARIED, 3, rounds=12).messages

    def uneven(text: str) -> int:
        return len(text) // 5 + 9 * sum(text.count(sign) for sign in "/_.:=")

    for room in (100, 300, 900):
        shown = rendered(ledger_of(talk), room, uneven)
        assert 0 < uneven(shown.text) <= room


def test_older_quotes_are_shortened_when_two_ledgers_become_one() -> None:
    first = ledger_of(conversation(KNOWN, 1, rounds=8).messages)
    second = ledger_of(conversation(VARIED, 2, rounds=8).messages)
    both = merged(rendered(first, 400, count).ledger, rendered(second, 400, count).ledger)
    shown = rendered(both, 400, count)
    assert 300 <= count(shown.text) <= 400
    texts = [fact.text for fact in both.facts]
    for fact in shown.ledger.facts:
        pieces = [piece.strip() for piece in fact.text.split(GAP.strip())]
        assert any(all(piece in text for piece in pieces) for text in texts)


def test_entries_of_earlier_versions_are_told_as_notes() -> None:
    old = Ledger((Fact("decision", "We use DuckDB."), Fact("todo", "Gone.", current=False)))
    assert rendered(old, 50, count).text == "noted earlier:\n- We use DuckDB."


def test_without_outputs_nothing_of_what_tools_answered_is_kept() -> None:
    messages = used("read_file", {"path": "src/a.py"}, "the launch_code is 4711")
    assert "launch_code" in str(ledger_of(messages).facts)
    kept = ledger_of(messages, of_outputs=False)
    assert "launch_code" not in str(kept.facts) and "src/a.py" in str(kept.facts)
