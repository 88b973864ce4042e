"""`ollm --man`: prints the manual page, made from the parser."""

from __future__ import annotations

import argparse
from argparse import Namespace
from collections.abc import Iterator
from typing import cast

from ollm_tui import __version__
from ollm_tui.cli.parser import build_parser

_ABOUT = """\
.SH NAME
ollm \\- chat with language models in the terminal
.SH SYNOPSIS
.B ollm
[\\fIOPTION\\fR]...
.br
.B ollm \\-p
\\fITEXT\\fR [\\fIOPTION\\fR]...
.br
.B ollm
\\fICOMMAND\\fR [\\fIOPTION\\fR]...
.SH DESCRIPTION
Without a command,
.B ollm
opens a full-screen chat; F1 shows help. With
.B \\-p
it prints one answer and exits. Models run embedded, on Ollama, or on any server
that speaks OpenAI's protocol. Every conversation is saved and searchable.
"""
_AROUND = """\
.SH FILES
.TP
.I ~/.ollm
Sessions, settings, models and logs, readable by you only.
.TP
.I ~/.ollm/config.yaml
Your settings.
.TP
.I .ollm/config.yaml
A project's settings.
.SH ENVIRONMENT
.TP
.B OLLM_HOME
The folder to use instead of
.IR ~/.ollm .
.TP
.BI OLLM_ SECTION _ NAME
Any setting, for example
.BR OLLM_CONTEXT_WINDOW .
.TP
.B NO_COLOR
No colours.
.SH EXIT STATUS
.TP
.B 0
Success.
.TP
.B 1
Failure, or no matches.
.TP
.B 2
Usage error.
.TP
.B 130
Interrupted.
"""
_EXAMPLES = "examples:\n"


def run(_arguments: Namespace) -> int:
    """Print the page."""
    print(man_page(), end="")
    return 0


def man_page() -> str:
    """Return the manual page in the language of man(7)."""
    parser = build_parser()
    lines = [f'.TH OLLM 1 "" "ollm {__version__}" "User Commands"', _ABOUT.rstrip("\n")]
    lines += [".SH OPTIONS", *_options(parser), ".SH COMMANDS"]
    for name, group in _commands(parser).items():
        lines += [" ".join([f".SS ollm {name}", *_values(group)]), *_group(group)]
    lines += [_AROUND.rstrip("\n"), ".SH EXAMPLES", *_verbatim(_examples(parser))]
    return "\n".join(lines) + "\n"


def _group(group: argparse.ArgumentParser) -> Iterator[str]:
    """Describe a group of commands, or a command that stands alone."""
    yield _escaped(group.description or "")
    if told := _told(group):
        yield from (".PP", told)
    yield from _options(group)
    for name, command in _commands(group).items():
        yield from _command(name, command)
    if examples := _examples(group):
        yield from (".PP", *_verbatim(examples))


def _command(name: str, command: argparse.ArgumentParser) -> Iterator[str]:
    yield ".TP"
    yield " ".join([f"\\fB{_escaped(name)}\\fR", *_values(command)])
    yield " ".join((_escaped(command.description or ""), _told(command))).rstrip()
    if options := list(_options(command)):
        yield from (".RS", *options, ".RE")
    for last, each in _commands(command).items():
        yield from _command(f"{name} {last}", each)


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in _actions(parser):
        if not action.option_strings or "--help" in action.option_strings:
            continue
        names = ", ".join(f"\\fB{_escaped(each)}\\fR" for each in action.option_strings)
        takes_value = action.nargs != 0
        yield from (".TP", f"{names} {_value(action)}" if takes_value else names)
        yield _escaped(_as_sentence(action.help or ""))


def _values(parser: argparse.ArgumentParser) -> list[str]:
    """Return what has to follow a command."""
    return [_value(action) for action in _actions(parser) if not action.option_strings]


def _value(action: argparse.Action) -> str:
    """Return what an argument stands for, as it is typed."""
    if action.choices is not None:
        return "|".join(_escaped(str(each)) for each in action.choices)
    name = f"\\fI{_escaped(str(action.metavar or action.dest).upper())}\\fR"
    match action.nargs:
        case "?":
            return f"[{name}]"
        case "+":
            return f"{name}..."
        case _:
            return name


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the options and arguments of a parser, without its commands."""
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage] argparse has no other way to walk a parser
        if not isinstance(action.choices, dict):
            yield action


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    found: dict[str, argparse.ArgumentParser] = {}
    for action in parser._actions:  # pyright: ignore[reportPrivateUsage] argparse has no other way to walk a parser
        if isinstance(action.choices, dict):
            found |= cast(dict[str, argparse.ArgumentParser], action.choices)
    return found


def _told(parser: argparse.ArgumentParser) -> str:
    """Return what the help says before its examples."""
    return _escaped(" ".join((parser.epilog or "").partition(_EXAMPLES)[0].split()))


def _examples(parser: argparse.ArgumentParser) -> str:
    return (parser.epilog or "").partition(_EXAMPLES)[2].rstrip()


def _verbatim(text: str) -> list[str]:
    return [".nf", *(_escaped(line) for line in text.splitlines()), ".fi"]


def _as_sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _escaped(text: str) -> str:
    """Keep what roff would take for its own: backslashes, hyphens, a dot that begins a line."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text.startswith((".", "'")) else text
