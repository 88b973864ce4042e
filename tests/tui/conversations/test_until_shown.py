"""What waits until its conversation is shown."""

from __future__ import annotations

from ollm_tui.tui.conversations.until_shown import Action, UntilShown


async def test_what_waits_is_done_in_order_while_the_conversation_is_shown() -> None:
    done: list[int] = []

    async def attempt(action: Action) -> None:
        action()

    waiting = UntilShown(lambda: len(done) < 2, attempt)
    for number in range(3):
        waiting.add(lambda number=number: done.append(number))
    await waiting.do()
    assert done == [0, 1] and not waiting.is_empty, "it was left again: the rest goes on waiting"
    done.clear()
    await waiting.do()
    assert done == [2] and waiting.is_empty
