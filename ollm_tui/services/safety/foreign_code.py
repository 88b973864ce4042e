"""Code of other languages in the words of a command: `python -c …`, `perl -e …`, `node -e …`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ollm_tui.services.safety.dangers import DESTROYS_DATA, INTERPRETERS, SHELLS

LANGUAGES = INTERPRETERS - SHELLS - {"source", "."}
ROUGH = re.compile(
    r"\brm\s+-\w*[rR]|\b(sudo|doas|mkfs\w*|shutdown|reboot|shred)\b|--force\b|\bof=/dev/|/dev/tcp/"
    r"|\|\s*(ba|z|da)?sh\b|reset\s+--hard|\bpush\s+-f\b"
)
"""Dangerous commands, for code that no grammar here can read."""
_GIVES_CODE = re.compile(r"-[A-Za-z]*[ceEpr]|--(?:eval|print|run)")
_VERSION = re.compile(r"[\d.]+\Z")
_LITERAL = re.compile(r"'([^'\n]{1,400})'|\"([^\"\n]{1,400})\"")
_DELETES_TREES = re.compile(
    r"\b(?:rmtree|rm_rf?|remove_tree|remove_entry\w*|removedirs|remove_dir_all)\b"
    r"|\brm(?:dir)?(?:Sync)?\b[^;\n]{0,80}\brecursive\b"
)


def is_language(name: str) -> bool:
    """Whether a program runs code of a language other than the shell's: also python3.11."""
    return _VERSION.sub("", name) in LANGUAGES or name in LANGUAGES


def given_code(argv: Sequence[str]) -> str:
    """The code among the words of such a program; empty if there is none."""
    return "\n".join(after for before, after in pairwise(argv) if _GIVES_CODE.fullmatch(before))


def code_danger(code: str) -> str:
    """What is dangerous in code of any language; only plain cases are seen."""
    if _DELETES_TREES.search(code):
        return "it deletes whole directories"
    if DESTROYS_DATA.search(code):
        return "it deletes data in a database"
    if ROUGH.search(" ".join(literals(code))):
        return "it runs dangerous commands"
    return ""


def literals(code: str) -> Iterator[str]:
    """The texts between quotation marks."""
    return (single or double for single, double in _LITERAL.findall(code))
