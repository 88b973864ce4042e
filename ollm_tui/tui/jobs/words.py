"""The words of jobs: the panel, the output of one job, the variables withheld, the shell line."""

from __future__ import annotations

from ollm_tui.core.job import Job

# The panel

JOBS_EMPTY = (
    "No jobs yet. Type !command in the prompt, such as !make test. It runs here in a "
    "persistent shell; you can read, copy and attach its output."
)
NO_OUTPUT = "No output."
NO_OUTPUT_YET = "No output yet."

GIVEN = "Attached to your next message ({cost})"
NO_COMMAND_HERE = "No output to attach"
GIVE = "attach output"
"""What the key below a command does."""

# The output of one job

OUTPUT_KEYS = "↑↓ PgUp PgDn scroll   / find   n N matches   y copy   Esc close"
NO_OUTPUT_KEPT = "No output stored."

# Variables that commands do not get

NOTHING_WITHHELD = "No variables withheld. Commands get the whole environment."
ENVIRONMENT_KEYS = "Enter grant to this session   ↑↓ move   Esc close"
GRANTED = "granted"

# The shell line

SHELL_BUSY = "Esc stops it, Alt+B moves it to the background; ↑ recalls yours"
SHELL_EMPTY = "!command runs in a persistent shell: !ls, !cd src, !make test · F8 jobs"


def keys_for(job: Job | None, *, is_waited_for: bool) -> tuple[tuple[str, str], ...]:
    """Return ids of bindings, each with what it does to a job; without a job, those that need none.

    The line of keys leaves out those that are not live.
    """
    if job is None:
        return ("joblist.environment", "environment"), ("joblist.close", "close")
    return (
        ("joblist.open", "output"),
        ("joblist.wait", "wait"),
        ("joblist.kill", "kill"),
        ("joblist.move", "background" if is_waited_for else "foreground"),
        ("joblist.copy", "copy"),
        ("joblist.give", "attach"),
        ("joblist.again", "rerun"),
        ("joblist.environment", "environment"),
        ("joblist.close", "close"),
    )


# Said in commands

HOW_TO_RUN = "!command runs one"
WHICH_JOB = "Which job?"
HOW_TO_KILL = "/jobs kill 3; F8 shows the numbers"
JOBS_USAGE = "/jobs, /jobs 3 or /jobs kill 3"

# Said in job_output

NOTHING_TO_FIND = "Nothing to find · / starts a search"

# Said in screen

NOTHING_TO_COPY = "Nothing to copy"
OUTPUT_NOT_STORED = "no output is stored"
STARTED_BY_CODE = "Started by code"
RUN_THAT_CODE_AGAIN = "run that code again"
SECRETS_NOT_RECORDED = "Its secrets were not recorded"
TYPE_THE_COMMAND_AGAIN = "type the command again"
NO_JOBS = "No jobs"
HOW_TO_RUN_ONE = "!command in the prompt runs one"

# Said in shell_line

NO_COMMAND_IS_RUNNING = "No command is running"
A_COMMAND_IS_RUNNING = "A command is running"
FOREGROUND_TAKEN = "Another command is in the foreground"
MOVE_IT_FIRST = "move it to the background first"
