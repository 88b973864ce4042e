"""A conversation with the embedded model, in a terminal or a browser, stays on this machine.

The commands run in a network of their own that has nothing but loopback. The kernel counts there
what was to go anywhere else.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import REPOSITORY
from tests.stand_ins.warm_command import OLLM

BEGIN = 'ip link set lo up && "$@"; code=$?; cat /proc/net/snmp /proc/net/snmp6 >&2; exit $code'
"""What runs a command in a new network, and tells the kernel's counters after it."""
ELSEWHERE = """
import contextlib, socket
for family, address in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with contextlib.suppress(OSError), socket.socket(family, kind) as each:
            each.connect((address, 53))
"""
"""A program that wants to go elsewhere four times, by each way there is."""


class Done(NamedTuple):
    """A command that has run without a network."""

    code: int
    printed: str
    complaints: str
    tries: int
    """How often something was to go to another machine."""


def alone(*command: str | Path) -> Done:
    """Run a command where there is nothing but loopback."""
    apart = ["unshare", "--map-root-user", "--net", "sh", "-c", BEGIN, "sh", *command]
    done = subprocess.run(
        apart, cwd=REPOSITORY, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return Done(done.returncode, done.stdout, done.stderr, _without_route(done.stderr))


def _without_route(counters: str) -> int:
    lines = [line.split() for line in counters.splitlines()]
    older = [line for line in lines if line[:1] == ["Ip:"]]
    newer = [line for line in lines if line[:1] == ["Ip6OutNoRoutes"]]
    if len(older) != 2 or len(newer) != 1:
        return 0
    names, values = older
    return int(values[names.index("OutNoRoutes")]) + int(newer[0][1])


@pytest.fixture(scope="module", autouse=True)
def network_of_its_own() -> None:
    """Skips where no network can be made, or where its kernel does not count."""
    if not (shutil.which("unshare") and shutil.which("ip")):
        pytest.skip("needs unshare and ip to make a network of its own")
    if alone("true").code:
        pytest.skip("this system makes no network namespaces for this user")
    if alone(sys.executable, "-c", ELSEWHERE).tries < 4:
        pytest.skip("this kernel does not count what finds no route")


def test_an_answer_of_the_embedded_model_contacts_nobody_else(model_home: Path) -> None:
    done = alone(OLLM, "-p", "Say hello")
    assert (done.code, done.tries) == (0, 0), done.complaints
    assert done.printed.strip()


@pytest.mark.more
def test_a_conversation_in_a_browser_contacts_nobody_else(model_home: Path) -> None:
    done = alone(sys.executable, "-m", "tests.stand_ins.page_visitor")
    assert (done.code, done.tries) == (0, 0), done.complaints
