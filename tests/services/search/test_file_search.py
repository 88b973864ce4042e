"""Passages of the project's files: cut where something begins, found by words, kept fresh."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ollm_tui.services.search.file_search import FileSearch, passages_of
from ollm_tui.storage.store_layout import StoreLayout

UPLOAD = '''"""Uploads files."""


def connect(host):
    """Opens the connection."""
    first = host
    second = first
    return second


def upload(file, attempts=5):
    """Retries until it worked."""
    for attempt in range(attempts):
        if put(file):
            return True
    return False
'''


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "files"
    root.mkdir()
    (root / "upload.py").write_text(UPLOAD)
    (root / "bread.md").write_text("# Bread\n\nBake it at 230 degrees.\n")
    (root / ".env").write_text("UPLOAD_RETRIES_SECRET=12345\n")
    (root / "data.bin").write_bytes(b"retries\0retries")
    return root


@pytest.fixture
def search(root: Path, tmp_path: Path) -> Iterator[FileSearch]:
    (tmp_path / "data").mkdir()
    search = FileSearch(root, StoreLayout(tmp_path / "data" / "sessions"), sealed=False)
    yield search
    search.close()


def names(search: FileSearch, root: Path, words: str) -> list[str]:
    paths = [path.name for path in root.iterdir()]
    return [each.name for each in search.search(paths, words, 10)]


def test_a_passage_is_found_by_other_forms_of_its_words(search: FileSearch, root: Path) -> None:
    assert names(search, root, "how often is the uploading retried?") == [
        "upload.py:11-16",
        "upload.py:1-10",
    ]


def test_files_that_keep_secrets_or_no_text_are_left_out(search: FileSearch, root: Path) -> None:
    assert names(search, root, "secret") == []
    assert not any(name.startswith("data.bin") for name in names(search, root, "retries"))


def test_what_changed_is_read_again(search: FileSearch, root: Path) -> None:
    assert names(search, root, "degrees") == ["bread.md:1-3"]
    (root / "bread.md").write_text("# Bread\n\nMind the oven's temperature, please.\n")
    (root / "upload.py").unlink()
    assert names(search, root, "degrees") == []
    assert names(search, root, "temperatures") == ["bread.md:1-3"]
    assert names(search, root, "connection") == []


def test_no_line_is_lost_between_passages() -> None:
    text = "\n".join(f"line {number}" for number in range(100))
    pieces = list(passages_of(text))
    assert "\n".join(piece for _, piece in pieces) == text
    assert [lines for lines, _ in pieces] == ["1-40", "41-80", "81-100"]
