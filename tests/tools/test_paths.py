"""No path leads out of the scope: dots, links in any place, special files, look-alikes."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ollm_tui.core.errors import ToolError
from ollm_tui.core.tool import Tool
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.tools.edit_file import EditFile
from ollm_tui.tools.planned_write import FilesRead
from ollm_tui.tools.read_file import ReadFile
from ollm_tui.tools.scope import Scope
from ollm_tui.tools.scope_files import ScopeFiles
from ollm_tui.tools.search_text import SearchText
from ollm_tui.tools.write_file import WriteFile
from tests.conftest import Tell
from tests.tools.conftest import SECRET, call, picture_of

NAMED_OUTSIDE = (
    "../outside/secret.txt",
    "./../outside/secret.txt",
    "src/../../outside/secret.txt",
    "src/../src/../../outside/secret.txt",
    "nothing/../../outside/secret.txt",
    "..//outside///secret.txt",
    "../project/../outside/secret.txt",
    "../outside/secret.txt/",
    "../outside/./secret.txt",
    "../../{parent}/outside/secret.txt",
    "{outside}/secret.txt",
    "{outside}//secret.txt",
    "{outside}/src/../secret.txt",
    "//{outside}/secret.txt",
    "{project}/../outside/secret.txt",
    "{project}/src/../../outside/secret.txt",
    "/proc/self/root{outside}/secret.txt",
    "/proc/self/cwd/../outside/secret.txt",
    "/proc/{pid}/root{outside}/secret.txt",
    "/proc/thread-self/root{outside}/secret.txt",
    "/dev/../{outside}/secret.txt",
    "{outside}",
    "..",
    "/",
    "/etc/passwd",
    "/proc/self/environ",
    "/proc/self/mem",
    "/dev/stdin",
    "/dev/zero",
    "/dev/tty",
)
LINKS: dict[str, tuple[str, str]] = {
    "a link to a file": ("file-link", "{outside}/secret.txt"),
    "a relative link to a file": ("relative-link", "../outside/secret.txt"),
    "a link to a folder": ("folder-link", "{outside}"),
    "a link in a folder": ("src/inner-link", "../../outside"),
    "a link to the root": ("root-link", "/"),
    "a link to the folder above": ("up-link", ".."),
    "a link to the process's root": ("proc-link", "/proc/self/root"),
    "a link to a descriptor": ("fd-link", "/proc/self/fd/0"),
    "a link that winds": ("winding-link", "src/../../project/../outside/secret.txt"),
    "a link to a new file": ("new-link", "{outside}/new.txt"),
    "a link to a new folder": ("new-folder-link", "{outside}/new-folder"),
    "a link to a link": ("second-link", "file-link"),
    "a link named like dots": ("...", "{outside}"),
    "a link to itself": ("loop-link", "loop-link"),
}
THROUGH_LINKS = (
    *("file-link", "file-link/", "relative-link", "folder-link/secret.txt", "folder-link/main.py"),
    *("src/inner-link/secret.txt", "src/inner-link/src/main.py", "folder-link/../secret.txt"),
    *("root-link/{outside}/secret.txt", "up-link/outside/secret.txt", "fd-link", "winding-link"),
    *("proc-link/{outside}/secret.txt", "new-link", "new-folder-link/new.txt", "second-link"),
    *(".../secret.txt", "folder-link/new/deep/file.txt", "up-link/outside/src/new.py"),
    *("loop-link", "loop-link/x", "up-link/up-link", "folder-link"),
)
NO_PATHS = ("", ".", "a\0b", "\0", "src/main.py\0.txt", "x" * 5_000, "\ud800", "d/" * 3_000)


@pytest.fixture
def tools(project: Path) -> tuple[Tool, ...]:
    """Every tool that takes a path."""
    scope, memory = Scope(project), FilesRead()
    files = ScopeFiles(scope, ProjectFiles(project))
    return (
        ReadFile(scope, memory),
        WriteFile(scope, memory),
        EditFile(scope, memory),
        SearchText(scope, files),
    )


@pytest.fixture(autouse=True)
def told(request: pytest.FixtureRequest, record_property: Tell) -> None:
    if "path" in request.fixturenames:
        record_property("paths refused", 1)


async def nothing_gets_out(tools: tuple[Tool, ...], path: str, outside: Path) -> None:
    before = picture_of(outside)
    for tool in tools:
        args = {"path": path, "content": "gone", "old": SECRET, "new": "gone", "pattern": "."}
        with pytest.raises(ToolError) as refused:
            await call(tool, **args)
        assert SECRET not in refused.value.message + refused.value.hint
    assert picture_of(outside) == before


@pytest.mark.parametrize("path", NAMED_OUTSIDE)
async def test_a_path_that_leads_out_is_refused(
    tools: tuple[Tool, ...], path: str, project: Path, outside: Path
) -> None:
    names = {"outside": outside, "project": project, "parent": project.parent.name}
    await nothing_gets_out(tools, path.format(**names, pid=os.getpid()), outside)


@pytest.mark.parametrize("path", THROUGH_LINKS)
async def test_no_link_leads_out(
    tools: tuple[Tool, ...], path: str, project: Path, outside: Path
) -> None:
    for name, target in LINKS.values():
        (project / name).symlink_to(target.format(outside=outside))
    await nothing_gets_out(tools, path.format(outside=outside), outside)


@pytest.mark.parametrize("path", NO_PATHS, ids=lambda path: ascii(path[:20]))
async def test_what_is_no_path_of_a_file_is_refused(
    tools: tuple[Tool, ...], path: str, outside: Path
) -> None:
    await nothing_gets_out(tools[:3], path, outside)


@pytest.mark.parametrize("look_alike", ["project-evil", "Project", "projec", "projeсt", "project "])
async def test_a_folder_with_a_similar_name_is_another_folder(
    tools: tuple[Tool, ...], project: Path, look_alike: str
) -> None:
    other = project.parent / look_alike
    other.mkdir()
    (other / "secret.txt").write_text(SECRET)
    await nothing_gets_out(tools, f"{other}/secret.txt", other)
    await nothing_gets_out(tools, f"../{look_alike}/secret.txt", other)


async def test_composed_and_decomposed_names_are_different_folders(
    tmp_path: Path, outside: Path
) -> None:
    composed, decomposed = tmp_path / "caf\u00e9", tmp_path / "cafe\u0301"
    composed.mkdir()
    decomposed.mkdir()
    (decomposed / "secret.txt").write_text(SECRET)
    scope = Scope(composed)
    with pytest.raises(ToolError):
        scope.find(f"{decomposed}/secret.txt")


def fifo(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)


def folder(path: Path) -> None:
    path.mkdir()


def device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.mark.parametrize("make", [fifo, unix_socket, folder, device])
async def test_what_is_no_file_is_refused_and_nothing_waits(
    tools: tuple[Tool, ...], project: Path, make: Callable[[Path], None]
) -> None:
    os.chdir(project)
    make(project / "special")
    for tool in tools[:3]:
        with pytest.raises(ToolError, match="special"):
            await call(tool, path="special", content="x", old="x", new="y")
    assert not (project / "special").is_file()


async def test_a_file_that_lies_below_a_file_is_refused(
    tools: tuple[Tool, ...], project: Path, outside: Path
) -> None:
    await nothing_gets_out(tools[:3], "readme.md/x", outside)
    assert (project / "readme.md").read_text() == "# A project\n"


async def test_links_that_stay_inside_lead_to_the_real_file(project: Path) -> None:
    (project / "same").symlink_to(project / "src")
    (project / "alias.md").symlink_to("readme.md")
    scope, memory = Scope(project), FilesRead()
    read = await call(ReadFile(scope, memory), path="same/main.py")
    assert read.action.subject == "src/main.py" and "hello" in read.text
    written = await call(WriteFile(scope, memory), path="alias.md", content="new\n")
    assert written.action.subject == "readme.md"
    assert (project / "alias.md").is_symlink() and (project / "readme.md").read_text() == "new\n"


async def test_a_hard_link_is_cut_and_what_it_led_to_stays(project: Path, outside: Path) -> None:
    os.link(outside / "secret.txt", project / "hard.txt")
    await call(WriteFile(Scope(project), FilesRead()), path="hard.txt", content="new\n")
    assert (outside / "secret.txt").read_text() == f"{SECRET}\n"
    assert (project / "hard.txt").read_text() == "new\n"


async def test_ways_through_the_project_are_found(project: Path) -> None:
    read = ReadFile(Scope(project), FilesRead())
    for path in (
        *("readme.md", "./readme.md", "src/../readme.md", "readme.md/", f"{project}/readme.md"),
        *("../project/readme.md", f"{project}/src/..//readme.md", "/proc/self/cwd/readme.md"),
    ):
        called = await call(read, path=path)
        assert called.action.subject == "readme.md" and "A project" in called.text


async def test_several_scopes_are_each_closed(project: Path, outside: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "deep").mkdir(parents=True)
    (shared / "note.txt").write_text("a note\n")
    (shared / "out").symlink_to(outside)
    (project / "to-shared").symlink_to(shared)
    scope = Scope(project, (Path("src"), Path("../shared"), Path("../shared/deep")))
    assert scope.directories == (project / "src", shared)
    read, write = ReadFile(scope, FilesRead()), WriteFile(scope, FilesRead())
    for path in ("../shared/note.txt", f"{shared}/note.txt", "to-shared/note.txt"):
        called = await call(read, path=path)
        assert called.action.subject == f"{shared}/note.txt"
    assert (await call(read, path="src/main.py")).action.subject == "src/main.py"
    for path in ("readme.md", "../shared/out/secret.txt", "../shared/../outside/secret.txt", "."):
        await nothing_gets_out((read, write), path, outside)
    await call(write, path="../shared/deep/new/x.txt", content="x")
    assert (shared / "deep/new/x.txt").read_text() == "x"


async def test_a_project_that_is_reached_by_a_link_is_the_folder_it_leads_to(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "by-link").symlink_to(project)
    read = ReadFile(Scope(tmp_path / "by-link"), FilesRead())
    for path in ("readme.md", f"{tmp_path}/by-link/readme.md", f"{project}/readme.md"):
        assert (await call(read, path=path)).action.subject == "readme.md"


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux")
async def test_names_with_controls_are_shown_so_that_they_are_seen(project: Path) -> None:
    (project / "a\x1b[2J\nb.txt").write_text("x\n")
    called = await call(ReadFile(Scope(project), FilesRead()), path="a\x1b[2J\nb.txt")
    assert called.action.subject == "a␛[2J␊b.txt"
