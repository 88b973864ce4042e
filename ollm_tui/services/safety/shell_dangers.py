"""Finds what is dangerous anywhere in shell code, and in code of other languages it passes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from tree_sitter import Node

from ollm_tui.services.safety.dangers import (
    DESTROYS_DATA,
    DOWNLOADERS,
    INTERPRETERS,
    SHELLS,
    SQL_CLIENTS,
    WRAPPERS,
    danger,
)
from ollm_tui.services.safety.places import Places, keeps_secrets
from ollm_tui.services.safety.plain_words import depth, nodes, parsed, source, word_text, words

LANGUAGES = INTERPRETERS - SHELLS - {"source", "."}
"""Interpreters of languages other than the shell's."""
ROUGH = re.compile(
    r"\brm\s+-\w*[rR]|\b(sudo|doas|mkfs\w*|shutdown|reboot|shred)\b|--force\b|\bof=/dev/|/dev/tcp/"
    r"|\|\s*(ba|z|da)?sh\b|reset\s+--hard|\bpush\s+-f\b"
)
"""Finds dangerous commands in code that no grammar here can read."""
_GIVES_CODE = re.compile(r"-[A-Za-z]*[ceEpr]|--(?:eval|print|run)")
_VERSION = re.compile(r"[\d.]+\Z")
_LITERAL = re.compile(r"'([^'\n]{1,400})'|\"([^\"\n]{1,400})\"")
_DELETES_TREES = re.compile(
    r"\b(?:rmtree|rm_rf?|remove_tree|remove_entry\w*|removedirs|remove_dir_all)\b"
    r"|\brm(?:dir)?(?:Sync)?\b[^;\n]{0,80}\brecursive\b"
)


MOST_NESTED = 3
"""How deep code may be nested in code; more counts as dangerous."""
DEEPEST = 200
"""How deep a syntax tree may be: some checks look at all below a node, for every node."""
TOO_DEEP = "it hides code in code"
_ONLY_PRINT = frozenset(("echo", "printf"))
_DOWNLOADED = "it runs what it downloads"
_CODE_OPTION = re.compile(r"-[a-z]*c")
_PATH_LIKE = re.compile(r"[\w~$./{}-]{1,4096}")
_SPACE = re.compile(r"\$IFS\b|\$\{IFS[^}]*\}")
"""Variables that stand for a space."""
_ELSEWHERE = {"ssh": 2, "docker": 2, "podman": 2, "kubectl": 2}
"""Programs that run another one elsewhere, and the first position its name can have."""
_GIT_RUNS = frozenset(("-x", "--exec", "foreach", "run"))
"""Words before the command in `git rebase -x`, `git submodule foreach`, `git bisect run`."""


class _Seen(NamedTuple):
    """What was seen in the code so far."""

    names: set[str]
    """The names of programs."""
    fetched: set[str]
    """The names of files that were downloaded."""


def shell_danger(code: str, places: Places, nested: int = 0) -> str:
    """What is dangerous about shell code, in a few words; empty if nothing known is."""
    if nested > MOST_NESTED:
        return TOO_DEEP
    root = parsed(_SPACE.sub(" ", code)).root_node
    if depth(root) > DEEPEST:
        return TOO_DEEP
    if root.has_error and ROUGH.search(code):
        return "it cannot be read as shell code, and names dangerous commands"
    seen = _Seen(set(), set())
    for node in nodes(root):
        if found := _node_danger(node, places, nested, seen):
            return found
    if seen.names & SQL_CLIENTS and DESTROYS_DATA.search(code):
        return "it deletes data in a database"
    return ""


def _node_danger(node: Node, places: Places, nested: int, seen: _Seen) -> str:
    match node.type:
        case "command":
            argv = words(node)
            seen.names.add(_name(argv))
            found = _command(argv, places, nested) or _downloads(node, argv)
            return found or _runs_fetched(argv, seen)
        case "file_redirect":
            if seen.names & DOWNLOADERS and (target := node.child_by_field_name("destination")):
                seen.fetched.add(_name([word_text(target)]))
            return _redirect(node, places)
        case "pipeline":
            return _pipeline(node)
        case "function_definition":
            return _bomb(node)
        case "heredoc_body" if seen.names & SHELLS:
            return shell_danger(source(node), places, nested + 1)
        case "heredoc_body" if any(map(is_language, seen.names)):
            return _foreign(source(node), places)
        case "herestring_redirect" if seen.names & SHELLS:
            return shell_danger(word_text(node.children[-1]), places, nested + 1)
        case _:
            return ""


def _name(argv: list[str]) -> str:
    return argv[0].rpartition("/")[2] if argv else ""


def _command(argv: list[str], places: Places, nested: int) -> str:
    name = _name(argv)
    first = _ELSEWHERE.get(name, 1)
    # The options of a wrapper are not known here: any of the next words may be the program.
    last = min(len(argv), 12) if name in WRAPPERS or name in _ELSEWHERE else 1
    for start in (0, *range(first, last)):
        if found := danger(argv[start:], places) or _inner_code(argv[start:], places, nested):
            return found
    # A program in a variable is judged as if it were rm.
    if name[:1] == "$" and (found := danger(["rm", *argv[1:]], places)):
        return f"nobody knows which program it runs, and {found}"
    if name not in _ONLY_PRINT and any(_is_secret(word, places) for word in argv[1:]):
        return "it names a place where secrets are kept"
    return ""


def _inner_code(argv: list[str], places: Places, nested: int) -> str:
    """What is dangerous about code that a program is given in its words; empty if nothing is."""
    name = _name(argv)
    if name == "eval":
        return shell_danger(" ".join(argv[1:]), places, nested + 1)
    if name == "ssh":
        code = "\n".join(word for word in argv if " " in word)
        return shell_danger(code, places, nested + 1)
    if name == "git" and (at := next((at for at, w in enumerate(argv) if w in _GIT_RUNS), 0)):
        return shell_danger(" ".join(argv[at + 1 :]), places, nested + 1)
    if is_language(name) and (code := given_code(argv)):
        return _foreign(code, places)
    if name in SHELLS or name == "trap":
        for at, word in enumerate(argv[1:-1], 1):
            if _CODE_OPTION.fullmatch(word):
                return shell_danger(argv[at + 1], places, nested + 1)
        if name == "trap" and len(argv) > 1:
            return shell_danger(argv[1], places, nested + 1)
    return ""


def _foreign(code: str, places: Places) -> str:
    """What is dangerous about code of another language; empty if nothing known is."""
    if any("/" in text and _is_secret(text, places) for text in literals(code)):
        return "it names a place where secrets are kept"
    return code_danger(code)


def _runs_fetched(argv: list[str], seen: _Seen) -> str:
    """Whether it runs a file that was downloaded before: `curl -o x.sh …; sh x.sh`."""
    name = _name(argv)
    if name in DOWNLOADERS:
        named = (word.partition("?")[0].rstrip("/") for word in argv[1:] if word[:1] != "-")
        seen.fetched.update(word.rpartition("/")[2] for word in named)
        return ""
    runs = argv[1:] if name in INTERPRETERS or is_language(name) else []
    runs = [word for word in runs if word[:1] != "-"][:1] + [
        word for word in argv[:1] if "/" in word
    ]
    return _DOWNLOADED if any(_name([word]) in seen.fetched for word in runs) else ""


def _is_secret(word: str, places: Places) -> bool:
    value = word.rpartition("=")[2].lstrip("@")
    if not _PATH_LIKE.fullmatch(value) or value.startswith("-"):
        return False
    return keeps_secrets(places.within(places.real(value)))


def _downloads(node: Node, argv: list[str]) -> str:
    """Whether it runs what a command inside downloads: `bash <(curl …)`, `sh -c "$(curl …)"`."""
    if _name(argv) not in INTERPRETERS | {"eval"}:
        return ""
    inner = (words(below) for below in nodes(node) if below.type == "command" and below != node)
    return _DOWNLOADED if any(_name(each) in DOWNLOADERS for each in inner) else ""


def _pipeline(node: Node) -> str:
    downloaded = False
    for at, part in enumerate(node.named_children):
        own = [words(below) for below in nodes(part) if below.type == "command"]
        names = {_name(argv[start:]) for argv in own for start in range(min(len(argv), 3))}
        if at and downloaded and names & INTERPRETERS:
            return _DOWNLOADED
        # A shell without a file to run takes its input for code.
        if at and any(_name(argv) in SHELLS and not _has_operand(argv) for argv in own):
            return "it runs what another command prints"
        downloaded = downloaded or bool({_name(argv) for argv in own} & DOWNLOADERS)
    return ""


def _has_operand(argv: list[str]) -> bool:
    return any(not word.startswith("-") for word in argv[1:])


def _redirect(node: Node, places: Places) -> str:
    operator = next((child.type for child in node.children if ">" in child.type), "")
    target = node.child_by_field_name("destination")
    text = word_text(target) if target else ""
    if text.startswith(("/dev/tcp/", "/dev/udp/")):
        return "it connects to the network by the shell itself"
    if not target or target.type == "number":
        return ""
    if _is_secret(text, places):
        return "it names a place where secrets are kept"
    return places.write_danger(text) if operator else ""


def _bomb(node: Node) -> str:
    """Whether a function calls itself and has anything run in the background."""
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    if not name or not body:
        return ""
    calls = [words(below) for below in nodes(body) if below.type == "command"]
    again = any(argv and argv[0] == source(name) for argv in calls)
    return "it starts itself again and again" if again and "&" in source(body) else ""


def is_language(name: str) -> bool:
    """Whether a program is an interpreter of a language other than the shell's, also python3.11."""
    return _VERSION.sub("", name) in LANGUAGES or name in LANGUAGES


def given_code(argv: Sequence[str]) -> str:
    """The code that an interpreter is given by -c, -e or the like; empty if there is none."""
    return "\n".join(after for before, after in pairwise(argv) if _GIVES_CODE.fullmatch(before))


def code_danger(code: str) -> str:
    """What is dangerous in code of any language; only obvious cases are found."""
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
