"""The vocabulary of a model, from what Ollama's `/api/show` says when asked for everything."""

from __future__ import annotations

from typing import Any, cast

from ollm_tui.core.vocabulary import BYTE_LEVEL, Vocabulary
from ollm_tui.providers.wire.json_fields import Tree, list_at, text_at, tree_at


def shown_vocabulary(show: Tree) -> Vocabulary | None:
    """The model's vocabulary; None if there is none that can be counted with."""
    details = tree_at(show, "model_info")
    tokens = list_at(details, "tokenizer.ggml.tokens")
    kinds = list_at(details, "tokenizer.ggml.token_type")
    if text_at(details, "tokenizer.ggml.model") != BYTE_LEVEL or len(tokens) != len(kinds):
        return None
    if not tokens or not _all(tokens, str) or not _all(kinds, int):
        return None
    splitting = text_at(details, "tokenizer.ggml.pre")
    return Vocabulary(splitting, cast(list[str], tokens), cast(list[int], kinds))


def _all(items: list[Any], kind: type) -> bool:
    return all(isinstance(item, kind) for item in items)
