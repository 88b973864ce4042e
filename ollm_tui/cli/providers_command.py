"""`ollm providers`: lists the providers and tests whether they answer."""

from __future__ import annotations

import asyncio
import os
import time
from argparse import Namespace
from typing import NamedTuple

from ollm_tui.bootstrap import Providers, open_providers
from ollm_tui.cli.output import print_json, print_table
from ollm_tui.cli.store import load
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import ChatRequest, Completed, PromptMessage, ReasoningDelta, TextDelta

QUESTION = "Reply with the single word: ready"
LONGEST_ANSWER_TOKENS = 32


class Trial(NamedTuple):
    """The result of asking a provider for a few words."""

    provider: str
    ok: bool
    model: str = ""
    answer: str = ""
    first_word_seconds: float | None = None
    total_seconds: float | None = None
    problem: str = ""
    hint: str = ""


def run(arguments: Namespace) -> int:
    """Run one command of the group."""
    return asyncio.run(_run(arguments))


async def _run(arguments: Namespace) -> int:
    providers = open_providers(load(), os.environ)
    try:
        if arguments.command == "list":
            return await _list(providers, arguments)
        return await _test(providers, arguments)
    finally:
        await providers.close()


async def _list(providers: Providers, arguments: Namespace) -> int:
    states = [(name, await state_of(providers, name)) for name in providers.names()]
    if arguments.json:
        keys = ("name", "available", "detail")
        print_json([dict(zip(keys, (n, s[0], s[1]), strict=True)) for n, s in states])
    else:
        print_table([(name, "ok" if ok else "--", clean(text)) for name, (ok, text) in states])
    return 0


async def state_of(providers: Providers, name: str) -> tuple[bool, str]:
    """Return whether a provider answers, and its models or its problem in words."""
    try:
        models = await (await providers.get(name)).list_models()
    except OllmError as error:
        return False, f"{error.message} ({error.hint})" if error.hint else error.message
    installed = [info.name for info in models if info.installed]
    if not installed:
        return True, "no models yet"
    more = f" and {len(installed) - 3} more" if len(installed) > 3 else ""
    return True, ", ".join(installed[:3]) + more


async def _test(providers: Providers, arguments: Namespace) -> int:
    names = [arguments.provider] if arguments.provider else providers.names()
    trials = [await _try(providers, name, arguments.model) for name in names]
    if arguments.json:
        print_json([trial._asdict() for trial in trials])
    else:
        for trial in trials:
            print(_sentence(trial))
    # Without a name, not every provider has to answer: one is enough.
    asked_for = trials if arguments.provider else [trial for trial in trials if trial.ok] or trials
    return 0 if all(trial.ok for trial in asked_for) else 1


async def _try(providers: Providers, name: str, model: str | None) -> Trial:
    try:
        provider, chosen, _ = await providers.select(name, model)
        request = ChatRequest(
            model=chosen,
            messages=(PromptMessage(role="user", text=QUESTION),),
            max_output=LONGEST_ANSWER_TOKENS,
        )
        begun, first, answer = time.monotonic(), None, ""
        async for event in provider.stream(request):
            if isinstance(event, TextDelta | ReasoningDelta) and first is None:
                first = time.monotonic() - begun
            if isinstance(event, TextDelta):
                answer += event.text
            if isinstance(event, Completed):
                break
    except UsageError:
        raise  # a provider that does not exist is not one that failed
    except OllmError as error:
        return Trial(name, ok=False, problem=error.message, hint=error.hint)
    total = time.monotonic() - begun
    return Trial(name, True, chosen, clean(answer).strip(), first, total)


def _sentence(trial: Trial) -> str:
    if not trial.ok:
        hint = f" ({trial.hint})" if trial.hint else ""
        return f"{trial.provider}: {trial.problem}{hint}"
    answer = " ".join(trial.answer.split())
    times = f"{trial.first_word_seconds or 0:.1f} s, all after {trial.total_seconds:.1f} s"
    return f"{trial.provider}: ok, {clean(trial.model)} said {answer!r}, first word after {times}"
