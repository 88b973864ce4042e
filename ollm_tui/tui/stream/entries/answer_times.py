"""Where the time of an answer went, in words: loading, reading the prompt, writing."""

from __future__ import annotations

from collections.abc import Iterator

from ollm_tui.core.session.message import Usage

SHORTEST_SECONDS = 0.05
"""What took less is shown without a speed: it would only measure the clock."""


def speed_of(usage: Usage | None) -> str:
    """How fast the words came, where the server measured it."""
    if not usage or not usage.output_seconds:
        return ""
    return f"{usage.output_tokens / usage.output_seconds:,.0f} tok/s"


def time_facts(usage: Usage) -> Iterator[str]:
    """What was done and how long each took, as far as it was measured."""
    if usage.load_seconds and usage.load_seconds >= SHORTEST_SECONDS:
        yield f"loaded in {_seconds(usage.load_seconds)}"
    if usage.prompt_seconds:
        new = usage.input_tokens - (usage.cached_tokens or 0)
        yield f"read {_pace(new, usage.prompt_seconds)}"
    if usage.output_seconds:
        yield f"wrote {_pace(usage.output_tokens, usage.output_seconds)}"


def slowest_of(usage: Usage) -> str:
    """What took most of the time; nothing where not more than one thing was measured."""
    times = {
        "loading the model": usage.load_seconds or 0,
        "reading the prompt": usage.prompt_seconds or 0,
        "writing": usage.output_seconds or 0,
    }
    if sum(1 for seconds in times.values() if seconds) < 2:
        return ""
    return f"mostly {max(times, key=lambda what: times[what])}"


def cached_words(usage: Usage) -> str:
    """How much of the prompt the server had read before, where it says so."""
    if usage.cached_tokens is None:
        return ""
    if not usage.cached_tokens:
        return "nothing was known already"
    return f"{usage.cached_tokens:,} of {usage.input_tokens:,} tokens were known already"


def usage_words(usage: Usage) -> str:
    """All of it in one line, as it stands below a message."""
    facts = list(time_facts(usage))
    if not usage.output_seconds:
        facts.append(f"{usage.output_tokens:,} tokens")
    if usage.cached_tokens:
        facts.insert(0, f"{usage.cached_tokens:,} of {usage.input_tokens:,} cached")
    return " · ".join(facts)


def why_slow(usage: Usage) -> str:
    """The same as an answer to the question why it took so long."""
    times = "; ".join(time_facts(usage))
    return ": ".join(filter(None, (slowest_of(usage), times)))


def _pace(tokens: int, seconds: float) -> str:
    if seconds < SHORTEST_SECONDS:
        return f"{tokens:,} at once"
    return f"{tokens:,} in {_seconds(seconds)}, {tokens / seconds:,.0f} tok/s"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 100 else f"{seconds:.0f} s"
