"""`ollm completion`: prints completion scripts for bash, zsh and fish, made from the parser."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator
from typing import NamedTuple, cast

from ollm_tui.cli.parser import build_parser

# In a table two spaces follow the id; in the sentence that stands for an empty table they do not.
_FIRST_COLUMN = r"2>/dev/null | sed -n 's/^\([^ ]*\)  .*/\1/p'"
_SESSION_IDS = f"ollm sessions list --limit 50 {_FIRST_COLUMN}"
_TRASH_IDS = f"ollm sessions trash list {_FIRST_COLUMN}"
_SNAPSHOT_IDS = f"ollm snapshots list {_FIRST_COLUMN}"
_DELETED_IDS = f"ollm snapshots trash list {_FIRST_COLUMN}"

_BASH = """\
_ollm() {{
    local words="" path="" word cur="${{COMP_WORDS[COMP_CWORD]}}"
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path $word" in {paths}) path="$path $word" ;; esac
    done
    case "$path" in
{cases}
    esac
    case "${{COMP_WORDS[COMP_CWORD-1]}}" in {id_options}) words="$({ids})" ;; esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _ollm ollm
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


class _Command(NamedTuple):
    """A command and what may follow it."""

    path: str
    """The command's words, each with a space before it."""
    words: list[str]
    options: list[str]
    id_options: list[str]
    """The options that take the id of a session."""
    ids: str | None
    """The shell command that prints the ids it takes, if it takes one."""


def run(arguments: Namespace) -> int:
    """Print the script for a shell."""
    commands = list(_commands(build_parser(), ""))
    if arguments.shell == "fish":
        print(_fish(commands), end="")
    else:
        print(_ZSH * (arguments.shell == "zsh") + _bash(commands), end="")
    return 0


def _commands(parser: argparse.ArgumentParser, path: str) -> Iterator[_Command]:
    """Yield the commands below a parser, then its own."""
    own = _Command(path, [], [], [], None)
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage] argparse has no other way to walk a parser
        names = [option for option in action.option_strings if option.startswith("--")]
        own.options.extend(names)
        own.words.extend(str(choice) for choice in action.choices or ())
        if action.metavar == "ID" and names:
            own.id_options.extend(names)
        elif action.metavar in ("ID", "SESSION"):
            own = own._replace(ids=_ids(path, action.metavar))
        if isinstance(action.choices, dict):
            parsers = cast(dict[str, argparse.ArgumentParser], action.choices)
            for name, below in parsers.items():
                yield from _commands(below, f"{path} {name}")
    yield own


def _ids(path: str, metavar: str) -> str:
    if metavar == "ID" and path.startswith(" snapshots"):
        return _DELETED_IDS if "trash" in path else _SNAPSHOT_IDS
    return _TRASH_IDS if "trash" in path else _SESSION_IDS


def _bash(commands: list[_Command]) -> str:
    cases: list[str] = []
    for command in commands:
        ids = [f"$({command.ids})"] if command.ids else []
        words = " ".join((*command.words, *command.options, *ids))
        cases.append(f'        "{command.path}") words="{words}" ;;')
    id_options = dict.fromkeys(option for command in commands for option in command.id_options)
    return _BASH.format(
        paths="|".join(f'"{command.path}"' for command in commands if command.path),
        cases="\n".join(cases),
        id_options="|".join(id_options),
        ids=_SESSION_IDS,
    )


def _fish(commands: list[_Command]) -> str:
    lines: list[str] = []
    for command in commands:
        seen = [f"__fish_seen_subcommand_from {name}" for name in command.path.split()]
        start = f'complete -c ollm -n "{"; and ".join(seen) or "__fish_use_subcommand"}"'
        if command.words:
            lines.append(f'{start} -f -a "{" ".join(command.words)}"')
        if command.ids:
            lines.append(f'{start} -f -a "({command.ids})"')
        for option in command.options:
            ids = f' -x -a "({_SESSION_IDS})"' * (option in command.id_options)
            lines.append(f"{start} -l {option.removeprefix('--')}{ids}")
    return "\n".join(lines) + "\n"
