"""What servers of the chat completions kind tell about their models."""

from __future__ import annotations

from typing import Any, cast

from ollm_tui.core.provider import Capabilities, ModelInfo
from ollm_tui.providers.wire.json_fields import (
    Tree,
    as_tree,
    int_at,
    list_at,
    text_at,
    tree_at,
    trees_at,
)

_WINDOW_KEYS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)
"""Names of LM Studio, vLLM, OpenRouter, Groq."""


def model_infos(answer: Any) -> tuple[ModelInfo, ...]:
    """The list of models; names that could not be shown safely are left out."""
    return tuple(
        ModelInfo(name=entry["id"], size_bytes=_size(entry), max_window=_max_window(entry))
        for entry in _entries(answer)
        if entry["id"].isprintable()
    )


def named_model(answer: Any, model: str) -> Tree:
    """The entry of one model; a server that has only one means that one."""
    entries = _entries(answer)
    found = next((entry for entry in entries if entry["id"] == model), None)
    if found is not None:
        return found
    return entries[0] if len(entries) == 1 else {}


def model_capabilities(entry: Tree, properties: Tree, *, counting: bool) -> Capabilities:
    """What a model can do, from its entry in the list and llama.cpp's properties."""
    # llama.cpp's n_ctx is what a request gets, whatever the model was made for.
    loaded = int_at(tree_at(properties, "default_generation_settings"), "n_ctx")
    return Capabilities(
        tools=_tools(entry, properties),
        counting=counting,
        thinking=_thinking(entry, properties),
        images=_images(entry, properties),
        window=loaded or int_at(entry, *_WINDOW_KEYS),
        max_window=_max_window(entry) or loaded,
    )


def _entries(answer: Any) -> list[Tree]:
    listed = {"data": cast(Any, answer)} if isinstance(answer, list) else as_tree(answer)
    return [entry for entry in trees_at(listed, "data") if text_at(entry, "id")]


def _size(entry: Tree) -> int | None:
    return int_at(tree_at(entry, "meta"), "size")


def _max_window(entry: Tree) -> int | None:
    made_for = int_at(tree_at(entry, "meta"), "n_ctx_train")
    return made_for or int_at(entry, "max_context_length", *_WINDOW_KEYS)


def _tools(entry: Tree, properties: Tree) -> bool | None:
    template = tree_at(properties, "chat_template_caps")
    if "supports_tools" in template:
        return bool(template["supports_tools"])
    return _lists(entry, "supported_parameters", "tools")


def _thinking(entry: Tree, properties: Tree) -> bool | None:
    template = properties.get("chat_template")
    if isinstance(template, str):
        return "enable_thinking" in template or "<think>" in template
    return _lists(entry, "supported_parameters", "reasoning")


def _images(entry: Tree, properties: Tree) -> bool | None:
    modalities = tree_at(properties, "modalities")
    if "vision" in modalities:
        return bool(modalities["vision"])
    return _lists(tree_at(entry, "architecture"), "input_modalities", "image")


def _lists(tree: Tree, key: str, value: str) -> bool | None:
    """Whether a list has a value; None where there is no list."""
    return value in list_at(tree, key) if key in tree else None
