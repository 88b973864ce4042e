"""Facts in lines of output and of code blocks: commands, exit codes, errors, changed files."""

from __future__ import annotations

import re

from ollm_tui.engine.compression.ledger.facts_words import word_set

_DIFF = re.compile(
    r"(?:\+\+\+ b/|--- a/|diff --git a/|rename to |\*\*\* (?:Update|Add) File: )(\S{1,300})"
)
_SHELLS = word_set("bash sh shell zsh console terminal shell-session fish powershell ps1 cmd")
_PROMPT = re.compile(r"[ \t]{0,8}(?:[\w@:~/.-]{0,60})?[$❯%][ \t]+(?=[\w./~])")
_EXIT = re.compile(
    r"(?:exit(?:ed)?[ _-]?(?:code|status|value)?(?:[ _-]?with)?[ _-]?(?:code|status)?"
    r"|return[ _-]?code|returncode|\brc|status code)[\"' ]{0,3}[:=]?[\"' ]{0,3}(-?\d{1,4})\b",
    re.IGNORECASE,
)

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


def path_of_diff(line: str) -> str:
    """The file a line of a diff is about."""
    found = _DIFF.match(line)
    return found[1] if found and not line.startswith("--- a/dev/null") else ""


def is_shell(info: str) -> bool:
    """Whether a fence says that it holds commands."""
    return info.split(" ", 1)[0].lower() in _SHELLS


def command_in(line: str, info: str = "") -> str:
    """The command a line shows: behind a prompt, or as it is in a fence of commands."""
    prompt = _PROMPT.match(line)
    if prompt:
        return line[prompt.end() :].strip()
    bare = line.strip()
    first = info.split(" ", 1)[0].lower()
    plain = is_shell(info) and first not in ("console", "shell-session", "terminal")
    return bare if plain and bare and bare[0] not in "#>" else ""


def exit_of(text: str) -> str:
    """The exit code an output tells of; the last one counts."""
    found = _EXIT.findall(text[-4000:]) or _EXIT.findall(text[:2000])
    return found[-1] if found else ""


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
