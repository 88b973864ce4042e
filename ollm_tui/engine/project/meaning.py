"""Makes vectors of what was said, in the background, and of what is asked."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from ollm_tui.core.errors import OllmError
from ollm_tui.engine.project.search_model import SearchModel, SearchModels

log = logging.getLogger(__name__)

START_SECONDS = 10.0
"""How long after the start the first vectors are made: nothing competes with the first answer."""
AT_ONCE = 32
"""Messages whose vectors are stored together."""
ASKED_SECONDS = 5.0
"""How long a search waits for the vector of its words."""

Vector = Sequence[float]


class HasVectors(Protocol):
    """What is compared by meaning: the history, or the files of a project."""

    def without_vectors(self, model: str) -> list[int]:
        """Return the numbers of what has no vector of a model."""
        ...

    def pieces(self, numbers: Sequence[int]) -> dict[int, list[str]]:
        """Return the texts to make vectors of."""
        ...

    def add_vectors(self, model: str, made: Mapping[int, Sequence[Vector]]) -> None:
        """Keep the vectors that were made."""
        ...


class Meaning:
    """Keeps the vectors of an index up to date, as long as there is a model that makes them."""

    def __init__(
        self,
        models: SearchModels,
        index: Callable[[], HasVectors],
        refresh: Callable[[], Awaitable[None]],
    ) -> None:
        self._models = models
        self._index = index
        self._refresh = refresh
        self._model: SearchModel | None = None
        self._allowed: str | None = None
        self._task: asyncio.Task[None] | None = None
        self._again = False
        self._asking = 0
        self._calm = asyncio.Event()
        self._calm.set()
        self._last: tuple[str, Vector] = ("", ())
        self.note = ""
        """Why the last search was by words alone, if a model should have helped; else empty."""

    async def find_model(self, *, asks_servers: bool = True) -> SearchModel | None:
        """Return the model in use; None if there is none. UsageError if the settings are wrong."""
        if self._model is None:
            self._model = await self._models.find(asks_servers=asks_servers)
        return self._model

    async def host_to_allow(self) -> str | None:
        """Return the machine that would get what was said and is not allowed to yet."""
        try:
            model = await self.find_model()
        except OllmError:
            return None
        return model.remote_host if model and not self._may_use(model) else None

    def allow(self, host: str) -> None:
        """Let a machine have what was said, until the program ends."""
        self._allowed = host
        self.wake()

    async def vector(self, text: str) -> Vector:
        """Return what a text means; nothing if there is no model, or it is no English.

        UsageError if the settings are wrong.
        """
        # Imported late: a front end that only answers needs none of the search.
        from ollm_tui.services.search.passages import means_something

        self.note = ""
        model = await self.find_model() if means_something(text) else None
        if model is None or not self._may_use(model):
            return ()
        if self._last[0] == text:
            return self._last[1]
        self._asking += 1
        self._calm.clear()
        try:
            async with asyncio.timeout(ASKED_SECONDS):
                [vector] = await model.embed([text])
        except (OllmError, TimeoutError, ValueError) as error:
            log.warning("not searched by meaning", exc_info=error)
            why = error.message if isinstance(error, OllmError) else "no vector came in time"
            self.note = f"searched words only: {why}"
            self._model = None
            return ()
        finally:
            self._asking -= 1
            if not self._asking:
                self._calm.set()
        self._last = (text, vector)
        return vector

    def wake_later(self) -> None:
        """Make vectors when the program has been started for a while."""
        asyncio.get_running_loop().call_later(START_SECONDS, self.wake)

    def wake(self) -> None:
        """Make the vectors that are missing, unless that is being done."""
        if not self.is_idle:
            self._again = True
            return
        self._task = asyncio.create_task(self._fill())

    @property
    def is_idle(self) -> bool:
        """Whether no vectors are being made."""
        return self._task is None or self._task.done()

    async def close(self) -> None:
        """Stop; what is missing is made the next time."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _fill(self) -> None:
        try:
            model = await self.find_model(asks_servers=False)
            if model is None or not self._may_use(model):
                return
            await self._refresh()
            self._again = True
            while self._again:
                self._again = False
                missing = await asyncio.to_thread(self._index().without_vectors, model.name)
                for at in range(0, len(missing), AT_ONCE):
                    await self._make(model, missing[at : at + AT_ONCE])
        except (OllmError, OSError) as error:
            log.warning("vectors are missing", exc_info=error)
            self._model = None

    async def _make(self, model: SearchModel, numbers: Sequence[int]) -> None:
        pieces = await asyncio.to_thread(self._index().pieces, numbers)
        made: dict[int, list[Vector]] = {}
        for content, texts in pieces.items():
            await self._calm.wait()  # a question goes first
            made[content] = list(await model.embed(texts))
        if made:
            await asyncio.to_thread(self._index().add_vectors, model.name, made)

    def _may_use(self, model: SearchModel) -> bool:
        return model.remote_host in (None, self._allowed)
