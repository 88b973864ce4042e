"""Where in a stream a message is: what a tool answered stands with the message that asked."""

from __future__ import annotations

from collections.abc import Container, Sequence


def shown_at(message_id: str, branch: Sequence[str], keys: Container[str]) -> str | None:
    """The key of the entry that shows a message of a branch; None if none does."""
    if message_id not in branch:
        return None
    before = branch[: branch.index(message_id) + 1]
    return next((key for key in reversed(before) if key in keys), None)
