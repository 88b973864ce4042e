"""The words of the chat: its lines of state, key hints, and the questions above the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible

if TYPE_CHECKING:
    from ollm_tui.services.files.file_changes import FileStep, How

PLACEHOLDER = "Type a message, / for commands, @ for files, ! for a shell"
SHORT_PLACEHOLDER = "Type a message, / commands, @ files, ! shell"
LOOKING_FOR_A_MODEL = "looking for a model …"

# An empty conversation

DEMONSTRATION_MODEL = "smollm2:135m"
"""The name of the small model that answers where nothing else was set up."""
WELCOME = "Type a message; Enter sends it."
KEPT = "Everything said is kept."
KEPT_LATER = "/save and leaving save what was said."
NOT_KEPT = "Nothing is kept."
SMALL_MODEL = f"another model; {DEMONSTRATION_MODEL} is a small demonstration"
BETTER_MODEL = "ollm models pull qwen2.5-coder:1.5b"

# Key hints of the status line: ids of commands, each with what it does

READING_HINTS = (
    ("message.copy", "copy"),
    ("message.edit", "edit"),
    ("message.regenerate", "again"),
    ("message.fork", "fork"),
    ("message.copy_code", "code"),
    ("read.down", "k move"),
    ("snapshot.back", "back to here"),
    ("snapshot.before", "before it"),
    ("chat.stop", "back"),
)
"""While the stream has the focus."""
RUNNING_HINTS = (("chat.stop", "stop"), ("jobs.background", "to the background"))
"""While a turn or a command runs; the second one only where something can be moved."""
COUNTING_HINT = ("context.breakdown", "counts it")
_COMMANDS, _KEYS = ("screen.palette", "commands"), ("screen.keys", "keys")
_SEARCH, _READ = ("search.everything", "search"), ("read.earlier", "read")
_SESSIONS, _POINTS = ("session.picker", "sessions"), ("session.picker", "sessions, snapshots")
WRITING_HINTS = (
    (_COMMANDS, _POINTS, _SEARCH, _READ, _KEYS),
    (_COMMANDS, _POINTS, _SEARCH, _KEYS),
    (_COMMANDS, _SESSIONS, _SEARCH, _KEYS),
    (_COMMANDS, _SESSIONS, _KEYS),
    (_COMMANDS, _KEYS),
)
"""While the prompt has the focus: the first line that there is room for is shown."""

# Above the prompt

QUEUE_KEYS = "↑ edit the last   Esc stop and hold the queue   Enter twice send now"
HELD_QUEUE_KEYS = "Enter send   ↑ edit the last"
SEND_NOW_AGAIN = "Enter again stops the answer and sends the next message"
LATER = "not now"
NOT_NOW = f"Esc {LATER}"
ASKED_AGAIN = f"{LATER}; it is asked again next time"
MODE_DISMISSED = "this mode is not suggested again in this session"
MODE_LATER = "the mode stays as it is"
STAYS_HERE = "this session goes on; you are asked again when it has as many items more"
LINKED = "a new session, linked to the one before: F3 shows both"
SEND_AGAIN = "Enter sends it again"
MESSAGE_FILE = "message"
"""The name of a message that is sent as a file."""
READ_MESSAGE = "Read my message in the file and answer it."
NO_PARTS = "this model uses no tools here: it cannot read a file in parts"
TOO_SHORT = "as a file it would still be too long"

# A session that another window has open

FOLLOWS = "read-only, follows another window"
LEFT_ALONE = "read-only, the other window has closed it"
FORKS = "Enter forks this session and sends there"
GOES_ON = "Enter continues this session here"
LOOKS = "read-only, live"
LOOKING_HINT = "PgUp PgDn scroll"

# Going back, and the files that go along

UNDO_RESTORE = "/undo takes it back"
NO_UNDO_RESTORE = "cannot be undone: no snapshot was taken"
FILES_TITLE = "Files too? Tools changed {} since then"
FILES_ABOUT = "The conversation is back. Marked files become as they were"
FILES_UNDO = "; /undo takes that back, too."
FILES_KEYS = "y bring back the marked   Space mark   n leave all"
FILE_STEPS: Mapping[How, str] = {
    "restore": "as it was",
    "delete": "made since: goes",
    "recreate": "removed since: comes back",
    "conflict": "changed by others too",
    "no-copy": "stays: too large for a copy",
    "refused": "stays: cannot be touched",
}
_LEFT: Sequence[How] = ("no-copy", "refused")


def brought_back(done: Sequence[FileStep], undo: str) -> str:
    """Say how many files were brought back, and which were not."""
    left = [step.path for step in done if step.how in _LEFT]
    words = f"{counted(len(done) - len(left), 'file')} brought back{undo}"
    return f"{words} · not {visible(', '.join(left))}" if left else words


FIRST_WORD = "waiting for the first word"
READING = "reading the prompt"
DRAFT_ASIDE = "Draft stashed · Up brings it back"
ANSWER_IS_THERE = "The answer is there"
