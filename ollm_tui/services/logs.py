"""The log file logs/ollm.log: one JSON line per event, rotating, with secrets redacted.

Nothing is logged to the screen.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import cast

from ollm_tui.core import clock
from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import clean
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.storage.store_layout import FILE_MODE, make_directory

LOG_BYTES = 1_000_000
"""The size at which the log is rotated."""
LOG_FILES = 3
"""How many rotated files are kept."""
PACKAGE = "ollm_tui"


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON: time, level, service, operation, message and more."""

    def __init__(self, redactor: Redactor, *, traces: bool = False) -> None:
        super().__init__()
        self._redacted = redactor.redact
        self._traces = traces

    def format(self, record: logging.LogRecord) -> str:
        """Return one line; JSON escapes line ends, so foreign text cannot begin another one."""
        error = record.exc_info[1] if record.exc_info else None
        fields: dict[str, object] = {
            "time": clock.now(),
            "level": record.levelname.lower(),
            "service": record.name.removeprefix(f"{PACKAGE}."),
            "operation": record.funcName,
            "message": self._redacted(record.getMessage()),
        }
        if session := getattr(record, "session", None):
            fields["session"] = session
        if error is not None:
            fields["error"] = type(error).__name__
            fields["detail"] = self._redacted(str(error))
        if isinstance(error, OllmError) and error.hint:
            fields["hint"] = self._redacted(error.hint)
        # Expected errors need no trace, except in debug mode.
        if record.exc_info and (self._traces or not isinstance(error, OllmError | OSError)):
            fields["trace"] = self._redacted(self.formatException(record.exc_info))
        return json.dumps(fields)


def start_logging(
    home: Path, *, debug: bool = False, environ: Mapping[str, str] = os.environ
) -> None:
    """Start logging into `home`; if it cannot be written, nothing is logged.

    What goes wrong is logged always, what is done only with `debug`.
    """
    logger = logging.getLogger(PACKAGE)
    logger.propagate = False
    logger.setLevel(logging.DEBUG if debug else logging.WARNING)
    try:
        folder = home / "logs"
        make_directory(folder)
        handler: logging.Handler = _PrivateFile(
            folder / "ollm.log",
            maxBytes=LOG_BYTES,
            backupCount=LOG_FILES,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(JsonLines(Redactor.knowing(environ), traces=debug))
    logger.handlers = [handler]
    logging.raiseExceptions = False  # a full disk must not print a traceback over the answer


def recent_events(home: Path, most: int = 500) -> list[dict[str, str]]:
    """Return up to `most` events of the log, the newest first; damaged lines are left out."""
    try:
        lines = (home / "logs" / "ollm.log").read_bytes().splitlines()
    except OSError:
        return []
    events: list[dict[str, str]] = []
    for line in reversed(lines[-most:]):
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        if isinstance(fields, dict):
            pairs = cast(dict[str, object], fields).items()
            events.append({name: clean(str(value)) for name, value in pairs})
    return events


class _PrivateFile(RotatingFileHandler):
    """A rotating log whose files are readable by this user only."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).touch(mode=FILE_MODE)
        return super()._open()
