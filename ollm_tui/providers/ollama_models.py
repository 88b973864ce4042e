"""What Ollama says about its models, and which fields of a request it has refused."""

from __future__ import annotations

from datetime import datetime
from typing import Any, cast

from ollm_tui.core.provider import (
    BYTE_LEVEL,
    Capabilities,
    ModelInfo,
    Vocabulary,
    same_model,
)
from ollm_tui.providers.wire.http import host_of, with_scheme
from ollm_tui.providers.wire.http_errors import one_line
from ollm_tui.providers.wire.json_lines import (
    Tree,
    as_tree,
    int_at,
    list_at,
    text_at,
    tree_at,
    trees_at,
)

OF_THE_SERVER = ("shift", "truncate")
"""Fields that some versions of the server refuse."""
OF_THE_MODEL = ("think",)
"""Fields that are refused for some models."""
CLOUD = "ollama.com"
"""Where cloud models run."""
_ABILITIES = {"tools": "tools", "vision": "images", "thinking": "thinking"}
"""What the server calls abilities, and what we do."""
_CLOUD_ENDINGS = (":cloud", "-cloud")
CAN_BE_LEFT_OUT = (*OF_THE_MODEL, *OF_THE_SERVER)
"""Fields that a request can do without."""


def model_entries(answer: Any) -> list[Tree]:
    """Return the entries of `/api/tags` or `/api/ps` whose names can be shown in a terminal."""
    entries = trees_at(as_tree(answer), "models")
    return [e for e in entries if model_name(e) and model_name(e).isprintable()]


def model_name(entry: Tree) -> str:
    """Return the name of a model from its entry."""
    return text_at(entry, "name") or text_at(entry, "model")


def is_named(entry: Tree, model: str) -> bool:
    """Return whether a name means the model of an entry."""
    names = (text_at(entry, "name"), text_at(entry, "model"))
    return any(same_model(name, model) for name in names if name)


def cloud_host(entry: Tree) -> str | None:
    """Return the machine a cloud model runs on; None for a model of the server's own."""
    if said := text_at(entry, "remote_host"):
        return one_line(host_of(with_scheme(said)) or said)
    # Older servers do not say it, but all cloud models end like this.
    return CLOUD if model_name(entry).endswith(_CLOUD_ENDINGS) else None


def model_info(entry: Tree, elsewhere: str | None = None) -> ModelInfo:
    """Return an entry of `/api/tags` as our value; `elsewhere` is where the server itself runs, if
    that is another machine."""
    details = tree_at(entry, "details")
    return ModelInfo(
        name=model_name(entry),
        size_bytes=int_at(entry, "size"),
        max_window=int_at(entry, "context_length") or int_at(details, "context_length"),
        parameters=text_at(details, "parameter_size") or None,
        quantization=text_at(details, "quantization_level") or None,
        note="" if can_chat(entry) else "embeddings only",
        chats=can_chat(entry),
        remote_host=elsewhere or cloud_host(entry),
        abilities=tuple(_ABILITIES[name] for name in _abilities(entry) if name in _ABILITIES),
    )


def can_chat(entry: Tree) -> bool:
    """Return whether a model can chat; for older servers, which do not say, by family and name."""
    if abilities := _abilities(entry):
        return "completion" in abilities
    family = text_at(tree_at(entry, "details"), "family")
    return "bert" not in family and "embed" not in model_name(entry)


def newest_first(entries: list[Tree]) -> list[Tree]:
    """Sort models by when they were last changed, the latest first."""
    return sorted(entries, key=_modified, reverse=True)


def weights_of(show: Tree) -> str:
    """Return which file has the weights of a model, from its Modelfile in `/api/show`; empty if
    that is not told."""
    lines = text_at(show, "modelfile").splitlines()
    return next((line[5:].strip() for line in lines if line.startswith("FROM ")), "")


def may_share_weights(one: Tree, other: Tree) -> bool:
    """Return whether two entries of `/api/tags` can have the same weights."""
    facts = ("family", "parameter_size", "quantization_level")
    ours, theirs = tree_at(one, "details"), tree_at(other, "details")
    return all(text_at(ours, name) == text_at(theirs, name) for name in facts)


def shown_capabilities(show: Tree, allocated: int | None, *, here: bool = False) -> Capabilities:
    """Return what a model can do, from `/api/show` and the window it has if it is loaded.

    `here` says that the server runs on this machine: only then its memory is known here.
    """
    abilities = list_at(show, "capabilities")
    details = tree_at(show, "model_info")
    return Capabilities(
        tools="tools" in abilities if abilities else None,
        thinking="thinking" in abilities if abilities else None,
        images="vision" in abilities if abilities else None,
        continues=_continues(show),
        window=allocated or _default_window(text_at(show, "parameters")),
        max_window=_made_for(details),
        window_bytes_per_token=_cache_bytes(details) if here else None,
        resizable=True,
    )


def _continues(show: Tree) -> bool:
    """Return whether an answer at the end of a prompt is left open for the model to go on with:
    templates that write every message do so only if they look for the last one."""
    if text_at(show, "remote_host"):
        return False
    template = text_at(show, "template")
    is_built_in = "\nRENDERER " in f"\n{text_at(show, 'modelfile')}"
    return is_built_in or ".Messages" not in template or "$last" in template.lower()


def shown_vocabulary(show: Tree) -> Vocabulary | None:
    """Return the vocabulary from `/api/show`; None if tokens cannot be counted with it."""
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
    """Remembers which fields were refused, by version of the server and, where it depends on
    it, by model: another version or model may accept the same field.
    """

    def __init__(self) -> None:
        self._refused: set[tuple[str, str | None, str]] = set()

    def __bool__(self) -> bool:
        """Whether anything was refused so far; only then the version has to be asked for."""
        return bool(self._refused)

    def add(self, version: str, model: str, field: str) -> None:
        """Remember that a field was refused in a request for a model."""
        self._refused.add((version, None if field in OF_THE_SERVER else model, field))

    def of(self, version: str, model: str) -> frozenset[str]:
        """Return the fields to leave out of a request."""
        return frozenset(
            field for at, whose, field in self._refused if at == version and whose in (None, model)
        )


def _abilities(entry: Tree) -> list[Any]:
    return list_at(entry, "capabilities") or list_at(tree_at(entry, "details"), "capabilities")


def _all(items: list[Any], kind: type) -> bool:
    return all(isinstance(item, kind) for item in items)


def _made_for(details: Tree) -> int | None:
    keys = [key for key in details if key.endswith(".context_length")]
    return int_at(details, *keys)


def _cache_bytes(details: Tree) -> int | None:
    """Return the memory of one token in the window: a key and a value of 16 bits in each layer."""
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
    """Return `num_ctx` of a Modelfile, from lines such as "num_ctx    8192"."""
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
