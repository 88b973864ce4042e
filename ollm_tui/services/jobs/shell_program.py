"""Turns code into a program: bash, or sh where that is all there is, or Python.

The shell's state comes in and goes out through files in memory. Kept are the
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
from ollm_tui.services.jobs.memory_file import memory_file
from ollm_tui.services.jobs.shell_state import ShellState

CODE, STATE, REPORT, REQUESTS = 200, 201, 202, 203
"""Descriptor numbers in bash and Python: high, because scripts use the low ones themselves."""
SH_CODE, SH_REPORT = 7, 8
"""Descriptor numbers in sh, which understands only those of one digit."""

# One line: the numbers in bash's messages are then those of the user's code.
_BASH_LINE = (
    f". /dev/fd/{STATE} 2>/dev/null; exec {STATE}<&-; "
    'eval "$__ollm_code"; { __ollm_save; } 2>/dev/null; exit "$__ollm_status"'
)
_EVERY_NAME = " ".join(f'"${{!{first}@}}"' for first in "_" + ascii_letters)
"""Expanded by bash to the names of all variables; `compgen -v` would cost a process."""
OLDEST_BASH = 404
"""From 4.4 on bash tells the attributes of a variable by `@a`. That of macOS is 3.2."""
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
    local __ollm_name __ollm_marks __ollm_exported __ollm_arrays __ollm_names=()
    if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < {OLDEST_BASH})); then
        __ollm_exported=$'\n'$(builtin compgen -e)$'\n'
        __ollm_arrays=$'\n'$(builtin compgen -A arrayvar)$'\n'
    fi
    for __ollm_name in {_EVERY_NAME}; do
        case $__ollm_name in
            __ollm_*|_|BASH*|COMP_*|DIRSTACK|EPOCH*|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTTYPE) ;;
            LINENO|MACHTYPE|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS) ;;
            SHELLOPTS|SHLVL|SRANDOM|UID) ;;
            *)
                if [[ -z $__ollm_exported ]]; then
                    __ollm_marks=${{!__ollm_name@a}}
                else
                    __ollm_marks=
                    case $__ollm_exported in *$'\n'$__ollm_name$'\n'*) __ollm_marks=x ;; esac
                    case $__ollm_arrays in *$'\n'$__ollm_name$'\n'*) __ollm_marks=a ;; esac
                fi
                case $__ollm_marks in
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
    """A program to start, and the files that go with it."""

    argv: list[str]
    numbers: list[int]
    """The descriptor numbers under which it finds its files."""
    files: list[int]
    """Descriptors in the same order; the launcher closes them."""
    report: int | None
    """The descriptor of the file in which it leaves the shell's state; the caller closes it."""


def shell_program(code: str, state: ShellState, shell: str | None = None) -> Program:
    """A program that runs shell code. JobError if there is no shell at all."""
    shell = shell or _find("bash", state) or _find("sh", state)
    if shell is None:
        raise JobError("no shell found", "install bash")
    content = _bytes(code)
    report = memory_file("ollm-report")
    if Path(shell).name != "bash":
        # The program gets a duplicate: the launcher closes it, and the report is read afterwards.
        files = [memory_file("ollm-code", content), os.dup(report)]
        return Program([shell, "-c", _SH_LINE, "sh"], [SH_CODE, SH_REPORT], files, report)
    # Our functions come last: the earlier report declares them too, and must not win.
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
    # Passed as text: the Python of the job's PATH need not have this package.
    source = Path(python_runner.__file__).read_text(encoding="utf-8")
    argv = [python, "-c", source, *map(str, (CODE, STATE, REPORT, REQUESTS))]
    return Program(argv, [CODE, STATE, REPORT, REQUESTS], files, report)


def _find(name: str, state: ShellState) -> str | None:
    # The system's own comes first: a shell must still start after a job broke its PATH.
    return which(name, path=os.defpath) or which(name, path=state.environment.get("PATH"))


def _bytes(code: str) -> bytes:
    if "\0" in code:
        raise JobError("the code has a NUL character in it", "take it out")
    return code.encode("utf-8", "replace")
