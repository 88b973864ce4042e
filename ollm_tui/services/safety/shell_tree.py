"""Shell code as the real bash grammar reads it."""

from __future__ import annotations

from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Tree


def parsed(code: str) -> Tree:
    """The tree of some code; it has error nodes where the code makes no sense."""
    return Parser(Language(tree_sitter_bash.language())).parse(code.encode("utf-8", "replace"))


def nodes(root: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the code. Not recursive: code may be deep."""
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
    """How deep the tree is."""
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
    """The words of a command without quotes; what the shell would fill in stays as written."""
    return [word_text(word) for word in _word_nodes(command)]


def word_text(node: Node) -> str:
    """A word without its quotes: r'm' is rm. Parts lie at most three deep."""
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
    """What stands in $'…': there \\x72 is an r."""
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
