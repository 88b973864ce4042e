"""`ollm completion`: scripts for bash, zsh and fish, made from the parser itself."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator
from typing import cast

from ollm_tui.cli.arguments import build_parser

Words = dict[str, list[str]]
"""What may follow a command, by the command's words joined with spaces."""

_BASH = """\
_ollm() {{
    local words path="" word cur="${{COMP_WORDS[COMP_CWORD]}}"
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path $word" in {paths}) path="$path $word" ;; esac
    done
    case "$path" in
{cases}
    esac
    case "$path" in " sessions view"|" sessions export"|" sessions delete"|" sessions fork"|\
" sessions pin"|" sessions rename")
        words="$words $(ollm sessions list --limit 50 2>/dev/null | cut -d' ' -f1)" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _ollm ollm
"""
_ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def run(arguments: Namespace) -> int:
    """Print the script for a shell."""
    words = dict(_words(build_parser(), ""))
    if arguments.shell == "fish":
        print(_fish(words), end="")
    else:
        print(_ZSH * (arguments.shell == "zsh") + _bash(words), end="")
    return 0


def _words(parser: argparse.ArgumentParser, path: str) -> Iterator[tuple[str, list[str]]]:
    own: list[str] = []
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage] argparse has no other way to walk a parser
        own += [option for option in action.option_strings if option.startswith("--")]
        if action.choices:
            own += [str(choice) for choice in action.choices]
        if isinstance(action.choices, dict):
            parsers = cast(dict[str, argparse.ArgumentParser], action.choices)
            for name, below in parsers.items():
                yield from _words(below, f"{path} {name}")
    yield path, own


def _bash(words: Words) -> str:
    cases = "\n".join(
        f'        "{path}") words="{" ".join(own)}" ;;' for path, own in words.items()
    )
    return _BASH.format(paths="|".join(f'"{path}"' for path in words if path), cases=cases)


def _fish(words: Words) -> str:
    lines = ["complete -c ollm -f"]
    for path, own in words.items():
        names = path.split()
        seen = " ".join(f"; and __fish_seen_subcommand_from {name}" for name in names)
        condition = "__fish_use_subcommand" if not names else seen.removeprefix("; and ")
        plain = [word for word in own if not word.startswith("-")]
        options = [word.removeprefix("--") for word in own if word.startswith("--")]
        if plain:
            lines.append(f'complete -c ollm -n "{condition}" -a "{" ".join(plain)}"')
        lines += [f'complete -c ollm -n "{condition}" -l {option}' for option in options]
    return "\n".join(lines) + "\n"
