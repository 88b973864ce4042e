"""The commands of the plain chat: what the full screen shows in lists stands here in lines."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from ollm_tui.core.compression_events import AnyCompressionEvent
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import UsageError
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.core.intake import visible
from ollm_tui.core.session.compression import last_undoable
from ollm_tui.core.session.goals import Goal
from ollm_tui.core.tool import APPROVAL_MODES
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.title_request import suggested_title
from ollm_tui.engine.conversation.window_size import window_size
from ollm_tui.engine.jobs.job_text import ending
from ollm_tui.plain import words
from ollm_tui.plain.desk import Desk
from ollm_tui.services.export.export_file import export_to
from ollm_tui.services.search.query import parse_query
from ollm_tui.settings.keys import nearest

MOST_LISTED = 20
"""Lines of a list of sessions or models."""
SHORT_ID = 8

T = TypeVar("T")
Turn = AsyncGenerator[AnyTurnEvent, None]
Action = Callable[[Desk, str], Awaitable[Turn | None]]
"""Does what a command says, with the words after its name; returns a turn to be answered."""


class LineCommand(NamedTuple):
    """One command."""

    name: str
    title: str
    action: Action
    argument: str = ""
    others: tuple[str, ...] = ()
    """Other names for it."""


def found_command(name: str) -> LineCommand:
    """Return the command of a name. UsageError if there is none."""
    known = _by_name()
    if command := known.get(name.lower()):
        return command
    near = nearest(name, known)
    meant = f"did you mean /{near}? " if near else "/help lists all · "
    raise UsageError(f"Unknown command /{visible(name)}", f"{meant}// sends it as text")


def is_known(name: str) -> bool:
    """Whether there is a command of a name."""
    return name.lower() in _by_name()


def _by_name() -> dict[str, LineCommand]:
    return {each: command for command in COMMANDS for each in (command.name, *command.others)}


# The chat


async def _help(desk: Desk, _argument: str) -> None:
    desk.say(words.USAGE)
    lines = [(f"/{each.name} {each.argument}", each.title) for each in COMMANDS]
    lines += [
        (f"/{own.name} {own.arguments}", own.problem or own.description)
        for own in desk.workspace.project.commands.all.values()
    ]
    width = max(len(usage) for usage, _ in lines)
    for usage, title in lines:
        desk.say(f"  {usage:<{width}}  {title}")


async def _quit(desk: Desk, _argument: str) -> None:
    desk.is_leaving = True


async def _again(desk: Desk, _argument: str) -> Turn:
    return desk.conversation.regenerate()


async def _continue(desk: Desk, _argument: str) -> Turn:
    return desk.conversation.go_on()


async def _history(desk: Desk, _argument: str) -> None:
    """Print everything that was said, also what is folded in the context."""
    for message in desk.conversation.state.branch():
        if message.text.strip():
            desk.say(f"{message.role}: {message.text}\n")
    if not len(desk.conversation.state):
        desk.say(words.NO_MESSAGES)


# Sessions


async def _new(desk: Desk, _argument: str) -> None:
    left, choice = desk.conversation, desk.conversation.choice
    begun = desk.workspace.begin(provider=choice.provider.name, model=choice.model)
    await desk.switch(begun)
    kept = f"; /load {left.session_id[:SHORT_ID]} reopens the last one" if len(left.state) else ""
    desk.say(f"New session{kept}.")


async def _sessions(desk: Desk, _argument: str) -> None:
    found = await desk.workspace.sessions()
    for each in found[:MOST_LISTED]:
        count = counted(each.message_count, "message")
        desk.say(
            f"{each.session_id[:SHORT_ID]}  {each.last_activity[:10]}  {each.title}  ({count})"
        )
    desk.say(words.NO_SESSIONS if not found else "/load ID opens one.")


async def _load(desk: Desk, argument: str) -> None:
    if not argument:
        raise UsageError("/load needs an ID", "/sessions lists them")
    session_id = await desk.workspace.find(argument)
    if session_id == desk.conversation.session_id:
        raise UsageError("this session is already open", "/sessions lists the others")

    async def resume() -> Conversation:
        conversation, problems = await desk.workspace.resume(session_id)
        for problem in problems:
            desk.say(f"warning: {problem}")
        return conversation

    await desk.switch(resume())
    header = desk.conversation.state.header
    desk.say(f"{header.title} · {counted(len(desk.conversation.state), 'message')} · /history")


async def _rename(desk: Desk, argument: str) -> None:
    title = await suggested_title(desk.conversation) if argument == "--auto" else argument
    await desk.workspace.rename(desk.conversation.session_id, title)
    desk.say(f"Renamed to {desk.conversation.state.header.title}.")


async def _export(desk: Desk, argument: str) -> None:
    conversation, workspace = desk.conversation, desk.workspace
    if not len(conversation.state):
        raise UsageError("nothing to export yet", "send a message first")
    host = workspace.additions.extensions
    file = await export_to(
        argument or f"{conversation.session_id[:SHORT_ID]}.md",
        conversation.state.session(),
        conversation.state.branch(),
        keeps_outputs=workspace.settings.retention.store_tool_outputs,
        further=host.export if host else None,
    )
    desk.say(f"Exported to {file}")


async def _search(desk: Desk, argument: str) -> None:
    query = parse_query(argument)
    if query.asks_nothing:
        raise UsageError("search for what?", "/search WORDS")
    history = desk.workspace.history
    await history.refresh()
    shown = None
    async for results in history.search(query, most=MOST_LISTED):
        shown = results
    for session in shown.sessions if shown else ():
        desk.say(f"{session.session_id[:SHORT_ID]}  {session.title}")
        for hit in session.hits:
            desk.say(f"    {hit.role}: {' '.join(hit.snippet.text.split())}")
    if not shown or not shown.total:
        desk.say(words.NO_MATCHES)


# The model


async def _model(desk: Desk, argument: str) -> None:
    conversation, workspace = desk.conversation, desk.workspace
    if argument:
        await workspace.switch_model(conversation, None, argument)
        desk.say(f"Model: {conversation.choice.model}.")
        return
    used = (conversation.choice.provider.name, conversation.choice.model)
    desk.say(f"Model: {used[1]} on {used[0]}.")
    async for offer in workspace.models.offers():
        for model in offer.models[:MOST_LISTED]:
            mark = "*" if (offer.name, model.name) == used else " "
            note = "" if model.installed else f", {words.NOT_DOWNLOADED}"
            desk.say(f"{mark} {model.name}  ({offer.name}{note})")
        if offer.error:
            desk.say(f"  {offer.name}: {offer.error}")
    desk.say("/model NAME uses one.")


async def _mode(desk: Desk, argument: str) -> None:
    if argument:
        await desk.conversation.change_mode(argument, "command")
    others = ", ".join(mode.name for mode in desk.conversation.modes)
    desk.say(f"Mode: {desk.conversation.mode.name}. Available: {others}.")


async def _system(desk: Desk, argument: str) -> None:
    if argument:
        await desk.conversation.wishes.set_system(argument)
    desk.say(desk.conversation.wishes.system)


async def _temperature(desk: Desk, argument: str) -> None:
    if argument:
        await desk.conversation.wishes.set_temperature(argument)
    desk.say(f"Temperature: {desk.conversation.wishes.temperature}")


async def _think(desk: Desk, argument: str) -> None:
    if argument:
        await desk.conversation.wishes.set_thinking(argument)
    desk.say(f"Thinking: {desk.conversation.wishes.thinking}")


async def _window(desk: Desk, argument: str) -> None:
    conversation = desk.conversation
    if argument:
        size = await window_size(argument, conversation.choice, desk.workspace.models)
        await conversation.use(conversation.choice._replace(window=size))
    size = conversation.choice.window
    desk.say(f"Window: {size:,} tokens" if size else "Window: unknown")


async def _approval(desk: Desk, argument: str) -> None:
    tools = desk.conversation.tools
    if argument and argument not in APPROVAL_MODES:
        raise UsageError(f"no approval mode {visible(argument)}", f"{', '.join(APPROVAL_MODES)}")
    if argument:
        tools.approval_mode = argument
    desk.say(f"Approval: {tools.approval_mode}. Available: {', '.join(APPROVAL_MODES)}.")


async def _tool(desk: Desk, argument: str) -> None:
    name, _, word = argument.partition(" ")
    if not name or word not in ("on", "off"):
        raise UsageError("/tool needs a name, and on or off", "/tools lists them")
    await desk.conversation.tools.switch(name, on=word == "on")
    desk.say(f"{visible(name)} is {word}.")


async def _tools(desk: Desk, _argument: str) -> None:
    await desk.conversation.tools.ready()
    offered = desk.conversation.tools.offered
    desk.say(", ".join(offered) if offered else "No tools.")


# The context


async def _context(desk: Desk, argument: str) -> None:
    conversation = desk.conversation
    if argument == "show":
        desk.say(conversation.prompt_text())
        return
    if argument:
        raise UsageError(
            f"unknown option /context {visible(argument)}", "/context or /context show"
        )
    view = conversation.context()
    room = view.budget.room
    of = f" of {room.window:,} ({room.percent} %)" if room else ""
    desk.say(f"{view.count.total}{of} tokens")
    for item in view.items:
        desk.say(f"  {item.tokens!s:>8}  {item.title}")


async def _compact(desk: Desk, argument: str) -> None:
    async def events() -> AsyncGenerator[AnyTurnEvent | AnyCompressionEvent, None]:
        async for event in desk.conversation.compression.run(instructions=argument):
            yield event

    await desk.show(events())


async def _undo(desk: Desk, _argument: str) -> None:
    """Undo the last compression, or the last return to a snapshot if that came later."""
    conversation = desk.conversation
    metadata, restored = conversation.state.header.metadata, conversation.snapshots.standing
    last = last_undoable(metadata.compression_history, metadata.compressed)
    if restored and (last is None or restored.at > last.at):
        await conversation.snapshots.undo_restore()
        desk.say("Undone.")
        return
    undone = await conversation.compression.undo()
    desk.say(f"Undone: {undone.words}")


async def _snapshot(desk: Desk, argument: str) -> None:
    taken = await desk.conversation.snapshots.take(argument)
    desk.say(f"Snapshot {taken.id[:SHORT_ID]} taken. /restore returns to it.")


async def _restore(desk: Desk, argument: str) -> None:
    snapshots = desk.conversation.snapshots
    own = await snapshots.list()
    if not argument:
        for each in own[:MOST_LISTED]:
            desk.say(f"{each.id[:SHORT_ID]}  {each.timestamp[:16]}  {each.name or each.reason}")
        desk.say("/restore ID restores one." if own else words.NO_SNAPSHOTS)
        return
    found = [each for each in own if argument in (each.name, each.id[: len(argument)])]
    if not found:
        raise UsageError(f"no snapshot {visible(argument)}", "/restore lists them")
    await snapshots.restore(await snapshots.get(found[0].id))
    desk.say("Restored. Later messages are kept on their branch; /undo reverts it.")


# Goals


async def _goal(desk: Desk, argument: str) -> None:
    goals = desk.conversation.goals
    word, _, rest = argument.partition(" ")
    match word, rest.strip():
        case "done", "":
            await goals.complete_goal()
        case "pause", "":
            await goals.pause_goal()
        case "step", text if text:
            await goals.add_subtask(text)
        case "tick", number:
            active = goals.active
            step = _numbered(active.subtasks if active else (), number, "step")
            await goals.finish_subtask(step.id, not step.done)
        case "", _:
            pass
        case _:
            await goals.set_goal(argument)
    desk.say("\n".join(_goal_lines(goals.active)) or words.NOTHING_ACTIVE)


async def _decide(desk: Desk, argument: str) -> None:
    goals = desk.conversation.goals
    word, _, rest = argument.partition(" ")
    if word == "undo":
        number = rest.strip() or str(len(goals.decisions))
        await goals.take_back(_numbered(goals.decisions, number, "decision").id)
    elif argument:
        text, _, reason = argument.partition(" because ")
        await goals.decide(text, reason, locked=True)
    lines = [f"{number}. {each.text}" for number, each in enumerate(goals.decisions, 1)]
    desk.say("\n".join(lines) or words.NOTHING_DECIDED)


def _goal_lines(goal: Goal | None) -> Iterator[str]:
    if goal:
        yield f"Goal: {goal.text}"
        for number, step in enumerate(goal.subtasks, 1):
            yield f"  {number}. [{'x' if step.done else ' '}] {step.text}"


def _numbered(things: Sequence[T], number: str, what: str) -> T:
    if not number.isdecimal() or not 1 <= int(number) <= len(things):
        raise UsageError(f"no {what} {visible(number)}", f"there are {len(things)}")
    return things[int(number) - 1]


# Jobs


async def _jobs(desk: Desk, argument: str) -> None:
    jobs, session_id = desk.around.open_jobs(), desk.conversation.session_id
    word, _, number = argument.partition(" ")
    if word == "kill":
        await jobs.kill(jobs.find(session_id, number.strip()).id)
    elif argument:
        desk.say(await jobs.text(jobs.find(session_id, argument).id))
        return
    found = jobs.jobs(session_id)
    for job in found[:MOST_LISTED]:
        state = "running" if job.running else ending(job)
        desk.say(f"{job.sequence:>4}  {state}  {' '.join(jobs.code(job).split())}")
    if not found:
        desk.say(words.NO_JOBS)


COMMANDS = (
    LineCommand("help", "Show help", _help),
    LineCommand("again", "Regenerate the answer", _again, others=("regenerate",)),
    LineCommand("continue", "Continue a stopped answer", _continue),
    LineCommand("history", "Print the conversation", _history),
    LineCommand("new", "New session", _new, others=("clear",)),
    LineCommand("sessions", "List sessions", _sessions),
    LineCommand("load", "Open a session", _load, "ID"),
    LineCommand("rename", "Rename this session", _rename, "TITLE|--auto"),
    LineCommand("export", "Export this session", _export, "[FILE.md|.html|.json]"),
    LineCommand("search", "Search all sessions", _search, "WORDS"),
    LineCommand("model", "List models, or use one", _model, "[NAME]"),
    LineCommand("mode", "Show or change the mode", _mode, "[NAME]"),
    LineCommand("system", "Show or change the system prompt", _system, "[WORDS]"),
    LineCommand("temperature", "Show or change the temperature", _temperature, "[0…2]"),
    LineCommand("think", "Show or change the thinking level", _think, "[off|low|…|max]"),
    LineCommand("window", "Show or change the context window", _window, "[SIZE|auto]"),
    LineCommand("approval", "Show or change the approval mode", _approval, "[MODE]"),
    LineCommand("tools", "List the model's tools", _tools),
    LineCommand("tool", "Turn a tool on or off", _tool, "NAME on|off"),
    LineCommand("context", "Show what fills the context", _context, "[show]"),
    LineCommand("compact", "Compress the context", _compact, "[INSTRUCTIONS]"),
    LineCommand("undo", "Undo the last compression or restore", _undo),
    LineCommand("snapshot", "Take a snapshot", _snapshot, "[NAME]"),
    LineCommand("restore", "List snapshots, or restore one", _restore, "[NAME|ID]"),
    LineCommand("goal", "Show or set the goal", _goal, "[WORDS|step WORDS|tick N|done]"),
    LineCommand("decide", "Show or record decisions", _decide, "[WORDS|undo N]"),
    LineCommand("jobs", "List jobs, or print one", _jobs, "[N|kill N]"),
    LineCommand("quit", "Quit", _quit, others=("exit",)),
)
