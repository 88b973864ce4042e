"""write_file: what is shown is what is written, and nothing that came meanwhile is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ollm_tui.core.errors import ToolError
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.tools.edit_file import EditFile
from ollm_tui.tools.planned_write import FilesRead
from ollm_tui.tools.read_file import ReadFile
from ollm_tui.tools.scope import Scope
from ollm_tui.tools.write_file import WriteFile
from tests.tools.conftest import call


@pytest.fixture
def write(scope: Scope, memory: FilesRead) -> WriteFile:
    return WriteFile(scope, memory)


async def test_a_plan_shows_the_diff_and_writes_nothing(write: WriteFile, project: Path) -> None:
    (project / "a.txt").write_text("one\ntwo\nthree\n")
    planned = await write.plan({"path": "a.txt", "content": "one\nTWO\nthree"})
    assert planned.action.effect == "write" and planned.action.title == "change"
    assert planned.action.diff == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n-three\n+TWO\n+three\n"
        "\\ No newline at end of file\n"
    )
    assert (project / "a.txt").read_text() == "one\ntwo\nthree\n"
    outcome = await planned.run(lambda _: None)
    assert (project / "a.txt").read_text() == "one\nTWO\nthree"
    assert outcome.text == "changed a.txt: +2 −2 lines" and outcome.changed


async def test_a_new_file_is_made_with_its_folders(write: WriteFile, project: Path) -> None:
    called = await call(write, path="deep/er/new.py", content="x = 1\n")
    assert called.action.title == "create" and called.outcome.summary == "+1 −0"
    assert (project / "deep/er/new.py").read_text() == "x = 1\n"


async def test_the_mode_of_a_file_is_kept(write: WriteFile, project: Path) -> None:
    (project / "run.sh").write_text("old\n")
    (project / "run.sh").chmod(0o750)
    await call(write, path="run.sh", content="new\n")
    assert (project / "run.sh").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\r\nb\r\n", b"new\r\nlines\r\n"),
        (b"\xef\xbb\xbfa\n", b"\xef\xbb\xbfnew\nlines\n"),
        ("a\n".encode("utf-16"), "new\nlines\n".encode("utf-16")),
        (b"\xe4\n", b"new\nlines\n"),
    ],
)
async def test_line_ends_and_encoding_stay_as_they_were(
    write: WriteFile, project: Path, before: bytes, after: bytes
) -> None:
    (project / "a").write_bytes(before)
    await call(write, path="a", content="new\nlines\n")
    assert (project / "a").read_bytes() == after


async def test_a_file_that_changed_since_it_was_read_is_not_overwritten(
    write: WriteFile, scope: Scope, memory: FilesRead, project: Path
) -> None:
    read = ReadFile(scope, memory)
    await call(read, path="readme.md")
    (project / "readme.md").write_text("of the user\n")
    with pytest.raises(ToolError, match=r"readme\.md changed since it was read"):
        await call(write, path="readme.md", content="of the model\n")
    await call(EditFile(scope, memory), path="readme.md", old="user", new="model")
    with pytest.raises(ToolError, match="changed since it was read"):
        await call(write, path="readme.md", content="of the model\n")
    await call(read, path="readme.md")
    await call(write, path="readme.md", content="of both\n")
    await call(write, path="readme.md", content="again\n")
    assert (project / "readme.md").read_text() == "again\n"
    (project / "readme.md").unlink()
    with pytest.raises(ToolError, match="changed since it was read"):
        await call(write, path="readme.md", content="back\n")


@pytest.mark.parametrize("before", ["old\n", None])
async def test_a_file_that_changed_since_the_plan_is_not_overwritten(
    write: WriteFile, project: Path, before: str | None
) -> None:
    target = project / "a.txt"
    if before is not None:
        target.write_text(before)
    planned = await write.plan({"path": "a.txt", "content": "of the model\n"})
    target.write_text("of the user\n")
    with pytest.raises(ToolError, match="changed since this was planned"):
        await planned.run(lambda _: None)
    target.unlink()
    target.mkdir()
    with pytest.raises(ToolError, match="is a directory"):
        await planned.run(lambda _: None)


async def test_what_would_change_nothing_or_cannot_be_written_is_refused(
    write: WriteFile, project: Path
) -> None:
    (project / "program").write_bytes(b"\x7fELF\0")
    (project / "latin").write_bytes(b"\xe4\n")
    for path, content, message in (
        ("readme.md", "# A project\n", "exactly this text already"),
        ("program", "x", "a program, not a text"),
        ("latin", "→", "latin-1, which has no U.2192"),
        ("new.txt", "\ud800", "utf-8, which has no U.D800"),
    ):
        with pytest.raises(ToolError, match=message):
            await call(write, path=path, content=content)


async def test_controls_in_new_text_are_seen_in_the_diff(write: WriteFile) -> None:
    planned = await write.plan({"path": "a", "content": "x\x1b[8mhidden\u202e\n"})
    assert "+x␛[8mhidden⟨U+202E⟩\n" in planned.action.diff


async def test_a_change_of_line_ends_alone_is_seen_in_the_diff(
    write: WriteFile, project: Path
) -> None:
    (project / "a").write_bytes(b"x\ny\n")
    planned = await write.plan({"path": "a", "content": "x\r\ny\r\n"})
    assert "-x\n" in planned.action.diff and "+x␍\n" in planned.action.diff


async def test_a_cancelled_write_is_over_when_the_call_is(write: WriteFile, project: Path) -> None:
    planned = await write.plan({"path": "a", "content": "x" * 5_000_000})
    running = asyncio.create_task(planned.run(lambda _: None))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    before = sorted(project.iterdir())
    await asyncio.sleep(0.05)
    assert sorted(project.iterdir()) == before
    assert not list(project.glob("*.tmp"))


async def test_a_secret_is_never_overwritten_by_the_mark_that_was_shown_for_it(
    write: WriteFile, scope: Scope, memory: FilesRead, project: Path
) -> None:
    before = "TOKEN=ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8\nDEBUG=0\n"
    (project / "config.ini").write_text(before)
    shown = Redactor().redact(before)
    assert shown != before
    refused = r"^\[REDACTED:.*\] stands for a secret that you are not shown; config\.ini would"
    with pytest.raises(ToolError, match=refused) as error:
        await write.plan({"path": "config.ini", "content": shown.replace("0", "1")})
    assert "edit_file" in error.value.hint
    edit = EditFile(scope, memory)
    with pytest.raises(ToolError, match=refused):
        await edit.plan({"path": "config.ini", "old": shown, "new": shown.replace("=0", "=1")})
    with pytest.raises(ToolError, match="stands for a secret"):
        await write.plan({"path": "copy.ini", "content": shown})
    assert (project / "config.ini").read_text() == before
    await call(edit, path="config.ini", old="DEBUG=0", new="DEBUG=1")
    assert (project / "config.ini").read_text() == before.replace("DEBUG=0", "DEBUG=1")


async def test_a_mark_that_stands_in_a_file_already_can_be_written_again(
    write: WriteFile, scope: Scope, memory: FilesRead, project: Path
) -> None:
    text = "It looks like `[REDACTED:github:9f3c]`.\n"
    (project / "guide.md").write_text(text)
    await call(write, path="guide.md", content=f"# Marks\n{text}")
    await call(
        EditFile(scope, memory),
        path="guide.md",
        old="like `[RED",
        new="this: `[REDACTED:github:9f3c]` [RED",
    )
    assert (project / "guide.md").read_text().count("[REDACTED:github:9f3c]") == 2
