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
  ollm "What is a context window?"       chat, starting with this question
  ollm -r                                choose a session to continue
  ollm -p "What is a context window?"    print one answer
  git diff | ollm -p "Review this"       attach piped input
  ollm -p "And in one sentence?" -c      continue the latest session
  ollm sessions list                     list sessions
  ollm snapshots list                    list restore points
  ollm models list                       list models
  ollm serve                             chat in a browser
  ollm doctor                            check the setup
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
        description="Chat with language models in the terminal.",
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
        help="print one answer and exit; - reads stdin, else piped input is attached",
    )
    parser.add_argument(
        "--output",
        choices=("text", "json", "stream-json"),
        default="text",
        help="with -p: output format (text)",
    )
    parser.add_argument(
        "--on-overflow",
        choices=("compress", "fail"),
        default="compress",
        help="with -p: what to do if the context is too long (compress)",
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
    return build_parser(asks=not is_help and _GROUPS.keys().isdisjoint(words))


def _add_conversation_options(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "-r",
        "--resume",
        metavar="ID",
        nargs="?",
        const="",
        help="continue a session; without ID, choose one",
    )
    which.add_argument(
        "-c",
        "--continue",
        dest="continue_latest",
        action="store_true",
        help="continue the latest session",
    )
    which.add_argument("--new", action="store_true", help="start a new session (default)")
    which.add_argument(
        "--follow",
        metavar="ID",
        nargs="?",
        const="",
        help="follow a session live, read-only; without ID, the latest",
    )
    parser.add_argument("-m", "--model", metavar="M", help="model to use")
    parser.add_argument("--provider", metavar="P", help="provider to use")
    parser.add_argument("--ephemeral", action="store_true", help="save nothing to disk")
    parser.add_argument(
        "--events", metavar="FILE", help="write all events to a file, as JSON lines"
    )
    parser.add_argument("--task", metavar="ID", help="link a task of the project")
    parser.add_argument(
        "--context", action="store_true", help="add file list, git state, tasks and recent errors"
    )
    parser.add_argument("--plain", action="store_true", help="plain text instead of full screen")


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
        "An ID may be shortened to any unique prefix.\n\n"
        "examples:\n  ollm sessions view 3f2a\n"
        "  ollm sessions export 3f2a --format md --output chat.md\n"
        "  ollm sessions cleanup --keep 20 --dry-run"
    )
    add = _commands(parser)
    listing = add("list", "list sessions, latest first")
    listing.add_argument("--limit", type=_limit, metavar="N", help="only the latest N")
    listing.add_argument("--tag", metavar="T", help="only with this tag")
    listing.add_argument("--project", metavar="P", help="only of this project (folder or name)")
    listing.add_argument("--cost", action="store_true", help="include costs")
    listing.add_argument("--archived", action="store_true", help="only archived sessions")
    listing.add_argument("--all", action="store_true", help="include archived sessions")
    _json(listing)
    _search(add)
    view = add("view", "show a session", "ID")
    _json(view)
    export = add("export", "export a session as JSON, Markdown or HTML", "ID")
    export.add_argument(
        "--format", choices=("json", "md", "html"), help="default: by the extension of F, else JSON"
    )
    export.add_argument("--output", metavar="F", help="output file (default: stdout)")
    export.add_argument("--bundle", action="store_true", help="include snapshots, for import")
    _import(add)
    add("rename", "rename a session", "ID").add_argument("title", nargs="+")
    pin = add("pin", "pin a session: never cleaned up", "ID")
    pin.add_argument("--off", action="store_true", help="unpin")
    tag = add("tag", "add tags to a session", "ID")
    tag.add_argument("words", metavar="WORD", nargs="+")
    tag.add_argument("--remove", action="store_true", help="remove these tags")
    archive = add("archive", "archive a session: hide it from the list", "ID")
    archive.add_argument("--off", action="store_true", help="unarchive a session")
    fork = add("fork", "fork a session into a new one", "ID")
    fork.add_argument("--at", metavar="MESSAGE", help="only up to this message")
    compact = add("compact", "compress the context of a session; nothing is lost", "ID")
    compact.add_argument("--strategy", choices=STRATEGIES, help="default: from the settings")
    compact.add_argument("--instructions", metavar="TEXT", help="instructions for the summary")
    compact.add_argument("--to", type=_limit, metavar="N", help="target size in tokens")
    compact.add_argument("--preview", action="store_true", help="show what would happen")
    compact.add_argument("--undo", action="store_true", help="undo the last compression")
    _json(compact)
    delete = add("delete", "delete sessions permanently")
    delete.add_argument("ids", metavar="ID", nargs="+")
    _yes(delete)
    clear = add("clear", "delete all sessions permanently")
    clear.add_argument("--all", action="store_true", required=True, help="required: delete all")
    _yes(clear)
    cleanup = add("cleanup", "move old sessions to the trash")
    cleanup.add_argument(
        "--keep", type=_count, metavar="N", help="keep the newest N (default: from the settings)"
    )
    cleanup.add_argument("--dry-run", action="store_true", help="show what would be moved")
    trash = _commands(add("trash", "sessions removed by cleanup, kept for 30 days"), "action")
    _json(trash("list", "list the trash"))
    trash("restore", "restore a session", "ID")
    _yes(trash("empty", "empty the trash permanently"))


def _import(add: Callable[..., Parser]) -> None:
    taking = add("import", "import an export, a bundle, or sessions of another program")
    taking.add_argument("file", nargs="*", help="with --from: only these files")
    taking.add_argument(
        "--from",
        dest="program",
        metavar="PROGRAM",
        choices=("chatgpt", "claude-code", "codex", "gemini-cli", "llm", "opencode"),
        help="chatgpt (its export), claude-code, codex, gemini-cli, llm or opencode",
    )
    taking.add_argument("--project", metavar="P", help="with --from: only of this folder")


def _search(add: Callable[..., Parser]) -> None:
    search = add("search", "search all sessions")
    search.epilog = (
        'Filters: "a phrase" role:user model:qwen project:NAME before:2025-10 after:7d\n'
        "in:october has:tool is:pinned branch:other. Exits with 1 if there are no matches.\n\n"
        "examples:\n  ollm sessions search retries in:october role:user\n"
        "  ollm sessions search 'parse_config(' --json"
    )
    search.add_argument("words", metavar="WORD", nargs="+", help="words to find")
    search.add_argument(
        "--role", choices=("user", "assistant", "system", "tool"), help="only from this role"
    )
    search.add_argument("--model", metavar="M", help="only with this model")
    search.add_argument("--project", metavar="P", help="only in this project (folder or name)")
    search.add_argument(
        "--before", metavar="DATE", help="only before this: 2025, 2025-10, october, 7d"
    )
    search.add_argument("--after", metavar="DATE", help="only since this")
    search.add_argument("--limit", type=_limit, metavar="N", help="only the best N")
    _json(search)


def _snapshots(parser: Parser) -> None:
    parser.epilog = (
        "A snapshot is the context of a session at one moment. Restoring one deletes\n"
        "nothing. An ID may be shortened to any unique prefix.\n\n"
        "examples:\n  ollm snapshots list 3f2a\n"
        "  ollm snapshots diff 81c0 now:3f2a\n"
        "  ollm snapshots restore 81c0 --fork"
    )
    add = _commands(parser)
    listing = add("list", "list snapshots of a session, or all, latest first")
    listing.add_argument("session", metavar="SESSION", nargs="?")
    _json(listing)
    _json(add("show", "show a snapshot", "ID"))
    diff = add("diff", "compare two; now:SESSION is a session's current state")
    diff.add_argument("a", metavar="ID")
    diff.add_argument("b", metavar="ID")
    _json(diff)
    restore = add("restore", "restore a session to a snapshot; can be undone", "ID")
    restore.add_argument("--fork", action="store_true", help="restore into a new session")
    create = add("create", "take a snapshot", "SESSION")
    create.add_argument("--name", metavar="N", help="name; named snapshots are kept")
    add("rename", "name a snapshot; named snapshots are kept", "ID").add_argument("name", nargs="+")
    pin = add("pin", "pin a snapshot: never removed automatically", "ID")
    pin.add_argument("--off", action="store_true", help="unpin")
    delete = add("delete", "remove snapshots")
    delete.add_argument("ids", metavar="ID", nargs="+")
    _yes(delete)
    trash = _commands(add("trash", "deleted snapshots, kept for 7 days"), "action")
    _json(trash("list", "list deleted snapshots"))
    trash("restore", "restore a deleted snapshot", "ID")


def _models(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm models list\n  ollm models pull qwen2.5-coder:1.5b"
    add = _commands(parser)
    for name, text in (("list", "list models"), ("info", "show a model")):
        command = add(name, text)
        if name == "info":
            command.add_argument("model")
        command.add_argument("--provider", metavar="P", help="only this provider")
        _json(command)
    pull = add("pull", "pull a model")
    pull.add_argument("model", nargs="?", help="default: the embedded model")
    pull.add_argument("--provider", metavar="P", help="embedded or ollama")
    pull.add_argument("--if-missing", action="store_true", help="skip if already installed")


def _providers(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm providers list\n  ollm providers test ollama"
    add = _commands(parser)
    _json(add("list", "list providers"))
    test = add("test", "send a short test request")
    test.add_argument("provider", nargs="?", help="default: all")
    test.add_argument("--model", metavar="M", help="model to test")
    _json(test)


def _config(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm config show\n  OLLM_CONTEXT_WINDOW=16384 ollm config check"
    add = _commands(parser)
    _json(add("show", "show settings and where each comes from"))
    _json(add("path", "show where settings are read from"))
    add("check", "check the settings")


def _doctor(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm doctor\n  ollm doctor --repair 3f2a"
    parser.add_argument(
        "--repair",
        metavar="ID",
        nargs="?",
        const="",
        help="recover a damaged session, or all, into a new one",
    )
    _json(parser)


def _jobs(parser: Parser) -> None:
    parser.epilog = (
        "A job's ID may be shortened to any unique prefix.\n\n"
        "examples:\n  ollm jobs list --running\n  ollm jobs kill job-3f2a"
    )
    add = _commands(parser)
    listing = add("list", "list jobs, latest first")
    listing.add_argument("--session", metavar="S", help="only of this session")
    listing.add_argument("--running", action="store_true", help="only running jobs")
    listing.add_argument("--limit", type=_limit, metavar="N", help="only the latest N")
    _json(listing)
    _json(add("show", "show a job", "JOB"))
    add("kill", "kill a job and its child processes", "JOB")


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
        help="run jobs in a sandbox, or not (default: if available)",
    )


def _serve(parser: Parser) -> None:
    parser.epilog = (
        "Each tab runs its own program on your sessions, and keeps running for a minute after\n"
        "the page is gone: a reload finds it as it was. After that its session is reopened.\n\n"
        "Anyone with the address can do what you can: it is a secret, new each time, and\n"
        "only this computer is served. --host serves others as well; use --cert and --key, or\n"
        "others on the network can read along. An SSH tunnel also works:\n"
        "ssh -L 8080:127.0.0.1:8080 HOST\n\n"
        "Browsers reserve Ctrl+N, Ctrl+T and Ctrl+W; Ctrl+P finds every command.\n"
        "Select text with Shift and the mouse.\n\n"
        "--share ID prints a second, read-only address: it shows that session live, can be\n"
        "scrolled, and reaches no other session. --read-only serves only that address.\n\n"
        "examples:\n  ollm serve --port 8080\n  ollm serve --share 3f2a\n"
        "  ollm serve --host 0.0.0.0 --cert cert.pem --key key.pem"
    )
    parser.add_argument("--port", type=_port, metavar="N", default=0, help="default: any free port")
    parser.add_argument(
        "--host", metavar="H", default="127.0.0.1", help="default: this computer only"
    )
    parser.add_argument("--share", metavar="ID", help="add a read-only address for this session")
    parser.add_argument(
        "--read-only", action="store_true", help="serve only the shared session, or the latest"
    )
    parser.add_argument("--cert", metavar="FILE", help="certificate, for https")
    parser.add_argument("--key", metavar="FILE", help="its key")


def _sync(parser: Parser) -> None:
    parser.epilog = (
        "Works with any git remote you can push to, also a bare repository in a folder, on a USB\n"
        "stick or a share. Sessions, snapshots, names and saved searches are encrypted: the host\n"
        "sees only sizes and times. Each machine writes its own branches. If two machines\n"
        "continue the same session, both versions are kept as branches.\n\n"
        "init REMOTE sets the remote and prints its key; on the next machine init asks for that\n"
        "key (or reads OLLM_SYNC_KEY). Anyone with the key and the remote can read everything.\n\n"
        "What you delete is deleted on all machines, and its key is removed from the remote. The\n"
        "host or an old clone may keep bytes that only a kept key could read. What retention\n"
        "moves to the trash stays on the other machines.\n\n"
        "examples:\n  ollm sync init git@host:me/sessions.git\n  ollm sync\n  ollm sync --dry-run\n"
        "  ollm sync status"
    )
    parser.add_argument("command", nargs="?", choices=("status", "init"), help="default: sync once")
    parser.add_argument("remote", nargs="?", metavar="REMOTE", help="remote, for init")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="sync once and exit (default)")
    how.add_argument("--watch", action="store_true", help="sync every minute until Ctrl+C")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done")
    parser.add_argument("--quiet", action="store_true", help="print errors only")


def _extensions(parser: Parser) -> None:
    parser.epilog = "examples:\n  ollm extensions list\n  ollm extensions disable todo"
    add = _commands(parser)
    _json(add("list", "list installed extensions"))
    add("disable", "disable an extension", "NAME")
    add("enable", "enable an extension", "NAME")


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
    "sessions": ("list, show, export and delete sessions", _sessions),
    "snapshots": ("list and restore snapshots", _snapshots),
    "models": ("list and pull models", _models),
    "providers": ("list and test providers", _providers),
    "config": ("show and check settings", _config),
    "doctor": ("check sessions, providers and versions", _doctor),
    "jobs": ("list and kill jobs", _jobs),
    "extensions": ("list, enable and disable extensions", _extensions),
    "mcp": ("serve shells and jobs to other agents", _mcp),
    "serve": ("chat in a browser", _serve),
    "sync": ("sync sessions between machines", _sync),
    "completion": ("print a completion script for your shell", _completion),
}


def _commands(parser: Parser, dest: str = "command") -> Callable[..., Parser]:
    """Return a function that adds a command with a name, a help text and perhaps an argument."""
    commands = parser.add_subparsers(dest=dest, metavar="COMMAND", title="commands", required=True)

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
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask for confirmation")


def _question(text: str) -> str:
    """A question; a single word that could be a command is more likely a slip."""
    # Imported late: nearly no start needs it.
    from difflib import get_close_matches

    if text.isascii() and text.replace("-", "").isalnum():
        near = get_close_matches(text, _GROUPS, n=1)
        hint = f"did you mean {near[0]}?" if near else "quote a question of several words"
        raise argparse.ArgumentTypeError(f"unknown command {text!r}; {hint}")
    return text


def _limit(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or not int(text) < 65_536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of sessions")
    return int(text)
