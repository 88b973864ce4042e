"""The argument parser: every command, its options and its help."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ollm_tui import __version__
from ollm_tui.cli.output import terminal_width

_EXAMPLES = """\
examples:
  ollm                                   chat
  ollm "What is a context window?"       chat, and ask this at once
  ollm -r                                choose a session and go on with it
  ollm -p "What is a context window?"    one question, the answer on stdout
  git diff | ollm -p "Review this"       with what comes from a pipe
  ollm -p "And in one sentence?" -c      go on with the latest session
  ollm sessions list                     what was said so far
  ollm snapshots list                    where one can go back to
  ollm models list                       what can answer
  ollm serve                             the same in a browser
  ollm doctor                            is everything all right?
"""


class Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal. By itself argparse imports shutil for the width, which takes
    time at every start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(terminal_width(), 100) - 2)


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line that also names the help."""

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=Help, **options)

    def error(self, message: str) -> NoReturn:
        """Print the error and leave with exit code 2."""
        message = message.removeprefix("argument question: ")  # nobody typed that name
        sys.stderr.write(f"ollm: {message} ({self.prog} --help)\n")
        raise SystemExit(2)


STRATEGIES = ("hybrid", "summarize", "truncate", "provider")
"""The ways to compress."""


def build_parser(only: str | None = None, *, asks: bool = False) -> Parser:
    """Build the parser; with `only`, for that command group alone, which makes a start faster.

    With `asks` it takes a question in the place of a command.
    """
    parser = Parser(
        prog="ollm",
        description="Long conversations with language models, in a terminal.",
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--version", action="version", version=f"ollm {__version__}", help="print the version"
    )
    parser.add_argument(
        "--man", dest="group", action="store_const", const="man", help="print the manual page"
    )
    parser.add_argument("--debug", action="store_true", help="log more, show full errors")
    parser.add_argument(
        "-p",
        "--prompt",
        metavar="TEXT",
        help="answer this on stdout and exit; - reads it from stdin, else what is piped goes along",
    )
    parser.add_argument(
        "--output",
        choices=("text", "json", "stream-json"),
        default="text",
        help="with -p: how the answer is printed (text)",
    )
    parser.add_argument(
        "--on-overflow",
        choices=("compress", "fail"),
        default="compress",
        help="with -p: what to do when the conversation is too long (compress)",
    )
    _add_conversation_options(parser)
    parser.set_defaults(group="chat", command=None, question=None)
    if asks:
        parser.add_argument("question", nargs="?", type=_question)
        return parser
    groups = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name in [only] if only else _GROUPS:
        text, fill = _GROUPS[name]
        group = groups.add_parser(name, help=text, description=_sentence(text))
        group.set_defaults(group=name)
        fill(group)
    return parser


def parser_for(argv: Sequence[str]) -> Parser:
    """Build the parser for a command line, and no more of it than that needs."""
    if argv and argv[0] in _GROUPS:
        return build_parser(argv[0])
    words = [word for word in argv if not word.startswith("-")]
    is_help = not {"-h", "--help"}.isdisjoint(argv)
    return build_parser(asks=bool(words) and not is_help and _GROUPS.keys().isdisjoint(words))


def _add_conversation_options(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-r",
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="continue that session; without an ID, choose one",
    )
    which.add_argument(
        "-c",
        "--continue",
        dest="continue_latest",
        action="store_true",
        help="continue the latest session",
    )
    which.add_argument("--new", action="store_true", help="begin a new session (the default)")
    which.add_argument(
        "--follow",
        metavar="ID",
        nargs="?",
        const="",
        help="show that session live, read-only; without an ID, the latest",
    )
    parser.add_argument("--model", metavar="M", help="the model that answers")
    parser.add_argument("--provider", metavar="P", help="the provider it runs on")
    parser.add_argument("--ephemeral", action="store_true", help="keep nothing on disk")
    parser.add_argument("--events", metavar="FILE", help="write all events into a file, as JSON")
    parser.add_argument("--task", metavar="ID", help="the task of the project it is about")
    parser.add_argument(
        "--context", action="store_true", help="with files, git state, tasks and recent errors"
    )
    parser.add_argument("--plain", action="store_true", help="plain lines instead of a screen")


def _chat(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm chat --continue\n  ollm chat --resume 3f2a --model llama3.2"
    # Defaults of `chat` must not overwrite options given before it, as in `ollm --model M chat`.
    parser.argument_default = argparse.SUPPRESS
    _add_conversation_options(parser)
    parser.argument_default = None
    parser.add_argument("--list", action="store_true", help="list the sessions and exit")
    parser.add_argument("--json", action="store_true", help="with --list: as JSON")


def _sessions(parser: Parser) -> None:
    parser.epilog = (
        "An ID may be shortened as long as it is the only one that starts like that.\n\n"
        "examples:\n  ollm sessions view 3f2a\n"
        "  ollm sessions export 3f2a --format md --output chat.md\n"
        "  ollm sessions cleanup --keep 20 --dry-run"
    )
    add = _commands(parser)
    listing = add("list", "the sessions, the latest first")
    listing.add_argument("--limit", type=_limit, metavar="N", help="only the latest N")
    listing.add_argument("--tag", metavar="T", help="only those with this tag")
    listing.add_argument(
        "--project", metavar="P", help="only those of a project: its folder or name"
    )
    listing.add_argument("--cost", action="store_true", help="also what each has cost")
    listing.add_argument("--archived", action="store_true", help="only those that are archived")
    listing.add_argument("--all", action="store_true", help="also those that are archived")
    _json(listing)
    _search(add)
    view = add("view", "read a session", "ID")
    _json(view)
    export = add("export", "write a session as JSON, Markdown or a web page", "ID")
    export.add_argument("--format", choices=("json", "md", "html"), help="JSON unless F says it")
    export.add_argument("--output", metavar="F", help="the file to write; stdout without it")
    export.add_argument("--bundle", action="store_true", help="with its snapshots, to import again")
    _import(add)
    add("rename", "give a session another title", "ID").add_argument("title", nargs="+")
    pin = add("pin", "keep a session from being cleaned up", "ID")
    pin.add_argument("--off", action="store_true", help="let go of it again")
    tag = add("tag", "give a session words to find it by", "ID")
    tag.add_argument("words", metavar="WORD", nargs="+")
    tag.add_argument("--remove", action="store_true", help="take these away again")
    archive = add("archive", "leave a session out of the list", "ID")
    archive.add_argument("--off", action="store_true", help="list it again")
    fork = add("fork", "copy a session into a new one", "ID")
    fork.add_argument("--at", metavar="MESSAGE", help="only up to that message")
    compact = add("compact", "compress what the model sees of a session; nothing is lost", "ID")
    compact.add_argument("--strategy", choices=STRATEGIES, help="else as the settings say")
    compact.add_argument("--instructions", metavar="TEXT", help="what to take care of")
    compact.add_argument("--to", type=_limit, metavar="N", help="to at most N tokens")
    compact.add_argument("--preview", action="store_true", help="only say what would happen")
    compact.add_argument("--undo", action="store_true", help="take the last compression back")
    _json(compact)
    delete = add("delete", "remove sessions for good")
    delete.add_argument("ids", metavar="ID", nargs="+")
    _yes(delete)
    clear = add("clear", "remove every session for good")
    clear.add_argument("--all", action="store_true", required=True, help="really all of them")
    _yes(clear)
    cleanup = add("cleanup", "move old sessions to the trash")
    cleanup.add_argument(
        "--keep", type=_count, metavar="N", help="all but the newest N; else as the settings say"
    )
    cleanup.add_argument("--dry-run", action="store_true", help="only say what would be moved")
    trash = _commands(add("trash", "what cleaning up removed; kept for 30 days"), "action")
    _json(trash("list", "what is in the trash"))
    trash("restore", "bring a session back", "ID")
    _yes(trash("empty", "delete what is in the trash for good"))


def _import(add: Callable[..., Parser]) -> None:
    taking = add("import", "take in an export or bundle, or sessions of another program")
    taking.add_argument("file", nargs="*", help="with --from: only these files")
    taking.add_argument(
        "--from",
        dest="program",
        metavar="PROGRAM",
        choices=("chatgpt", "claude-code", "codex", "gemini-cli", "llm", "opencode"),
        help="chatgpt (its export), claude-code, codex, gemini-cli, llm or opencode",
    )
    taking.add_argument("--project", metavar="P", help="with --from: only those of that folder")


def _search(add: Callable[..., Parser]) -> None:
    search = add("search", "find what was said, by anybody, in all sessions")
    search.epilog = (
        'Among the words: "a phrase" role:user model:qwen project:NAME before:2025-10 after:7d\n'
        "in:october has:tool is:pinned branch:other. The exit code is 1 if nothing is found.\n\n"
        "examples:\n  ollm sessions search retries in:october role:user\n"
        "  ollm sessions search 'parse_config(' --json"
    )
    search.add_argument("words", metavar="WORD", nargs="+", help="what every message has")
    search.add_argument(
        "--role", choices=("user", "assistant", "system", "tool"), help="only by that role"
    )
    search.add_argument("--model", metavar="M", help="only by or to that model")
    search.add_argument("--project", metavar="P", help="only of a project: its folder or name")
    search.add_argument("--before", metavar="DATE", help="only before 2025, 2025-10, october, 7d")
    search.add_argument("--after", metavar="DATE", help="only since then")
    search.add_argument("--limit", type=_limit, metavar="N", help="only the best N")
    _json(search)


def _snapshots(parser: Parser) -> None:
    parser.epilog = (
        "A snapshot is what the model saw of a session at one moment. Going back to one removes\n"
        "nothing. An ID may be shortened as long as it is the only one that starts like that.\n\n"
        "examples:\n  ollm snapshots list 3f2a\n"
        "  ollm snapshots diff 81c0 now:3f2a\n"
        "  ollm snapshots restore 81c0 --fork"
    )
    add = _commands(parser)
    listing = add("list", "the snapshots of a session, or of all, the latest first")
    listing.add_argument("session", metavar="SESSION", nargs="?")
    _json(listing)
    _json(add("show", "what the model saw", "ID"))
    diff = add("diff", "what differs between two; now:SESSION is a session as it is")
    diff.add_argument("a", metavar="ID")
    diff.add_argument("b", metavar="ID")
    _json(diff)
    restore = add("restore", "set a session back to a snapshot; this can be undone", "ID")
    restore.add_argument("--fork", action="store_true", help="make a new session of it instead")
    create = add("create", "take one now", "SESSION")
    create.add_argument("--name", metavar="N", help="what to call it; named ones stay")
    add("rename", "give a snapshot a name; named ones stay", "ID").add_argument("name", nargs="+")
    pin = add("pin", "keep a snapshot whatever its name", "ID")
    pin.add_argument("--off", action="store_true", help="let go of it again")
    delete = add("delete", "remove snapshots")
    delete.add_argument("ids", metavar="ID", nargs="+")
    _yes(delete)
    trash = _commands(add("trash", "what was deleted; kept for 7 days"), "action")
    _json(trash("list", "what can be brought back"))
    trash("restore", "bring a snapshot back", "ID")


def _models(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm models list\n  ollm models pull qwen2.5-coder:1.5b"
    add = _commands(parser)
    for name, text in (("list", "the models there are"), ("info", "what a model can do")):
        command = add(name, text)
        if name == "info":
            command.add_argument("model")
        command.add_argument("--provider", metavar="P", help="only this provider")
        _json(command)
    pull = add("pull", "fetch a model")
    pull.add_argument("model", nargs="?", help="the embedded default without it")
    pull.add_argument("--provider", metavar="P", help="embedded or ollama")
    pull.add_argument("--if-missing", action="store_true", help="do nothing if it is there")


def _providers(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm providers list\n  ollm providers test ollama"
    add = _commands(parser)
    _json(add("list", "the providers there are"))
    test = add("test", "ask a provider for a few words")
    test.add_argument("provider", nargs="?", help="all of them without it")
    test.add_argument("--model", metavar="M", help="the model to ask")
    _json(test)


def _config(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm config show\n  OLLM_CONTEXT_WINDOW=16384 ollm config check"
    add = _commands(parser)
    _json(add("show", "the settings in force and where each comes from"))
    _json(add("path", "where settings are looked for"))
    add("check", "what is wrong with the settings")


def _doctor(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm doctor\n  ollm doctor --repair 3f2a"
    parser.add_argument(
        "--repair",
        metavar="ID",
        nargs="?",
        const="",
        help="save what can be read of a damaged session, or of all, into a new one",
    )
    _json(parser)


def _jobs(parser: Parser) -> None:
    parser.epilog = (
        "A job's ID may be shortened as long as it is the only one that starts like that.\n\n"
        "examples:\n  ollm jobs list --running\n  ollm jobs kill job-3f2a"
    )
    add = _commands(parser)
    listing = add("list", "what was run, the latest first")
    listing.add_argument("--session", metavar="S", help="only the jobs of that session")
    listing.add_argument("--running", action="store_true", help="only what runs now")
    listing.add_argument("--limit", type=_limit, metavar="N", help="only the latest N")
    _json(listing)
    _json(add("show", "one job, and how it ended", "JOB"))
    add("kill", "end a job and all it started", "JOB")


def _mcp(parser: Parser) -> None:
    parser.epilog = (
        "Started by another program, which talks to it over stdin and stdout. Its tools:\n"
        "startSession, updateSession, endSession, listSessions, exec, listJobs, getJobOutput,\n"
        "killJob, waitJob. All jobs end when stdin closes.\n\n"
        "Jobs follow tools.permissions, allowed, scope and network of the settings. Nobody\n"
        "can be asked here, so what would ask is refused.\n\n"
        "In the sandbox jobs change files in tools.scope only, find no keys in your home\n"
        "directory, and use the network only with tools.network. Not protected: files in\n"
        "the scope, and reading elsewhere. Where only Landlock works, keys can be read, and\n"
        "only TCP is held back. Where no sandbox works, only commands that read run, and\n"
        "those the settings allow.\n\n"
        "With --no-sandbox the words of a command are judged before it runs, but a program\n"
        "can do all that you can, and tools.network does not hold: let the other program ask.\n\n"
        'examples:\n  {"command": "ollm", "args": ["mcp"]}     in the settings of that program'
    )
    parser.add_argument(
        "--sandbox",
        action=argparse.BooleanOptionalAction,
        help="run jobs in a sandbox, or not; without this, in one where it works",
    )


def _serve(parser: Parser) -> None:
    parser.epilog = (
        "Each tab is a program of its own on your sessions, and goes on for a minute without a\n"
        "page: a reload or a short sleep finds it as it was. Later, its session opens again.\n\n"
        "Whoever knows the address can do all that you can: it is a secret, new each time, and\n"
        "only this computer is served. --host serves others, too: with --cert and --key, or\n"
        "whoever is on the way reads along. From elsewhere a tunnel is enough:\n"
        "ssh -L 8080:127.0.0.1:8080 HOST\n\n"
        "Browsers keep Ctrl+N, Ctrl+T and Ctrl+W for themselves: Ctrl+P finds every command.\n"
        "Shift and the mouse select text.\n\n"
        "--share ID prints a second address: whoever has it sees that session live, can scroll,\n"
        "and can neither type nor see another one. --read-only has that address alone.\n\n"
        "examples:\n  ollm serve --port 8080\n  ollm serve --share 3f2a\n"
        "  ollm serve --host 0.0.0.0 --cert cert.pem --key key.pem"
    )
    parser.add_argument("--port", type=_port, metavar="N", default=0, help="else any free one")
    parser.add_argument("--host", metavar="H", default="127.0.0.1", help="else this computer only")
    parser.add_argument(
        "--share", metavar="ID", help="also a second address that shows this session, read-only"
    )
    parser.add_argument(
        "--read-only", action="store_true", help="only show the shared session, or the latest"
    )
    parser.add_argument("--cert", metavar="FILE", help="the certificate, to serve https")
    parser.add_argument("--key", metavar="FILE", help="its key")


def _extensions(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm extensions list\n  ollm extensions disable todo"
    add = _commands(parser)
    _json(add("list", "the extensions that are installed"))
    add("disable", "load an extension no more", "NAME")
    add("enable", "load an extension again", "NAME")


def _completion(parser: Parser) -> None:
    parser.epilog = (
        "examples:\n"
        '  bash:  eval "$(ollm completion bash)"                      in ~/.bashrc\n'
        '  zsh:   eval "$(ollm completion zsh)"                       in ~/.zshrc\n'
        "  fish:  ollm completion fish > ~/.config/fish/completions/ollm.fish"
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


_GROUPS: dict[str, tuple[str, Callable[[Parser], None]]] = {
    "chat": ("chat in the terminal", _chat),
    "sessions": ("list, read, export and remove what was said", _sessions),
    "snapshots": ("go back to what the model saw earlier", _snapshots),
    "models": ("the models that can answer", _models),
    "providers": ("the servers they run on", _providers),
    "config": ("the settings", _config),
    "doctor": ("check the store, the providers and the versions", _doctor),
    "jobs": ("what runs and what ran", _jobs),
    "extensions": ("what is installed beside the program", _extensions),
    "mcp": ("serve shells and jobs to other agents", _mcp),
    "serve": ("the chat in a browser", _serve),
    "completion": ("print a completion script for your shell", _completion),
}


def _commands(parser: Parser, dest: str = "command") -> Callable[..., Parser]:
    """Return a function that adds a command with a name, a help text and perhaps an argument."""
    commands = parser.add_subparsers(dest=dest, metavar="COMMAND", required=True)

    def add(name: str, text: str, argument: str | None = None) -> Parser:
        command = commands.add_parser(name, help=text, description=_sentence(text))
        if argument:
            command.add_argument(argument.lower(), metavar=argument)
        return command

    return add


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def _yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")


def _question(text: str) -> str:
    """A question; a single word that could be a command is more likely a slip."""
    # Imported late: nearly no start needs it.
    from difflib import get_close_matches

    if text.isascii() and text.replace("-", "").isalnum():
        near = get_close_matches(text, _GROUPS, n=1)
        hint = f"did you mean {near[0]}?" if near else "a question has more than one word"
        raise argparse.ArgumentTypeError(f"there is no command {text!r}; {hint}")
    return text


def _limit(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or not int(text) < 65_536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of sessions")
    return int(text)
