"""What each command of the table does. A feature is loaded when its first command is used."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.tui.chat.port import Action


def action_of(command_id: str) -> Action:
    """Returns what a command does."""
    return actions_of(command_id.partition(".")[0])[command_id]


def actions_of(group: str) -> Mapping[str, Action]:
    """Returns the actions of a group of commands, and maybe of others of the same feature.

    KeyError for a group there is none of. The imports are late because the first paint needs none
    of these modules, nor their dialogs.
    """
    match group:
        case "app" | "chat" | "message" | "read":
            from ollm_tui.tui.chat.commands import ACTIONS
        case "compression":
            from ollm_tui.tui.compression.commands import ACTIONS
        case "context":
            from ollm_tui.tui.context.commands import ACTIONS
        case "extension":
            from ollm_tui.tui.extensions.commands import ACTIONS
        case "goal":
            from ollm_tui.tui.goals.commands import ACTIONS
        case "jobs":
            from ollm_tui.tui.jobs.commands import ACTIONS
        case "mcp":
            from ollm_tui.tui.mcp.commands import ACTIONS
        case "mode":
            from ollm_tui.tui.models.mode_commands import ACTIONS
        case "model":
            from ollm_tui.tui.compare.commands import ACTIONS as COMPARE_ACTIONS
            from ollm_tui.tui.models.commands import ACTIONS as MODEL_ACTIONS
            from ollm_tui.tui.models.region_commands import ACTIONS as REGION_ACTIONS

            return {**MODEL_ACTIONS, **REGION_ACTIONS, **COMPARE_ACTIONS}
        case "prompt":
            from ollm_tui.tui.prompt.commands import ACTIONS
        case "screen":
            from ollm_tui.tui.help.commands import ACTIONS as HELP_ACTIONS
            from ollm_tui.tui.settings.commands import ACTIONS as SETTINGS_ACTIONS

            return {**HELP_ACTIONS, **SETTINGS_ACTIONS}
        case "search":
            from ollm_tui.tui.search.commands import ACTIONS
        case "session" | "snapshot":
            from ollm_tui.tui.beside.commands import ACTIONS as BESIDE_ACTIONS
            from ollm_tui.tui.browser.commands import ACTIONS as SESSION_ACTIONS
            from ollm_tui.tui.conversations.commands import ACTIONS as OPEN_ACTIONS

            return {**SESSION_ACTIONS, **OPEN_ACTIONS, **BESIDE_ACTIONS}
        case "task":
            from ollm_tui.tui.tasks.commands import ACTIONS
        case "tools":
            from ollm_tui.tui.tools.commands import ACTIONS
        case _:
            raise KeyError(group)
    return ACTIONS
