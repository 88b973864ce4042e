"""Every message of a branch is found in the stream, also what stands with another."""

from __future__ import annotations

from ollm_tui.tui.stream.entries.message_entries import shown_at


def test_what_has_no_entry_stands_with_the_message_before() -> None:
    branch = ["question", "call", "result", "answer"]
    shown = {"question", "call", "answer"}
    assert shown_at("answer", branch, shown) == "answer"
    assert shown_at("result", branch, shown) == "call"
    assert shown_at("elsewhere", branch, shown) is None
    assert shown_at("question", branch, {"answer"}) is None
