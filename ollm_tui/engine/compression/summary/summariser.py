"""The summariser: asks a model for a summary, reads and judges the answer, and retries once."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from typing import assert_never

import msgspec

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    MessageFolded,
    SummaryArrived,
    SummaryReading,
    SummaryRejected,
)
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import BadAnswer, OverLimit, ProviderError
from ollm_tui.core.intake import IntakeFilter
from ollm_tui.core.provider import ChatRequest, Completed, Preparing, TextDelta
from ollm_tui.engine.compression.summary.summary_guard import (
    REASONS,
    Fault,
    Given,
    SummaryFailed,
    Verdict,
    judged,
    repetition,
    without_broken_end,
)
from ollm_tui.engine.compression.summary.summary_input import Count, transcript
from ollm_tui.engine.compression.summary.summary_request import (
    SummaryPrompt,
    SummaryRequest,
    bare_request_for,
    most_tokens_within,
    prompt_room,
    request_for,
    write_prompt,
)
from ollm_tui.engine.compression.summary.summary_syntax import sanitised
from ollm_tui.engine.compression.summary.summary_trial import SummaryTrial
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.turn.engine_line import Asker, EngineLines, InLine

STOP_READING = 1.5
"""Reading stops at so many times the length that was asked for."""
LOOK_CHARACTERS = 200
"""New characters after which an arriving answer is searched for repetitions again."""
FORM_FAULTS: tuple[Fault, ...] = ("empty", "refused")
"""Faults after which a JSON schema is asked for: it makes a model write something.

Not otherwise, since it makes the summaries of small models worse.
"""


class MessageTaken(msgspec.Struct, frozen=True):
    """A message was taken into the request."""

    message_id: str


class Reads(msgspec.Struct, frozen=True):
    """The model reads so many tokens; `fraction` of them are read, where the server says so."""

    tokens: int
    fraction: float | None = None


class Wrote(msgspec.Struct, frozen=True):
    """More text of a summary has arrived. `begins` if it is the first of an attempt."""

    text: str
    begins: bool = False


class Rejected(msgspec.Struct, frozen=True):
    """An attempt gave no usable summary. `again` if another one follows."""

    reason: str
    again: bool
    text: str = ""


class Summarised(msgspec.Struct, frozen=True):
    """The last step: the summary may be used. `dropped` sentences told what was not said."""

    text: str
    dropped: int = 0


SummaryStep = MessageTaken | Reads | Wrote | Rejected | Summarised


class Summariser:
    """Asks the model of a conversation for summaries of it.

    `count` and `redact` are called from another thread: texts may be long.
    """

    def __init__(
        self,
        choice: ModelChoice,
        count: Count,
        limit: int | None,
        redact: Callable[[str], str] = str,
        in_line: Callable[[], InLine] | None = None,
    ) -> None:
        """`in_line` has a request wait while the server answers other conversations."""
        self._in_line = in_line or partial(EngineLines().place, "", Asker("", str))
        self._choice = choice
        self._count = count
        self._limit = limit
        self._redact = redact
        self._bare = False

    async def summarise(self, request: SummaryRequest) -> AsyncGenerator[SummaryStep, None]:
        """Yield the steps of writing a summary; the last one is Summarised.

        Raises SummaryFailed or ProviderError if no summary is made. Closing the generator closes
        the connection to the model.
        """
        for message in request.messages:
            yield MessageTaken(message.id)
        request = request._replace(most_tokens=most_tokens_within(self._limit, request.most_tokens))
        prompt = await asyncio.to_thread(self._write, request)
        structured, reason = False, ""
        for again in (True, False):
            reading = _Reading(prompt.mark, request.most_tokens, self._count)
            yield Reads(prompt.read)
            try:
                async with aclosing(self._answer(prompt, structured, reading)) as arriving:
                    async for words in arriving:
                        if isinstance(words, Reads):
                            yield words
                            continue
                        yield Wrote(words, begins=not reading.begun)
                        reading.begun = True
            except ProviderError as error:
                # Other errors before the first word will not go away with a shorter input.
                if not again or not (reading.begun or isinstance(error, OverLimit)):
                    raise
                reason = "the answer broke off" if reading.begun else "the request was too long"
            else:
                # In the last attempt a copy of the earlier summary is accepted: better than none.
                given = prompt.given if again else prompt.given._replace(earlier="")
                verdict = await asyncio.to_thread(self._judge, reading, given)
                if verdict.fault is None:
                    yield Summarised(verdict.text, verdict.dropped)
                    return
                reason, structured = REASONS[verdict.fault], verdict.fault in FORM_FAULTS
            yield Rejected(reason, again, sanitised(self._redact(reading.summary())))
            if again:
                prompt = await asyncio.to_thread(self._write, request, prompt.read // 2)
        raise SummaryFailed(f"no summary: {reason}", "try again or choose another model")

    async def _answer(
        self, prompt: SummaryPrompt, structured: bool, reading: _Reading
    ) -> AsyncGenerator[str | Reads, None]:
        """Yield the text as it arrives; a server that refuses the extras is asked without them."""
        most = reading.most_tokens
        if not self._bare:
            request = request_for(prompt, self._choice, most, structured=structured)
            try:
                async with aclosing(self._words(request, reading, prompt.read)) as arriving:
                    async for words in arriving:
                        yield words
                return
            except BadAnswer:
                if reading.begun:
                    raise
                self._bare = True
        async with aclosing(
            self._words(bare_request_for(prompt, self._choice, most), reading, prompt.read)
        ) as arriving:
            async for words in arriving:
                yield words

    async def _words(
        self, request: ChatRequest, reading: _Reading, tokens: int
    ) -> AsyncGenerator[str | Reads, None]:
        with self._in_line() as place:
            async for _ in place.changes():
                pass  # others are answered first
            async with aclosing(self._choice.provider.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Completed):
                        reading.whole = event.finish == "stop"
                        break
                    if isinstance(event, Preparing) and event.fraction is not None:
                        yield Reads(tokens, event.fraction)
                    if isinstance(event, TextDelta) and (words := reading.feed(event.text)):
                        yield words
                    if reading.enough():
                        return
                else:
                    raise BadAnswer("the summary broke off before its end", "try again")
        if words := reading.finish():
            yield words

    def _write(self, request: SummaryRequest, most_read: int = sys.maxsize) -> SummaryPrompt:
        """Return the prompt. Raises SummaryFailed if nothing to be summarised fits into it."""
        redact, texts = self._redact, transcript(request.messages)
        # The messages have nothing to tell: then only the earlier summary is made shorter.
        if not any(texts):
            request, texts = request._replace(messages=()), [request.earlier]
        room = prompt_room(self._limit, request.most_tokens)
        safe = request._replace(earlier=redact(request.earlier), facts=redact(request.facts))
        prompt = write_prompt(safe, [redact(text) for text in texts], room, most_read, self._count)
        if not prompt.read:
            what = "the window is too small" if any(texts) else "there is nothing to summarise"
            raise SummaryFailed(f"no summary: {what}", "choose a larger window")
        return prompt

    def _judge(self, reading: _Reading, given: Given) -> Verdict:
        return judged(self._redact(reading.summary()), given, reading.most_tokens, self._count)


FACTS_ALONE = "kept only the ledger"
UNFIT = "this model is too small for summaries"


class SummaryWriter:
    """Has summaries written, one after the other. After a ProviderError no model is asked again."""

    def __init__(self, summariser: Summariser | None, trial: SummaryTrial | None = None) -> None:
        """With a `trial` the model has to pass it before it is asked."""
        self._summariser = summariser
        self._trial = trial
        self.text = ""
        """The last summary; empty if none was written."""
        self.note = ""
        """What the user should know of the summary, such as why there is none; else empty."""

    @property
    def asks_model(self) -> bool:
        """Whether a model is asked at all."""
        return self._summariser is not None

    async def write(self, request: SummaryRequest) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Have a summary written into `text`. Raises SummaryFailed if no answer is usable."""
        self.text = ""
        if self._summariser is None:
            for message in request.messages:
                yield MessageFolded(message_id=message.id)
            return
        try:
            if self._trial:
                async for reading in self._tried(self._trial):
                    yield reading
                if not self._trial.passed:
                    self._summariser, self.note = None, f"{UNFIT}: {FACTS_ALONE}"
                    for message in request.messages:
                        yield MessageFolded(message_id=message.id)
                    return
            self._trial = None
            async with aclosing(self._summariser.summarise(request)) as steps:
                async for step in steps:
                    if event := self._event(step):
                        yield event
        except ProviderError as error:
            self._summariser = None
            self.note = f"{error.message}: {FACTS_ALONE}"
            yield SummaryRejected(reason=self.note, again=False)

    async def _tried(self, trial: SummaryTrial) -> AsyncGenerator[SummaryReading, None]:
        """Try whether the model can summarise, and yield how much it has read for that."""
        async with aclosing(trial.steps()) as steps:
            async for step in steps:
                if isinstance(step, Reads):
                    yield SummaryReading(tokens=step.tokens, fraction=step.fraction, trial=True)

    def _event(self, step: SummaryStep) -> AnyCompressionEvent | None:
        """Take in a step and return the event that tells it, if there is one."""
        match step:
            case MessageTaken():
                return MessageFolded(message_id=step.message_id)
            case Reads():
                return SummaryReading(tokens=step.tokens, fraction=step.fraction)
            case Wrote():
                return SummaryArrived(text=step.text, begins=step.begins)
            case Rejected():
                return SummaryRejected(reason=step.reason, again=step.again, text=step.text)
            case Summarised():
                self.text = step.text
                if not step.dropped:
                    return None
                told = counted(step.dropped, "sentence")
                self.note = f"{told} of the summary dropped: not in the conversation"
                return SummaryArrived(text=step.text, begins=True)
            case _:
                assert_never(step)


class _Reading:
    """One answer while it arrives; decides when to stop reading it."""

    def __init__(self, mark: str, most_tokens: int, count: Count) -> None:
        self.most_tokens = most_tokens
        self.begun = False
        self.whole = False
        """Whether the model ended the answer by itself."""
        self._mark = mark
        self._count = count
        self._answer = SummaryAnswer()
        self._tokens = 0
        self._looked_at = 0

    def feed(self, chunk: str) -> str:
        """Take the next chunk of the answer and return the text in it."""
        return self._take(self._answer.feed(chunk))

    def finish(self) -> str:
        """Return the text that was held back to the end."""
        return self._take(self._answer.finish())

    def enough(self) -> bool:
        """Whether the answer is far too long, repeats itself, or copies the prompt."""
        text, most = self._answer.text, self.most_tokens * STOP_READING
        if self._tokens > most:
            # Counted chunk by chunk, the sum is too high where chunks are smaller than tokens.
            self._tokens = self._count(text)
        if len(text) - self._looked_at < LOOK_CHARACTERS:
            return self._tokens > most
        self._looked_at = len(text)
        return self._tokens > most or self._mark in text or repetition(text) is not None

    def summary(self) -> str:
        """Return what was written, without a last sentence that was cut off."""
        text, copy, _ = self._answer.text.partition(self._mark)
        return text if self.whole and not copy else without_broken_end(text)

    def _take(self, words: str) -> str:
        self._tokens += self._count(words)
        return words


OPENING_CHARACTERS = 80
"""Characters within which the opening of a JSON answer has to be complete."""

_OPENING = re.compile(r"\s*(?:```\w*\s*)?\{\s*\"summary\"\s*:\s*\"")
_MAYBE_OPENING = re.compile(r"\s*(?:`{1,2}|```\w*\s*)?(?:\{[\s\w\":]*)?")
_PLAIN_RUN = re.compile(r"[^\"\\]+")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[^u])")
_BROKEN_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}(?=[^0-9a-fA-F])")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": ""}


class SummaryAnswer:
    """Reads one answer, plain or JSON, chunk by chunk; where the chunks are cut does not matter."""

    def __init__(self) -> None:
        self.text = ""
        """All text of the summary so far."""
        self._filter = IntakeFilter()
        self._held = ""
        self._opened: bool | None = None
        """Whether the answer is JSON; None until that is known."""
        self._closed = False
        """Whether the JSON string has ended."""

    def feed(self, chunk: str) -> str:
        """Return the text of the summary that the next chunk brings."""
        return self._take(self._filter.feed(self._decoded(chunk)))

    def finish(self) -> str:
        """Return the text that was held back; an incomplete JSON escape is dropped."""
        rest = "" if self._opened else self._held
        self._held = ""
        return self._take(self._filter.feed(rest) + self._filter.finish())

    def _take(self, words: str) -> str:
        self.text += words
        return words

    def _decoded(self, chunk: str) -> str:
        text, self._held = self._held + chunk, ""
        if self._opened is None:
            opening = _OPENING.match(text)
            if opening:
                self._opened, text = True, text[opening.end() :]
            elif _MAYBE_OPENING.fullmatch(text) and len(text) <= OPENING_CHARACTERS:
                self._held = text
                return ""
            else:
                self._opened = False
        return self._unescaped(text) if self._opened else text

    def _unescaped(self, text: str) -> str:
        """Return the decoded content of a JSON string as far as it has arrived."""
        words: list[str] = []
        at = 0
        while at < len(text) and not self._closed:
            if run := _PLAIN_RUN.match(text, at):
                words.append(run[0])
            elif text[at] == '"':
                self._closed = True
                break
            elif run := _ESCAPE.match(text, at):
                words.append(_character(run[0]))
            elif not (run := _BROKEN_ESCAPE.match(text, at)):
                self._held = text[at:]
                break
            at = run.end()
        return "".join(words)


def _character(escape: str) -> str:
    if escape[1] == "u":
        return chr(int(escape[2:], 16))
    return _ESCAPED.get(escape[1], escape[1])
