"""What the terminal can show, judged by its environment: characters, colours, light or dark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

AUTOMATIC = "auto"
_UNKNOWING_TERMINALS = ("linux", "dumb")
"""Values of TERM: the console of the kernel has 256 glyphs, a dumb terminal promises nothing."""
_COLOURS_BY_ENDING = {"16color": 16, "256color": 256, "kitty": 256}
_LIGHT_GROUNDS = ("7", "15")
"""The numbers of white as the background in COLORFGBG."""


_PAGE = "ollm-serve"
"""The value of TERM_PROGRAM in a tab of `ollm serve`."""


class Abilities(NamedTuple):
    """What the terminal can show."""

    unicode: bool
    """Whether characters beyond ASCII are shown as they are."""
    colours: int | None
    """How many colours there are: 0, 16 or 256; None is any colour."""
    has_shell: bool = True
    """Whether there is a shell behind it, which can bring a suspended program back."""


def abilities(environ: Mapping[str, str], encoding: str | None) -> Abilities:
    """Return what a terminal with this environment can show; `encoding` is that of its output."""
    has_shell = environ.get("TERM_PROGRAM") != _PAGE
    return Abilities(_knows_unicode(environ, encoding), _colours(environ), has_shell)


def choose_theme(name: str, environ: Mapping[str, str]) -> str:
    """Return the theme to begin with: the given one, or for "auto" one like the terminal.

    The terminal is not asked for its colour: the answer takes a round trip, which is long
    over a network, and one that comes late would be taken for typing.
    """
    if name != AUTOMATIC:
        return name
    light = environ.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT_GROUNDS
    if _colours(environ) in (None, 256):
        return "light" if light else "dark"
    # Soft tones fall together when they are rounded to 16 colours; these do not.
    return "high-contrast-light" if light else "high-contrast"


def _knows_unicode(environ: Mapping[str, str], encoding: str | None) -> bool:
    if (encoding or "").lower().replace("-", "").replace("_", "") != "utf8":
        return False
    if environ.get("TERM", "") in _UNKNOWING_TERMINALS:
        return False
    # Python reads and writes UTF-8 in the C locale too, the terminal may not.
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    locale = next((environ[name] for name in names if environ.get(name)), "")
    return locale not in ("C", "POSIX")


def _colours(environ: Mapping[str, str]) -> int | None:
    """Return the number of colours as Rich decides it, which turns them into what is sent."""
    if environ.get("NO_COLOR"):
        return 0
    if environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit"):
        return None
    ending = environ.get("TERM", "").strip().lower().rpartition("-")[2]
    return _COLOURS_BY_ENDING.get(ending, 16)
