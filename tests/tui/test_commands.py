"""One table feeds keys, slash commands, palette, help and docs; nothing is in it twice."""

from __future__ import annotations

import inspect

import pytest
from textual.binding import Binding

from docs.generate import keys_page
from ollm_tui.tui.command_actions import actions_of
from ollm_tui.tui.commands import BY_ID, COMMANDS, GROUPS, Command, bindings
from ollm_tui.tui.keymap import Hints, check_keymap, key_name
from tests.cases import every
from tests.conftest import REPOSITORY


def functions(group: str) -> set[str]:
    """The functions of a group's modules that have the shape of a command."""
    modules = {inspect.getmodule(action) for action in actions_of(group).values()}
    return {
        name
        for module in modules
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and not name.startswith("_")
        and [name.lstrip("_") for name in inspect.signature(value).parameters]
        == ["chat", "argument"]
    }


@every("group", GROUPS)
def test_every_command_is_a_function_and_every_function_a_command(group: str) -> None:
    actions = actions_of(group)
    own = {command.id for command in COMMANDS if command.id.startswith(f"{group}.")}
    assert own <= set(actions)
    assert functions(group) == {command_id.partition(".")[2] for command_id in actions}


def test_there_is_no_action_without_a_command() -> None:
    assert {command_id for group in GROUPS for command_id in actions_of(group)} == set(BY_ID)


def test_ids_and_slash_names_are_unique() -> None:
    assert len(BY_ID) == len(COMMANDS)
    slashes = [command.slash for command in COMMANDS if command.slash]
    assert len(set(slashes)) == len(slashes)


@pytest.mark.parametrize("where", ("anywhere", "stream"))
def test_no_key_does_two_things_in_one_place(where: str) -> None:
    keys = [
        key
        for command in COMMANDS
        if command.where == where
        for key in command.keys.split(",")
        if key
    ]
    assert len(set(keys)) == len(keys)


@every("command", COMMANDS)
def test_a_command_can_be_reached_and_says_what_it_does(command: Command) -> None:
    assert command.keys or command.slash
    assert command.title[0].isupper() and not command.title.endswith(".")
    assert command.group in GROUPS.values()


def test_bindings_carry_the_id_by_which_they_are_remapped() -> None:
    bound = (*bindings("anywhere"), *bindings("stream"))
    ids = [binding.id for binding in bound if isinstance(binding, Binding)]
    assert ids == [
        command.id
        for where in ("anywhere", "stream")
        for command in COMMANDS
        if command.keys and command.where == where
    ]


@pytest.mark.parametrize(
    ("key", "name"),
    (
        ("ctrl+p", "Ctrl+P"),
        ("escape", "Esc"),
        ("question_mark", "?"),
        ("G", "G"),
        ("g", "g"),
        ("alt+up", "Alt+↑"),
        ("alt+underscore", "Alt+_"),
        ("f10", "F10"),
        ("shift+tab", "Shift+Tab"),
    ),
)
def test_keys_are_named_as_people_write_them(key: str, name: str) -> None:
    assert key_name(key) == name


def test_hints_name_the_keys_the_user_has_mapped() -> None:
    hints = Hints({"screen.palette": "f8,ctrl+y"})
    line = hints.line(("screen.palette", "commands"), ("chat.stop", "stop"))
    assert line == "F8 commands   Esc stop"


def test_an_unknown_command_in_the_keymap_is_told_with_the_nearest_name() -> None:
    keymap, problems = check_keymap({"chat.stopp": "f11", "read.find": "f11"})
    assert keymap == {"read.find": "f11"}
    assert problems == ["keymap: no command 'chat.stopp'; did you mean chat.stop?"]


def test_a_key_given_to_two_commands_is_told() -> None:
    _, problems = check_keymap({"read.find": "ctrl+p"})
    assert problems == ["keymap: ctrl+p is bound to both read.find and screen.palette"]


def test_the_docs_list_every_command() -> None:
    page = (REPOSITORY / "docs" / "keys.md").read_text(encoding="utf-8")
    assert page == keys_page(), "make docs writes it"
