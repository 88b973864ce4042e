"""An ordinary chat with a server that reports what it reads: nothing is loaded to count with."""

from __future__ import annotations

from ollm_tui.core.provider import Capabilities, ChatRequest, Completed, TextDelta
from ollm_tui.core.session.message import Usage
from ollm_tui.providers.scripted import Scripted, Turn
from ollm_tui.services.tokens.counting_process import CountingProcess
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
from tests.services.tokens.samples import SAMPLES
from tests.tui.conftest import OpenApp
from tests.tui.seen import gauge, send, settled


class Reporting(Scripted):
    """Counts nothing before it answers, and reports the true length of every prompt."""

    def __init__(self) -> None:
        super().__init__(self.answer)
        self.count = VocabularyEncoding.shipped("o200k_base").count
        self.read: list[int] = []

    def answer(self, request: ChatRequest) -> Turn:
        self.read.append(sum(self.count(each.text) + 5 for each in request.messages) + 3)
        usage = Usage(input_tokens=self.read[-1], output_tokens=9)
        answer = SAMPLES["german"][len(self.requests) % 2]
        return [TextDelta(answer), Completed(finish="stop", usage=usage)]

    async def count_tokens(self, request: ChatRequest) -> int | None:
        return None

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(window=32_768)


async def test_no_vocabulary_is_loaded_until_somebody_looks_and_the_gauge_is_right(
    open_app: OpenApp,
) -> None:
    process, server = CountingProcess.shared(), Reporting()
    process.end()
    async with open_app(server, size=(100, 30)) as (app, pilot):
        for turn in range(6):
            await send(app, pilot, f"Frage {turn}")
            assert app.conversation
            count = app.conversation.context().count
            # Only the new answer is estimated, and that well from the second one on.
            answer = count.tokens - server.read[-1]
            truth = server.count(app.conversation.state.branch()[-1].text) + 5
            assert truth * 0.75 < answer < truth * (1.25 if turn else 2.5)
            assert f"{count.total} of" in gauge(app)
        assert process.pid is None, "nothing was needed to count with"
        await pilot.press("f5")
        await settled(app, pilot)
        assert process.knows("o200k_base")
