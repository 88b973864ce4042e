"""What a ledger keeps of real conversations: names and paths that are needed later, and answers.

Run with files: python -m bench.compression_recall FILE… [--questions FILE] [--sizes 35,20,10]"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from bench.transcripts import FORM, messages_in, text_of, whole
from ollm_tui.core.session.message import Message, ToolResultPart
from ollm_tui.engine.compression.ledger.ledger import ledger_of, merged, rendered
from ollm_tui.engine.compression.ledger.ledger_names import names_in

HOW = f"""{FORM} What came before some places is brought to a share of its size, and the
names of the next 40 messages are looked for in it; an oracle knows them. Questions are a JSON list
of {{file, pattern, at}}: a regular expression that has to match, asked before message `at`."""
LATER = 40
"""Messages after a cut in which names are needed."""
PLACES = (0.4, 0.55, 0.7, 0.85)
FEWEST_NAMES = 5
CHARACTERS_PER_TOKEN = 4
IN_A_ROW = 3

Way = Callable[[Sequence[Message], int], str]
"""Brings messages to a number of characters."""


class Cut(NamedTuple):
    """A conversation at one moment: what was said, and the names that are needed soon."""

    before: Sequence[Message]
    needed: frozenset[str]


def count(text: str) -> int:
    """Return the tokens of a text, roughly."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def cuts(messages: Sequence[Message]) -> Iterator[Cut]:
    """Yield the moments at which a conversation is looked at."""
    for place in PLACES:
        at = int(len(messages) * place)
        before, later = messages[:at], messages[at : at + LATER]
        needed = names_in(whole(later)) & names_in(whole(before))
        if len(needed) >= FEWEST_NAMES:
            yield Cut(before, frozenset(needed))


def by_ledger(messages: Sequence[Message], room: int) -> str:
    """The ledger of this program."""
    return rendered(ledger_of(messages), room // CHARACTERS_PER_TOKEN, count).text


def by_three(messages: Sequence[Message], room: int) -> str:
    """The ledger, made in three compressions in a row, each of the same size."""
    tokens, step = room // CHARACTERS_PER_TOKEN, -(-len(messages) // IN_A_ROW)
    kept = rendered(ledger_of(messages[:step]), tokens, count)
    for start in range(step, len(messages), step):
        newer = rendered(ledger_of(messages[start : start + step]), tokens, count)
        kept = rendered(merged(kept.ledger, newer.ledger), tokens, count)
    return kept.text


def by_ends(messages: Sequence[Message], room: int) -> str:
    """Head and tail of every message, as long as the room allows."""
    texts = list(map(text_of, messages))
    low, high = 0, max(map(len, texts), default=0)
    while low < high:
        most = (low + high + 1) // 2
        fits = sum(min(len(text), most) + 1 for text in texts) <= room
        low, high = (most, high) if fits else (low, most - 1)
    return "\n".join(_ends(text, low) for text in texts)


def _ends(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[: most * 2 // 3]} … {text[len(text) - most // 3 :]}"


def by_tail(messages: Sequence[Message], room: int) -> str:
    """The end of the conversation."""
    return whole(messages)[-room:]


def by_simple(messages: Sequence[Message], room: int) -> str:
    """What a few lines can do: paths, the user's words, the last errors, and the ends of every
    message, newer ones longer."""
    paths = (
        value
        for message in messages
        for call in message.tool_calls
        for key, value in call.args.items()
        if "path" in key or "file" in key
    )
    parts = [" ".join(dict.fromkeys(map(str, paths)))[-room // 6 :]]
    parts += [_ends(m.text, room // 20) for m in messages if m.role == "user"][-5:]
    failed = [text_of(message)[-200:] for message in messages if _has_failed(message)]
    parts += failed[-4:]
    left = room - sum(len(part) + 1 for part in parts)
    for place, message in enumerate(reversed(messages)):
        text = _ends(text_of(message), left // max(3, (len(messages) - place) // 2))
        left -= len(text) + 1
        parts.append(text)
    return "\n".join(parts)[:room]


def _has_failed(message: Message) -> bool:
    return any(isinstance(part, ToolResultPart) and part.is_error for part in message.parts)


WAYS: dict[str, Way] = {
    "ledger": by_ledger,
    "three in a row": by_three,
    "simple": by_simple,
    "head and tail": by_ends,
    "tail": by_tail,
    "full text": lambda messages, _room: whole(messages),
}


def oracle(cut: Cut, room: int) -> float:
    """Return the share of the needed names that fits, the shortest first."""
    fitting = 0
    for name in sorted(cut.needed, key=len):
        room -= len(name) + 2
        if room < 0:
            break
        fitting += 1
    return fitting / len(cut.needed)


def recall(found: Sequence[Cut], share: float) -> dict[str, float]:
    """Return, for each way, the mean share of needed names that it keeps at a size."""
    told: dict[str, list[float]] = {name: [] for name in (*WAYS, "oracle")}
    for cut in found:
        room = int(len(whole(cut.before)) * share)
        for name, way in WAYS.items():
            text = way(cut.before, room)
            told[name].append(sum(needed in text for needed in cut.needed) / len(cut.needed))
        told["oracle"].append(oracle(cut, room))
    return {name: mean(shares) for name, shares in told.items()}


def answers(
    questions: Sequence[dict[str, Any]], talks: dict[str, list[Message]], share: float
) -> dict[str, int]:
    """Return, for each way, how many questions it answers at a size."""
    right = dict.fromkeys(WAYS, 0)
    for question in questions:
        messages = talks[question["file"]][: question.get("at")]
        room = int(len(whole(messages)) * share)
        for name, way in WAYS.items():
            right[name] += bool(re.search(question["pattern"], way(messages, room)))
    return right


def main() -> None:
    """Print the shares of names kept, and the questions answered."""
    parser = argparse.ArgumentParser(description=HOW)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--sizes", default="35,20,10", help="percent of the text, with commas")
    arguments = parser.parse_args()
    talks = {path.name: messages_in(path) for path in arguments.files}
    found = [cut for messages in talks.values() for cut in cuts(messages)]
    asked: list[dict[str, Any]] = []
    if arguments.questions:
        asked = json.loads(arguments.questions.read_text("utf-8"))
    if not found and not asked:
        print("nothing to look for: the transcripts are too short")
        return
    for size in arguments.sizes.split(","):
        share = int(size) / 100
        if found:
            kept = recall(found, share)
            told = ", ".join(f"{name} {value:.3f}" for name, value in kept.items())
            against = kept["ledger"] / max(kept["head and tail"], 1e-9)
            print(f"{size} %: {told}; {against:.2f} of head and tail, {len(found)} cuts")
        if asked:
            right = answers(asked, talks, share)
            told = ", ".join(f"{name} {value}" for name, value in right.items())
            print(f"{size} %: of {len(asked)} questions answered: {told}")


if __name__ == "__main__":
    main()
