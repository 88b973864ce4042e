"""Choosing who answers: the models of every provider, and what the highlighted one can do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

from textual import on, work

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import clean
from ollm_tui.core.provider import Capabilities, ModelInfo
from ollm_tui.engine.model_choice import ProviderOffer
from ollm_tui.tui.dialogs.picker import PickerOf
from ollm_tui.tui.widgets.choice_list import Choice, ChoiceList

ModelName = tuple[str, str]
"""A provider and one of its models."""
AskOffers = Callable[[], Awaitable[Sequence[ProviderOffer]]]
AskCapabilities = Callable[[str, str], Awaitable[Capabilities]]

ASKING = "asking the servers ..."
NOBODY = "No provider is there. ollm doctor says what is missing."
REST_SECONDS = 0.15
"""How long a line is highlighted before its server is asked what the model can do."""


class ModelPicker(PickerOf[ModelName]):
    """Gives (provider, model), or None. Opens at once; the servers answer when they do."""

    def __init__(
        self, offers: AskOffers, capabilities: AskCapabilities, current: ModelName | None = None
    ) -> None:
        super().__init__("Model", empty=ASKING)
        self._ask_offers = offers
        self._ask_capabilities = capabilities
        self._current = current
        self._models: dict[str, ModelName] = {}
        self._problems: dict[str, str] = {}
        self._known: dict[str, str] = {}

    def on_mount(self) -> None:
        """Ask while the window is already there."""
        self.ask()

    def result(self, choice: Choice) -> ModelName | None:
        """The model of a line; a line that tells of a problem is none."""
        return self._models.get(choice.key)

    @work(group="offers", exclusive=True)
    async def ask(self) -> None:
        """Ask every provider, then show all there is."""
        try:
            offers = await self._ask_offers()
        except OllmError as error:
            self.choice_list.empty = clean(f"{error.message}. {error.hint}")
            return
        self.choice_list.empty = NOBODY
        choices = [choice for offer in offers for choice in self._lines(offer)]
        current = next((key for key, name in self._models.items() if name == self._current), None)
        self.show(choices, current or next(iter(self._models), None))

    @on(ChoiceList.Highlighted)
    def tell_abilities(self, event: ChoiceList.Highlighted) -> None:
        """Say what is known of a line, and find out the rest."""
        key = event.choice.key if event.choice else ""
        if key in self._models and key not in self._known:
            self.say("...")
            self.find_abilities(key)
        else:
            self.say(self._problems.get(key) or self._known.get(key, ""))

    @work(group="abilities", exclusive=True)
    async def find_abilities(self, key: str) -> None:
        """Ask what a model can do, once it is looked at for a moment."""
        await asyncio.sleep(REST_SECONDS)
        try:
            self._known[key] = ability_words(await self._ask_capabilities(*self._models[key]))
        except OllmError as error:
            self._known[key] = error.message
        highlighted = self.choice_list.highlighted
        if highlighted and highlighted.key == key:
            self.say(self._known[key])

    def _lines(self, offer: ProviderOffer) -> Iterator[Choice]:
        """The lines of one provider; one without models has a line that says why."""
        yield Choice(f"provider {offer.name}", clean(offer.name), heading=True)
        for info in offer.models:
            key = f"{offer.name} {info.name}"
            if not info.installed:
                self._problems[key] = f"fetch it first, in a shell: ollm models pull {info.name}"
                yield Choice(key, clean(info.name), _facts(info), words=offer.name)
                continue
            self._models[key] = (offer.name, info.name)
            mark = "*" if self._models[key] == self._current else ""
            yield Choice(key, clean(info.name), _facts(info), mark, words=offer.name)
        if not offer.models:
            key = f"problem {offer.name}"
            problem = clean(offer.error or "it has no models")
            self._problems[key] = f"{problem}. {clean(offer.hint)}".strip()
            yield Choice(key, problem, words=offer.name)


def ability_words(can: Capabilities) -> str:
    """What a model can do, in a few words; what its server does not say is left out."""
    named = {"tools": can.tools, "thinking": can.thinking, "images": can.images}
    words = [name if able else f"no {name}" for name, able in named.items() if able is not None]
    if can.window:
        words.append(f"window {short_count(can.window)}")
    return ", ".join(words) or "the server does not say what it can do"


def short_count(tokens: int) -> str:
    """A number of tokens in a few digits: windows are counted in 1024s, 32768 is 32k."""
    unit = 1024 if tokens % 1024 == 0 else 1000
    return f"{tokens / unit:.0f}k" if tokens >= unit else str(tokens)


def _facts(info: ModelInfo) -> str:
    if not info.installed:
        return "not fetched yet"
    window = short_count(info.max_window) if info.max_window else ""
    facts = (clean(info.parameters or ""), _size(info.size_bytes), window)
    return ", ".join(fact for fact in facts if fact)


def _size(count: int | None) -> str:
    if not count:
        return ""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
