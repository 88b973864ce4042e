"""What only a server can read goes back to it byte for byte, and to nobody else: through saving,
resuming, compressing, branching and changes of the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ollm_tui.core.events import TurnFinished
from ollm_tui.core.provider import (
    ChatRequest,
    Completed,
    ReasoningDelta,
    Selection,
    TextDelta,
)
from ollm_tui.core.session.message import Opaque
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.providers.scripted import MODEL, Scripted
from ollm_tui.services.sessions.recording import Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.store_layout import StoreLayout

ITEMS: tuple[dict[str, Any], ...] = (
    {
        "type": "thinking",
        "thinking": "hm \u202e\u0000\x1b[1m 😀 a\u2028b",
        "signature": "EqQB+/==" * 500,
        "kept": {"as": [1, 1.5, None, "it came"]},
    },
    {"type": "text", "text": "Hi"},
)


class Vendor(Scripted):
    """A scripted server of some vendor; each of its replies is opaque."""

    def __init__(self, name: str) -> None:
        super().__init__(self._reply, name=name)

    @property
    def vendor(self) -> str:
        return f"{self.name}:host"

    def _reply(self, request: ChatRequest) -> list[Any]:
        return [
            ReasoningDelta("hm"),
            TextDelta("Hi"),
            Completed(finish="stop", model=request.model, opaque=ITEMS),
        ]


class TwoVendors:
    """A source with two servers."""

    def __init__(self) -> None:
        self.all = {name: Vendor(name) for name in ("one", "other")}

    def names(self) -> list[str]:
        return list(self.all)

    async def get(self, name: str) -> Vendor:
        return self.all[name]

    async def select(self, provider: str | None, model: str | None) -> Selection:
        return Selection(self.all[provider or "one"], model or MODEL)

    async def close(self) -> None:
        pass


def open_on(home: Path, source: TwoVendors) -> Workspace:
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    recording = Recording(library.store, library.index)
    return Workspace(Settings(), recording, library, source, home)


async def say(conversation: Conversation, text: str) -> None:
    events = [event async for event in conversation.send(text)]
    assert isinstance(events[-1], TurnFinished)


def sent(server: Vendor) -> list[Opaque]:
    """The opaque replies in the last request."""
    return [m.opaque for m in server.requests[-1].messages if m.opaque]


async def test_it_survives_resuming_forking_and_a_change_of_model(home: Path) -> None:
    source = TwoVendors()
    one, other = source.all["one"], source.all["other"]
    workspace = open_on(home, source)
    conversation = await workspace.begin()
    await say(conversation, "first")
    await say(conversation, "second")
    assert [each.items for each in sent(one)] == [ITEMS]

    await workspace.switch_model(conversation, "other", None)
    await say(conversation, "third")
    assert sent(other) == []
    assert all("signature" not in str(message) for message in other.requests[-1].messages)
    await workspace.switch_model(conversation, "one", "another-model")
    await say(conversation, "fourth")
    assert sent(one) == []
    await workspace.switch_model(conversation, "one", MODEL)
    await say(conversation, "fifth")
    assert [each.items for each in sent(one)] == [ITEMS, ITEMS]
    await finish_compression(conversation)
    await say(conversation, "sixth")
    kept = sent(one)
    assert kept
    assert {each.items == ITEMS for each in kept} == {True}
    session_id = conversation.session_id
    await conversation.close()
    fork = await workspace.fork(session_id)
    await workspace.close()

    for key in (session_id, fork):
        again = TwoVendors()
        workspace = open_on(home, again)
        resumed, _ = await workspace.resume(key)
        await say(resumed, "seventh")
        assert [each.items for each in sent(again.all["one"])] == [ITEMS] * (len(kept) + 1)
        assert resumed.state.branch()[1].opaque == Opaque(
            vendor="one:host", model=MODEL, items=ITEMS
        )
        await resumed.close()
        await workspace.close()


async def finish_compression(conversation: Conversation) -> None:
    async for _ in conversation.compression.make_room("manual", "truncate"):
        pass
