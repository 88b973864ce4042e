"""Conversations with planted facts: what was planted, who said it, and what was taken back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal, TypeVar

from ollm_tui.core.session.message import Message, Part, Role, Text, ToolCallPart, ToolResultPart
from tests.engine.compression.fact_phrases import DOMAINS, Domain, Phrases

Origin = Literal["user", "assistant", "tool"]
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Planted:
    """A fact: it is remembered where one statement holds all of its words."""

    kind: str
    origin: Origin
    words: tuple[str, ...]
    stale: tuple[str, ...] = ()
    """Words that no statement may hold, unless it also holds `words`."""

    def is_in(self, text: str) -> bool:
        """Whether one statement tells it."""
        return any(_holds(said, self.words) for said in statements(text))

    def is_stale_in(self, text: str) -> bool:
        """Whether a statement tells what was taken back, and not what took its place."""
        stale = [said for said in statements(text) if self.stale and _holds(said, self.stale)]
        return any(not _holds(said, self.words) for said in stale)


@dataclass
class Conversation:
    """Messages, and the facts planted in them."""

    messages: list[Message] = field(default_factory=list[Message])
    planted: list[Planted] = field(default_factory=list[Planted])
    closed: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    """Words of tasks that were done."""

    @property
    def text(self) -> str:
        """Everything that was said, called and answered."""
        return "\n".join(text_of(message) for message in self.messages)


def text_of(message: Message) -> str:
    """A message as it counts."""
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text():
                texts.append(part.text)
            case ToolCallPart():
                texts.append(f"{part.name} {json.dumps(part.args)}")
            case ToolResultPart():
                texts.append(part.content)
            case _:
                pass
    return "\n".join(texts)


def conversation(
    phrases: Phrases,
    seed: int,
    rounds: int = 8,
    domains: Sequence[Domain] = DOMAINS,
    user_changes: bool = False,
) -> Conversation:
    """A conversation of a domain; the same for the same seed. With `user_changes` the user too
    says what is changed later."""
    writer = _Writer(phrases, Random(seed), domains[seed % len(domains)], user_changes)
    return writer.write(rounds)


class _Writer:
    """Writes rounds of user, assistant, tool call and tool result."""

    def __init__(
        self, phrases: Phrases, random: Random, domain: Domain, user_changes: bool
    ) -> None:
        self._user_changes = user_changes
        self._users_later: list[tuple[int, str]] = []
        self._phrases = phrases
        self._random = random
        self._domain = domain
        self._made = Conversation()
        self._calls = 0
        self._choices = self._supply(list(zip(domain.choices, domain.others, strict=True)))
        self._rules = self._supply(domain.rules)
        self._tasks = self._supply(domain.tasks)
        self._attempts = self._supply(domain.attempts)
        self._quantities = self._supply(domain.quantities)
        self._paths = self._supply(domain.paths)
        self._identifiers = self._supply(domain.identifiers)
        self._errors = self._supply(domain.errors)
        self._commands = self._supply(domain.commands)
        self._later: list[tuple[int, str]] = []

    def write(self, rounds: int) -> Conversation:
        for place in range(rounds):
            self._user(place, last=place == rounds - 1)
            self._assistant(place, rounds)
            self._tool(place)
        return self._made

    def _user(self, place: int, last: bool) -> None:
        said = [text for when, text in self._users_later if when <= place or last]
        self._users_later = [(when, text) for when, text in self._users_later if text not in said]
        if self._user_changes and not last and place % 2 and (text := self._users_change(place)):
            said.append(text)
        if rule := next(self._rules, None):
            said.append(self._say(self._phrases.constraint, rule=rule[0]))
            self._plant("constraint", "user", rule[1])
        if place % 3 == 0 and (quantity := next(self._quantities, None)):
            said.append(self._say(self._phrases.user_value, name=quantity[0], new=quantity[2]))
            self._plant("value", "user", quantity[0], quantity[2])
        said.insert(self._random.randrange(len(said) + 1), self._filler(1))
        self._add("user", Text(" ".join(said)))

    def _users_change(self, place: int) -> str:
        change = self._random.choice((self._change, self._choice_change))
        before = change(place)
        if before:
            self._users_later.append(self._later.pop())
            self._made.planted[-1] = replace(self._made.planted[-1], origin="user")
        return before

    def _assistant(self, place: int, rounds: int) -> None:
        due = [text for when, text in self._later if when <= place or place == rounds - 1]
        self._later = [(when, text) for when, text in self._later if text not in due]
        facts = [*due, *self._facts(place, last=place == rounds - 1)]
        self._random.shuffle(facts)
        blocks = [self._block(fact) for fact in facts]
        self._add("assistant", Text("\n\n".join([self._filler(2), *blocks, self._filler(2)])))

    def _facts(self, place: int, last: bool) -> Iterator[str]:
        taken_back_later = (self._change, self._choice_change, self._done)
        planters = (
            self._decision,
            self._todo,
            self._dead_end,
            self._path,
            self._value,
            self._identifier,
            self._error,
            *(() if last else taken_back_later),
        )
        for planter in self._random.sample(planters, 4):
            if said := planter(place):
                yield said

    def _decision(self, place: int) -> str:
        if not (pair := next(self._choices, None)):
            return ""
        (choice, thing), other = pair
        self._plant("decision", "assistant", choice, thing)
        return self._say(self._phrases.decision, choice=choice, thing=thing, other=other)

    def _todo(self, place: int) -> str:
        if not (task := next(self._tasks, None)):
            return ""
        self._plant("todo", "assistant", task[1])
        return self._say(self._phrases.todo, task=task[0])

    def _dead_end(self, place: int) -> str:
        if not (attempt := next(self._attempts, None)):
            return ""
        self._plant("dead-end", "assistant", attempt[1])
        return self._say(self._phrases.dead_end, attempt=attempt[0])

    def _path(self, place: int) -> str:
        if not (path := next(self._paths, None)):
            return ""
        self._plant("file", "assistant", path)
        return self._say(self._phrases.path, path=path)

    def _value(self, place: int) -> str:
        if not (quantity := next(self._quantities, None)):
            return ""
        self._plant("value", "assistant", quantity[0], quantity[2])
        return self._say(self._phrases.value, name=quantity[0], new=quantity[2])

    def _identifier(self, place: int) -> str:
        if not (name := next(self._identifiers, None)):
            return ""
        self._plant("identifier", "assistant", name)
        return self._say(self._phrases.identifier, name=name)

    def _error(self, place: int) -> str:
        if not (error := next(self._errors, None)):
            return ""
        self._plant("error", "assistant", error)
        return self._say(self._phrases.error, error=error)

    def _change(self, place: int) -> str:
        if not (quantity := next(self._quantities, None)):
            return ""
        name, old, new = quantity
        before, after = self._random.choice(self._phrases.change)
        filled = {"name": name, "old": old, "new": new}
        self._later.append((place + self._random.randint(1, 4), _filled(after, filled)))
        self._plant("superseded", "assistant", name, new, stale=(name, old))
        return _filled(before, filled)

    def _choice_change(self, place: int) -> str:
        if not (pair := next(self._choices, None)):
            return ""
        (choice, thing), other = pair
        before, after = self._random.choice(self._phrases.choice_change)
        filled = {"choice": choice, "thing": thing, "other": other}
        self._later.append((place + self._random.randint(1, 4), _filled(after, filled)))
        self._plant("superseded", "assistant", thing, choice, stale=(other, thing))
        return _filled(before, filled)

    def _done(self, place: int) -> str:
        if not (task := next(self._tasks, None)):
            return ""
        before, after = self._random.choice(self._phrases.done)
        self._later.append((place + self._random.randint(1, 4), _filled(after, {"task": task[0]})))
        self._made.closed.append((task[1],))
        return _filled(before, {"task": task[0]})

    def _tool(self, place: int) -> None:
        self._calls += 1
        call = f"c{self._calls}"
        command = next(self._commands, None) if place % 2 else None
        path = next(self._paths, None)
        if command:
            self._command(call, command)
        elif path:
            key = self._random.choice(("path", "file_path", "filename", "target_file"))
            name = self._random.choice(("read_file", "write_file", "edit_file", "view"))
            self._plant("file", "tool", path)
            self._add("assistant", ToolCallPart(call, name, {key: path, "limit": 40}))
            self._add("tool", ToolResultPart(call, name, self._filler(4).replace(". ", ".\n")))

    def _command(self, call: str, command: str) -> None:
        key, name = self._random.choice((("code", "exec"), ("command", "bash"), ("cmd", "shell")))
        self._add("assistant", ToolCallPart(call, name, {key: command}))
        error = next(self._errors, None)
        code = self._random.choice((1, 2, 127)) if error else 0
        ended = self._random.choice(
            ("exit code {}", "exit status {}", "Process exited with code {}", '{{"exitCode": {}}}')
        ).format(code)
        lines = [f"step {number} of 12 ok" for number in range(1, 12)]
        if error:
            self._plant("error", "tool", error)
            lines += ["Traceback (most recent call last):", '  File "run", line 3', error]
        self._plant("command", "tool", command, f"exit {code}")
        content = "\n".join([*lines, ended])
        self._add("tool", ToolResultPart(call, name, content, is_error=bool(error)))

    def _block(self, fact: str) -> str:
        """A fact among other sentences, in the middle of a paragraph or on its own line."""
        alone = fact[:1] in "-✅" or fact[-1] != "." or " = " in fact
        if alone or self._random.random() < 0.3:
            return f"{self._filler(2)}\n\n{fact}\n\n{self._filler(1)}"
        return f"{self._filler(2)} {fact} {self._filler(2)}"

    def _say(self, phrases: Sequence[str], **filled: str) -> str:
        return _filled(self._random.choice(phrases), filled)

    def _filler(self, sentences: int) -> str:
        return " ".join(self._random.choices(self._domain.filler, k=sentences))

    def _plant(self, kind: str, origin: Origin, *words: str, stale: tuple[str, ...] = ()) -> None:
        self._made.planted.append(Planted(kind, origin, words, stale))

    def _add(self, role: Role, *parts: Part) -> None:
        place = len(self._made.messages)
        at = f"2026-03-01T{place // 60:02d}:{place % 60:02d}:00.000Z"
        self._made.messages.append(Message(f"m{place}", role, parts, at))

    def _supply(self, items: Sequence[_Item]) -> Iterator[_Item]:
        return iter(self._random.sample(items, len(items)))


def _filled(phrase: str, words: dict[str, str]) -> str:
    said = phrase.format(**words)
    return said[0].upper() + said[1:] if phrase.startswith("{") and "_" not in said else said


def statements(text: str) -> Iterator[str]:
    """What a rendered ledger says, one thing after the other."""
    for line in text.split("\n"):
        title, _, rest = line.partition(": ")
        yield from rest.split("; ") if title in ("values", "commands") else (line,)


def _holds(said: str, words: Sequence[str]) -> bool:
    low = said.lower()
    return all(word.lower() in low for word in words) and all(
        re.search(rf"(?<![\w.,]){re.escape(word)}(?!\w)", said, re.IGNORECASE) for word in words
    )
