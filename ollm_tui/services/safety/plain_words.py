"""Reads shell code as plain words, and as the syntax tree of the bash grammar.

Code is plain only if two readings agree: one by a small pattern of what is allowed, one by the
grammar. Whatever one of them does not know is not plain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Tree

_PLAIN = r"[A-Za-z0-9_./:=,@%+*?^-]"
# A tilde inside of a word is no home directory; braces without a comma are not expanded.
_HARMLESS = r"(?<=[A-Za-z0-9^])~|[@^]\{[a-z0-9]*\}|\\[ ()!;*?\[\]'\"]"
_DOUBLE = r'"(?:[^"$`\\!]|\\[^`!\n]|\$(?="))*"'
# In double quotes the shell removes a backslash before these; any other stays.
_ESCAPED = re.compile(r'\\(["\\$])')
_WORD = rf"(?:{_HARMLESS}|{_PLAIN}|'[^']*'|{_DOUBLE})+"
_PIECE = r"[A-Za-z0-9_.*-]"
_BRACED = re.compile(
    rf"(--[a-z-]+={_PIECE}*)\{{({_PIECE}+(?:,{_PIECE}+)+)\}}({_PIECE}*)(?=[\s;|]|\Z)"
)
"""An option that the shell repeats for each value in braces: --exclude-dir={dist,.git}."""
_ENDS = r"(?=[\s;|&]|\Z)"
_DISCARD = rf"(?:[12]|&)?>>?[ \t]*/dev/null{_ENDS}|[12]?>&[12]{_ENDS}"
"""Output that goes nowhere, or to where the other stream goes."""
_INPUT = rf"<(?![<>&(])[ \t]*(?P<source>{_WORD}){_ENDS}"
_TOKEN = re.compile(
    rf"(?P<gap>[ \t]+)|(?P<join>&&|\|\||[;|]|\n)|(?P<note>\#[^\n]*)"
    rf"|(?P<discard>{_DISCARD})|(?P<input>{_INPUT})"
    rf"|(?P<word>{_BRACED.pattern}|{_WORD}|[!\[](?=[ \t])|\](?=[\s;|]|\Z))"
)
_BLANKS = re.compile(r"[ \t]+")
_QUOTED = re.compile(rf"'(?P<single>[^']*)'|(?P<double>{_DOUBLE})|\\(?P<escaped>.)")
_ASCII = re.compile(r"[\x20-\x7e\n\t]*")
_GLOB = re.compile(r"[*?]")
_NO_DIGIT = re.compile(r"(\{[0-9]*(?:\.\.[0-9]*)?)[^\x00-\xff]")
"""A character that the grammar of version 0.25 looks up in a table of 256 to see whether it is a
digit, as in {1..5}: with a rare one the whole program ends."""
_KNOWN_NODES = frozenset(
    (
        *("program", "list", "pipeline", "command", "command_name", "word", "number", "string"),
        *("string_content", "raw_string", "concatenation", "comment", '"', "$", "\n"),
        *("&&", "||", ";", "|"),
        *("test_command", "unary_expression", "test_operator", "[", "]"),
        *("redirected_statement", "file_redirect", "file_descriptor"),
        *(">", ">>", "<", ">&", "&>", "&>>"),
    )
)
"""Nodes that plain code may have. A $ node is a mere character in quotes: an expansion has a node
of another kind."""
_REFUSALS = {
    "$": "the shell would fill in something ($)",
    "`": "it runs a command inside of another (`)",
    ">": "it redirects output",
    "<": "it redirects input",
    "&": "it runs something in the background (&)",
    "(": "it has a subshell or a function",
    ")": "it has a subshell or a function",
    "{": "it has braces the shell would expand",
    "}": "it has braces the shell would expand",
    "\\": "it has a backslash outside of quotes",
    "!": "it has a ! outside of single quotes",
    "~": "it names a home directory (~)",
    "[": "it has a [ outside of quotes",
    '"': "its double quotes have something in them that the shell would change",
    "'": "its quotes do not end",
}
UNKNOWN = "it is more than plain commands"


class Word(NamedTuple):
    """A word as the command gets it, without quotes."""

    text: str
    glob: bool = False
    """Whether the shell would replace it by names of files."""
    quoted: bool = False


class PlainCommand(NamedTuple):
    """A command of plain words."""

    words: tuple[Word, ...]
    after: str
    """What joins it to the one before: && || ; | or a line end; empty for the first."""
    inputs: tuple[Word, ...] = ()
    """The files that it reads as its input."""
    mixed: bool = False
    """Whether its errors may go where its output goes."""

    @property
    def argv(self) -> tuple[str, ...]:
        """Its words, and those for its input."""
        read = (text for word in self.inputs for text in ("<", word.text))
        return (*(word.text for word in self.words), *read)


class PlainCode(NamedTuple):
    """The commands of some code, or why it is not plain."""

    commands: tuple[PlainCommand, ...]
    refusal: str = ""


def plain_code(code: str) -> PlainCode:
    """Read code as plain commands; the result has a refusal if it is anything else."""
    if not _ASCII.fullmatch(code):
        return PlainCode((), "it has characters that are not plain ASCII")
    raw = _Written([], [])
    plain = _split(code, raw)
    return plain if plain.refusal or _agreed(code, raw) else PlainCode((), UNKNOWN)


class _Written(NamedTuple):
    """Code as it is written: the words of each command, and all redirections without blanks."""

    words: list[list[str]]
    redirections: list[str]


def _split(code: str, raw: _Written) -> PlainCode:
    """The commands as the pattern reads them; `raw` gets them as written."""
    commands: list[PlainCommand] = []
    words: list[Word] = []
    inputs: list[Word] = []
    join, mixed = "", False
    at, fresh = 0, True
    while at < len(code):
        token = _TOKEN.match(code, at)
        kind = token.lastgroup if token else None
        if token is None or (kind == "note" and not fresh) or (token[0] == "!" and not words):
            return PlainCode((), _REFUSALS.get(code[at], UNKNOWN))
        at, fresh = token.end(), kind != "word"
        if kind == "word":
            if not words:
                raw.words.append([])
            raw.words[-1].append(token[0])
            words += map(_word, _expanded(token[0]))
        elif kind in ("discard", "input"):
            if not words:  # before its command, or without one
                return PlainCode((), _REFUSALS[">"] if kind == "discard" else _REFUSALS["<"])
            raw.redirections.append(_BLANKS.sub("", token[0]))
            inputs += [_word(token["source"])] if kind == "input" else []
            mixed = mixed or token[0].endswith("&1")
        elif kind == "join":
            if words:
                commands.append(PlainCommand(tuple(words), join, tuple(inputs), mixed))
                words, inputs, join, mixed = [], [], token[0], False
            elif token[0] != "\n":  # an operator without a command before it
                return PlainCode((), UNKNOWN)
    if words:
        commands.append(PlainCommand(tuple(words), join, tuple(inputs), mixed))
    elif not commands or join not in (";", "\n"):
        return PlainCode((), UNKNOWN)
    return PlainCode(tuple(commands))


def _expanded(raw: str) -> list[str]:
    """The words that the shell makes of one with braces."""
    if not (found := _BRACED.fullmatch(raw)):
        return [raw]
    return [f"{found[1]}{piece}{found[3]}" for piece in found[2].split(",")]


def _word(raw: str) -> Word:
    quoted = bool(_QUOTED.search(raw))
    text = _QUOTED.sub(_unquoted, raw)
    return Word(text, bool(_GLOB.search(_QUOTED.sub("", raw))), quoted)


def _unquoted(found: re.Match[str]) -> str:
    if found["double"]:
        return _ESCAPED.sub(r"\1", found["double"][1:-1])
    return found["single"] or found["escaped"] or ""


def _agreed(code: str, raw: _Written) -> bool:
    """Whether the grammar finds the same words and redirections, and no node that plain code may
    not have."""
    tree = parsed(code)
    if tree.root_node.has_error:
        return False
    found = _Written([], [])
    for node in nodes(tree.root_node):
        if node.type not in _KNOWN_NODES or node.is_missing or node.is_error:
            return False
        if node.type in ("command", "test_command"):
            found.words.append(raw_words(node))
        elif node.type == "file_redirect":
            found.redirections.append(_BLANKS.sub("", source(node)))
    return found == raw


def parsed(code: str) -> Tree:
    """The syntax tree of shell code; it has error nodes where the code makes no sense."""
    safe = _NO_DIGIT.sub(r"\1x", code)
    return Parser(Language(tree_sitter_bash.language())).parse(safe.encode("utf-8", "replace"))


def nodes(root: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the code; without recursion, for deep code."""
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def depth(root: Node) -> int:
    """The depth of the tree below a node."""
    cursor = root.walk()
    deepest = 0
    while True:
        if cursor.goto_first_child():
            deepest = max(deepest, cursor.depth)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return deepest


def source(node: Node) -> str:
    """The code of a node as it was written."""
    return (node.text or b"").decode("utf-8", "replace")


def raw_words(command: Node) -> list[str]:
    """The words of a command as they were written, its name first."""
    return [source(word) for word in _word_nodes(command)]


def words(command: Node) -> list[str]:
    """The words of a command without quotes; expansions stay as written."""
    return [word_text(word) for word in _word_nodes(command)]


def word_text(node: Node) -> str:
    """A word without its quotes: r'm' is rm. Its parts are nested at most three deep."""
    match node.type:
        case "raw_string":
            return source(node)[1:-1]
        case "ansi_c_string":
            return _unescaped(source(node)[2:-1])
        case "string":
            inner = [source(child) for child in node.children if child.type not in ('"', "$")]
            return "".join(inner).replace("\\", "") if inner else source(node).strip('"')
        case "concatenation" | "command_name":
            return "".join(map(word_text, node.children)) or source(node)
        case _:
            return source(node).replace("\\", "")


def _unescaped(text: str) -> str:
    """The value of the text in $'…', where \\x72 is an r."""
    try:
        return text.encode("latin-1", "backslashreplace").decode("unicode_escape")
    except UnicodeDecodeError:
        return text


def _word_nodes(command: Node) -> list[Node]:
    if command.type == "test_command":
        first, *inner, last = command.children
        return [first, *(word for node in inner for word in node.children or [node]), last]
    name = command.child_by_field_name("name")
    return [*([name] if name else []), *command.children_by_field_name("argument")]
