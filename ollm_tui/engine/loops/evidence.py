"""The evidence of a loop in words for the user; foreign text in it is made visible and short."""

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
"""About the longest sentence of evidence, in characters: the bar has one or two lines."""


def one_line(text: str, most: int) -> str:
    """Return foreign text on one line of at most `most` characters, invisible ones replaced."""
    # Cut before the work: the text may be a megabyte.
    line = visible(" ".join(text[: 4 * most].split()))
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 1]}…"


def quoted(text: str, most: int = QUOTE_LENGTH) -> str:
    """Return foreign text as one line between quotation marks."""
    return f'"{one_line(text, most)}"'


def shown_call(name: str, args: object) -> str:
    """Return a call as it would be written, such as search_text("retry", "src/")."""
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
    """Return a result in a few words, such as "the same 12 lines" or "nothing"."""
    lines = sum(1 for line in result.splitlines() if line.strip())
    if not lines:
        return "an empty error" if is_error else "nothing"
    if is_error:
        return f"the same error, {quoted(result)},"
    return f"the same {lines} lines" if lines > 1 else f"the same answer, {quoted(result)},"


def went_round(found: Round, result: str | None) -> str:
    """Describe one call, or several in turn, that repeat; `result` is None if not known."""
    if len(found.steps) == 1:
        call = f"called {found.steps[0].shown} {found.times} times"
        return f"{call} in a row" if result is None else f"{call} and got {result} each time"
    calls = _listed([step.shown for step in found.steps])
    ending = "" if result is None else " with the same results"
    return f"called {calls} in turn, {found.times} times over{ending}"


def same_result(tool: str, times: int, result: str) -> str:
    """Describe different calls of a tool that always got the same answer."""
    name = one_line(tool, NAME_LENGTH)
    return f"called {name} {times} times with different arguments and got {result} each time"


def read_again(shown: str, times: int) -> str:
    """Describe reads that brought hardly anything new."""
    return f"called {shown} and the like {times} times and saw almost only lines it had seen"


def unchanged(shown: str, times: int) -> str:
    """Describe polling for something that does not change."""
    return f"asked {shown} {times} times and nothing has changed"


def failed(shown: str, times: int) -> str:
    """Describe a call that kept failing, in one way or another."""
    return f"called {shown} {times} times and it failed each time"


def failed_on(tool: str, times: int, subject: str) -> str:
    """Describe calls of a tool that kept failing on the same file or thing."""
    what = quoted(subject, VALUE_LENGTH)
    return f"called {one_line(tool, NAME_LENGTH)} on {what} {times} times and it failed each time"


def failed_for(tool: str, times: int, reason: str) -> str:
    """Describe commands that kept failing for the same reason."""
    name = one_line(tool, NAME_LENGTH)
    return f"called {name} {times} times and it failed each time with {quoted(reason)}"


def failed_again(shown: str, times: int) -> str:
    """Describe a check that fails in the same way after each change."""
    return f"changed something {times} times, and {shown} failed in the same way after each change"


def changed_back(shown: str, times: int) -> str:
    """Describe a change that is made again and again, with the same outcome each time."""
    return f"made the same change {times} times, and {shown} answered the same after each"


def sought_again(shown: str, times: int) -> str:
    """Describe a search that is spelled in another way each time and finds nothing."""
    return f"looked for the same {times} times and found nothing, the last time with {shown}"


def nothing_new(calls: int) -> str:
    """Describe calls without a pattern that brought nothing new."""
    return f"made {calls} calls in a row that brought nothing it had not seen"


def said_again(text: str, times: int, *, in_turn: int = 1) -> str:
    """Describe one reply, or several in turn, that repeat."""
    if in_turn > 1:
        return f"gave the same {in_turn} replies in turn, {times} times over: {quoted(text)}"
    return f"said almost the same {times} times: {quoted(text)}"


def chanted(unit: str, times: int) -> str:
    """Describe words that repeat within one reply."""
    return f"wrote {quoted(unit)} {times} times in one reply"


def rounds(number: int) -> str:
    """Describe a turn with more rounds than its limit."""
    return f"worked {number:,} rounds since you last wrote"


def stale_rounds(number: int) -> str:
    """Describe a turn with too many rounds that brought nothing new."""
    return f"worked {number:,} rounds without anything new since you last wrote"


def told_to_the_model(found: LoopFound) -> str:
    """Return what the model is told of a loop, so that it goes on in another way.

    Nothing is quoted: the message is trusted, and what a tool printed must not become so.
    """
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
