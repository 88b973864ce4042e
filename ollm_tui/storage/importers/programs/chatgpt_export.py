"""Conversations of a ChatGPT export: the ZIP file, or the JSON in it."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from ollm_tui.core.session.encoding import CannotDecode
from ollm_tui.core.session.message import Part
from ollm_tui.storage.importers.programs.foreign_talk import (
    ForeignTalk,
    Tree,
    said,
    text_of,
    thought,
    tree_in,
)

NAME = "chatgpt"
LARGEST_BYTES = 2_000_000_000
"""Of the conversations in an export; pictures and sounds in it are never opened."""
_MEMBER = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
_ASSET = re.compile(r"(?:sediment|file-service)://\S+")


def find(_home: Path, _environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield nothing: an export lies wherever it was downloaded to."""
    return iter(())


def read(_path: Path, data: bytes) -> Iterator[ForeignTalk]:
    """Yield every conversation of an export."""
    for text in _documents(data):
        try:
            tree: object = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CannotDecode("its conversations are not JSON") from error
        if not isinstance(tree, list):
            raise CannotDecode("not a ChatGPT export")
        for each in cast(list[object], tree):
            if isinstance(each, dict) and "mapping" in each:
                yield _conversation(cast(Tree, each))


def _documents(data: bytes) -> Iterator[bytes]:
    if not data.startswith(b"PK"):
        yield data
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [each for each in archive.infolist() if _MEMBER.fullmatch(each.filename)]
            if not members:
                raise CannotDecode("it has no conversations.json")
            if sum(each.file_size for each in members) > LARGEST_BYTES:
                raise CannotDecode("its conversations are larger than 2 GB")
            for member in sorted(members, key=lambda each: each.filename):
                yield archive.read(member)
    except (zipfile.BadZipFile, OSError, RuntimeError) as error:
        raise CannotDecode("it is a damaged ZIP file") from error


def _conversation(tree: Tree) -> ForeignTalk:
    talk = ForeignTalk(NAME, str(tree.get("conversation_id") or tree.get("id") or ""))
    talk.title = str(tree.get("title") or "")
    mapping = tree_in(tree, "mapping")
    path: list[str] = []
    step = str(tree.get("current_node") or "")
    while step in mapping and step not in path:
        path.append(step)
        step = str(tree_in(mapping, step).get("parent") or "")
    for key in reversed(path):
        message = tree_in(tree_in(mapping, key), "message")
        if message and not _is_hidden(message):
            _take(talk, message, key, tree)
    return talk


def _is_hidden(message: Tree) -> bool:
    return bool(tree_in(message, "metadata").get("is_visually_hidden_from_conversation"))


def _take(talk: ForeignTalk, message: Tree, key: str, tree: Tree) -> None:
    author, content = tree_in(message, "author"), tree_in(message, "content")
    role, kind = author.get("role"), content.get("content_type")
    at = message.get("create_time") or tree.get("create_time")
    model = str(
        tree_in(message, "metadata").get("model_slug") or tree.get("default_model_slug") or ""
    )
    text = _ASSET.sub("[file]", text_of(content.get("parts") or content.get("text")))
    recipient = str(message.get("recipient") or "all")
    if role == "user":
        if kind != "user_editable_context":
            talk.say("user", [said(text)], at=at)
    elif role == "tool":
        part = talk.call(f"result-{key}", author.get("name"), {})
        talk.say("assistant", [part], at=at, model=model)
        talk.answer(f"result-{key}", text, at=at)
    elif role == "assistant":
        parts: list[Part] = [said(text)]
        if kind in ("thoughts", "reasoning_recap"):
            parts = [thought(content.get("thoughts") or content.get("content"))]
        elif recipient != "all":
            parts = [said(f"[asks {recipient}]\n{text}")]
        talk.say("assistant", parts, at=at, model=model)
