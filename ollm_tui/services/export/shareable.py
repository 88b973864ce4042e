"""Hides the secrets of a session before it leaves the machine, and writes JSON documents."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ollm_tui.core.intake import UNSAFE
from ollm_tui.core.session.encoding import Tree, session_from_tree, to_tree
from ollm_tui.core.session.session import Session
from ollm_tui.services.redaction.redactor import Redactor


def json_document(tree: Any) -> str:
    """Return the text of a JSON file, ending with a line end."""
    text = json.dumps(tree, indent=2, ensure_ascii=False)
    # Control characters and lone surrogates as escapes: the value stays the same, and the file can
    # be shown in a terminal and written as UTF-8.
    return UNSAFE.sub(lambda found: json.dumps(found[0])[1:-1], text) + "\n"


_TELLING = re.compile(r"pass|pwd|secret|token|key|auth|cred|cookie", re.IGNORECASE)
"""Names of fields whose value may be a secret although it does not look like one."""
_IMAGE = re.compile(r"image/")


def without_secrets(session: Session, redactor: Redactor) -> Session:
    """Return a session with a mark in place of every secret; the same object if it has none."""
    tree = to_tree(session)
    hidden = hide_secrets(tree, redactor)
    return session if hidden == tree else session_from_tree(hidden)


def hide_secrets(tree: Tree, redactor: Redactor) -> Tree:
    """Return parsed JSON with a mark in place of every secret."""
    return cast(Tree, _hidden(tree, "", redactor))


def _hidden(value: object, name: str, redactor: Redactor) -> object:
    match value:
        case str():
            return _text(value, name, redactor)
        case Mapping():
            pairs = cast(Mapping[str, object], value)
            if _IMAGE.match(str(pairs.get("mediaType", ""))):
                return pairs  # a mark would damage the picture
            return {key: _hidden(item, key, redactor) for key, item in pairs.items()}
        case Sequence():
            return [_hidden(item, name, redactor) for item in cast(Sequence[object], value)]
        case _:
            return value


def _text(text: str, name: str, redactor: Redactor) -> str:
    """Return the text of a field without secrets; `name` is the name of the field."""
    # Redacting also cleans a text. Without a secret every character has to stay as it is.
    if redactor.find(text):
        return redactor.redact(text)
    # The redactor knows such a secret only by its name: it is shown both, as an assignment.
    if _TELLING.search(name) and '"' not in text:
        beginning = f'{name}="'
        if redactor.find(f'{beginning}{text}"'):
            return redactor.redact(f'{beginning}{text}"')[len(beginning) : -1]
    return text
