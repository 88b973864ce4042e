"""Times as they are recorded: ISO 8601 in UTC, with a fixed width."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = "1970-01-01T00:00:00.000000Z"
_BEGIN = datetime.fromisoformat(EPOCH).replace(tzinfo=None)
_MILLISECONDS_FROM = 1e11
"""A number above this is milliseconds: as seconds it would lie after the year 5000."""


def now() -> str:
    """The present moment, to the microsecond."""
    return iso(datetime.now(UTC))


def iso(moment: datetime) -> str:
    """A moment as text, with a fixed width so that text order is time order."""
    return _text(moment.astimezone(UTC).replace(tzinfo=None))


def parse(text: str) -> datetime:
    """Parse a time; without a zone it counts as UTC. ValueError if the text is no time."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def from_number(value: float) -> str:
    """Convert seconds or milliseconds since 1970, as older data has them, to text."""
    seconds = value / 1000 if value > _MILLISECONDS_FROM else value
    return iso(datetime.fromtimestamp(seconds, UTC))


def from_microseconds(value: int) -> str:
    """Convert microseconds since 1970 to text; a year that no clock shows becomes the epoch."""
    try:
        return _text(_BEGIN + timedelta(microseconds=value))
    except OverflowError:
        return EPOCH


def later(first: str, second: str) -> str:
    """Return the later of two times as it was written; one that cannot be read loses."""
    # Parsed, not compared as text: a file may hold times of another width or zone.
    try:
        newer = parse(second) > parse(first)
    except ValueError:
        return second if _readable(second) else first
    return second if newer else first


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="microseconds") + "Z"


def _readable(text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
