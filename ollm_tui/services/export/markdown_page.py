"""A conversation as a Markdown document, with the texts of user and model unaltered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt

from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session
from ollm_tui.services.export.blocks import (
    Block,
    blocks,
    compressions_after,
    document_head,
    document_title,
    moment,
    speaker,
)

_BACKTICKS = re.compile("`+")
_BLOCKS = MarkdownIt().disable("inline")


def markdown_document(session: Session, branch: Sequence[Message]) -> str:
    """Return the document, ending with a line end."""
    return "\n\n".join(_pieces(session, branch)) + "\n"


def _pieces(session: Session, branch: Sequence[Message]) -> Iterator[str]:
    yield f"# {document_title(session, branch)}"
    yield "\n".join(f"- {name}: {value}" for name, value in document_head(session, branch))
    compressions = compressions_after(session, branch)
    for message in branch:
        yield f"---\n\n## {speaker(message)} · {moment(message.timestamp)}"
        yield from map(_piece, blocks(message))
        for mark in compressions.get(message.id, ()):
            yield f"---\n\n*{mark.words}* · {moment(mark.at)}"
            yield from map(_piece, mark.blocks)


def _piece(block: Block) -> str:
    match block.kind:
        case "words":
            # A reply that ended inside a code block must not draw the rest of the document into it.
            closing = _unclosed_fence(block.text)
            return f"{block.text}\n{closing}" if closing else block.text
        case "folded":
            body = _fenced(block.text)
            return f"<details>\n<summary>{block.label}</summary>\n\n{body}\n\n</details>"
        case "data":
            return f"{_caption(block)}\n\n{_fenced(block.text, block.language)}"
        case "note":
            return _caption(block)


def _unclosed_fence(text: str) -> str:
    """Return the line that closes the code block a text leaves open; empty if there is none."""
    if "```" not in text and "~~~" not in text:
        return ""
    tokens = _BLOCKS.parse(f"{text}\n")
    last = next((token for token in reversed(tokens) if token.nesting != -1), None)
    if last is None or last.type != "fence" or last.map is None:
        return ""
    begin, end = last.map
    opening = text.split("\n")[begin]
    indent = opening[: len(opening) - len(opening.lstrip(" \t"))]
    is_closed = end - begin - 1 > last.content.count("\n")
    # One that begins behind the mark of a list or a quote ends together with it.
    return (
        indent + last.markup if opening.startswith(indent + last.markup) and not is_closed else ""
    )


def _caption(block: Block) -> str:
    name = f" {_code(block.name)}" if block.name else ""
    return f"**{block.label}**{name}"


def _fenced(text: str, language: str = "") -> str:
    """Return a text as a code block, with a fence longer than any run of backticks in it."""
    mark = "`" * max(3, _longest_run(text) + 1)
    line_end = "" if text.endswith("\n") else "\n"
    return f"{mark}{language}\n{text}{line_end}{mark}"


def _code(text: str) -> str:
    """Return a foreign name as inline code, so that no Markdown in it takes effect."""
    mark = "`" * (_longest_run(text) + 1)
    space = " " if "`" in text else ""
    return f"{mark}{space}{text}{space}{mark}"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
