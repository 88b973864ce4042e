"""From messages to a summary that may stand in the context: asked for, read, judged, once again."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import assert_never

import msgspec

from ollm_tui.core.compression_events import (
    AnyCompressionEvent,
    MessageFolded,
    SummaryArrived,
    SummaryRejected,
)
from ollm_tui.core.errors import BadAnswer, OverLimit, ProviderError
from ollm_tui.core.intake import IntakeFilter
from ollm_tui.core.provider import ChatRequest, Completed, TextDelta
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
from ollm_tui.engine.conversation.model_choice import ModelChoice

OPENING_CHARACTERS = 80
"""Longer than this, what begins like JSON is none of ours."""

_OPENING = re.compile(r"\s*(?:```\w*\s*)?\{\s*\"summary\"\s*:\s*\"")
_MAYBE_OPENING = re.compile(r"\s*(?:`{1,2}|```\w*\s*)?(?:\{[\s\w\":]*)?")
_PLAIN_RUN = re.compile(r"[^\"\\]+")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|[^u])")
_BROKEN_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}(?=[^0-9a-fA-F])")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "", "f": ""}


class SummaryAnswer:
    """Reads one answer chunk by chunk; where the cuts are makes no difference."""

    def __init__(self) -> None:
        self.text = ""
        """All words so far."""
        self._filter = IntakeFilter()
        self._held = ""
        self._opened: bool | None = None
        """Whether it is JSON; None while that is open."""
        self._closed = False

    def feed(self, chunk: str) -> str:
        """The words that the next chunk brings."""
        return self._take(self._filter.feed(self._decoded(chunk)))

    def finish(self) -> str:
        """What was held back; an escape that never ended is dropped."""
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
        """The content of a JSON string as far as it goes."""
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


STOP_READING = 1.5
"""So many times the length that was asked for, and nothing useful comes any more."""
LOOK_CHARACTERS = 200
"""How often an answer is looked at for repetitions while it arrives."""
FORM_FAULTS: tuple[Fault, ...] = ("empty", "refused")
"""Here a schema helps: it makes a model write something. Otherwise it makes small ones worse."""


class MessageTaken(msgspec.Struct, frozen=True):
    """A message goes into the request."""

    message_id: str


class Wrote(msgspec.Struct, frozen=True):
    """More words of a summary. `begins` if they are the first of an attempt."""

    text: str
    begins: bool = False


class Rejected(msgspec.Struct, frozen=True):
    """An attempt was of no use. `again` if there is another one."""

    reason: str
    again: bool


class Summarised(msgspec.Struct, frozen=True):
    """The last step: a summary to be used."""

    text: str


SummaryStep = MessageTaken | Wrote | Rejected | Summarised


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
    ) -> None:
        self._choice = choice
        self._count = count
        self._limit = limit
        self._redact = redact
        self._bare = False

    async def summarise(self, wanted: SummaryRequest) -> AsyncGenerator[SummaryStep, None]:
        """Steps, the last of them Summarised. SummaryFailed or ProviderError if there is none.

        Closing it closes the connection to the model.
        """
        for message in wanted.messages:
            yield MessageTaken(message.id)
        wanted = wanted._replace(most_tokens=most_tokens_within(self._limit, wanted.most_tokens))
        prompt = await asyncio.to_thread(self._write, wanted)
        structured, reason = False, ""
        for again in (True, False):
            reading = _Reading(prompt.mark, wanted.most_tokens, self._count)
            try:
                async with aclosing(self._answer(prompt, structured, reading)) as arriving:
                    async for words in arriving:
                        yield Wrote(words, begins=not reading.begun)
                        reading.begun = True
            except ProviderError as error:
                if not again or not (reading.begun or isinstance(error, OverLimit)):
                    raise
                reason = "the answer broke off" if reading.begun else "the request was too long"
            else:
                # In the end the earlier summary as it was is better than none.
                given = prompt.given if again else prompt.given._replace(earlier="")
                verdict = await asyncio.to_thread(self._judge, reading, given)
                if verdict.fault is None:
                    yield Summarised(verdict.text)
                    return
                reason, structured = REASONS[verdict.fault], verdict.fault in FORM_FAULTS
            yield Rejected(reason, again)
            if again:
                prompt = await asyncio.to_thread(self._write, wanted, prompt.read // 2)
        raise SummaryFailed(f"no summary was made: {reason}", "try again or choose another model")

    async def _answer(
        self, prompt: SummaryPrompt, structured: bool, reading: _Reading
    ) -> AsyncGenerator[str, None]:
        """The words as they arrive. A server that refuses the request gets it without extras."""
        most = reading.most_tokens
        if not self._bare:
            request = request_for(prompt, self._choice, most, structured=structured)
            try:
                async with aclosing(self._words(request, reading)) as arriving:
                    async for words in arriving:
                        yield words
                return
            except BadAnswer:
                if reading.begun:
                    raise
                self._bare = True
        async with aclosing(
            self._words(bare_request_for(prompt, self._choice, most), reading)
        ) as arriving:
            async for words in arriving:
                yield words

    async def _words(self, request: ChatRequest, reading: _Reading) -> AsyncGenerator[str, None]:
        async with aclosing(self._choice.provider.stream(request)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    reading.whole = event.finish == "stop"
                    break
                if isinstance(event, TextDelta) and (words := reading.feed(event.text)):
                    yield words
                if reading.enough():
                    return
            else:
                raise BadAnswer("the summary broke off before its end", "try again")
        if words := reading.finish():
            yield words

    def _write(self, wanted: SummaryRequest, most_read: int = sys.maxsize) -> SummaryPrompt:
        """The prompt; SummaryFailed if nothing of what is to be summarised has room in it."""
        redact, texts = self._redact, transcript(wanted.messages)
        if not any(texts):
            wanted, texts = wanted._replace(messages=()), [wanted.earlier]
        room = prompt_room(self._limit, wanted.most_tokens)
        safe = wanted._replace(earlier=redact(wanted.earlier), facts=redact(wanted.facts))
        prompt = write_prompt(safe, [redact(text) for text in texts], room, most_read, self._count)
        if not prompt.read:
            what = "the window is too small" if any(texts) else "there is nothing to summarise"
            raise SummaryFailed(f"no summary was made: {what}", "choose a larger window")
        return prompt

    def _judge(self, reading: _Reading, given: Given) -> Verdict:
        return judged(self._redact(reading.summary()), given, reading.most_tokens, self._count)


class _Reading:
    """One answer while it arrives, and when there is no use in reading on."""

    def __init__(self, mark: str, most_tokens: int, count: Count) -> None:
        self.most_tokens = most_tokens
        self.begun = False
        self.whole = False
        """Whether the model ended it by itself."""
        self._mark = mark
        self._count = count
        self._answer = SummaryAnswer()
        self._tokens = 0
        self._looked_at = 0

    def feed(self, chunk: str) -> str:
        """More of the answer; gives back the words in it."""
        return self._take(self._answer.feed(chunk))

    def finish(self) -> str:
        """The words that were held back to the end."""
        return self._take(self._answer.finish())

    def enough(self) -> bool:
        """Whether it is far too long, repeats itself, or goes on to write down its own prompt."""
        text, most = self._answer.text, self.most_tokens * STOP_READING
        if self._tokens > most:
            # Counted chunk by chunk it is too much where chunks are smaller than tokens.
            self._tokens = self._count(text)
        if len(text) - self._looked_at < LOOK_CHARACTERS:
            return self._tokens > most
        self._looked_at = len(text)
        return self._tokens > most or self._mark in text or repetition(text) is not None

    def summary(self) -> str:
        """What was written, without a sentence that was cut off."""
        text, copy, _ = self._answer.text.partition(self._mark)
        return text if self.whole and not copy else without_broken_end(text)

    def _take(self, words: str) -> str:
        self._tokens += self._count(words)
        return words


FACTS_ALONE = "the facts were kept without a summary"


class SummaryWriter:
    """Writes one summary after the other. A model that cannot be reached is not asked again."""

    def __init__(self, summariser: Summariser | None) -> None:
        self._summariser = summariser
        self.text = ""
        """The last summary; empty if there is none."""
        self.note = ""
        """Why no model was asked, if one should have been."""

    @property
    def asks_model(self) -> bool:
        """Whether a model is asked at all."""
        return self._summariser is not None

    async def write(self, wanted: SummaryRequest) -> AsyncGenerator[AnyCompressionEvent, None]:
        """Have a summary written into `text`. SummaryFailed if what comes is of no use."""
        self.text = ""
        if self._summariser is None:
            for message in wanted.messages:
                yield MessageFolded(message_id=message.id)
            return
        try:
            async with aclosing(self._summariser.summarise(wanted)) as steps:
                async for step in steps:
                    match step:
                        case MessageTaken():
                            yield MessageFolded(message_id=step.message_id)
                        case Wrote():
                            yield SummaryArrived(text=step.text, begins=step.begins)
                        case Rejected():
                            yield SummaryRejected(reason=step.reason, again=step.again)
                        case Summarised():
                            self.text = step.text
                        case _:
                            assert_never(step)
        except ProviderError as error:
            self._summariser = None
            self.note = f"{error.message}: {FACTS_ALONE}"
            yield SummaryRejected(reason=self.note, again=False)
