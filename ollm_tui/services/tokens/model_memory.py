"""Remembers over restarts what was learnt about models, in one small file that may be lost."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from ollm_tui.services.tokens.learnt import Learnt
from ollm_tui.storage.files.json_file import JsonFile, with_newest

FILE = "token-counts.json"
VERSION = 1
MOST_MODELS = 200
"""Above this the models used longest ago are forgotten."""

log = logging.getLogger(__name__)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file, the model that was used last at the end."""

    version: int
    models: dict[str, Learnt]


class ModelMemory:
    """Remembers in a directory, or without one in memory until the program ends."""

    def __init__(self, directory: Path | None) -> None:
        path = directory and directory / FILE
        self._file = JsonFile(path, _File, VERSION, log, "token counts")
        self._known: dict[str, Learnt] = {}

    def recall(self, model: str) -> Learnt:
        """What is known about a model, or the defaults if nothing is."""
        if model in self._known:
            return self._known[model]
        return self._read().get(model, Learnt())

    def keep(self, model: str, learnt: Learnt) -> None:
        """Remember what was learnt; what other instances wrote about other models stays."""
        self._known[model] = learnt
        newest = with_newest(self._read(), model, learnt, MOST_MODELS)
        self._file.write(_File(VERSION, newest))

    def _read(self) -> dict[str, Learnt]:
        file = self._file.read()
        return file.models if file else {}
