"""What the records of messages tell without a model: files, commands, failures, and quotes.

Nothing is judged by the words that were used: an entry is a record, or a quote of who said it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from ollm_tui.core.session.compression import GAP, Fact, FactKind
from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.tool_events import REFUSED
from ollm_tui.engine.compression.ledger.ledger_names import Names
from ollm_tui.engine.compression.ledger.quotes import QUOTE_CHARACTERS, ends, one_line, quoted

LINE_CHARACTERS = 200
"""Characters of a path, a command or a line of a failure."""
FAILED_LINES = 4
"""Last lines of a failed result that are quoted."""
ARGUMENT_CHARACTERS = 24
"""An argument that is longer than this is worth quoting."""

_PATHS = re.compile(r"(?:\w*(?:path|file)s?|file\w*|target|source|src|dest(?:ination)?)")
"""The names of arguments that name files, in lower case and without underscores."""
_COMMANDS = frozenset(("command", "cmd", "code", "script", "commandline", "shellcommand"))
_CHANGES = ("write", "edit", "create", "replace", "insert", "append", "patch", "move", "rename")
"""Parts of the names of tools that change the files they name."""
_RUNS = ("exec", "shell", "bash", "run", "terminal", "command")
_EXIT = re.compile(
    r"\bexit(?:ed)?(?: with)?[ _]?(?:code|status)?[\"']?[ :=]{0,2}(-?\d{1,4})\b", re.IGNORECASE
)
_TESTS = re.compile(r"\b\d+ (?:passed|failed|failing|passing|errors?|skipped)\b|\bRan \d+ tests?\b")


class Call(NamedTuple):
    """A call of a tool as far as it tells what was done to what."""

    name: str
    args: Mapping[str, Any]

    @property
    def paths(self) -> list[str]:
        """The files it names."""
        return [
            quoted(text, LINE_CHARACTERS)
            for key, text in strings(self.args)
            if _PATHS.fullmatch(_plain(key)) and text.strip() and "\n" not in text
        ]

    @property
    def command(self) -> str:
        """The command it runs; empty if it runs none."""
        runs = any(word in self.name.lower() for word in _RUNS)
        for key, value in self.args.items():
            if _plain(key) in _COMMANDS and (runs or _plain(key) != "code"):
                if isinstance(value, list):
                    value = shlex.join(map(str, cast(list[object], value)))
                if isinstance(value, str) and value.strip():
                    return quoted(value, LINE_CHARACTERS)
        return ""

    @property
    def changes(self) -> bool:
        """Whether it changes the files it names."""
        return any(word in self.name.lower() for word in _CHANGES)

    @property
    def title(self) -> str:
        """The tool with what it was used on."""
        what = next(iter(self.paths), "") or self.command
        return quoted(f"{self.name} {what}", LINE_CHARACTERS // 2)


NO_CALL = Call("", {})
MakeFact = Callable[..., Fact]
"""Makes an entry of a kind, a text and what it is about, for the message that is read."""


def facts_in(messages: Sequence[Message], kept: Collection[Message] = ()) -> list[Fact]:
    """Return the entries for messages that fold, oldest first.

    Names that stand in `kept` messages are left out: the model sees them anyway.
    """
    # Some servers use the same ids again and again: the last call before a result is meant.
    calls: dict[str, Call] = {}
    names = Names()
    for message in kept:
        names.leave_out(_all_text(message))
    facts: list[Fact] = []
    for message in messages:
        calls |= {part.call_id: Call(part.name, part.args) for part in message.tool_calls}
        facts += _of_message(message, calls)
        names.read(message.id, _all_text(message))
    return [*(Fact(kind="name", text=name, source=source) for name, source in names.best()), *facts]


def strings(args: Mapping[str, Any], depth: int = 3) -> Iterator[tuple[str, str]]:
    """Yield the texts among arguments, each with the name it was given under."""
    for key, value in args.items():
        if isinstance(value, str):
            yield key, value
        elif isinstance(value, dict) and depth:
            yield from strings(cast(dict[str, Any], value), depth - 1)
        elif isinstance(value, list) and depth:
            for item in cast(list[object], value)[:50]:
                nested = cast(dict[str, Any], item) if isinstance(item, dict) else {key: item}
                yield from strings(nested, depth - 1)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield key, str(value)


def _of_message(message: Message, calls: Mapping[str, Call]) -> Iterator[Fact]:
    def fact(kind: FactKind, text: str, about: str = "") -> Fact:
        own, at = kind == "user", message.timestamp
        return Fact(kind, text, about, message.id, from_user=own, at=at)

    for part in message.parts:
        match part:
            case Text() if part.text.strip():
                kind: FactKind = "excerpt"
                if part.trusted and message.role in ("user", "assistant"):
                    kind = "user" if message.role == "user" else "said"
                yield fact(kind, (one_line if kind == "user" else quoted)(part.text))
            case ToolCallPart():
                yield from _called(calls[part.call_id], fact)
            case ToolResultPart():
                yield from _answered(part, calls.get(part.call_id, NO_CALL), fact)
            case Attachment() if not part.media_type.startswith("image/"):
                yield fact("read", quoted(part.path or part.name, LINE_CHARACTERS))
                yield fact("excerpt", quoted(part.content), quoted(part.name, LINE_CHARACTERS))
            case Retrieval():
                yield fact("excerpt", quoted(part.text), "an earlier conversation")
            case _:
                pass
    if message.error:
        yield fact("failed", quoted(message.error, LINE_CHARACTERS), "the reply")


def _called(call: Call, fact: MakeFact) -> Iterator[Fact]:
    """Yield quotes of the long arguments of a call: what it wrote, searched or replaced."""
    given = [
        f"{key}: {text}"
        for key, text in strings(call.args)
        if len(text) > ARGUMENT_CHARACTERS and not _is_told(_plain(key))
    ]
    if given:
        # Apart: shorter ones may stand between them.
        yield fact("excerpt", quoted(GAP.join(given)), call.title)


def _answered(part: ToolResultPart, call: Call, fact: MakeFact) -> Iterator[Fact]:
    """Yield what a result tells: which files, how the command ended, its last lines, its ends."""
    call = call if call.name else Call(part.name, {})
    if part.trusted and part.content.startswith(REFUSED):
        # The user's words, not an error of the tool.
        yield fact("user", one_line(part.content), call.title)
        return
    code = _exit_of(part.content) if call.command else ""
    failed = part.is_error or code not in ("", "0")
    if not failed:
        kind = "changed" if call.changes else "read"
        yield from (fact(kind, path) for path in call.paths)
    if call.command:
        ended = f"exit {code}" if code else "failed" if failed else "done"
        yield fact("command", call.command, ended)
    lines = [line for line in part.content[-QUOTE_CHARACTERS * 2 :].splitlines() if line.strip()]
    if failed and lines:
        last = "\n".join(ends(line, LINE_CHARACTERS) for line in lines[-FAILED_LINES:])
        yield fact("failed", quoted(last), call.title)
    if call.command and (tests := [line for line in lines if _TESTS.search(line)]):
        yield fact("test", quoted(tests[-1].strip("=- "), LINE_CHARACTERS), call.command)
    if part.content.strip():
        yield fact("excerpt", quoted(part.content), call.title)


def _exit_of(output: str) -> str:
    """Return the exit code that the first or the last lines of an output tell; else nothing."""
    found = _EXIT.findall(output[-400:]) or _EXIT.findall(output[:200])
    return found[-1] if found else ""


def _all_text(message: Message) -> str:
    """Return everything that names may be read from."""
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text() | Retrieval():
                texts.append(part.text)
            case ToolResultPart():
                texts.append(part.content)
            case Attachment() if not part.media_type.startswith("image/"):
                texts.append(part.content)
            case ToolCallPart():
                texts += (text for _, text in strings(part.args))
            case _:
                pass
    return "\n".join(texts)


def _is_told(key: str) -> bool:
    """Whether an argument is told as a file or a command."""
    return key in _COMMANDS or bool(_PATHS.fullmatch(key))


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")
