"""How code becomes a program: shell code in bash, or in sh where that is all there is.

The shell's state comes in and goes out through files without a place on disk. Kept are the
directory, the environment, variables and functions; options, aliases and traps last one job.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from shutil import which
from string import ascii_letters
from typing import NamedTuple

from ollm_tui.core.errors import JobError
from ollm_tui.services.jobs import python_runner
from ollm_tui.services.jobs.order import memory_file
from ollm_tui.services.jobs.shell_state import ShellState

CODE, STATE, REPORT, REQUESTS = 200, 201, 202, 203
"""File numbers in bash and Python: high, because scripts use the low ones themselves."""
SH_CODE, SH_REPORT = 7, 8
"""A plain sh knows numbers of one digit only."""

# One line: the numbers in bash's messages are then those of the user's code.
_BASH_LINE = (
    f". /dev/fd/{STATE} 2>/dev/null; exec {STATE}<&-; "
    'eval "$__ollm_code"; { __ollm_save; } 2>/dev/null; exit "$__ollm_status"'
)
_EVERY_NAME = " ".join(f'"${{!{first}@}}"' for first in "_" + ascii_letters)
"""What bash expands to the names of all variables; `compgen -v` would cost a process."""
_BASH_START = rf"""
IFS= builtin read -r -d '' -u {CODE} __ollm_code
exec {CODE}<&-
__ollm_saved=
__ollm_save() {{
    __ollm_status=$?
    builtin set +efux
    [[ -n $__ollm_saved ]] || __ollm_report >&{REPORT}
    __ollm_saved=1
}}
__ollm_report() {{
    builtin shopt -u nocasematch
    builtin printf '%s\0' "$PWD"
    local __ollm_name __ollm_names=()
    for __ollm_name in {_EVERY_NAME}; do
        case $__ollm_name in
            __ollm_*|_|BASH*|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTTYPE) ;;
            LINENO|MACHTYPE|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS) ;;
            SHELLOPTS|SHLVL|SRANDOM|UID) ;;
            *)
                case ${{!__ollm_name@a}} in
                    *[aA]*) __ollm_names+=("$__ollm_name") ;;
                    *x*) builtin printf '%s=%s\0' "$__ollm_name" "${{!__ollm_name}}" ;;
                    *) __ollm_names+=("$__ollm_name")
                esac
        esac
    done
    builtin printf '\0'
    [[ ${{#__ollm_names[@]}} = 0 ]] || builtin declare -p "${{__ollm_names[@]}}"
    builtin declare -f
    builtin printf '\0'
}}
trap '{{ __ollm_save; }} 2>/dev/null; exit "$__ollm_status"' EXIT
"""
_SH_LINE = rf"""
__ollm_save() {{
    __ollm_status=$?
    {{ printf '%s\0' "$PWD"; command -p env -0; printf '\0\0'; }} >&{SH_REPORT} 2>/dev/null
    trap - EXIT
    exit "$__ollm_status"
}}
trap __ollm_save EXIT
__ollm_code=$(cat <&{SH_CODE})
exec {SH_CODE}<&-
eval "$__ollm_code"
"""


class Program(NamedTuple):
    """What to start, and the files that go with it."""

    argv: list[str]
    numbers: list[int]
    """Under which it finds its files."""
    files: list[int]
    report: int | None
    """Where the shell's state is when the program has ended; to be closed by whoever asked."""


def shell_program(code: str, state: ShellState, shell: str | None = None) -> Program:
    """A program that runs shell code. JobError if there is no shell at all."""
    shell = shell or _find("bash", state) or _find("sh", state)
    if shell is None:
        raise JobError("there is no shell on this machine", "install bash")
    content = _bytes(code)
    report = memory_file("ollm-report")
    if Path(shell).name != "bash":
        files = [memory_file("ollm-code", content), os.dup(report)]
        return Program([shell, "-c", _SH_LINE, "sh"], [SH_CODE, SH_REPORT], files, report)
    # Ours come last: the functions that report are among those that were reported.
    start = state.declarations + _BASH_START.encode()
    files = [memory_file("ollm-code", content), memory_file("ollm-state", start), os.dup(report)]
    argv = [shell, "--noprofile", "--norc", "-c", _BASH_LINE, "bash"]
    return Program(argv, [CODE, STATE, REPORT], files, report)


def python_program(code: str, state: ShellState, requests: int) -> Program:
    """A program that runs Python code; `requests` is the socket its cmd() asks through."""
    python = which("python3", path=state.environment.get("PATH")) or sys.executable
    report = memory_file("ollm-report")
    files = [
        memory_file("ollm-code", _bytes(code)),
        memory_file("ollm-state", state.python),
        os.dup(report),
        requests,
    ]
    source = Path(python_runner.__file__).read_text(encoding="utf-8")
    argv = [python, "-c", source, *map(str, (CODE, STATE, REPORT, REQUESTS))]
    return Program(argv, [CODE, STATE, REPORT, REQUESTS], files, report)


def _find(name: str, state: ShellState) -> str | None:
    # The system's own first: a shell must still start after its PATH was broken.
    return which(name, path=os.defpath) or which(name, path=state.environment.get("PATH"))


def _bytes(code: str) -> bytes:
    if "\0" in code:
        raise JobError("the code has a NUL character in it", "take it out")
    return code.encode("utf-8", "replace")
