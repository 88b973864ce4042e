"""The entry point: parses the arguments, runs one command, and turns every failure into one
line on the error stream and an exit code.
"""

from __future__ import annotations

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from io import TextIOWrapper

from ollm_tui.cli.parser import parser_for
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import visible

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return the exit code."""
    argv = sys.argv[1:] if argv is None else argv
    gc.disable()  # most commands are over before there is anything to collect; chat turns it on
    _reopen_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character is no reason to fail.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    arguments = parser_for(argv).parse_args(argv)
    try:
        if arguments.debug and arguments.group != "chat":  # which does it itself, always
            _start_log()
        code = _command(arguments.group)(arguments)
        sys.stdout.flush()
        return code
    except OllmError as error:
        if arguments.debug:
            raise
        return _fail(error)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone. Python flushes stdout at exit, which would fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except OSError as error:
        if arguments.debug:
            raise
        place = f": {error.filename}" if error.filename else ""
        return _fail(OllmError(f"{error.strerror or error}{place}", "ollm doctor finds out why"))
    except Exception as error:
        if arguments.debug:
            raise
        hint = "this is a bug; ollm --debug shows where"
        return _fail(OllmError(f"{type(error).__name__}: {error}", hint))


def _command(group: str) -> Callable[[Namespace], int]:
    """Return the function that runs a command group of the parser."""
    # The module of this group alone is loaded: every start pays for what is loaded.
    match group:
        case "chat":
            from ollm_tui.cli.chat_command import run
        case "sessions":
            from ollm_tui.cli.sessions_command import run
        case "snapshots":
            from ollm_tui.cli.snapshots_command import run
        case "models":
            from ollm_tui.cli.models_command import run
        case "providers":
            from ollm_tui.cli.providers_command import run
        case "config":
            from ollm_tui.cli.config_command import run
        case "doctor":
            from ollm_tui.cli.doctor_command import run
        case "jobs":
            from ollm_tui.cli.jobs_command import run
        case "extensions":
            from ollm_tui.cli.others.extensions_command import run
        case "mcp":
            from ollm_tui.cli.mcp_command import run
        case "serve":
            from ollm_tui.cli.others.serve_command import run
        case "sync":
            from ollm_tui.cli.others.sync_command import run
        case "completion":
            from ollm_tui.cli.completion_command import run
        case "man":
            from ollm_tui.cli.man_command import run
        case _:
            raise AssertionError(f"the parser knows {group!r}, which has no module")
    return run


def _start_log() -> None:
    from ollm_tui.cli.store import read_settings
    from ollm_tui.services.logs import start_logging

    start_logging(read_settings().locations.home, debug=True)


def _reopen_closed_streams() -> None:
    """Open /dev/null for a missing stdin, stdout or stderr: otherwise the next file that is
    opened would get its number, and output could go into it.

    The order matters, because opening takes the lowest free number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))


def _fail(error: OllmError) -> int:
    """Print an error in one line, without secrets, and return the exit code."""
    # Imported late: its tables take a moment to load, and a command that succeeds needs none.
    from ollm_tui.services.redaction.redactor import Redactor

    line = error.message + (f" ({error.hint})" if error.hint else "")
    redactor = Redactor.knowing(os.environ)
    if redactor.find(line):
        line = redactor.redact(line)
    sys.stderr.write("ollm: " + visible(" ".join(line.split())) + "\n")
    return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILED
