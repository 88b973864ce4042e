"""The picker of models: those of every provider, and what the highlighted one would mean."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing

from textual import on, work
from textual.binding import Binding
from textual.widgets import Input

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import Capabilities, ModelInfo
from ollm_tui.engine.conversation.model_choice import ProviderOffer
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.picker import KEYS, PickerOf

ModelName = tuple[str, str]
"""A provider and one of its models."""
AskOffers = Callable[[], AsyncGenerator[ProviderOffer, None]]
Describe = Callable[[str, str], Awaitable[str]]
"""Returns what the user should know of a model of a provider before it is chosen."""

NOBODY = "No provider is there. ollm doctor says what is missing."
WITH_WINDOW = "Enter choose   Alt+W window   Esc close"
REST_SECONDS = 0.15
"""How long a line is highlighted before its server is asked about the model."""


class ModelPicker(PickerOf[ModelName]):
    """Closes with (provider, model), or with None.

    Opens at once with the model that answers now and the names of all providers; what they have
    is filled in as they answer.
    """

    BINDINGS = [
        Binding(
            "alt+w",
            "resize",
            "Window",
            id="picker.window",
            priority=True,  # terminals send a letter along, which the filter would take
            tooltip="Another size of the window for the model that answers",
        ),
    ]

    def __init__(
        self,
        providers: Sequence[str],
        offers: AskOffers,
        describe: Describe,
        current: ModelName | None = None,
        resize: Callable[[], None] | None = None,
    ) -> None:
        """`resize` asks for another window; None where that cannot be changed."""
        super().__init__("Model", empty=NOBODY, keys=WITH_WINDOW if resize else KEYS)
        self._resize = resize
        self._offers: dict[str, ProviderOffer | None] = dict.fromkeys(providers)
        self._ask_offers = offers
        self._describe = describe
        self._current = current
        self._models: dict[str, ModelName] = {}
        """The models that can be chosen, by the key of their line."""
        self._problems: dict[str, str] = {}
        """Why there is nothing to choose, by the key of the line."""
        self._known: dict[str, str] = {}
        """What was found out about models, by the key of their line."""
        self._choices = self._all_lines()
        self._first = next(iter(self._models), None)

    def on_mount(self) -> None:
        """Ask the providers while the window is already there."""
        self.ask()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the key for the window out where it cannot be changed."""
        return action != "resize" or self._resize is not None

    def action_resize(self) -> None:
        """Close, and ask for another window."""
        self.dismiss(None)
        if self._resize:
            self._resize()

    def result(self, choice: Choice) -> ModelName | None:
        """Return the model of a line; None for a line that tells of a problem."""
        return self._models.get(choice.key)

    @work(group="offers", exclusive=True)
    async def ask(self) -> None:
        """Ask every provider; each is shown when it answers, and the highlight stays."""
        async with aclosing(self._ask_offers()) as offers:
            async for offer in offers:
                self._offers[offer.name] = offer
                if not self.is_current:
                    return  # closed meanwhile
                choices = self._all_lines()
                highlighted = self.choice_list.highlighted
                is_waiting = highlighted is None or highlighted.key in map(_waiting, self._offers)
                self.show(choices, next(iter(self._models), None) if is_waiting else None)

    @on(ChoiceList.Highlighted)
    def tell_about(self, event: ChoiceList.Highlighted) -> None:
        """Say what is known of a line, and find out the rest."""
        key = event.choice.key if event.choice else ""
        if key in self._models and key not in self._known:
            self.say("...")
            self.find_out(key)
        else:
            self.say(self._problems.get(key) or self._known.get(key, ""))

    @on(Input.Submitted)
    def tell_what_is_awaited(self) -> None:
        """Answer Enter in words where nothing can be chosen yet."""
        waiting = [name for name, offer in self._offers.items() if offer is None]
        if waiting and self.choice_list.highlighted is None:
            self.say(f"nothing fits yet: still looking for {', '.join(waiting)}")

    @work(group="about", exclusive=True)
    async def find_out(self, key: str) -> None:
        """Ask about a model once it is looked at for a moment; the last one looked at counts."""
        await asyncio.sleep(REST_SECONDS)
        try:
            self._known[key] = await self._describe(*self._models[key])
        except OllmError as error:
            self._known[key] = ". ".join(filter(None, (error.message, error.hint)))
        if not self.is_current:
            return  # closed meanwhile: its parts are taken away one by one
        highlighted = self.choice_list.highlighted
        if highlighted and highlighted.key == key:
            self.say(self._known[key])

    def _all_lines(self) -> list[Choice]:
        self._models.clear()
        return [line for name, offer in self._offers.items() for line in self._group(name, offer)]

    def _group(self, name: str, offer: ProviderOffer | None) -> Iterator[Choice]:
        """Yield a provider and its models; until it answers, only the model that is used now."""
        yield Choice(f"provider {name}", clean(name), heading=True)
        if offer is not None:
            yield from self._lines(offer)
            return
        if self._current and self._current[0] == name:
            yield self._line(name, ModelInfo(name=self._current[1]))
        self._problems[_waiting(name)] = "it has not answered yet"
        yield Choice(_waiting(name), f"looking for {clean(name)} ...", words=name)

    def _lines(self, offer: ProviderOffer) -> Iterator[Choice]:
        """Yield the models of one provider; one without models has a line that says why."""
        for info in offer.models:
            yield self._line(offer.name, info)
        if not offer.models:
            key = f"problem {offer.name}"
            problem = clean(offer.error or "it has no models")
            self._problems[key] = f"{problem}. {clean(offer.hint)}".strip()
            yield Choice(key, problem, words=offer.name)

    def _line(self, provider: str, info: ModelInfo) -> Choice:
        key, mark = f"{provider} {info.name}", ""
        if not info.chats:
            self._problems[key] = "it makes vectors, pictures or sounds, and cannot answer"
        elif not info.installed:
            self._problems[key] = f"fetch it first, in a shell: ollm models pull {info.name}"
        else:
            self._models[key] = (provider, info.name)
            mark = "*" if self._is_current(provider, info) else ""
        return Choice(key, clean(info.name), _facts(info), mark, words=provider)

    def _is_current(self, provider: str, info: ModelInfo) -> bool:
        current = self._current
        return current is not None and current[0] == provider and info.is_called(current[1])


def ability_words(can: Capabilities) -> str:
    """Return what a model can do, in a few words; what its server does not say is left out."""
    named = {"tools": can.tools, "thinking": can.thinking, "images": can.images}
    words = [name if able else f"no {name}" for name, able in named.items() if able is not None]
    return ", ".join(words) or "the server does not say what it can do"


def price_words(can: Capabilities) -> str:
    """Return what a million tokens cost, in and out; empty if that is unknown."""
    rates = can.card.rates() if can.card else None
    return f"${rates.input:g} in, ${rates.output:g} out per million tokens" if rates else ""


def _waiting(provider: str) -> str:
    """Return the key of the line for a provider that has not answered."""
    return f"waiting {provider}"


def short_count(tokens: int) -> str:
    """Return a number of tokens in a few digits: windows are counted in 1024s, 32768 is 32k."""
    unit = 1024 if tokens % 1024 == 0 else 1000
    return f"{tokens / unit:.0f}k" if tokens >= unit else str(tokens)


def _facts(info: ModelInfo) -> str:
    if not info.installed:
        return "not fetched yet"
    window = short_count(info.max_window) if info.max_window else ""
    away = f"→ {clean(info.remote_host)}" if info.remote_host else ""
    size = _size(info.size_bytes)
    facts = (away, clean(info.note), clean(info.parameters or ""), size, window)
    return ", ".join(fact for fact in facts if fact)


def _size(count: int | None) -> str:
    if not count:
        return ""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
