"""What every provider asks of a prompt, and generated conversations to hold it to."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from ollm_tui.core.provider import PromptMessage
from ollm_tui.core.session.context_marks import Marks
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Part,
    Reasoning,
    Retrieval,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)

call_ids = st.sampled_from(("c1", "c2", "c3"))
words = st.sampled_from(("", " ", "Hello", "one two three", "```\ncode\n```", "word " * 80))
parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, words, trusted=st.booleans()),
    st.builds(Reasoning, words),
    st.builds(ToolCallPart, call_ids, st.just("look"), st.just({"at": "x"})),
    st.builds(ToolResultPart, call_ids, st.just("look"), words),
    st.builds(Attachment, st.just("a.txt"), st.just("text/plain"), words),
    st.builds(Attachment, st.just("a.png"), st.just("image/png"), st.just("aGk=")),
    st.builds(Retrieval, words, st.just("s1")),
)
roles: st.SearchStrategy[Role] = st.sampled_from(
    ("user", "user", "assistant", "assistant", "tool", "system")
)
branches: st.SearchStrategy[list[Message]] = st.lists(
    st.tuples(roles, st.lists(parts, max_size=3)), max_size=12
).map(
    lambda drawn: [
        Message(f"m{place}", role, tuple(found), "", parent_id=f"m{place - 1}" if place else None)
        for place, (role, found) in enumerate(drawn)
    ]
)
some_ids = st.sets(st.integers(0, 11).map("m{}".format)).map(frozenset)
marks = st.builds(
    Marks,
    pinned=some_ids,
    excluded=some_ids,
    folded=st.dictionaries(st.integers(0, 11).map("m{}".format), st.just(70)),
)


def assert_every_provider_accepts(prompt: Sequence[PromptMessage]) -> None:
    """System first and once, the user begins, turns are taken, tools are called and answered."""
    spoken = [message for message in prompt if message.role != "system"]
    assert [message.role for message in prompt[1:]].count("system") == 0
    assert not spoken or spoken[0].role == "user"
    waiting: list[str] = []
    before = "system"
    for message in spoken:
        assert message.text.strip() or message.images or message.tool_calls or waiting
        if message.role == "tool":
            assert before in ("assistant", "tool")
            assert message.tool_call_id is not None
            waiting.remove(message.tool_call_id)
        else:
            assert not waiting, "a call was not answered"
            assert message.role != before, "nobody speaks twice in a row"
            waiting = [call.call_id for call in message.tool_calls]
            assert len(set(waiting)) == len(waiting)
        before = message.role
    assert not waiting
