"""What was learnt about models, over restarts: one small file, and no harm if it is lost."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec

from ollm_tui.services.tokens.learnt import Learnt
from ollm_tui.storage.files.atomic_file import read_regular
from ollm_tui.storage.files.shared_file import replace

FILE = "token-counts.json"
MOST_MODELS = 200

log = logging.getLogger(__name__)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file; another version of it is as good as none."""

    version: int
    models: dict[str, Learnt]


VERSION = 1


class ModelMemory:
    """Remembers in a directory, or without one until the program ends."""

    def __init__(self, directory: Path | None) -> None:
        self._path = directory and directory / FILE
        self._known: dict[str, Learnt] = {}

    def recall(self, model: str) -> Learnt:
        """What is known about a model; a damaged file counts as none."""
        if model in self._known:
            return self._known[model]
        return self._read().get(model, Learnt())

    def keep(self, model: str, learnt: Learnt) -> None:
        """Remember; what other instances learnt about other models meanwhile stays."""
        self._known[model] = learnt
        if self._path is None:
            return
        models = self._read()
        models.pop(model, None)
        models[model] = learnt
        newest = dict(list(models.items())[-MOST_MODELS:])
        try:
            replace(self._path, [msgspec.json.encode(_File(VERSION, newest))])
        except OSError as error:
            log.warning("token counts cannot be remembered: %s", error)

    def _read(self) -> dict[str, Learnt]:
        if self._path is None:
            return {}
        try:
            file = msgspec.json.decode(read_regular(self._path), type=_File)
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
            log.warning("%s is not used: %s", FILE, error)
            return {}
        return file.models if file.version == VERSION else {}
