"""The downloads of models; they go on when their screen is closed, and end with the program."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from textual.worker import Worker

from ollm_tui.core.counts import percent
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.provider import Preparing
from ollm_tui.engine.conversation.model_store import ModelStore
from ollm_tui.services.topic import Topic

if TYPE_CHECKING:
    from ollm_tui.tui.chat.port import ChatPort

ModelName = tuple[str, str]
"""A provider and one of its models."""


class Downloads:
    """What is being fetched, how far each has come, and what went wrong with the last ones."""

    def __init__(self, chat: ChatPort) -> None:
        self._chat = chat
        self._workers: dict[ModelName, Worker[None]] = {}
        self.steps: dict[ModelName, Preparing] = {}
        """How far each download has come."""
        self.problems: dict[ModelName, str] = {}
        """Why a download failed, until it is tried again."""
        self.changed = Topic[bool]()
        """Says that something has changed; with True, that a download has ended."""

    @property
    def _store(self) -> ModelStore:
        return self._chat.app.workspace.models.store

    def start(self, provider: str, model: str) -> None:
        """Begin to fetch a model. UsageError if that goes on already."""
        name = (provider, model)
        if name in self.steps:
            raise UsageError(f"{visible(model)} is already being pulled")
        self.problems.pop(name, None)
        self.steps[name] = Preparing("starting")
        fetching = self._fetch(name)
        self._workers[name] = self._chat.app.run_worker(fetching, group="downloads")
        self.changed.publish(False)

    def cancel(self, provider: str, model: str) -> bool:
        """End a download; returns whether there was one."""
        worker = self._workers.get((provider, model))
        if worker:
            worker.cancel()
        return worker is not None

    async def _fetch(self, name: ModelName) -> None:
        try:
            async with aclosing(self._store.pull(*name)) as steps:
                async for step in steps:
                    self.steps[name] = step
                    self.changed.publish(False)
        except OllmError as error:
            self.problems[name] = error.line
            self._chat.front().complain(error)
        else:
            self._chat.front().tell(f"{visible(name[1])} is ready · /model {visible(name[1])}")
        finally:
            del self.steps[name], self._workers[name]
            self.changed.publish(True)


def progress_words(step: Preparing) -> str:
    """Return how far a download has come, in few characters."""
    return "pulling …" if step.fraction is None else f"pulling {percent(step.fraction)}"
