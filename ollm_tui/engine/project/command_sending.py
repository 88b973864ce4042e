"""What one of the user's own commands needs before it is sent: its model, its mode, its files and
the output of what it runs."""

from __future__ import annotations

from pathlib import Path

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Attachment
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.jobs.job_text import capped, ending
from ollm_tui.engine.jobs.session_jobs import SessionJobs
from ollm_tui.engine.project.mentioned import mentioned
from ollm_tui.engine.project.own_commands import OwnCommand
from ollm_tui.engine.project.workspace import Workspace
from ollm_tui.services.files.mention_names import names_in
from ollm_tui.services.safety.places import keeps_secrets


async def use_wishes(workspace: Workspace, conversation: Conversation, command: OwnCommand) -> None:
    """Change to the model and the mode that a command wants, if these are others. UsageError if
    that cannot be."""
    if command.model:
        current = conversation.choice.provider
        provider, model = await workspace.models.named(command.model, current)
        if (provider or current.name, model) != (current.name, conversation.choice.model):
            away = await workspace.models.destination(provider, model)
            if away and command.is_of_project:
                # A project never decides where what is said goes.
                shown = visible(command.model)
                raise UsageError(f"/{command.name} would use {shown} on {away}", f"/model {shown}")
            view = await workspace.preview_model(conversation, provider, model)
            if view.budget.over_limit:
                raise UsageError(f"the context is too long for {visible(command.model)}", "/model")
            await workspace.switch_model(conversation, provider, model)
    if command.mode and command.mode != conversation.mode.name:
        await conversation.change_mode(command.mode, "command")


async def files_of(
    workspace: Workspace, conversation: Conversation, command: OwnCommand, text: str
) -> tuple[Attachment, ...]:
    """Return the files that a text names; a name of no file is a word. UsageError if one cannot be
    sent, or if a project's command names one that is not its own."""
    root, found = workspace.project.root, dict[str, Attachment]()
    named_by_project = names_in(command.text) if command.is_of_project else []
    for named in named_by_project:
        path = Path(root, Path(named.name).expanduser()).resolve()
        if path.exists() and (not path.is_relative_to(root.resolve()) or keeps_secrets(path)):
            raise UsageError(f"/{command.name} names {visible(named.name)}", "it is not sent")
    for named in names_in(text):
        if piece := await mentioned(workspace.project, named.name):
            if piece.media_type.startswith("image/") and conversation.choice.images is False:
                model = visible(conversation.choice.model)
                raise UsageError(f"{model} cannot see images: {piece.name}", "/model")
            found[piece.name] = piece
    return tuple(found.values())


async def output_of(jobs: SessionJobs, conversation: Conversation, code: str) -> Attachment:
    """Run a command that the user agreed to, and return what it printed. JobError if it cannot be
    started."""
    job = await jobs.start(conversation, code)
    ended = await jobs.wait(job.id)
    output = capped((await jobs.text(job.id)).strip("\n"))
    content = f"$ {jobs.code(job)}\n{output}\n[{ending(ended)}]\n"
    return Attachment(name=f"job {job.sequence}", media_type="text/plain", content=content)
