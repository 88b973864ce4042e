"""Conversations made of scenes: each a few turns, told in its own words, among other talk.

A scene starts with `@kind origin | words & words | stale words`, then its turns, `u:`, `a:` or `t:`
(a command, its output in the lines below). What is done or dropped later is of the kind `closed`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import cast

from ollm_tui.core.session.message import Message, Part, Role, Text, ToolCallPart, ToolResultPart
from tests.engine.compression.fact_conversations import Conversation, Origin, Planted

SCENES_PER_CONVERSATION = 10
_TURN = re.compile(r"(?m)^(?=[uat]: )")

_ASIDES = (
    "That reads well so far.",
    "Let me know what you think of it.",
    "The rest of the work went as expected.",
    "I looked through all of it twice and compared it with the earlier notes.",
    "Some of the older parts are a little hard to follow, but they hold together.",
    "It is worth having a second look at the whole once everything has come together.",
    "As you can see, there is a certain rhythm to how these pieces fit.",
    "Most people find this part surprisingly pleasant.",
    "There are several ways to look at it, and each has its charm.",
    "In short, the picture is getting clearer with every step.",
    "A short walk through the material shows how the pieces depend on each other.",
    "The explanation is longer than the thing itself, as so often.",
    "Readers who come to it fresh usually ask about the order first.",
    "Nothing in the surroundings of this spot looked out of the ordinary to me.",
    "The first half is mostly preparation, and the second half harvests it.",
    "Seen from a distance it is a fairly ordinary piece of work with one or two odd corners.",
    "I read the surrounding paragraphs as well, mainly to get a feeling for the tone.",
    "People tend to overlook how much the naming helps here.",
    "Where two readings are possible, I took the plainer one.",
    "The overall shape is easy to recognise once somebody has pointed it out.",
    "It helps to picture the flow as a river with two arms that meet again further down.",
    "None of this is surprising, though it is pleasant to see it spelled out.",
    "Earlier drafts wandered a bit; the present one keeps closer to the subject.",
    "Both halves speak to each other through a narrow and well described border.",
    "The examples are short on purpose, so they can be read aloud.",
    "There is a pattern behind this that shows up in other places too.",
)
_REMARKS = ("Thanks!", "Looks good.", "Hm, interesting.", "Go on.", "Okay.", "Nice, thank you.")
_NOISE = (
    "[info] worker {n} picked up an item",
    "[info] worker {n} finished an item",
    "downloading part {n}",
    "checking entry {n} ... ok",
    "   {n} files scanned",
    "....................",
    "cache hit for item {n}",
)


@dataclass(frozen=True)
class Scene:
    """What is said in it, and what of that has to be remembered."""

    fact: Planted
    turns: tuple[tuple[str, str], ...]

    @property
    def names(self) -> set[str]:
        """Its words, to keep scenes about the same thing apart."""
        return set(re.findall(r"\w{3,}", " ".join(self.fact.words + self.fact.stale).lower()))


def scenes(name: str) -> list[Scene]:
    """The scenes of a file beside this one."""
    text = Path(__file__).with_name(f"fact_scenes_{name}.txt").read_text("utf-8")
    return [_scene(told) for told in re.split(r"(?m)^@(?=\w)", text)[1:]]


def conversations(told: Sequence[Scene], rounds: int = 3) -> list[Conversation]:
    """Every scene `rounds` times, each time in other company."""
    return [
        _interleaved(group, Random(seed))
        for seed in range(rounds)
        for group in _groups(Random(seed).sample(told, len(told)))
    ]


def _scene(told: str) -> Scene:
    head, _, body = told.partition("\n")
    origin, words, *stale = (field.strip() for field in head.split(" | "))
    kind, who = origin.split()
    fact = Planted(kind, cast("Origin", who), _words(words), _words(*stale))
    turns = [turn.rstrip("\n").split(": ", 1) for turn in _TURN.split(body) if turn.strip()]
    return Scene(fact, tuple((who, text) for who, text in turns))


def _words(text: str = "") -> tuple[str, ...]:
    return tuple(text.split(" & ")) if text else ()


def _groups(told: Sequence[Scene]) -> Iterator[list[Scene]]:
    groups: list[list[Scene]] = [[] for _ in range(-(-len(told) // SCENES_PER_CONVERSATION))]
    for scene in told:
        fit = [one for one in groups if not any(scene.names & other.names for other in one)]
        min(fit, key=len).append(scene)
    yield from groups


def _interleaved(group: Sequence[Scene], random: Random) -> Conversation:
    made = Conversation()
    waiting = [list(scene.turns) for scene in group]
    while waiting:
        turns = random.choice(waiting)
        _add_turn(made, *turns.pop(0), random)
        if not turns:
            waiting.remove(turns)
    for scene in group:
        if scene.fact.kind == "closed":
            made.closed.append(scene.fact.words)
        else:
            made.planted.append(scene.fact)
    return made


def _add_turn(made: Conversation, who: str, text: str, random: Random) -> None:
    if who == "u":
        _add(made, "user", Text(_among(text, random, _REMARKS, 1)))
        return
    if not made.messages or made.messages[-1].role != "user":
        _add(made, "user", Text(random.choice(_REMARKS)))
    if who == "a":
        _add(made, "assistant", Text(_among(text, random, _ASIDES, 8)))
        return
    command, _, output = text.partition("\n")
    *lines, ended = output.split("\n")
    noise = [
        [random.choice(_NOISE).format(n=random.randrange(90)) for _ in range(12)] for _ in "ab"
    ]
    content = "\n".join([*noise[0], *lines, *noise[1], ended])
    call = f"c{len(made.messages)}"
    failed = ended != "exit code 0"
    _add(made, "assistant", ToolCallPart(call, "bash", {"command": command}))
    _add(made, "tool", ToolResultPart(call, "bash", content, is_error=failed))
    made.planted.append(Planted("command", "tool", (command, ended.replace("code ", ""))))


def _among(text: str, random: Random, others: Sequence[str], most: int) -> str:
    """The text among other sentences: in a paragraph with them where it is one line of prose."""
    before, after = (" ".join(random.choices(others, k=random.randint(0, most))) for _ in "ab")
    own = "\n" in text or text[-1] not in ".!?" or random.random() < 0.3
    return ("\n\n" if own else " ").join(filter(None, (before, text, after)))


def _add(made: Conversation, role: Role, *parts: Part) -> None:
    place = len(made.messages)
    at = f"2026-03-01T{place // 60:02d}:{place % 60:02d}:00.000Z"
    made.messages.append(Message(f"m{place}", role, parts, at))
