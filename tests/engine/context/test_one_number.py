"""One context has one number: after whatever changes it, all places that show it agree, and a
number without ≈ is what the server counts."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from ollm_tui.core.provider import Capabilities, ChatRequest, Completed, TextDelta
from ollm_tui.core.session.context_marks import ContextChange
from ollm_tui.core.session.graft import grafted
from ollm_tui.core.session.message import Usage
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.engine.snapshots.points import Point, parts_of
from ollm_tui.providers.scripted import Scripted, Turn
from ollm_tui.services.tokens.prompt_count import GROUPS
from ollm_tui.settings.schema import ModelSettings, Settings
from tests.engine.conftest import workspace_on

WINDOW = 4096


class CountingServer(Scripted):
    """Counts prompts by a rule of its own, without answering them, as the embedded server does."""

    def __init__(self) -> None:
        super().__init__(self.reply, window=WINDOW)

    @staticmethod
    def rule(request: ChatRequest) -> int:
        return sum(-(-len(message.text) // 3) + 5 for message in request.messages) + 3

    def reply(self, request: ChatRequest) -> Turn:
        usage = Usage(input_tokens=self.rule(request), output_tokens=20)
        words = "An answer of some words. " * (1 + len(self.requests) % 5)
        return [TextDelta(words), Completed(finish="stop", usage=usage)]

    async def count_tokens(self, request: ChatRequest) -> int | None:
        return self.rule(request)

    def tokenizes(self, model: str) -> bool:
        return True

    async def token_counts(self, model: str, texts: Sequence[str]) -> tuple[int, ...] | None:
        return tuple(-(-len(text) // 3) for text in texts)

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(counting=True, window=WINDOW, max_window=WINDOW)


ACTIONS = (
    *("send", "edit", "again", "branch", "pin", "exclude", "fold", "mode", "goal", "note"),
    *("graft", "trust", "window", "compact", "undo", "back", "restore"),
)
steps = st.lists(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 20)), min_size=3, max_size=9)


@settings(max_examples=8)
@given(steps)
@example([("back", 0), ("compact", 0), ("restore", 0)])
def test_all_places_show_the_same_number_after_every_step(done: list[tuple[str, int]]) -> None:
    asyncio.run(_hold(done))


async def _hold(done: list[tuple[str, int]]) -> None:
    server = CountingServer()
    with tempfile.TemporaryDirectory() as home:
        wishes = Settings(models={"scripted": ModelSettings(window=WINDOW)})
        workspace = workspace_on(Path(home), server, wishes)
        conversation = await workspace.begin()
        await _do(conversation, "send", 3)
        for action, number in done:
            await _do(conversation, action, number)
            await _agree(workspace, conversation, server)
        await conversation.close()
        await workspace.close()


async def _do(conversation: Conversation, action: str, number: int) -> None:
    branch = conversation.state.branch()
    match action:
        case "send":
            async for _ in conversation.send("Tell me more about it all. " * (1 + number)):
                pass
        case "edit":
            own = [message.id for message in branch if message.role == "user"]
            async for _ in conversation.edit(own[number % len(own)], f"Another question {number}."):
                pass
        case "again":
            async for _ in conversation.regenerate():
                pass
        case "branch":
            said = [*conversation.state.messages()]
            await conversation.switch_to(said[number % len(said)].id)
        case "note":
            await conversation.notes.add("style", "Answer in rhymes. " * (1 + number))
        case "trust":
            await conversation.notes.add("rules", f"Rule {number}", source="hook", origin="file:A")
        case "graft":
            brought = grafted([branch[number % len(branch)]], conversation.session_id)
            async for _ in conversation.send("What of this?", brought):
                pass
        case "window":
            await conversation.use(conversation.choice._replace(window=WINDOW + number))
        case "pin" | "exclude" | "fold":
            key = branch[number % len(branch)].id
            await conversation.change_context(ContextChange(action, (key,)))
        case "mode":
            await conversation.change_mode(("assistant", "developer")[number % 2])
        case "goal":
            await conversation.goals.set_goal(f"get {number} done")
        case "compact":
            async for _ in conversation.compression.run(strategy="truncate"):
                pass
        case "undo":
            if any(not each.undone_at for each in conversation.compression.history):
                await conversation.compression.undo()
        case "back":
            await conversation.snapshots.go_back(branch[number % len(branch)].id)
        case _:
            if taken := await conversation.snapshots.list():
                snapshot = await conversation.snapshots.get(taken[number % len(taken)].id)
                await conversation.snapshots.restore(snapshot)


async def _agree(workspace: Workspace, conversation: Conversation, server: CountingServer) -> None:
    await conversation.recount()
    view = conversation.context()
    assert view is conversation.context(), "it is computed once"
    request = conversation._context.request()  # pyright: ignore[reportPrivateUsage] what would be sent
    assert view.count.source != "estimated"
    assert view.count.tokens == server.rule(request)
    assert sum(item.tokens.tokens for item in view.items) == view.count.tokens
    for group in GROUPS:
        rows = sum(item.tokens.tokens for item in view.items if item.group == group)
        assert rows == getattr(view.count.parts, group), group
    assert conversation.live_tokens == view.count.total
    point = Point(conversation.session_id)
    shown = await workspace.points.at(point)
    assert (shown.token_count, shown.tokens_estimated) == (view.count.tokens, False)
    assert parts_of(shown) == view.count.parts == workspace.points.budget(shown).parts
    overview = await workspace.points.overview(conversation.session_id)
    if overview.state.header.head == [*overview.state.messages()][-1].id:
        assert overview.timeline.tokens[-1] == view.count.tokens
