"""The plain front end: a chat in plain lines, without a full screen or colours."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TextIO

from ollm_tui.core.errors import OllmError
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.core.intake import visible
from ollm_tui.core.loop import LoopAnswer
from ollm_tui.core.tool import Decision
from ollm_tui.core.tool_events import ApprovalRequested, LoopPaused
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.headless import Headless, length_notice, with_room

SIGNAL_SECONDS = 0.01
"""The wait for a signal that ended the reading to reach the event loop: if it came later, it would
disturb the saving."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_HELP = """\
Type a message and press Enter. A line that ends with \\ goes on in the next one.
  /help   this help
  /again  write the last answer again
  /quit   leave (also Ctrl+D); Ctrl+C stops an answer
"""


class PlainChat:
    """Reads lines and prints answers; everything is recorded as with the full screen."""

    def __init__(
        self,
        conversation: Conversation,
        read_line: Callable[[str], str],
        out: TextIO,
        err: TextIO,
    ) -> None:
        self._conversation = conversation
        self._read_line = read_line
        self._out = out
        self._err = err

    async def run(self, question: str | None = None) -> int:
        """Chat until the input ends and return the exit code; a question is asked at once."""
        choice = self._conversation.choice
        self._conversation.tools.can_ask = True
        who = visible(f"{choice.model} on {choice.provider.name}")
        self._say(f"{who}. /help for help, /quit to leave.\n")
        if question:
            await self._answer(question)
        while (text := self._read()) is not None:
            match text.strip():
                case "":
                    continue
                case "/quit" | "/exit":
                    break
                case "/help":
                    self._say(_HELP)
                case "/again":
                    await self._answer(None)
                case _:
                    await self._answer(text)
        self._say("\n")
        await asyncio.sleep(SIGNAL_SECONDS)
        return 0

    async def _answer(self, text: str | None) -> None:
        conversation = self._conversation
        conversation.on_overflow = "compress"
        turn = conversation.send(text) if text else conversation.regenerate()
        events = self._with_questions(with_room(conversation, turn))
        task = asyncio.ensure_future(Headless("text", self._out, self._err).show(events))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, conversation.cancel)
        try:
            await task
        except OllmError as error:
            self._say(visible(f"{error.message} ({error.hint})\n"))
        finally:
            loop.remove_signal_handler(signal.SIGINT)
        if notice := await length_notice(conversation):
            self._say(f"({notice})\n")
        self._say("\n")

    async def _with_questions(
        self, events: AsyncGenerator[AnyTurnEvent, None]
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """Yield the same events, and ask the user at once where the turn waits for an answer."""
        tools = self._conversation.tools
        async with aclosing(events):
            async for event in events:
                yield event
                if isinstance(event, ApprovalRequested):
                    tools.answer(event.call.call_id, self._decision(event))
                elif isinstance(event, LoopPaused):
                    tools.answer_loop(self._loop_answer(event))

    def _decision(self, asked: ApprovalRequested) -> Decision:
        """Ask about a tool call; only whole words count, so that keys typed ahead do not answer."""
        action, verdict = asked.action, asked.verdict
        shown = [f"The model wants to {action.title}:", action.subject, action.diff]
        shown += [f"in {action.place}" if action.place else "", f"({verdict.reason})"]
        lines = (visible(line) for part in shown if part for line in part.splitlines())
        self._say("\n" + "\n".join(lines) + "\n")
        always = ", always" if verdict.grant else ""
        said = self._ask(f"yes{always}, no, or no and why? ")
        if said == "yes":
            return Decision("yes")
        if said == "always" and verdict.grant:
            return Decision("always", "session")
        return Decision("no", words=said.removeprefix("no").strip(" ,.:"))

    def _loop_answer(self, paused: LoopPaused) -> LoopAnswer:
        self._say(visible(f"\nThe model {paused.found.evidence}.") + "\n")
        answers: dict[str, LoopAnswer] = {"once": "once", "allow": "allow"}
        return answers.get(self._ask("stop, once (more), or allow? "), "stop")

    def _ask(self, question: str) -> str:
        """Read one line; empty if the input has ended or Ctrl+C was pressed."""
        try:
            return self._read_line(question).strip().lower()
        except (EOFError, KeyboardInterrupt):
            return ""

    def _read(self) -> str | None:
        """Read one message; None if the input has ended or a signal such as Ctrl+C ended it.

        It blocks on purpose: between turns nothing else is going on, and a thread that waits
        for a line could not be stopped by Ctrl+C.
        """
        lines: list[str] = []
        before = {each: signal.signal(each, signal.default_int_handler) for each in _ENDING}
        try:
            while True:
                line = self._read_line("> " if not lines else "… ")
                if not line.endswith("\\"):
                    return "\n".join([*lines, line])
                lines.append(line[:-1])
        except (EOFError, KeyboardInterrupt):
            return None
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _say(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
