"""read_file: pages, encodings, pictures, and what cannot be read."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from ollm_tui.core.errors import ToolError
from ollm_tui.tools.planned_write import FilesRead
from ollm_tui.tools.read_file import ReadFile
from ollm_tui.tools.scope import Scope
from tests.tools.conftest import call

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.fixture
def read(scope: Scope, memory: FilesRead) -> ReadFile:
    return ReadFile(scope, memory)


async def test_a_short_file_is_shown_with_its_line_numbers(read: ReadFile, project: Path) -> None:
    (project / "a.txt").write_text("one\n\ttwo\n\nfour")
    called = await call(read, path="a.txt")
    assert called.text == "1\tone\n2\t\ttwo\n3\t\n4\tfour"
    assert called.outcome.summary == "4 lines" and called.outcome.changed is False
    assert (called.action.effect, called.action.subject) == ("read", "a.txt")


async def test_pages_tell_where_to_go_on_and_cover_the_file(read: ReadFile, project: Path) -> None:
    (project / "long.txt").write_text("".join(f"line {n}\n" for n in range(1, 1_235)))
    first = await call(read, path="long.txt")
    assert first.text.startswith("1\tline 1\n")
    assert first.text.endswith("[lines 1–200 of 1,234; go on with start=201]")
    second = await call(read, path="long.txt", start="201", lines=2)
    assert (
        second.text
        == "201\tline 201\n202\tline 202\n[lines 201–202 of 1,234; go on with start=203]"
    )
    last = await call(read, path="long.txt", start=1_234)
    assert last.text == "1234\tline 1234\n[lines 1234–1234 of 1,234]"
    with pytest.raises(ToolError, match="only 1,234 lines"):
        await call(read, path="long.txt", start=1_235)


async def test_long_lines_are_cut_and_a_page_has_a_longest_size(
    read: ReadFile, project: Path
) -> None:
    (project / "wide.txt").write_text(("x" * 10_000 + "\n") * 100)
    called = await call(read, path="wide.txt")
    assert "[… 8,000 more characters]" in called.text
    assert len(called.text) < 45_000
    assert "go on with start=20]" in called.text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\xef\xbb\xbfna\xc3\xafve\n", "1\tnaïve"),
        ("naïve\r\nnext\r\n".encode("utf-16"), "1\tnaïve\n2\tnext"),
        (b"\xfe\xff" + "naïve".encode("utf-16-be"), "1\tnaïve"),
        (b"na\xefve\n", "1\tnaïve"),
        (b"red \x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07end\n", "1\tred red end"),
        (b"10%\r20%\r30%\n", "1\t10% 20% 30%"),
        (b"", "[the file is empty]"),
        (b"\n", "1\t"),
    ],
)
async def test_encodings_are_understood_and_controls_are_taken_out(
    read: ReadFile, project: Path, data: bytes, text: str
) -> None:
    (project / "a").write_bytes(data)
    assert (await call(read, path="a")).text == text


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x7fELF\0\0", "a program of 6 bytes"),
        (PNG + bytes(2_000), "a picture .image/png. of 2.0 kB"),
        (b"PK\x03\x04\0\0", "a zip archive"),
        (b"a\0b", "binary data of 3 bytes"),
        (bytes(range(128, 160)) * 10, "binary data"),
    ],
)
async def test_what_is_no_text_is_refused_with_its_kind_and_size(
    read: ReadFile, project: Path, data: bytes, kind: str
) -> None:
    (project / "a").write_bytes(data)
    with pytest.raises(ToolError, match=kind):
        await call(read, path="a")


async def test_a_picture_comes_along_where_the_model_can_see_it(
    scope: Scope, memory: FilesRead, project: Path
) -> None:
    (project / "a.png").write_bytes(PNG)
    called = await call(ReadFile(scope, memory, sees_pictures=lambda: True), path="a.png")
    (picture,) = called.outcome.attachments
    assert picture.media_type == "image/png" and base64.b64decode(picture.content) == PNG


async def test_a_directory_is_answered_with_how_to_list_it(read: ReadFile) -> None:
    with pytest.raises(ToolError, match="find_files with the pattern 'src/'"):
        await call(read, path="src")
    with pytest.raises(ToolError, match="is a directory"):
        await call(read, path=".")


async def test_a_missing_file_and_a_huge_one_are_refused_in_words(
    read: ReadFile, project: Path
) -> None:
    with pytest.raises(ToolError, match=r"there is no file gone\.txt"):
        await call(read, path="gone.txt")
    with (project / "huge").open("wb") as huge:
        huge.truncate(30_000_000)
    with pytest.raises(ToolError, match="30,000,000 bytes: too large"):
        await call(read, path="huge")
