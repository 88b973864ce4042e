"""The chat in plain lines: reads what is typed, and prints answers and questions."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import TextIO

from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.core.intake import visible
from ollm_tui.core.loop import LoopAnswer
from ollm_tui.core.session.message import Attachment
from ollm_tui.core.tool import Decision
from ollm_tui.core.tool_events import ApprovalRequested, LoopPaused
from ollm_tui.engine.project.command_sending import files_of, output_of, use_wishes
from ollm_tui.engine.project.mentioned import mentioned
from ollm_tui.engine.project.own_commands import OwnCommand
from ollm_tui.headless import length_notice, with_room
from ollm_tui.plain.commands import found_command, is_known
from ollm_tui.plain.desk import Desk, Surroundings
from ollm_tui.plain.line_shell import run_in_shell
from ollm_tui.plain.words import NOTHING_SENT, RUN_FIRST
from ollm_tui.services.files.mention_names import names_in

SIGNAL_SECONDS = 0.01
"""The wait for a signal that ended the reading to reach the event loop: if it came later, it would
disturb the saving."""
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class PlainChat:
    """Reads lines and prints answers; everything is recorded as with the full screen."""

    def __init__(
        self,
        around: Surroundings,
        read_line: Callable[[str], str],
        out: TextIO,
        err: TextIO,
    ) -> None:
        self._desk = Desk(around, read_line, out, err)

    async def run(self, question: str | None = None) -> int:
        """Chat until the input ends and return the exit code; a question is asked at once."""
        desk = self._desk
        choice = desk.conversation.choice
        desk.conversation.tools.can_ask = True
        desk.conversation.on_overflow = "compress"
        desk.say(f"{choice.model} on {choice.provider.name}. /help for help, /quit to leave.")
        if question:
            await self._attempt(self._send(question))
        while not desk.is_leaving and (text := self._read()) is not None:
            if text.strip():
                await self._attempt(self._take(text))
        desk.write("\n")
        await asyncio.sleep(SIGNAL_SECONDS)
        return 0

    async def _attempt(self, work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except OllmError as error:
            self._desk.say(f"{error.message} ({error.hint})" if error.hint else error.message)

    async def _take(self, text: str) -> None:
        """Do what a line asks for: run a command, or send a message. UsageError."""
        if text.startswith("!"):
            await run_in_shell(self._desk, text[1:].strip())
        elif text.startswith("/") and not text.startswith("//"):
            name, _, argument = text[1:].partition(" ")
            name = name.strip().lower()
            known = {} if is_known(name) else self._desk.workspace.project.commands.all
            if own := known.get(name):
                await self._send_own(own, argument)
                return
            command = found_command(name)
            if turn := await command.action(self._desk, argument.strip()):
                await self._answer(turn)
        else:
            await self._send(text.removeprefix("/") if text.startswith("//") else text)

    async def _send(self, text: str) -> None:
        """Send a message with the files that it names."""
        project, conversation = self._desk.workspace.project, self._desk.conversation
        found: dict[str, Attachment] = {}
        for named in names_in(text):
            if piece := await mentioned(project, named.name):
                if piece.media_type.startswith("image/") and conversation.choice.images is False:
                    raise UsageError(f"{conversation.choice.model} cannot see images", "/model")
                found[piece.name] = piece
        await self._answer(conversation.send(text, tuple(found.values())))

    async def _send_own(self, command: OwnCommand, words: str) -> None:
        """Send the text of a command of the user's own; what it runs is asked about first."""
        desk, filled = self._desk, command.filled(words)
        for code in filled.shell:
            desk.say(f"$ {code}")
        if filled.shell and self._ask(RUN_FIRST) != "yes":
            desk.say(NOTHING_SENT)
            return
        workspace, conversation = desk.workspace, desk.conversation
        await use_wishes(workspace, conversation, command)
        files = await files_of(workspace, conversation, command, filled.text)
        jobs = desk.around.open_jobs
        outputs = [await output_of(jobs(), conversation, code) for code in filled.shell]
        await self._answer(conversation.send(filled.text, (*files, *outputs)))

    async def _answer(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        conversation = self._desk.conversation
        await self._desk.show(self._with_questions(with_room(conversation, turn)))
        if notice := await length_notice(conversation):
            self._desk.say(f"({notice})")
        self._desk.write("\n")

    async def _with_questions(
        self, events: AsyncGenerator[AnyTurnEvent, None]
    ) -> AsyncGenerator[AnyTurnEvent, None]:
        """Yield the same events, and ask the user at once where the turn waits for an answer."""
        tools = self._desk.conversation.tools
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
        self._desk.write("\n" + "\n".join(lines) + "\n")
        always = ", always" if verdict.grant else ""
        said = self._ask(f"yes{always}, no, or no and why? ")
        if said == "yes":
            return Decision("yes")
        if said == "always" and verdict.grant:
            return Decision("always", "session")
        return Decision("no", words=said.removeprefix("no").strip(" ,.:"))

    def _loop_answer(self, paused: LoopPaused) -> LoopAnswer:
        self._desk.say(f"\nThe model {paused.found.evidence}.")
        answers: dict[str, LoopAnswer] = {"once": "once", "allow": "allow"}
        return answers.get(self._ask("stop, once (more), or allow? "), "stop")

    def _ask(self, question: str) -> str:
        """Read one line; empty if the input has ended or Ctrl+C was pressed."""
        try:
            return self._desk.read_line(question).strip().lower()
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
                line = self._desk.read_line("> " if not lines else "… ")
                if not line.endswith("\\"):
                    return "\n".join([*lines, line])
                lines.append(line[:-1])
        except (EOFError, KeyboardInterrupt):
            return None
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
