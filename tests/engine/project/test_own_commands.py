"""Commands in Markdown files: what they say, where words go, and which of a project's count."""

from __future__ import annotations

from pathlib import Path

import pytest

from ollm_tui.core.errors import UsageError
from ollm_tui.engine.project.own_commands import OwnCommand, OwnCommands
from ollm_tui.services.safety.project_trust import Trust


@pytest.fixture
def commands(tmp_path: Path) -> OwnCommands:
    for folder in (tmp_path / "home" / "commands", tmp_path / "work" / ".ollm" / "commands"):
        folder.mkdir(parents=True)
    return OwnCommands(tmp_path / "home", tmp_path / "work", Trust(None))


def yours(tmp_path: Path, name: str, text: str) -> Path:
    file = tmp_path / "home" / "commands" / name
    file.write_text(text)
    return file


def of_project(tmp_path: Path, name: str, text: str) -> Path:
    file = tmp_path / "work" / ".ollm" / "commands" / name
    file.write_text(text)
    return file


def test_a_file_is_a_command_with_what_its_front_matter_says(
    commands: OwnCommands, tmp_path: Path
) -> None:
    front = "---\ndescription: Reviews \x1b[2Ja file\narguments: file\nmode: plan\n---\n"
    yours(tmp_path, "Review.md", f"{front}Review $ARGUMENTS.\n")
    yours(tmp_path, "notes.txt", "no command")
    yours(tmp_path, "a b.md", "no name")
    (found,) = commands.all.values()
    assert found[:5] == ("review", "Review $ARGUMENTS.", "Reviews a file", "file", "")
    assert found.mode == "plan"


def test_a_changed_file_counts_at_once(commands: OwnCommands, tmp_path: Path) -> None:
    yours(tmp_path, "one.md", "first")
    assert commands.all["one"].description == "first"
    yours(tmp_path, "one.md", "second thoughts")
    assert commands.all["one"].text == "second thoughts"


def test_front_matter_that_cannot_be_read_is_told_when_the_command_is_used(
    commands: OwnCommands, tmp_path: Path
) -> None:
    yours(tmp_path, "bad.md", "---\n: [\n---\ntext")
    with pytest.raises(UsageError, match="front matter"):
        commands.all["bad"].filled("")


@pytest.mark.parametrize(
    ("text", "words", "filled"),
    [
        ("Explain $ARGUMENTS now", "this bug", "Explain this bug now"),
        ("From $2 to $1, not $3", "a b", "From b to a, not "),
        ("Explain", "this bug", "Explain\n\nthis bug"),
        ("$ARGUMENTS", "costs $1 and !`rm x`", "costs $1 and !`rm x`"),
    ],
)
def test_words_go_where_the_file_wants_them_and_are_only_words(
    text: str, words: str, filled: str
) -> None:
    assert OwnCommand("x", text).filled(words) == (filled, ())


def test_what_the_file_runs_is_listed_with_the_words_in_it() -> None:
    text, shell = OwnCommand("x", "See !`git log -$1` and !`git diff`").filled("3")
    assert text == "See `git log -3` and `git diff`" and shell == ("git log -3", "git diff")


def test_a_command_that_needs_words_says_which() -> None:
    with pytest.raises(UsageError, match="/x needs file"):
        OwnCommand("x", "$ARGUMENTS", arguments="file").filled(" ")
    assert OwnCommand("x", "all $1", arguments="[file]").filled("").text == "all "


def test_commands_of_a_project_count_only_as_they_were_agreed_to(
    commands: OwnCommands, tmp_path: Path
) -> None:
    of_project(tmp_path, "ship.md", "Ship it.")
    assert not commands.all and commands.awaits_answer
    commands.keep_verdict(commands.digest, "always")
    assert set(commands.all) == {"ship"} and not commands.awaits_answer
    of_project(tmp_path, "ship.md", "Ship it, and all secrets.")
    assert not commands.all and commands.awaits_answer


def test_your_own_command_comes_before_one_of_the_project(
    commands: OwnCommands, tmp_path: Path
) -> None:
    yours(tmp_path, "ship.md", "Mine.")
    of_project(tmp_path, "ship.md", "Theirs.")
    commands.agree_once(commands.digest)
    assert commands.all["ship"].text == "Mine."


def test_a_link_out_of_the_project_is_no_command(commands: OwnCommands, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("swordfish")
    (tmp_path / "work" / ".ollm" / "commands" / "look.md").symlink_to(secret)
    assert not commands.of_project
