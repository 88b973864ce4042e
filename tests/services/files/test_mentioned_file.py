"""Files named with @: what becomes an attachment, and what is refused in words."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from ollm_tui.core.errors import UsageError
from ollm_tui.services.files.file_entry import FileEntry
from ollm_tui.services.files.mentioned_file import (
    LARGEST,
    folders_of,
    glance_at_file,
    glance_at_folder,
    listing,
    name_of,
    place_of,
    read_mention,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(20))


def test_a_text_comes_along_whole_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "my notes.md"
    path.write_text("# Notes\x1b[2J\r\nääh\n", encoding="utf-8")
    found = read_mention(tmp_path, path)
    assert (found.name, found.content) == ("my notes.md", "# Notes\nääh\n")
    assert (found.media_type, found.path) == ("text/plain", str(path))
    assert not found.trusted


def test_an_image_is_told_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "picture.txt"
    path.write_bytes(PNG)
    found = read_mention(tmp_path, path)
    assert found.media_type == "image/png"
    assert glance_at_file(FileEntry(tmp_path, path.name)).words.startswith("image: png, ")
    assert base64.b64decode(found.content) == PNG


@pytest.mark.parametrize(
    ("data", "words"),
    (
        (b"a\0b", "is not a text"),
        (bytes(range(128, 256)) * 4, "is not a text"),
        (b"x" * (LARGEST + 1), "is too large: 1.0 MB of at most 1 MB"),
    ),
)
def test_what_a_model_cannot_read_is_refused_in_words(
    tmp_path: Path, data: bytes, words: str
) -> None:
    path = tmp_path / "it"
    path.write_bytes(data)
    with pytest.raises(UsageError) as refused:
        read_mention(tmp_path, path)
    assert words in refused.value.message and refused.value.hint
    assert glance_at_file(FileEntry(tmp_path, "it")).tokens is None


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="pipe is not a file"):
        read_mention(tmp_path, tmp_path / "pipe")
    assert glance_at_file(FileEntry(tmp_path, "pipe")).words == "unreadable"


def test_a_link_out_of_the_project_is_taken_only_by_its_whole_path(tmp_path: Path) -> None:
    project, secret = tmp_path / "project", tmp_path / "secret.txt"
    secret.write_text("hidden")
    (project / "innocent.txt").symlink_to(secret)
    with pytest.raises(UsageError, match="link to outside the project") as refused:
        read_mention(project, project / "innocent.txt")
    assert str(secret) in refused.value.hint
    assert read_mention(project, secret).content == "hidden"


def test_names_lead_into_the_project_and_elsewhere_in_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (tmp_path / "other.txt").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("src", "src/", "~/other.txt", "../other.txt", str(tmp_path / "other.txt")):
        assert place_of(project, name) is not None, name
    assert place_of(project, "other.txt") is None
    assert place_of(project, "a\0b") is None
    assert place_of(project, "~nobody-here/x") is None
    assert name_of(project, project / "src") == "src/"
    assert name_of(project, project / ".." / "other.txt") == str(tmp_path / "other.txt")


def test_a_folder_is_its_list() -> None:
    files = [f"src/{number}.py" for number in range(600)]
    found = listing("src/", Path("/p/src"), files)
    assert found.content.startswith("src/0.py\nsrc/1.py\n")
    assert found.content.endswith("\n… and 100 more")
    assert glance_at_folder(files).words == "a list of 600 files"
    assert folders_of(["a/b/c.py", "a/d.py", "e.py", "nested/"]) == ["a/b/", "a/"]


def test_a_glance_tells_the_cost_of_all_and_the_first_words(tmp_path: Path) -> None:
    path = tmp_path / "long.md"
    path.write_text("---\n\n# A title\n" + "some more words here\n" * 2_000)
    glance = glance_at_file(FileEntry(tmp_path, path.name))
    assert glance.words == "# A title"
    assert glance.tokens is not None and 5_000 < glance.tokens < 20_000
