"""`ollm models`: lists models, shows what one can do, and downloads more."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import Namespace

from ollm_tui.bootstrap import Providers, open_providers
from ollm_tui.cli.output import print_json, print_table
from ollm_tui.cli.store import load
from ollm_tui.core.counts import percent, short_count
from ollm_tui.core.errors import ModelMissing, ProviderError, Unavailable, UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import CanPull, ModelInfo, Provider
from ollm_tui.engine.conversation.model_store import stored_models
from ollm_tui.providers.llama_cpp.model_catalogue import SEARCH_MODEL


def run(arguments: Namespace) -> int:
    """Run one command of the group."""
    return asyncio.run(_run(arguments))


async def _run(arguments: Namespace) -> int:
    providers = open_providers(load(), os.environ)
    try:
        return await _COMMANDS[arguments.command](providers, arguments)
    finally:
        await providers.close()


async def _list(providers: Providers, arguments: Namespace) -> int:
    found = await _all_models(providers, arguments.provider)
    if arguments.json:
        print_json([{"provider": name} | _tree(info) for name, info in found])
    else:
        print_table([_row(name, info) for name, info in found], right=frozenset({2, 3}))
    return 0


async def _info(providers: Providers, arguments: Namespace) -> int:
    matches = [
        (name, info)
        for name, info in await _all_models(providers, arguments.provider)
        if info.is_called(arguments.model)
    ]
    if not matches:
        raise ModelMissing(f"no model {arguments.model!r}", "ollm models list")
    trees = [await _full_tree(await providers.get(name), info) for name, info in matches]
    if arguments.json:
        print_json(trees)
        return 0
    for tree in trees:
        rows = [(key, _words(value)) for key, value in tree.items() if value not in (None, "")]
        print_table(rows)
    return 0


async def _pull(providers: Providers, arguments: Namespace) -> int:
    embedded = await providers.get("embedded")
    model = arguments.model or await embedded.default_model()
    ours = {info.name: info for info in await stored_models(embedded)}
    name = arguments.provider or ("embedded" if model in ours else "ollama")
    if arguments.if_missing and name == "embedded" and model in ours and ours[model].installed:
        return 0
    provider = await providers.get(name)
    if not isinstance(provider, CanPull):
        raise UsageError(f"{name} cannot pull models", "use embedded or ollama")
    try:
        await _fetch(provider, model)
    except Unavailable as error:
        if arguments.provider or name != "ollama":
            raise
        hint = f"available without Ollama: {', '.join(ours)}"
        raise ModelMissing(f"cannot pull {model}: {error.message}", hint) from error
    if name == "embedded" and model == SEARCH_MODEL:
        print(f"{model} is ready. Search by meaning is on (English).")
    else:
        print(f"{model} is ready. Use it with: ollm --provider {name} --model {model}")
    return 0


async def _fetch(provider: CanPull, model: str) -> None:
    shown = ""
    async for step in provider.pull(model):
        share = "" if step.fraction is None else f" {percent(step.fraction)}"
        line = clean(step.what) + share
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}")
        elif step.what != shown:
            sys.stderr.write(f"{line}\n")
        shown = step.what
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


_COMMANDS = {"list": _list, "info": _info, "pull": _pull}


async def _all_models(providers: Providers, only: str | None) -> list[tuple[str, ModelInfo]]:
    """Return the models of every provider that answers. ProviderError if `only` does not."""
    found: list[tuple[str, ModelInfo]] = []
    for name in [only] if only else providers.names():
        try:
            models = await stored_models(await providers.get(name))
        except ProviderError:
            if only:
                raise
            continue
        found += [(name, info) for info in models]
    return found


async def _full_tree(provider: Provider, info: ModelInfo) -> dict[str, object]:
    can = await provider.capabilities(info.name)
    return (
        {"provider": provider.name}
        | _tree(info)
        | {
            "window": can.window,
            "maxWindow": can.max_window or info.max_window,
            "tools": can.tools,
            "thinking": can.thinking,
            "images": can.images,
            "exactTokenCounts": can.counting,
        }
    )


def _tree(info: ModelInfo) -> dict[str, object]:
    return {
        "name": info.name,
        "installed": info.installed,
        "sizeBytes": info.size_bytes,
        "maxWindow": info.max_window,
        "parameters": info.parameters,
        "quantization": info.quantization,
        "note": info.note,
        "remoteHost": info.remote_host,
    }


def _row(provider: str, info: ModelInfo) -> tuple[str, ...]:
    window = f"{short_count(info.max_window)} window" if info.max_window else ""
    size = f"{info.size_bytes / 1e6:,.0f} MB" if info.size_bytes else ""
    away = f"sent to {info.remote_host}" if info.remote_host else ""
    notes = ("" if info.installed else "not downloaded", away, info.note)
    return (provider, clean(info.name), size, window, clean("; ".join(filter(None, notes))))


def _words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else clean(str(value))
