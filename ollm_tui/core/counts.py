"""Numbers as people read them: short counts, sizes, shares, and numbers with a noun."""

from __future__ import annotations


def short_count(number: int) -> str:
    """Write a number in few characters: 950, 5.1k, 12k, 1.2M."""
    for limit, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= limit:
            value = number / limit
            return f"{value:.1f}{unit}" if value < 10 else f"{value:.0f}{unit}"
    return str(number)


def short_size(number: int) -> str:
    """Write a number of bytes in few characters: 12 B, 640 kB, 1.2 MB, 38 MB."""
    if number < 1_000:
        return f"{number} B"
    limit, unit = (1_000_000, "MB") if number >= 1_000_000 else (1_000, "kB")
    value = number / limit
    return f"{value:.1f} {unit}" if unit == "MB" and value < 10 else f"{value:,.0f} {unit}"


def percent(share: float) -> str:
    """Write a share in percent: 43 %."""
    return f"{100 * share:.0f} %"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: 1 session, 1,200 sessions, 2 matches."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def ordinal(number: int) -> str:
    """Write a place in a row: 1st, 2nd, 3rd, 4th, 11th, 22nd."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"
