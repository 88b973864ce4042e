"""The keys of the jobs panel, and a word for each."""

from __future__ import annotations

from textual.binding import Binding

from ollm_tui.core.job import Job

BINDINGS = (
    Binding("escape,f8,q", "close", "Close", id="joblist.close", tooltip="Back to the chat"),
    Binding("w", "wait", "Wait", id="joblist.wait", tooltip="Say when it has ended"),
    Binding("k", "kill", "End", id="joblist.kill", tooltip="End it and all it started"),
    Binding("b", "move", "Move", id="joblist.move", tooltip="To the background, or back"),
    Binding("y", "copy", "Copy", id="joblist.copy", tooltip="Copy what it printed"),
    Binding("g", "give", "Give", id="joblist.give", tooltip="Give its output to the model"),
    Binding("r", "run_again", "Again", id="joblist.again", tooltip="Run the command again"),
    Binding(
        "e",
        "environment",
        "Environment",
        id="joblist.environment",
        tooltip="Variables that commands do not get",
    ),
)


def keys_for(job: Job | None, *, is_waited_for: bool) -> tuple[tuple[str, str], ...]:
    """Ids of bindings, each with what it does to a job; those that are not live are left out."""
    if job is None:
        return ("joblist.environment", "environment"), ("joblist.close", "close")
    return (
        ("joblist.open", "whole output"),
        ("joblist.wait", "wait"),
        ("joblist.kill", "kill"),
        ("joblist.move", "to the background" if is_waited_for else "to the foreground"),
        ("joblist.copy", "copy"),
        ("joblist.give", "give to the model"),
        ("joblist.again", "run again"),
        ("joblist.environment", "environment"),
        ("joblist.close", "close"),
    )
