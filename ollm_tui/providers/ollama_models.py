"""What Ollama tells about its models: installed, running, able to chat."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from ollm_tui.core.provider import BYTE_LEVEL, Capabilities, ModelInfo, Vocabulary
from ollm_tui.providers.wire.json_fields import (
    Tree,
    as_tree,
    int_at,
    list_at,
    text_at,
    tree_at,
    trees_at,
)

OF_THE_SERVER = ("shift", "truncate")
OF_THE_MODEL = ("think",)
CAN_BE_LEFT_OUT = (*OF_THE_MODEL, *OF_THE_SERVER)
"""What a request also works without."""


def model_entries(answer: Any) -> list[Tree]:
    """The entries of `/api/tags` or `/api/ps`; names that cannot be shown are left out."""
    entries = trees_at(as_tree(answer), "models")
    return [e for e in entries if model_name(e) and model_name(e).isprintable()]


def model_name(entry: Tree) -> str:
    """How a model of the list is called."""
    return text_at(entry, "name") or text_at(entry, "model")


def model_info(entry: Tree) -> ModelInfo:
    """One entry of `/api/tags`."""
    details = tree_at(entry, "details")
    return ModelInfo(
        name=model_name(entry),
        size_bytes=int_at(entry, "size"),
        max_window=int_at(entry, "context_length") or int_at(details, "context_length"),
        parameters=text_at(details, "parameter_size") or None,
        quantization=text_at(details, "quantization_level") or None,
        note="" if can_chat(entry) else "embeddings only",
    )


def can_chat(entry: Tree) -> bool:
    """Whether a model answers; older servers do not say, then its family and name do."""
    abilities = list_at(entry, "capabilities") or list_at(tree_at(entry, "details"), "capabilities")
    if abilities:
        return "completion" in abilities
    family = text_at(tree_at(entry, "details"), "family")
    return "bert" not in family and "embed" not in model_name(entry)


def newest_first(entries: list[Tree]) -> list[Tree]:
    """The models by when they were last changed."""
    return sorted(entries, key=_modified, reverse=True)


def allocated_window(running: Any, model: str) -> int | None:
    """The window a loaded model has, from `/api/ps`."""
    wanted = {model, f"{model}:latest"}
    windows = [
        int_at(entry, "context_length")
        for entry in model_entries(running)
        if wanted & {model_name(entry), text_at(entry, "model")}
    ]
    return windows[0] if windows else None


def shown_capabilities(show: Tree, allocated: int | None, *, here: bool = False) -> Capabilities:
    """What a model can do, from `/api/show`, and the window it has if it is loaded.

    `here` if the server is on this machine: only then its memory is ours to judge.
    """
    abilities = list_at(show, "capabilities")
    details = tree_at(show, "model_info")
    return Capabilities(
        tools="tools" in abilities if abilities else None,
        thinking="thinking" in abilities if abilities else None,
        images="vision" in abilities if abilities else None,
        window=allocated or _default_window(text_at(show, "parameters")),
        max_window=_made_for(details),
        window_bytes_per_token=_cache_bytes(details) if here else None,
    )


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


class RefusedFields:
    """Remembers refusals. What one version of the server refuses another may know, so nothing is
    left out for a server that was replaced; what a model cannot do says nothing of others.
    """

    def __init__(self) -> None:
        self._refused: set[tuple[str, str | None, str]] = set()

    def __bool__(self) -> bool:
        """Whether anything was refused so far: only then the version matters."""
        return bool(self._refused)

    def add(self, version: str, model: str, field: str) -> None:
        """A server refused a field in a request for a model."""
        self._refused.add((version, None if field in OF_THE_SERVER else model, field))

    def of(self, version: str, model: str) -> frozenset[str]:
        """What to leave out of a request."""
        return frozenset(
            field for at, whose, field in self._refused if at == version and whose in (None, model)
        )


def _all(items: list[Any], kind: type) -> bool:
    return all(isinstance(item, kind) for item in items)


def _made_for(details: Tree) -> int | None:
    keys = [key for key in details if key.endswith(".context_length")]
    return int_at(details, *keys)


def _cache_bytes(details: Tree) -> int | None:
    """What one token of the window takes: a key and a value, 16 bits each, in every layer."""
    kind = text_at(details, "general.architecture")
    layers = int_at(details, f"{kind}.block_count")
    heads = int_at(details, f"{kind}.attention.head_count")
    cached_heads = int_at(details, f"{kind}.attention.head_count_kv") or heads
    width = int_at(details, f"{kind}.embedding_length")
    size = int_at(details, f"{kind}.attention.key_length") or (
        width // heads if width and heads else None
    )
    if not (layers and cached_heads and size):
        return None
    return layers * cached_heads * size * 2 * 2


def _default_window(parameters: str) -> int | None:
    """`num_ctx` of a Modelfile, out of lines such as "num_ctx    8192"."""
    for line in parameters.splitlines():
        name, _, value = line.partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return int(value)
    return None


def _modified(entry: Tree) -> float:
    try:
        return datetime.fromisoformat(text_at(entry, "modified_at")).timestamp()
    except (ValueError, OverflowError):
        return 0.0
