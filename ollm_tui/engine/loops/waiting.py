"""Recognises calls that wait for something under way: calling them again is no loop."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

STATUS_LENGTH = 200
"""Characters up to which a result may be a mere status."""
SEARCHED = 600
"""Characters of an argument or a result that are searched: a status comes first."""

_SLEEP = re.compile(r"(?:^|[;&|(\s])(?:sleep|Start-Sleep|timeout /t)\s+[\d.$]")
_ONLY_SLEEP = re.compile(r"\s*(?:sleep|Start-Sleep)\s+[\d.]+[smh]?\s*;?\s*\Z")
_WAITING_ARGUMENT = re.compile(r"(?:wait|delay|sleep|yield)", re.IGNORECASE)
_WAITING_TOOL = re.compile(
    r"(?:^|_)(?:wait|sleep|poll|job|jobs|monitor|progress|delay)(?:_|$)", re.IGNORECASE
)
_ACTING_TOOL = re.compile(
    r"(?:^|_)(?:create|start|run|submit|launch|add|new|kill|cancel|delete|stop|update)(?:_|$)",
    re.IGNORECASE,
)
_SLEEPING_TOOL = re.compile(r"(?:sleep|wait|delay|pause)(?:_|$)", re.IGNORECASE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[-.]")
_UNDER_WAY = (
    r"(?:running|pending|queued|in[ _-]?progress|starting|waiting|building|deploying|provisioning|"
    r"(?:container)?creating|processing|initiali[sz]ing|scheduled|restarting|pulling|uploading|"
    r"downloading|installing|compiling|warming up|not (?:yet )?(?:ready|finished|done|complete\w*"
    r"|available)|unfinished|please wait|no (?:new )?output yet|busy)"
)
_STATUS = re.compile(
    rf"(?:status|state|phase)\W{{1,6}}{_UNDER_WAY}\b"
    r"|\b(?:process|job|command|task)\s+(?:is\s+)?(?:still\s+)?running\b",
    re.IGNORECASE,
)
_STILL = re.compile(r"\bstill\s+\w+ing\b", re.IGNORECASE)
_SAYS_UNDER_WAY = re.compile(rf"\b{_UNDER_WAY}\b(?!\?)", re.IGNORECASE)
"""Not a question: whoever asks whether something is running has not reached it."""
_ENDED = re.compile(
    r"\b(?:completed?|finished|exited|exit(?:ed)?[ _]?code|exitCode|failed|failure|failures|killed|"
    r"succeeded|success(?:ful(?:ly)?)?|passed|done|cancell?ed|stopped|timed? ?out|ok|errors?|"
    r"not found|unknown|no such|no jobs)\b|\A\s*(?:\[\s*\]|\{\s*\})\s*\Z",
    re.IGNORECASE,
)
_NOT_YET = re.compile(r"\bnot (?:yet )?\w+", re.IGNORECASE)
"""A negated end, such as "not finished" or "not yet done"."""
_LATER = re.compile(
    r"rate[ -]?limit|too many requests|\b429\b|retry[ -]after|try again (?:later|in)|"
    r"temporarily|\b503\b|service unavailable",
    re.IGNORECASE,
)


def sleeps(name: str, args: Mapping[object, object]) -> bool:
    """Whether the call does nothing but wait."""
    given = list(_texts(args))
    if not given:
        return bool(_SLEEPING_TOOL.match(_CAMEL.sub("_", name)))
    return any(_ONLY_SLEEP.match(text) for text in given)


def waits(args: Mapping[object, object], code: str) -> bool:
    """Whether the arguments make the call wait before it looks.

    Where code is run, only the code tells: it may be given time without waiting for anything.
    """
    if code:
        return bool(_SLEEP.search(code[:SEARCHED]))
    return any(
        isinstance(key, str) and bool(_WAITING_ARGUMENT.search(key)) and _is_time(value)
        for key, value in args.items()
    )


def is_about_a_job(name: str) -> bool:
    """Whether a tool of this name reports on something under way, and starts or stops nothing."""
    words = _CAMEL.sub("_", name)
    return bool(_WAITING_TOOL.search(words)) and not _ACTING_TOOL.search(words)


def says_under_way(result: str) -> bool:
    """Whether a result says that something has not ended yet."""
    if _STATUS.search(result[:SEARCHED]):
        return True
    if len(result) > STATUS_LENGTH:
        return False
    if _STILL.search(result):
        return True
    if _ENDED.search(_NOT_YET.sub("", result)):
        return False
    # Only the last line: those before it may be of steps that are over.
    last = result.rstrip().rpartition("\n")[2]
    return bool(_SAYS_UNDER_WAY.search(last))


def says_ended(result: str) -> bool:
    """Whether a result says that something has ended, or that there is nothing."""
    return bool(_ENDED.search(result[:SEARCHED]))


def asks_to_come_later(result: str) -> bool:
    """Whether a result asks for the call to be made again later."""
    return bool(_LATER.search(result[:SEARCHED]))


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _texts(args: Mapping[object, object]) -> Iterable[str]:
    """Return the beginnings of the texts among the arguments of a call."""
    return (value[:SEARCHED] for value in args.values() if isinstance(value, str))
