"""Numbers as people read them: short counts, sizes, and numbers with a noun."""

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


def counted(number: int, noun: str) -> str:
    """Write a number with its noun: 1 session, 1,200 sessions."""
    return f"{number:,} {noun}{'s' * (number != 1)}"
