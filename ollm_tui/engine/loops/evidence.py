"""What was found, in words for people. Everything foreign in them is made visible and short."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ollm_tui.core.intake import visible
from ollm_tui.core.loop import LoopFound
from ollm_tui.engine.loops.periods import Round

NAME_LENGTH = 40
VALUE_LENGTH = 40
ARGUMENTS_LENGTH = 90
QUOTE_LENGTH = 80
SHOWN_LENGTH = 300
"""A whole sentence of evidence is hardly longer: it stands in a bar of one or two lines."""


def one_line(text: str, most: int) -> str:
    """A foreign text on one line, everything unseen made visible, cut at a length."""
    # A cut before the work: the text may be a megabyte.
    line = visible(" ".join(text[: 4 * most].split()))
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1]}…"


def quoted(text: str, most: int = QUOTE_LENGTH) -> str:
    """A foreign text between quotation marks."""
    return f'"{one_line(text, most)}"'


def shown_call(name: str, args: object) -> str:
    """A call as one would write it: search_text("retry", "src/")."""
    values: list[object] = [args]
    if isinstance(args, Mapping):
        values = list(cast("Mapping[object, object]", args).values())
    words: list[str] = []
    for value in values:
        words.append(_shown_value(value))
        if sum(map(len, words)) > ARGUMENTS_LENGTH:
            words[-1] = "…"
            break
    return f"{one_line(name, NAME_LENGTH)}({', '.join(words)})"


def shown_result(result: str, *, is_error: bool) -> str:
    """What came back: "the same 12 lines", "nothing"."""
    lines = sum(1 for line in result.splitlines() if line.strip())
    if not lines:
        return "an empty error" if is_error else "nothing"
    if is_error:
        return f"the same error, {quoted(result)},"
    return f"the same {lines} lines" if lines > 1 else f"the same answer, {quoted(result)},"


def went_round(found: Round, result: str | None) -> str:
    """A call, or several in turn, again and again. Without a result none is known."""
    if len(found.steps) == 1:
        call = f"called {found.steps[0].shown} {found.times} times"
        return f"{call} in a row" if result is None else f"{call} and got {result} each time"
    calls = _listed([step.shown for step in found.steps])
    ending = "" if result is None else " with the same results"
    return f"called {calls} in turn, {found.times} times over{ending}"


def same_result(tool: str, times: int, result: str) -> str:
    """Different questions, always the same answer."""
    name = one_line(tool, NAME_LENGTH)
    return f"called {name} {times} times with different arguments and got {result} each time"


def read_again(shown: str, times: int) -> str:
    """Reads that brought hardly anything new."""
    return f"called {shown} and the like {times} times and saw almost only lines it had seen"


def unchanged(shown: str, times: int) -> str:
    """Waiting for something that does not happen."""
    return f"asked {shown} {times} times and nothing has changed"


def failed_again(shown: str, times: int) -> str:
    """Changes that do not help."""
    return f"changed something {times} times, and {shown} failed in the same way after each change"


def nothing_new(calls: int) -> str:
    """No order in it, and no progress."""
    return f"made {calls} calls in a row that brought nothing it had not seen"


def said_again(text: str, times: int, *, in_turn: int = 1) -> str:
    """The same reply again and again, or several in turn."""
    if in_turn > 1:
        return f"gave the same {in_turn} replies in turn, {times} times over: {quoted(text)}"
    return f"said almost the same {times} times: {quoted(text)}"


def chanted(unit: str, times: int) -> str:
    """One reply that goes in circles."""
    return f"wrote {quoted(unit)} {times} times in one reply"


def too_many_rounds(rounds: int, limit: int) -> str:
    """A long turn."""
    return f"worked {rounds} rounds since you last wrote, which is more than {limit}"


def told_to_the_model(found: LoopFound) -> str:
    """What the model is told when it is to go on in another way. It is told as a fact, so it
    quotes nothing: what a tool printed would come to be trusted that way."""
    what = {
        "repeated-tool": f"called {one_line(found.tool or 'tools', NAME_LENGTH)} again and again",
        "repeated-cycle": "made the same calls in turn again and again",
        "repeated-output": "said almost the same again and again",
        "chanting": "repeated yourself within one reply",
        "turn-limit": "worked for many rounds",
    }[found.type]
    return (
        f"You {what} ({found.count}): this brings nothing new. Do not go on with it: try another "
        "way, or stop and say what is missing."
    )


def _shown_value(value: object) -> str:
    if isinstance(value, str):
        return quoted(value, VALUE_LENGTH)
    if isinstance(value, Mapping):
        return "{…}" if value else "{}"
    if isinstance(value, list | tuple):
        return "[…]" if value else "[]"
    return one_line("null" if value is None else str(value), VALUE_LENGTH)


def _listed(words: Sequence[str]) -> str:
    most = (SHOWN_LENGTH - 60) // len(words)
    short = [word if len(word) <= most else f"{word[: most - 1]}…" for word in words]
    return f"{', '.join(short[:-1])} and {short[-1]}"
