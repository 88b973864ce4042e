"""Notices on the desktop, by the sequences terminals know for them; else the bell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ollm_tui.core.intake import visible

NoticeKind = Literal["auto", "bell", "osc9", "osc99", "osc777", "off"]
BELL = "\a"
_BY_PROGRAM: Mapping[str, NoticeKind] = {
    "iTerm.app": "osc9",
    "WezTerm": "osc9",
    "ghostty": "osc9",
}
"""What terminals know, by TERM_PROGRAM."""
_BY_TERM: Mapping[str, NoticeKind] = {
    "xterm-kitty": "osc99",
    "xterm-ghostty": "osc9",
    "foot": "osc777",
    "rxvt-unicode-256color": "osc777",
}


def notice_kind(wanted: NoticeKind, environment: Mapping[str, str]) -> NoticeKind:
    """Return how to notify: as it is wanted, or as the terminal is known to understand."""
    if wanted != "auto":
        return wanted
    if environment.get("TMUX"):
        return "bell"  # tmux passes no such sequence on, but marks the window
    by_term = _BY_TERM.get(environment.get("TERM", ""))
    return by_term or _BY_PROGRAM.get(environment.get("TERM_PROGRAM", ""), "bell")


def notice_sequence(kind: NoticeKind, words: str) -> str:
    """Return what is written to the terminal; empty where nothing is wanted."""
    text = " ".join(visible(words).replace(";", ",").split())
    match kind:
        case "off":
            return ""
        case "osc9":
            return f"\x1b]9;{text}{BELL}"
        case "osc99":
            return f"\x1b]99;;{text}\x1b\\"
        case "osc777":
            return f"\x1b]777;notify;ollm;{text}{BELL}"
        case "auto" | "bell":
            return BELL
