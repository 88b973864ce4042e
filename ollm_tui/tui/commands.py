"""Every command: its id, keys, slash name and words. Bindings, palette, help and docs read it.

What a command does is in the `commands.py` of its feature; this table knows no screen, so that
widgets can use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from textual.binding import Binding, BindingType

Where = Literal["anywhere", "stream"]
"""`stream` keys work while the stream has the focus: there letters are keys, not text."""


class Command(NamedTuple):
    """One thing the user can do."""

    id: str
    """Its name in `keymap:`; the word before the dot is its group."""
    title: str
    keys: str = ""
    """The keys as Textual names them, several separated by commas."""
    slash: str = ""
    argument: str = ""
    """What may follow the slash name."""
    where: Where = "anywhere"
    help: str = ""
    """One more sentence, where the title does not say it all."""

    @property
    def group(self) -> str:
        """The heading it stands under in lists of commands."""
        return GROUPS[self.id.partition(".")[0]]


GROUPS: Mapping[str, str] = {
    "chat": "Talking",
    "prompt": "Writing",
    "read": "Reading",
    "message": "Messages",
    "context": "Context",
    "compression": "Compression",
    "snapshot": "Snapshots",
    "goal": "Goals",
    "mode": "Modes",
    "tools": "Tools",
    "jobs": "Jobs",
    "session": "Sessions",
    "search": "History",
    "model": "Models",
    "screen": "Screen",
    "app": "Program",
    "mcp": "MCP servers",
    "task": "Tasks",
    "extension": "Extensions",
}

COMMANDS = (
    Command("chat.stop", "Stop the answer", "escape", "stop", help="What arrived stays."),
    Command(
        "chat.interrupt",
        "Copy, stop, put aside, quit",
        "ctrl+c",
        help="The selection is copied, else the answer stopped, else the draft put aside; "
        "twice in a row quits.",
    ),
    Command(
        "chat.rewind",
        "Go back to your last message",
        slash="rewind",
        help="Esc twice on an empty prompt. e edits it; the other branch is kept.",
    ),
    Command(
        "chat.send_waiting",
        "Send the next queued message",
        slash="now",
        help="Enter on an empty prompt; while the model answers, twice: that stops the answer.",
    ),
    Command("prompt.editor", "Write in your editor", "ctrl+g", "editor", help="$VISUAL, $EDITOR."),
    Command("prompt.history", "Earlier prompts", "ctrl+r", "prompts", "[words]"),
    Command("prompt.focus", "Back to the prompt", "i,tab", where="stream"),
    Command("read.page_up", "A page up", "pageup"),
    Command("read.page_down", "A page down", "pagedown"),
    Command("read.start", "To the beginning", "ctrl+home", "top"),
    Command("read.end", "To the end", "ctrl+end", "end"),
    Command("read.earlier", "The message above", "alt+up", help="Moves the message cursor."),
    Command("read.later", "The message below", "alt+down"),
    Command("read.up", "The message above", "k,up", where="stream"),
    Command("read.down", "The message below", "j,down", where="stream"),
    Command("read.extend_up", "Mark upwards", "K,shift+up", where="stream"),
    Command("read.extend_down", "Mark downwards", "J,shift+down", where="stream"),
    Command("read.first", "The first message", "g,home", where="stream"),
    Command("read.last", "The last message", "G,end", where="stream"),
    Command("read.find", "Find in this conversation", "ctrl+f", "find", "[words]"),
    Command("read.find_here", "Find in this conversation", "slash", where="stream"),
    Command("read.next_hit", "The next hit", "n", where="stream"),
    Command("read.previous_hit", "The hit before", "N", where="stream"),
    Command(
        "read.expand",
        "Open or close thoughts, tools and attachments",
        "ctrl+o",
        "expand",
    ),
    Command(
        "read.history",
        "The whole conversation",
        slash="history",
        help="All that was said on this branch, also what is folded or left out of the context.",
    ),
    Command("read.unfold", "Open or close what is folded", "enter,space", where="stream"),
    Command("read.details", "Time, model, tokens and speed of messages", "f6", "details"),
    Command("message.copy", "Copy the message", "y", "copy", where="stream"),
    Command(
        "message.copy_code",
        "Copy a code block",
        "c",
        "copycode",
        where="stream",
        help="Again for the next block.",
    ),
    Command("message.edit", "Edit and send again", "e", "edit", where="stream"),
    Command(
        "message.go_on",
        "Continue a stopped answer",
        slash="continue",
        help="The model is asked to go on where it stopped or was cut off.",
    ),
    Command("message.regenerate", "Answer again", "r", "regenerate", where="stream"),
    Command("message.fork", "Fork a new session from here", "f", "fork", where="stream"),
    Command("message.version_before", "The version before", "left", where="stream"),
    Command("message.version_after", "The version after", "right", where="stream"),
    Command(
        "context.breakdown",
        "What fills the context",
        "f5",
        "context",
        "[show|export|add|project|remove|list|clear|snapshot]",
        help="show is the exact prompt, export FILE writes it into a file. add NAME and words, "
        "add NAME @file, add tree, git, tasks or errors put something into every prompt, project "
        "all of these four; refresh reads it again. add --priority 90 puts it before others; "
        "snapshot NAME takes one.",
    ),
    Command(
        "context.trust",
        "Answer what is asked above the prompt",
        "alt+a",
        "trust",
        "[once|always|never|view|later]",
        help="Instructions and settings of a project, and new hooks, count only after you said so.",
    ),
    Command(
        "context.window",
        "Change the size of the window",
        "",
        "window",
        "[16k|auto]",
        help="Shows first what it costs: memory, loading the model again, what is compressed.",
    ),
    Command(
        "context.pin",
        "Pin or unpin the message",
        "p",
        "pin",
        where="stream",
        help="A pinned message is in every prompt, whatever is compressed.",
    ),
    Command(
        "context.leave_out",
        "Leave the message out of the context, or take it in",
        "x",
        "leaveout",
        where="stream",
        help="The model does not see it; the session keeps it.",
    ),
    Command(
        "context.fold",
        "Fold the message in the context, or unfold it",
        "z",
        "fold",
        where="stream",
        help="The model sees its first words only.",
    ),
    Command(
        "compression.compact",
        "Compress the context now",
        slash="compact",
        argument="[--preview|--summary|--mine|--truncate|--provider|--above] [what to mind]",
        help="Older answers become a summary; nothing is lost, and /undo takes it back. "
        "--preview shows and edits it first, --mine folds the oldest of your own too, "
        "--truncate asks no model, --provider has the server compact (OpenAI).",
    ),
    Command(
        "compression.above",
        "Compress what stands above the message",
        "Z",
        where="stream",
        help="As /compact --above.",
    ),
    Command(
        "compression.undo",
        "Undo the last compression or restore",
        "u",
        "undo",
        where="stream",
    ),
    Command(
        "compression.checkpoints",
        "Read what stands for folded messages",
        "v",
        "checkpoints",
        where="stream",
    ),
    Command("compression.watch", "Watch the compression on the whole screen", "alt+z", "watch"),
    Command(
        "snapshot.take",
        "Take a snapshot",
        "ctrl+t",
        "snapshot",
        "[name]",
        help="A point to go back to; one is taken before every compression, too.",
    ),
    Command(
        "snapshot.restore",
        "Go back to a snapshot",
        slash="restore",
        argument="[name or id]",
        help="What was said since stays as a branch; /undo takes it back.",
    ),
    Command(
        "snapshot.back",
        "Go back to the message",
        "b",
        "back",
        where="stream",
        help="The conversation ends after it and its answer; u takes that back.",
    ),
    Command(
        "snapshot.before",
        "Go back to before the message",
        "B",
        "before",
        where="stream",
        help="The conversation ends before it; what was said since stays as a branch.",
    ),
    Command(
        "goal.goal",
        "What the conversation is for",
        slash="goal",
        argument="[words|done|pause|step words|tick N|blocker words|unblock N|…]",
        help="The model is told of it in every prompt. Words after milestone, artifact, set too.",
    ),
    Command(
        "goal.decide",
        "Decide something for good",
        slash="decide",
        argument="[[--open] what [because why]|undo [N]]",
        help="The model is told to keep to it in every prompt, unless it is open; alone, the list.",
    ),
    Command(
        "mode.system",
        "See and edit the system prompt",
        slash="system",
        argument="[words|default]",
        help="Of this session. Alone, it is put into the prompt to be edited.",
    ),
    Command(
        "mode.temperature",
        "Temperature of this session",
        slash="temperature",
        argument="[0…2|default]",
    ),
    Command(
        "mode.think",
        "How long the model thinks in this session",
        slash="think",
        argument="[off|on|low|medium|high|max|default]",
    ),
    Command("mode.choose", "Choose the mode", "alt+m", "mode", "[name]"),
    Command(
        "tools.mode",
        "Ask before changes, or let them happen",
        "shift+tab",
        "approval",
        "[ask|auto-edit|auto]",
        help="ask before every change, auto-edit only before commands, auto only before what is "
        "dangerous.",
    ),
    Command(
        "tools.answer",
        "Answer what the model waits for",
        slash="answer",
        argument="[yes|no words|always|project|never|forbid|stop|once|allow|tell words|back]",
        help="Alt+A goes there; every answer has a key of its own.",
    ),
    Command(
        "tools.permissions",
        "Tools, and what they may do",
        slash="tools",
        argument="[clear]",
        help="clear forgets what you allowed or forbade for good.",
    ),
    Command(
        "tools.switch",
        "Switch a tool on or off",
        slash="tool",
        argument="name [on|off]",
        help="For this program; the settings say what counts at the next start.",
    ),
    Command(
        "tools.output",
        "All that a tool printed",
        "o",
        "output",
        where="stream",
        help="Also what was cut for the model.",
    ),
    Command(
        "jobs.panel",
        "Commands that run and ran",
        "f8",
        "jobs",
        "[number|kill number]",
        help="! and a command in the prompt runs one; Alt+G gives its output to the model.",
    ),
    Command(
        "jobs.give",
        "Give the output of a command to the model",
        "alt+g",
        "give",
        "[number]",
        help="The last command, or the one under the cursor; it goes with your next message.",
    ),
    Command("jobs.give_here", "Give the output to the model", "m", where="stream"),
    Command(
        "jobs.background",
        "Let the running command go on in the background",
        "alt+b",
        "background",
        help="Ctrl+B does it too while one runs.",
    ),
    Command("session.new", "New session", "ctrl+n", "new"),
    Command("session.clear", "Begin afresh", slash="clear", help="The session stays in the list."),
    Command(
        "session.picker",
        "Sessions and snapshots",
        "ctrl+s,f3",
        "sessions",
        help="Find any earlier point, look at it, go back to it, fork it or delete it.",
    ),
    Command("session.load", "Open a session", slash="load", argument="[id or words]"),
    Command("session.sidebar", "Session sidebar", "ctrl+b,f2", "sidebar"),
    Command("session.rename", "Rename this session", "", "rename", "[title]"),
    Command("session.star", "Pin or unpin this session", "", "star", help="Pinned ones stay."),
    Command("session.save", "Write the session file now", "", "save"),
    Command("session.export", "Export", "", "export", "[file.md|.html|.json]"),
    Command(
        "search.everything",
        "Search everything ever said",
        "f4",
        "search",
        "[words]",
        help="Finds while you type; Enter opens the session at the message. Filters: role: model: "
        "project: in: before: after: has:tool is:pinned branch:other.",
    ),
    Command(
        "search.recall",
        "Bring passages of earlier sessions along",
        slash="recall",
        argument="[--files] words",
        help="They go to the model with your next message, as data, and are seen in the prompt.",
    ),
    Command(
        "search.ask",
        "Answer from earlier sessions",
        slash="ask",
        argument="question",
        help="The model gets the best passages of earlier sessions and names those it uses.",
    ),
    Command(
        "search.sources",
        "Go to where a passage is from",
        slash="sources",
        argument="[number]",
        help="After /ask and /recall: opens the session at the message.",
    ),
    Command(
        "search.activity",
        "On which days how much was said",
        slash="activity",
        help="A calendar with what was paid; Enter shows what was said on a day.",
    ),
    Command(
        "model.choose",
        "Choose the model",
        "f7",
        "model",
        "[[provider/]name]",
        help="Says what each can, costs and where it runs; Ctrl+S makes one a favourite.",
    ),
    Command("model.provider", "Choose the provider", "", "provider", "[name]"),
    Command(
        "model.region",
        "Choose the region of Amazon Bedrock",
        slash="region",
        argument="[name]",
        help="It is kept in your settings; then choose one of its models.",
    ),
    Command(
        "model.manage",
        "Stored models: fetch, unload, remove",
        slash="models",
        argument="[pull name]",
        help="Fetch, unload and delete those of Ollama and the embedded ones; F7 twice.",
    ),
    Command("screen.palette", "All commands", "ctrl+p", "commands"),
    Command("screen.keys", "Keys and commands", "f1,question_mark", "help"),
    Command("screen.theme", "Theme", "f9", "theme", "[name]"),
    Command("screen.settings", "Settings", "f10", "config"),
    Command("screen.log", "The end of the log", "f12", "log"),
    Command("screen.redraw", "Draw everything again", "ctrl+l", "redraw"),
    Command("app.suspend", "Suspend to the shell", "ctrl+z", "suspend"),
    Command("app.leave", "Quit", "ctrl+q", "quit", help="What was said is saved first."),
    Command(
        "mcp.servers",
        "MCP servers, and which tools the model gets",
        slash="mcp",
        argument="[on|off|again server]",
        help="Each with its state and cost; Space switches a server or a tool on or off.",
    ),
    Command(
        "task.choose",
        "Choose the task this session is about",
        slash="task",
        argument="[id|list|off]",
        help="From .steroids or .ollm/tasks.yaml; a block about it is in every prompt, as data.",
    ),
    Command(
        "extension.run",
        "Run a command of an extension, or use a prompt of an MCP server",
        slash="run",
        argument="[name words]",
        help="/name and /server:prompt do the same.",
    ),
)

BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}
BY_SLASH: Mapping[str, Command] = {command.slash: command for command in COMMANDS if command.slash}

WHILE_A_COMMAND_RUNS: tuple[BindingType, ...] = (
    Binding(
        "ctrl+b",
        "app.to_background",
        "To the background",
        id="chat.background",
        tooltip="While a command runs; else this key is the sidebar's",
        show=False,
        priority=True,
    ),
    # Most terminals send the same for Alt+B and Ctrl+Left, which Textual takes for the latter.
    Binding(
        "ctrl+left",
        "app.to_background(True)",
        "To the background",
        id="chat.background_if_empty",
        tooltip="While a command runs and the prompt is empty; else a word to the left",
        show=False,
        priority=True,
    ),
)
"""Keys that are taken from others for as long as a command runs."""

_AFTER_WIDGETS = frozenset({"chat.stop"})
"""Whoever has the focus may use these keys first, to close a list or a line of its own."""


def bindings(where: Where) -> list[BindingType]:
    """Return the keys of the commands of a place.

    Those that work anywhere come before a text field's own, so that they work in the prompt.
    """
    return [
        Binding(
            command.keys,
            f"screen.command('{command.id}')",
            command.title,
            id=command.id,
            tooltip=command.help or command.title,
            priority=where == "anywhere" and command.id not in _AFTER_WIDGETS,
        )
        for command in COMMANDS
        if command.keys and command.where == where
    ]
