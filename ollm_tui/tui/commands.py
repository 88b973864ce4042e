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
    "chat": "Chat",
    "prompt": "Prompt",
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
    "screen": "View",
    "app": "Program",
    "mcp": "MCP servers",
    "task": "Tasks",
    "extension": "Extensions",
}

COMMANDS = (
    Command("chat.stop", "Stop the answer", "escape", "stop", help="Keeps what has arrived."),
    Command(
        "chat.interrupt",
        "Copy / stop / stash draft / quit",
        "ctrl+c",
        help="Copies the selection, or stops the answer, or stashes the draft; "
        "twice in a row quits.",
    ),
    Command(
        "chat.rewind",
        "Rewind to your last message",
        slash="rewind",
        help="Also Esc Esc on an empty prompt. e edits it; the current branch is kept.",
    ),
    Command(
        "chat.send_waiting",
        "Send the next queued message",
        slash="now",
        help="Also Enter on an empty prompt; press it twice to stop a running answer first.",
    ),
    Command(
        "prompt.editor", "Open in your editor", "ctrl+g", "editor", help="Uses $VISUAL or $EDITOR."
    ),
    Command("prompt.history", "Prompt history", "ctrl+r", "prompts", "[words]"),
    Command("prompt.focus", "Back to the prompt", "i,tab", where="stream"),
    Command("read.page_up", "Page up", "pageup"),
    Command("read.page_down", "Page down", "pagedown"),
    Command("read.start", "Go to the top", "ctrl+home", "top"),
    Command("read.end", "Go to the bottom", "ctrl+end", "end"),
    Command("read.earlier", "Previous message", "alt+up", help="Moves the message cursor."),
    Command("read.later", "Next message", "alt+down"),
    Command("read.up", "Previous message", "k,up", where="stream"),
    Command("read.down", "Next message", "j,down", where="stream"),
    Command("read.extend_up", "Extend selection up", "K,shift+up", where="stream"),
    Command("read.extend_down", "Extend selection down", "J,shift+down", where="stream"),
    Command("read.first", "First message", "g,home", where="stream"),
    Command("read.last", "Last message", "G,end", where="stream"),
    Command("read.find", "Find in this conversation", "ctrl+f", "find", "[words]"),
    Command("read.find_here", "Find in this conversation", "slash", where="stream"),
    Command("read.next_hit", "Next match", "n", where="stream"),
    Command("read.previous_hit", "Previous match", "N", where="stream"),
    Command(
        "read.expand",
        "Expand or collapse thoughts, tools and attachments",
        "ctrl+o",
        "expand",
    ),
    Command(
        "read.history",
        "Full conversation",
        slash="history",
        help="Everything on this branch, with folded and excluded messages.",
    ),
    Command("read.unfold", "Expand or collapse", "enter,space", where="stream"),
    Command(
        "read.details",
        "Message details",
        "f6",
        "details",
        help="Time, model, tokens and speed.",
    ),
    Command("message.copy", "Copy the message", "y", "copy", where="stream"),
    Command(
        "message.copy_code",
        "Copy a code block",
        "c",
        "copycode",
        where="stream",
        help="Press again for the next block.",
    ),
    Command("message.edit", "Edit and resend", "e", "edit", where="stream"),
    Command(
        "message.go_on",
        "Continue a stopped answer",
        slash="continue",
        help="The same answer goes on where the model can do that; others are asked to go on.",
    ),
    Command("message.regenerate", "Regenerate the answer", "r", "regenerate", where="stream"),
    Command("message.fork", "Fork a new session from here", "f", "fork", where="stream"),
    Command("message.version_before", "Previous version", "left", where="stream"),
    Command("message.version_after", "Next version", "right", where="stream"),
    Command(
        "context.breakdown",
        "Context usage",
        "f5",
        "context",
        "[show|export|add|project|remove|list|clear|snapshot]",
        help="show: the exact prompt. export FILE: save it. add NAME words, add NAME @file or "
        "add tree|git|tasks|errors: add to every prompt. project: add all four. refresh: "
        "reload them. add --priority 90: place before others. snapshot NAME: "
        "take a snapshot.",
    ),
    Command(
        "context.inspector",
        "Inspector: context, goal and jobs at the right",
        "alt+i",
        "inspector",
        help="From 160 columns on; it stays until you close it.",
    ),
    Command(
        "context.trust",
        "Answer the question above the prompt",
        "alt+a",
        "trust",
        "[once|always|never|view|later]",
        help="A project's instructions and settings, and new hooks, need your consent first.",
    ),
    Command(
        "context.window",
        "Context window size",
        "",
        "window",
        "[16k|auto]",
        help="Shows the cost first: memory, a model reload, what would be compressed.",
    ),
    Command(
        "context.pin",
        "Pin or unpin the message",
        "p",
        "pin",
        where="stream",
        help="Pinned messages are never compressed.",
    ),
    Command(
        "context.leave_out",
        "Exclude from the context, or include again",
        "x",
        "leaveout",
        where="stream",
        help="Hidden from the model, kept in the session.",
    ),
    Command(
        "context.fold",
        "Fold or unfold in the context",
        "z",
        "fold",
        where="stream",
        help="The model sees only the first words.",
    ),
    Command(
        "compression.compact",
        "Compress the context now",
        slash="compact",
        argument="[--preview|--summary|--mine|--truncate|--provider|--above] [instructions]",
        help="Older answers become a summary; nothing is lost, and /undo reverts it. "
        "--preview: review and edit first. --mine: also fold your oldest messages. "
        "--truncate: no model. --provider: let the server do it (OpenAI).",
    ),
    Command(
        "compression.above",
        "Compress everything above",
        "Z",
        where="stream",
        help="Same as /compact --above.",
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
        "Checkpoints",
        "v",
        "checkpoints",
        where="stream",
    ),
    Command("compression.watch", "Show compression full screen", "alt+z", "watch"),
    Command(
        "snapshot.take",
        "Take a snapshot",
        "ctrl+t",
        "snapshot",
        "[name]",
        help="A restore point. Every compression takes one as well.",
    ),
    Command(
        "snapshot.restore",
        "Restore a snapshot",
        slash="restore",
        argument="[name or id]",
        help="Later messages are kept as a branch; /undo reverts it.",
    ),
    Command(
        "snapshot.back",
        "Rewind to this message",
        "b",
        "back",
        where="stream",
        help="Continue after this message and its answer; u undoes it.",
    ),
    Command(
        "snapshot.before",
        "Rewind to before this message",
        "B",
        "before",
        where="stream",
        help="Continue from before this message; later ones are kept as a branch.",
    ),
    Command(
        "goal.goal",
        "Set a goal",
        slash="goal",
        argument="[words|done|pause|step words|tick N|blocker words|unblock N|…]",
        help="Included in every prompt. Also: milestone words, artifact words, set words.",
    ),
    Command(
        "goal.decide",
        "Record a decision",
        slash="decide",
        argument="[[--open] what [because why]|undo [N]]",
        help="Included in every prompt unless --open. Without words: the list.",
    ),
    Command(
        "mode.system",
        "Edit the system prompt",
        slash="system",
        argument="[words|default]",
        help="For this session. Without words: opens it in the prompt for editing.",
    ),
    Command(
        "mode.temperature",
        "Temperature",
        slash="temperature",
        argument="[0…2|default]",
    ),
    Command(
        "mode.think",
        "Thinking level",
        slash="think",
        argument="[off|on|low|medium|high|max|default]",
    ),
    Command("mode.choose", "Choose the mode", "alt+m", "mode", "[name]"),
    Command(
        "tools.mode",
        "Approval mode",
        "shift+tab",
        "approval",
        "[ask|auto-edit|auto]",
        help="ask: confirm every change. auto-edit: confirm commands. auto: confirm only "
        "dangerous calls.",
    ),
    Command(
        "tools.answer",
        "Answer the pending approval",
        slash="answer",
        argument="[yes|no words|always|project|never|forbid|stop|once|allow|tell words|back]",
        help="Alt+A moves the focus there; each answer has its own key.",
    ),
    Command(
        "tools.permissions",
        "Tools and permissions",
        slash="tools",
        argument="[clear]",
        help="clear: forget all saved permissions.",
    ),
    Command(
        "tools.switch",
        "Turn a tool on or off",
        slash="tool",
        argument="name [on|off]",
        help="Until you quit; settings decide at the next start.",
    ),
    Command(
        "tools.output",
        "Full tool output",
        "o",
        "output",
        where="stream",
        help="Including what was cut for the model.",
    ),
    Command(
        "jobs.panel",
        "Jobs",
        "f8",
        "jobs",
        "[number|kill number]",
        help="!command runs one from the prompt; Alt+G attaches its output.",
    ),
    Command(
        "jobs.give",
        "Attach command output",
        "alt+g",
        "give",
        "[number]",
        help="The last command's, or the one under the cursor, with your next message.",
    ),
    Command("jobs.give_here", "Attach command output", "m", where="stream"),
    Command(
        "jobs.background",
        "Move the running command to the background",
        "alt+b",
        "background",
        help="Also Ctrl+B while a command runs.",
    ),
    Command("session.new", "New session", "ctrl+n", "new"),
    Command(
        "session.clear",
        "Clear the conversation",
        slash="clear",
        help="Starts a new session; the old one stays in the list.",
    ),
    Command(
        "session.picker",
        "Sessions and snapshots",
        "ctrl+s,f3",
        "sessions",
        help="Find any earlier point; preview, restore, fork or delete it.",
    ),
    Command("session.load", "Open a session", slash="load", argument="[id or words]"),
    Command(
        "session.beside",
        "Show a session beside this one",
        slash="beside",
        argument="[id or words|off]",
        help="Read-only, live. q quotes a message into the prompt, g attaches it whole.",
    ),
    Command("session.sidebar", "Session sidebar", "ctrl+b,f2", "sidebar"),
    Command(
        "session.go",
        "Switch to an open conversation",
        slash="tab",
        argument="[number or title]",
        help="Alt+1 to Alt+9 for the first nine.",
    ),
    Command("session.following", "Next open conversation", "ctrl+tab,ctrl+pagedown", "next"),
    Command("session.previous", "Previous open conversation", "ctrl+shift+tab,ctrl+pageup"),
    Command("session.last", "Last used conversation", "alt+0", "last"),
    Command(
        "session.waiting",
        "Go to a conversation waiting for you",
        "alt+w",
        "waiting",
        help="It needs an approval, or is stuck in a loop.",
    ),
    Command(
        "session.close",
        "Close this conversation",
        slash="close",
        help="It stays in the session list.",
    ),
    Command(
        "session.rename",
        "Rename this session",
        "",
        "rename",
        "[title|--auto]",
        help="--auto: let the model write the title.",
    ),
    Command(
        "session.star", "Pin or unpin this session", "", "star", help="Pinned sessions stay on top."
    ),
    Command("session.save", "Save now", "", "save"),
    Command("session.export", "Export", "", "export", "[file.md|.html|.json]"),
    Command(
        "search.everything",
        "Search all sessions",
        "f4",
        "search",
        "[words]",
        help="Searches as you type; Enter opens the session there. Filters: role: model: "
        "project: in: before: after: has:tool is:pinned branch:other.",
    ),
    Command(
        "search.recall",
        "Recall from earlier sessions",
        slash="recall",
        argument="[--files] words",
        help="Passages are attached to your next message, as data.",
    ),
    Command(
        "search.ask",
        "Ask earlier sessions",
        slash="ask",
        argument="question",
        help="Sends the best passages to the model, which cites those it uses.",
    ),
    Command(
        "search.sources",
        "Sources of the last answer",
        slash="sources",
        argument="[number]",
        help="After /ask and /recall: opens the session at the passage.",
    ),
    Command(
        "search.activity",
        "Activity calendar",
        slash="activity",
        help="With costs; Enter shows the messages of a day.",
    ),
    Command(
        "model.choose",
        "Choose the model",
        "f7",
        "model",
        "[[provider/]name]",
        help="With abilities, price and place; Ctrl+S marks a favourite.",
    ),
    Command(
        "model.compare",
        "Compare models",
        slash="compare",
        argument="[next] model ...",
        help="They answer your last message (or the next one) side by side. Or mark them with "
        "Space in F7. Enter continues from an answer, d diffs, v votes.",
    ),
    Command("model.provider", "Choose the provider", "", "provider", "[name]"),
    Command(
        "model.region",
        "Choose the Amazon Bedrock region",
        slash="region",
        argument="[name]",
        help="Saved in your settings.",
    ),
    Command(
        "model.manage",
        "Manage models",
        slash="models",
        argument="[pull name]",
        help="Pull, unload and delete models of Ollama and embedded ones. Also F7 F7.",
    ),
    Command("screen.palette", "All commands", "ctrl+p", "commands"),
    Command("screen.keys", "Help: keys and commands", "f1,question_mark", "help"),
    Command("screen.theme", "Theme", "f9", "theme", "[name]"),
    Command("screen.settings", "Settings", "f10", "config"),
    Command("screen.log", "Show the log", "f12", "log"),
    Command("screen.redraw", "Redraw the screen", "ctrl+l", "redraw"),
    Command("app.suspend", "Suspend to the shell", "ctrl+z", "suspend"),
    Command("app.leave", "Quit", "ctrl+q", "quit", help="Saves first."),
    Command(
        "mcp.servers",
        "MCP servers and tools",
        slash="mcp",
        argument="[on|off|again server]",
        help="With state and token cost; Space turns one on or off.",
    ),
    Command(
        "task.choose",
        "Link a task to this session",
        slash="task",
        argument="[id|list|off]",
        help="From .steroids or .ollm/tasks.yaml; included in every prompt, as data.",
    ),
    Command(
        "extension.run",
        "Run a custom, extension or MCP command",
        slash="run",
        argument="[name words]",
        help="Same as /name or /server:prompt. Yours: ~/.ollm/commands/NAME.md.",
    ),
)

BY_ID: Mapping[str, Command] = {command.id: command for command in COMMANDS}
BY_SLASH: Mapping[str, Command] = {command.slash: command for command in COMMANDS if command.slash}

TABS: tuple[BindingType, ...] = tuple(
    Binding(
        f"alt+{number}",
        f"screen.command('session.go', '{number}')",
        f"Conversation {number}",
        id=f"tabs.{number}",
        tooltip=f"Go to open conversation {number}",
        show=False,
        priority=True,
    )
    for number in range(1, 10)
)
"""The keys of the first open conversations."""

WHILE_A_COMMAND_RUNS: tuple[BindingType, ...] = (
    Binding(
        "ctrl+b",
        "app.to_background",
        "Move to background",
        id="chat.background",
        tooltip="While a command runs; otherwise the sidebar",
        show=False,
        priority=True,
    ),
    # Most terminals send the same for Alt+B and Ctrl+Left, which Textual takes for the latter.
    Binding(
        "ctrl+left",
        "app.to_background(True)",
        "Move to background",
        id="chat.background_if_empty",
        tooltip="While a command runs and the prompt is empty; otherwise one word left",
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
