"""The signals that can be sent to a job, by name or number."""

from __future__ import annotations

import signal

from ollm_tui.core.errors import JobError

ENDING = frozenset(
    (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGABRT, signal.SIGKILL)
)
"""The signals that ask a job to end; what does not is killed. Others are only passed on."""


def signal_number(wanted: str | int) -> int:
    """The number of a signal such as "TERM", "SIGTERM", "15" or 15. JobError if there is none."""
    word = str(wanted).strip().upper()
    try:
        number = int(word) if word.isdecimal() else signal.Signals[f"SIG{word.removeprefix('SIG')}"]
    except KeyError:
        number = 0
    if number not in signal.valid_signals():
        raise JobError(f"there is no signal {wanted!r}", "name one, such as SIGTERM, USR1 or 15")
    return int(number)
