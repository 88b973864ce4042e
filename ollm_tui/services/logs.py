"""The log: one JSON line an event in logs/ollm.log, rotating, never on the screen."""

from __future__ import annotations

import json
import logging
from logging.handlers import RotatingFileHandler
from pathlib import Path

from ollm_tui.core import clock
from ollm_tui.core.errors import OllmError
from ollm_tui.storage.layout import FILE_MODE, make_directory

LOG_BYTES = 1_000_000
LOG_FILES = 3
PACKAGE = "ollm_tui"


class JsonLines(logging.Formatter):
    """Level, time, service, operation, error and hint, as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; foreign text in it cannot begin another one."""
        error = record.exc_info[1] if record.exc_info else None
        fields: dict[str, object] = {
            "time": clock.now(),
            "level": record.levelname.lower(),
            "service": record.name.removeprefix(f"{PACKAGE}."),
            "operation": record.funcName,
            "message": record.getMessage(),
        }
        if error is not None:
            fields["error"] = type(error).__name__
            fields["detail"] = str(error)
            fields["trace"] = self.formatException(record.exc_info) if record.exc_info else ""
        if isinstance(error, OllmError) and error.hint:
            fields["hint"] = error.hint
        return json.dumps(fields)


def start_logging(home: Path, *, debug: bool = False) -> None:
    """Log into the home directory; a home that cannot be written is no reason to stop."""
    logger = logging.getLogger(PACKAGE)
    logger.propagate = False
    logger.setLevel(logging.DEBUG if debug else logging.INFO)
    try:
        folder = home / "logs"
        make_directory(folder)
        file = folder / "ollm.log"
        file.touch(mode=FILE_MODE)
        handler: logging.Handler = RotatingFileHandler(
            file, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8", errors="replace"
        )
    except OSError:
        handler = logging.NullHandler()
    handler.setFormatter(JsonLines())
    logger.handlers = [handler]
