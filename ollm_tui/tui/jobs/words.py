"""The words of jobs: the panel, the output of one job, the variables withheld, the shell line."""

from __future__ import annotations

from ollm_tui.core.job import Job

# The panel

JOBS_EMPTY = (
    "No jobs yet. Type ! and a command in the prompt, such as !make test: it runs here, in a "
    "shell that stays, and its output can be read, copied and given to the model."
)
NO_OUTPUT = "It has printed nothing."
NO_OUTPUT_YET = "Nothing printed yet."

GIVEN = "Attached to your next message ({cost})"
NO_COMMAND_HERE = "there is no output to give"
GIVE = "give to the model"
"""What the key below a command does."""

# The output of one job

OUTPUT_KEYS = "j k PgUp PgDn g G read   / find   n N hits   y copy   Esc close"
NO_OUTPUT_KEPT = "It has printed nothing that is still kept."

# Variables that commands do not get

NOTHING_WITHHELD = "Nothing is withheld: commands get every variable there is."
ENVIRONMENT_KEYS = "Enter grant it to this session   Up Down move   Esc close"
GRANTED = "granted"

# The shell line

SHELL_BUSY = "Esc stops it, Alt+B moves it away; then Up brings yours back"
SHELL_EMPTY = (
    "! and a command runs it in a shell that stays: !ls, !cd src, !make test; F8 shows all"
)


def keys_for(job: Job | None, *, is_waited_for: bool) -> tuple[tuple[str, str], ...]:
    """Return ids of bindings, each with what it does to a job; without a job, those that need none.

    The line of keys leaves out those that are not live.
    """
    if job is None:
        return ("joblist.environment", "environment"), ("joblist.close", "close")
    return (
        ("joblist.open", "whole output"),
        ("joblist.wait", "wait"),
        ("joblist.kill", "kill"),
        ("joblist.move", "to the background" if is_waited_for else "to the foreground"),
        ("joblist.copy", "copy"),
        ("joblist.give", "give to the model"),
        ("joblist.again", "run again"),
        ("joblist.environment", "environment"),
        ("joblist.close", "close"),
    )
