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
NEW_CONVERSATION = "New session"
LOOKING_FOR_A_MODEL = "Looking for a model …"

# An empty conversation

DEMONSTRATION_MODEL = "smollm2:135m"
"""The name of the small model that answers where nothing else was set up."""
NAME = "ollm"
MARK = ("█▀█ █   █   █▀▄▀█", "█▄█ █▄▄ █▄▄ █ ▀ █")
"""The name in two rows."""
KEPT_LATER = "Saved by /save and on exit"
NOT_KEPT = "Not saved"
FIRST_HINTS = (
    ("@", "attach a file"),
    ("!", "run a command"),
    ("model.choose", "switch model"),
)
"""Keys, or ids of commands, each with what it does."""
BETTER_MODEL = (
    "A small demo model. For a better one start Ollama or run",
    "ollm models pull qwen2.5-coder:1.5b",
)
THIS_MACHINE = "this machine"


def model_words(model: str, provider: str, remote_host: str | None) -> Sequence[str]:
    """Name a model, its provider and where it runs, in fewer and fewer words. That something
    leaves this machine is always said."""
    name, server = visible(model), visible(provider)
    if remote_host:
        host = visible(remote_host)
        return f"{name} · {server} → {host}", f"{name} → {host}"
    return f"{name} · {server} · {THIS_MACHINE}", f"{name} · {server}", name


# Key hints of the status line: ids of commands, each with what it does

READING_HINTS = (
    ("message.copy", "copy"),
    ("message.edit", "edit"),
    ("message.regenerate", "retry"),
    ("message.fork", "fork"),
    ("message.copy_code", "code"),
    ("read.down", "k move"),
    ("snapshot.back", "rewind here"),
    ("snapshot.before", "rewind before"),
    ("chat.stop", "back"),
)
"""While the stream has the focus."""
RUNNING_HINTS = (("chat.stop", "stop"), ("jobs.background", "background"))
"""While a turn or a command runs; the second one only where something can be moved."""
EDITING = "Editing an earlier message"
COUNTING_HINT = ("context.breakdown", "count tokens")
_COMMANDS, _KEYS = ("screen.palette", "commands"), ("screen.keys", "help")
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

QUEUE_EMPTY = "Nothing queued"
QUEUE_KEYS = "↑ edit last   Esc stop and hold   Enter Enter send now"
HELD_QUEUE_KEYS = "Enter send   ↑ edit last"
SEND_NOW_AGAIN = "Enter again stops the answer and sends this"
LATER = "not now"
NOT_NOW = f"Esc {LATER}"
ASKED_AGAIN = "Not now · asks again next time"
MODE_DISMISSED = "Not suggested again in this session"
MODE_LATER = "Mode unchanged"
STAYS_HERE = "Continuing here"
LINKED = "New session, linked to the previous one (F3)"
SEND_AGAIN = "Enter sends it again"
MESSAGE_FILE = "message"
"""The name of a message that is sent as a file."""
READ_MESSAGE = "Read my message in the file and answer it."
NO_PARTS = "Needs a model with tools"
TOO_SHORT = "Too long even as a file"

# A session that another window has open

FOLLOWS = "Read-only · following another window"
LEFT_ALONE = "Read-only · closed in the other window"
FORKS = "Enter forks it and sends there"
GOES_ON = "Enter continues it here"
LOOKS = "read-only · live"
LOOKING_HINT = "PgUp PgDn scroll"

# Going back, and the files that go along

UNDO_RESTORE = "/undo reverts it"
NO_UNDO_RESTORE = "cannot be undone (no snapshot)"
FILES_TITLE = "Restore files too? Tools changed {} since"
FILES_ABOUT = "The conversation is restored. Marked files will be restored as well"
FILES_UNDO = "; /undo reverts that too."
FILES_KEYS = "y restore marked   Space mark   n keep all"
FILE_STEPS: Mapping[How, str] = {
    "restore": "restore",
    "delete": "created since · delete",
    "recreate": "deleted since · restore",
    "conflict": "also changed by others",
    "no-copy": "kept: too large for a backup",
    "refused": "kept: not writable",
}
_LEFT: Sequence[How] = ("no-copy", "refused")


def brought_back(done: Sequence[FileStep], undo: str) -> str:
    """Say how many files were brought back, and which were not."""
    left = [step.path for step in done if step.how in _LEFT]
    words = f"{counted(len(done) - len(left), 'file')} restored{undo}"
    return f"{words} · not restored: {visible(', '.join(left))}" if left else words


FIRST_WORD = "waiting for the model"
READING = "reading the prompt"
DRAFT_ASIDE = "Draft stashed · ↑ brings it back"
ANSWER_IS_THERE = "Answer ready"

# Said in chat_points

FORKED = "Forked: you are in the new session"
NOTHING_BEFORE_THAT_MESSAGE = "Nothing before that message"
NEW_SESSION_INSTEAD = "Ctrl+N starts a new session"
SESSION_DELETED = "That session was deleted"
CHOOSE_A_SNAPSHOT = "choose one of its snapshots"
MESSAGE_GONE = "That message no longer exists"
SEARCH_AGAIN = "search again"
ALREADY_THERE = "Already there"
CHOOSE_AN_EARLIER_POINT = "choose an earlier point"

# Said in commands

NOTHING_TO_REWIND_TO = "Nothing to rewind to"
SEND_FIRST = "send a message first"
NOTHING_TO_FIND = "Nothing to find"
CTRL_F_STARTS_A_SEARCH = "Ctrl+F starts a search"
NOTHING_TO_EXPAND_HERE = "Nothing to expand here"
WHAT_CAN_BE_EXPANDED = "thoughts, tools and attachments can be expanded"
NO_MESSAGES_YET = "No messages yet"
FULL_CONVERSATION = "Full conversation"
NOTHING_TO_COPY_YET = "Nothing to copy yet"
NO_CODE_BLOCK_HERE = "No code block here"
SELECT_ANOTHER = "select a message with one"
NOTHING_TO_EDIT_YET = "Nothing to edit yet"
ONLY_YOUR_OWN = "Only your own messages can be edited"
HOW_TO_REGENERATE = "r regenerates an answer"
NOTHING_TO_FORK_YET = "Nothing to fork yet"
NO_OTHER_VERSION = "No other version"
HOW_TO_MAKE_VERSIONS = "e and r create new ones"
NO_SHELL_TO_RETURN_TO = "No shell to return to"
CLOSE_THE_TAB_INSTEAD = "close the tab instead"
ESC_AGAIN_REWINDS = "Esc again rewinds to an earlier message"

# Said in open_chat

OPEN_IN_ANOTHER_WINDOW = "Open in another window"
SENDING_FORKS = "sending a message forks it"
NO_SESSION_OPEN = "No session open"
HOW_TO_START = "Ctrl+N starts one"

# Said in session_opening

NOT_SAVED_YET = "This session is not saved yet"
FREE_DISK_SPACE = "free some disk space first"
