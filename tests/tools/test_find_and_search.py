"""find_files and search_text: what is not ignored, in order, and never for too long."""

from __future__ import annotations

import asyncio
import os
import time
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ollm_tui.core.errors import ToolError
from ollm_tui.services.files.options import DiscoveryOptions
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.services.jobs.process_tree import processes
from ollm_tui.tools.find_files import FindFiles
from ollm_tui.tools.scope import Scope
from ollm_tui.tools.scope_files import ScopeFiles
from ollm_tui.tools.search_text import SearchText
from tests.cases import some
from tests.tools.conftest import SECRET, call

NOBODY = 65534


@pytest.fixture
def files(project: Path) -> ScopeFiles:
    """The files of a project, some of them ignored."""
    for name in ("src/deep/util.py", "src/deep/util.ts", "docs/guide.md", "build/out.txt"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"first\nhere is {Path(name).name}\n")
    (project / ".git").mkdir()
    (project / ".gitignore").write_text("build/\n")
    return ScopeFiles(Scope(project), ProjectFiles(project))


@some(
    4,
    ("pattern", "found"),
    [
        ("**/*.py", ["src/deep/util.py", "src/main.py"]),
        ("*.{ts,md}", ["docs/guide.md", "readme.md", "src/deep/util.ts"]),
        ("src/", ["src/deep/util.py", "src/deep/util.ts", "src/main.py"]),
        ("util py", ["src/deep/util.py"]),
        ("UTIL", ["src/deep/util.py", "src/deep/util.ts"]),
        ("sdut", ["src/deep/util.py", "src/deep/util.ts"]),
        ("./docs/*", ["docs/guide.md"]),
        ("{project}/docs/", ["docs/guide.md"]),
    ],
)
async def test_files_are_found_by_globs_folders_and_words(
    files: ScopeFiles, project: Path, pattern: str, found: list[str]
) -> None:
    called = await call(FindFiles(files), pattern=pattern.replace("{project}", str(project)))
    assert called.text.split("\n") == found
    assert called.action.effect == "read" and called.outcome.summary.startswith(str(len(found)))


async def test_a_long_list_is_cut_and_says_how_many_more(files: ScopeFiles) -> None:
    called = await call(FindFiles(files), pattern="", limit=2)
    assert called.text == ".gitignore\ndocs/guide.md\n[4 more; narrow the pattern or raise limit]"


async def test_nothing_found_and_bad_patterns_are_answered(files: ScopeFiles) -> None:
    assert "no file fits" in (await call(FindFiles(files), pattern="*.rs")).text
    with pytest.raises(ToolError, match=r"\*\*"):
        await call(FindFiles(files), pattern="**/" * 20 + "x")


async def test_only_the_scope_is_listed_and_all_of_it(project: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "note.txt").write_text("a note\n")
    scope = Scope(project, (Path("src"), shared))
    found = ScopeFiles(scope, ProjectFiles(project))
    assert await found.paths() == [f"{shared}/note.txt", "src/main.py"]
    called = await call(SearchText(scope, found), pattern="note|hello")
    assert called.text == f"{shared}/note.txt:1: a note\nsrc/main.py:1: print('hello')"


async def test_size_and_time_are_told_if_they_are_asked_for(
    files: ScopeFiles, project: Path
) -> None:
    os.utime(project / "docs/guide.md", (0, 0))
    (project / "docs/link").symlink_to("guide.md")
    time = f"{datetime.fromtimestamp(0):%Y-%m-%d %H:%M}"
    called = await call(FindFiles(files), pattern="docs/", details=True)
    assert called.text == f"docs/guide.md  23 bytes, {time}\ndocs/link  link, {time}"


async def test_lines_are_found_with_file_and_number(files: ScopeFiles, project: Path) -> None:
    search = SearchText(Scope(project), files)
    called = await call(search, pattern=r"here is \w+\.(py|ts)$")
    assert called.text == (
        "src/deep/util.py:2: here is util.py\nsrc/deep/util.ts:2: here is util.ts"
    )
    assert called.outcome.summary == "2 lines" and not called.outcome.is_error


@some(
    2,
    ("path", "found"),
    [
        ("docs", ["docs/guide.md:1: first"]),
        ("docs/", ["docs/guide.md:1: first"]),
        ("docs/guide.md", ["docs/guide.md:1: first"]),
        ("*.ts", ["src/deep/util.ts:1: first"]),
        ("build/out.txt", ["build/out.txt:1: first"]),
    ],
)
async def test_a_search_is_narrowed_to_a_folder_a_file_or_a_glob(
    files: ScopeFiles, project: Path, path: str, found: list[str]
) -> None:
    called = await call(SearchText(Scope(project), files), pattern="first", path=path)
    assert called.text.split("\n") == found


async def test_many_lines_are_cut_and_none_is_said(files: ScopeFiles, project: Path) -> None:
    search = SearchText(Scope(project), files)
    many = await call(search, pattern="first", limit=1)
    assert many.text == (
        "docs/guide.md:1: first\n[there are more; narrow the pattern or path, or raise limit]"
    )
    none = await call(search, pattern="nowhere")
    assert none.text == "[nothing found in 6 files]" and none.outcome.summary == "0 lines"
    with pytest.raises(ToolError, match=r"there is no gone\.txt"):
        await call(search, pattern="x", path="gone.txt")


async def test_what_is_no_expression_is_searched_as_it_is(files: ScopeFiles, project: Path) -> None:
    called = await call(SearchText(Scope(project), files), pattern="print('hello'")
    assert called.text.startswith("src/main.py:1: print('hello')\n[the pattern is no regular")


async def test_long_lines_binaries_and_controls_do_no_harm(
    files: ScopeFiles, project: Path
) -> None:
    (project / "wide.txt").write_text("x" * 1_000_000 + "needle" + "x" * 1_000_000)
    (project / "binary").write_bytes(b"needle\0")
    (project / "colour.log").write_bytes(b"\x1b[31mneedle\x1b]52;c;aGk=\x07\n")
    os.mkfifo(project / "fifo")
    called = await call(SearchText(Scope(project), files), pattern="needle")
    first, second = called.text.split("\n")
    assert first == "colour.log:1: needle"
    assert second.startswith("wide.txt:1: xxx") and "needle" in second and len(second) < 250


async def test_links_are_not_followed(files: ScopeFiles, project: Path, outside: Path) -> None:
    (project / "link.txt").symlink_to(outside / "secret.txt")
    (project / "folder-link").symlink_to(outside)
    called = await call(SearchText(Scope(project), files), pattern=SECRET)
    assert SECRET not in called.text


def scans() -> list[int]:
    """The search processes of this test."""
    own = os.getpid()
    return [line.pid for line in processes() if line.parent == own]


async def test_a_pattern_that_never_ends_is_ended(files: ScopeFiles, project: Path) -> None:
    (project / "aaa.txt").write_text("needle\n" + "a" * 60 + "!\n")
    before = set(scans())
    search = SearchText(Scope(project), files, seconds=1.0)
    called = await call(search, pattern="needle|(a+)+$")
    assert called.text == (
        "aaa.txt:1: needle\n[stopped after 1 s; use a simpler pattern or a smaller path]"
    )
    assert called.outcome.is_error and set(scans()) <= before


async def test_a_cancelled_search_leaves_no_process(files: ScopeFiles, project: Path) -> None:
    (project / "aaa.txt").write_text("a" * 60 + "!\n")
    before = set(scans())
    planned = await SearchText(Scope(project), files).plan({"pattern": "(a+)+$"})
    running = asyncio.create_task(planned.run(lambda _: None))
    while set(scans()) <= before:
        await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert set(scans()) <= before


@pytest.mark.more
async def test_a_search_of_ten_thousand_files_gives_the_screen_its_turns(project: Path) -> None:
    for number in range(10_000):
        (project / f"{number}.txt").write_text("some words\n")
    files = ScopeFiles(Scope(project), ProjectFiles(project))
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    started = time.monotonic()
    called = await call(SearchText(Scope(project), files), pattern="nothing like it")
    counting.cancel()
    print(f"{time.monotonic() - started:.2f} s")
    assert called.text == "[nothing found in 10,002 files]" and turns > 100


async def test_a_search_of_many_files_leaves_those_with_secrets_out(
    files: ScopeFiles, project: Path
) -> None:
    (project / ".env").write_text("password = here is one\n")
    (project / "src" / "server.pem").write_text("here is a key\n")
    search = SearchText(Scope(project), files)
    called = await call(search, pattern="here is", path="src")
    assert "a key" not in called.text and "src/deep/util.py:2: here is util.py" in called.text
    assert called.text.endswith("[lines of 1 file with secrets left out; name it as path]")
    assert (await call(search, pattern="password")).text == (
        "[lines of 1 file with secrets left out; name it as path]"
    )
    assert (await call(search, pattern="password", path=".env")).text == (
        ".env:1: password = here is one"
    )


async def test_a_folder_beside_the_project_is_looked_through_by_the_same_settings(
    project: Path, outside: Path
) -> None:
    for place in (project, outside):
        (place / "made").mkdir()
        (place / "made" / "by machine").write_text("")
    discovery = ProjectFiles(project, DiscoveryOptions(builtin_ignores=("made",)))
    files = ScopeFiles(Scope(project, (Path(), outside)), discovery)
    called = await call(FindFiles(files), pattern="machine")
    assert called.text.startswith("no file fits")


async def test_folders_that_could_not_be_read_are_told_of() -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be somebody else for a moment")
    with TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        (place / "closed").mkdir(mode=0)
        (place / "file").write_text("")
        find = FindFiles(ScopeFiles(Scope(place), ProjectFiles(place)))
        os.seteuid(NOBODY)
        try:
            found, none = [await call(find, pattern=each) for each in ("file", "*.rs")]
        finally:
            os.seteuid(0)
    assert found.text == "file\n[1 folder could not be read]"
    assert none.text.endswith("\n[1 folder could not be read]")
