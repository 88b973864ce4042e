"""Files named with @ in the prompt: found while typing, taken as chips, sent as data."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot

from ollm_tui.core.provider import Capabilities, Completed, TextDelta
from ollm_tui.core.session.message import Attachment
from ollm_tui.providers.scripted import Scripted
from ollm_tui.services.files.mention_names import as_typed, names_in
from ollm_tui.tui.app import OllmApp
from ollm_tui.tui.prompt.completion_files import mention_at
from ollm_tui.tui.prompt.completion_list import CompletionList
from tests.cases import some
from tests.tui.conftest import OpenApp
from tests.tui.seen import chat, prompt, settled, state
from tests.tui.typing_in import type_in

ANSWERS = [[TextDelta("fine"), Completed(finish="stop")]] * 3
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture
def project(home: Path) -> Path:
    """The folder the application is opened on."""
    (home / "src" / "my app").mkdir(parents=True)
    (home / "src" / "uploader.py").write_text("# Uploads files\nretry = True\n")
    (home / "src" / "my app" / "read me.md").write_text("# Read me\n")
    (home / "logo.png").write_bytes(PNG)
    (home / "data.bin").write_bytes(b"\0\1\2")
    return home


class Blind(Scripted):
    """A model that cannot look at images."""

    async def capabilities(self, model: str) -> Capabilities:
        return Capabilities(images=False)


async def offered(app: OllmApp, pilot: Pilot[int]) -> list[str]:
    """The lines of the list once it has come to rest."""
    before: list[str] = []
    for _ in range(100):
        await pilot.pause(0.05)
        listed = chat(app).query_one(CompletionList)
        rows = range(listed.size.height if listed.display else 0)
        lines = [listed.render_line(y).text.strip() for y in rows][:-1]
        if lines and lines == before:
            return [" ".join(line.removeprefix("▌").split()) for line in lines]
        before = lines
    return []


def sent(app: OllmApp) -> tuple[str, list[Attachment]]:
    assert app.conversation
    message = next(each for each in app.conversation.state.branch() if each.role == "user")
    return message.text, [part for part in message.parts if isinstance(part, Attachment)]


async def test_files_are_offered_with_their_cost_and_first_words(
    open_app: OpenApp, project: Path
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        await type_in(pilot, "look at @upl")
        assert await offered(app, pilot) == ["src/uploader.py ≈13 # Uploads files"]
        await pilot.press("backspace", "backspace", "backspace")
        lines = await offered(app, pilot)
        assert any(line.startswith("data.bin not a text file, ") for line in lines)
        assert any(line.startswith("logo.png image: png, ") for line in lines)
        assert any(line.startswith("src/ ≈") and "a list of 2 files" in line for line in lines)


@some(1, "key", ("tab", "enter"))
async def test_a_taken_file_is_a_chip_and_goes_along_as_data(
    open_app: OpenApp, project: Path, key: str
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        await type_in(pilot, "why @upl")
        await pilot.press(key)  # at once: what is typed in a burst is looked for first
        await pilot.pause()
        assert prompt(app).text == "why [src/uploader.py · 2 lines · 29 B] "
        await type_in(pilot, "fails")
        await pilot.press("enter")
        await settled(app, pilot)
        text, [file] = sent(app)
        assert text == "why [src/uploader.py] fails"
        assert file.content == "# Uploads files\nretry = True\n" and not file.trusted
        assert file.path == str(project / "src" / "uploader.py")


@pytest.mark.more
async def test_names_with_blanks_are_found_and_can_be_typed_in_quotes(
    open_app: OpenApp, project: Path
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        await type_in(pilot, "@readme")
        await pilot.press("tab")
        await type_in(pilot, 'and @"src/my app/read')
        assert await offered(app, pilot) == ["src/my app/read me.md ≈5 # Read me"]
        await type_in(pilot, ' me.md"')
        await pilot.press("escape", "enter")
        await settled(app, pilot)
        text, [file] = sent(app)
        assert text == "[src/my app/read me.md] and [src/my app/read me.md]"
        assert file.name == "src/my app/read me.md"


async def test_a_name_typed_in_full_is_taken_when_the_message_is_sent(
    open_app: OpenApp, project: Path
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        prompt(app).put("compare @src/uploader.py, and @nobody at me@src/uploader.py")
        await pilot.press("enter")
        await settled(app, pilot)
        text, [file] = sent(app)
        assert text == "compare [src/uploader.py], and @nobody at me@src/uploader.py"
        assert file.name == "src/uploader.py"


async def test_a_folder_is_its_list(open_app: OpenApp, project: Path) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        prompt(app).put("@src")
        await pilot.press("enter")
        await settled(app, pilot)
        _, [file] = sent(app)
        assert file.name == "src/"
        assert file.content == "src/my app/read me.md\nsrc/uploader.py"


async def test_paths_outside_of_the_project_only_when_typed_in_full(
    open_app: OpenApp, project: Path
) -> None:
    outside = project.parent / "outside.txt"
    outside.write_text("far away")
    async with open_app(ANSWERS) as (app, pilot):
        await type_in(pilot, "@outside")
        assert await offered(app, pilot) == []
        prompt(app).put("")
        await type_in(pilot, f"@{outside}".replace("_", "_"))
        lines = await offered(app, pilot)
        assert len(lines) == 1 and lines[0].endswith("far away")
        await pilot.press("tab")
        assert prompt(app).text.startswith(f"[{outside} · 1 line")


async def test_images_go_along_where_the_model_can_look_at_them(
    open_app: OpenApp, project: Path
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        await type_in(pilot, "what is @logo")
        await pilot.press("tab")
        assert prompt(app).text == "what is [logo.png · image · 28 B · ≈1.6k tokens] "
        await pilot.press("enter")
        await settled(app, pilot)
        _, [file] = sent(app)
        assert (file.media_type, base64.b64decode(file.content)) == ("image/png", PNG)


@some(
    1,
    ("name", "words"),
    (("logo.png", "cannot see images: logo.png"), ("data.bin", "data.bin is not a text")),
)
async def test_what_cannot_be_sent_is_refused_and_the_words_stay(
    open_app: OpenApp, project: Path, name: str, words: str
) -> None:
    async with open_app(Blind(ANSWERS)) as (app, pilot):
        prompt(app).put(f"look at @{name}")
        await pilot.press("enter")
        await pilot.pause()
        assert words in state(app)
        assert prompt(app).text == f"look at @{name}"
        assert app.conversation and len(app.conversation.state) == 0


async def test_escape_closes_the_list_and_enter_then_sends(
    open_app: OpenApp, project: Path
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        await type_in(pilot, "hello @upl")
        assert await offered(app, pilot)
        await pilot.press("escape")
        await type_in(pilot, "o")
        await pilot.pause(0.3)
        assert not chat(app).query_one(CompletionList).display
        await pilot.press("enter")
        await settled(app, pilot)
        assert sent(app) == ("hello @uplo", [])


async def test_the_list_follows_arrows_and_clicks(open_app: OpenApp, project: Path) -> None:
    async with open_app(ANSWERS, size=(60, 20)) as (app, pilot):
        await type_in(pilot, "@src")
        lines = await offered(app, pilot)
        await pilot.press("down", "tab")
        await pilot.pause()
        second = lines[1].split(" ≈")[0]
        assert prompt(app).text.startswith(f"[{second} · ")
        await type_in(pilot, "@src")
        await offered(app, pilot)
        await pilot.click(CompletionList, offset=(4, 0))
        await pilot.pause(0.2)
        assert prompt(app).text.count("[src/") == 2


async def test_in_a_command_a_file_is_its_name(open_app: OpenApp, project: Path) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        await type_in(pilot, "/context add notes @readme")
        assert await offered(app, pilot)
        await pilot.press("tab")
        assert prompt(app).text == '/context add notes @"src/my app/read me.md" '


@pytest.mark.more
async def test_what_a_shell_is_to_run_names_no_file(open_app: OpenApp, project: Path) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        await pilot.press("exclamation_mark")
        await type_in(pilot, "true @upl")
        assert await offered(app, pilot) == []


def test_a_name_begins_with_an_at_at_the_beginning_of_a_word() -> None:
    assert mention_at("a @b.c", 3, 6) == (3, 2, 6, "b.c")
    assert mention_at("(@x", 0, 3) == (0, 1, 3, "x")
    assert mention_at('@"a b', 0, 5) == (0, 0, 5, "a b")
    for line in ("me@home", "@ home", "no", "@a b"):
        assert mention_at(line, 0, len(line)) is None, line


def test_names_in_a_text_end_before_what_follows_them() -> None:
    text = 'see @a.py, "@b c" and @"b c".\n@d/e!'
    assert [(text[each.start : each.end], each.name) for each in names_in(text)] == [
        ("@a.py", "a.py"),
        ("@b", "b"),
        ('@"b c"', "b c"),
        ("@d/e", "d/e"),
    ]
    assert (as_typed("a.py"), as_typed("a b")) == ("@a.py", '@"a b"')


@pytest.mark.more
async def test_a_file_made_just_now_is_offered_without_looking_through_everything_again(
    open_app: OpenApp, project: Path
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        assert "files" not in vars(app.workspace.project), "nothing is looked at before that"
        await type_in(pilot, "@upl")
        await offered(app, pilot)
        files = app.workspace.project.files
        while not files.is_watched:
            await pilot.pause(0.02)
        (project / "src" / "upload_more.py").write_text("")
        prompt(app).put("")
        await type_in(pilot, "@upl")
        assert "src/upload_more.py" in " ".join(await offered(app, pilot))
    assert not files.is_watched


@some(2, "form", ("{}", "'{}'", "file://{}", "{} "))
async def test_the_pasted_path_of_a_picture_becomes_the_picture(
    open_app: OpenApp, project: Path, form: str
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        app.post_message(Paste(form.format(project / "logo.png")))
        while not prompt(app).text:
            await pilot.pause(0.02)
        assert prompt(app).text == "[logo.png · image · 28 B · ≈1.6k tokens] "


@some(1, "words", ("/nowhere/logo.png", "see /tmp", "logo.png"))
async def test_what_is_no_picture_is_pasted_as_it_is(
    open_app: OpenApp, project: Path, words: str
) -> None:
    async with open_app(ANSWERS) as (app, pilot):
        app.post_message(Paste(words))
        while not prompt(app).text:
            await pilot.pause(0.02)
        assert prompt(app).text == words
