"""Lines of output that tell of an error, by the forms in which programs write them."""

from __future__ import annotations

import re

_ERROR_SIGN = re.compile(
    r"\b[A-Za-z_][\w.]{0,80}(?:Error|Exception|Failure|Fault|Interrupt|Exit|Timeout)\b"
    r"(?:\[\w{1,12}\])?:|\b[A-Z]\w{1,60}(?:Error|Exception)\b"
    r"|^\s{0,8}(?:E\s{2,8}\S|FAIL\b|✗|✘|not ok\b|npm ERR!)"
    r"|\b(?:ERROR|FATAL|CRITICAL|FAILED|FAIL|PANIC|SEVERE)\b"
    r"|\bE[A-Z]{4,20}\b(?=[:, ])|\b(?:TS|CS|E|C|ORA-|SQLSTATE)\d{3,6}\b"
)
"""As programs write it."""

_ERROR_PHRASE = re.compile(
    r"\b(?:error|fatal|panic|critical|failed|failure|abort(?:ed)?)\b"
    r"(?:\[\w{1,12}\]|\(\w{1,12}\))?\s?:"
    r"|segmentation fault|core dumped|command not found|no such file|permission denied"
    r"|connection (?:refused|reset|timed out)|timed out|out of memory"
    r"|cannot (?:find|open|import|allocate)|undefined (?:reference|symbol|variable)|unresolved"
    r"|\w{3,30}fehler\b|stürzt ab|does not exist|not recognized|\bHTTP(?:/[\d.]{1,3})? ?[45]\d\d\b"
    r"|\b(?:status|code|returned|response)[ :=]{1,3}[45]\d\d\b"
    r"|\b[45]\d\d (?:Bad|Unauthorized|Forbidden|Not|Conflict|Gone|Too|Internal|Service|Gateway"
    r"|Unprocessable)|\b[1-9]\d{0,5} (?:failed|errors?\b)",
    re.IGNORECASE,
)
_HARMLESS = re.compile(
    r"\b0 (?:failed|errors?|failures?)\b|\bno errors?\b|\berrors?: 0\b", re.IGNORECASE
)
_ERROR_HINTS = (
    *("err", "fail", "fatal", "fault", "exce", "exit", "panic", "critical", "abort", "denied"),
    *(
        "refused",
        "timed",
        "timeout",
        "memory",
        "cannot",
        "undefined",
        "unresolved",
        "not ",
        "no su",
    ),
    *(
        "severe",
        "fehler",
        "stürzt",
        "dumped",
        "reset",
        "interrupt",
        "ora-",
        "sqlstate",
        "✗",
        "✘",
        "!",
    ),
)
"""Without one of these, or a number or a code, no sign and no phrase of an error is there."""
_CODE_HINT = re.compile(r"[45]\d\d|[A-Z]\d{3}|E(?:[A-Z]{4}|  )")


def is_error(line: str) -> bool:
    """Whether a line of output says that something failed."""
    if not _may_be_error(line) or _HARMLESS.search(line):
        return False
    return bool(_ERROR_SIGN.search(line) or _ERROR_PHRASE.search(line))


def _may_be_error(line: str) -> bool:
    low = line.lower()
    for hint in _ERROR_HINTS:
        if hint in low:
            return True
    return bool(_CODE_HINT.search(line))
