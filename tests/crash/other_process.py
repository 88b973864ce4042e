"""Another process at work on the same store: `python -m tests.crash.other_process WORK SESSIONS`.

It prints a line for everything it has done, at once.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from ollm_tui.core.errors import StoreError
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import runs
from tests.crash.samples import LARGE, added, go_on, user_message

NAME = "shared"
ROUNDS = runs(150, of_gate=500)
FOLD_EVERY = 7
LARGE_EVERY = 20
TURNS = runs(50, of_gate=500)
PAUSE_SECONDS = 0.001


def write(library: SessionLibrary) -> None:
    """Hold the session and add to it, with a fold now and then."""
    writer, loaded = library.store.open(NAME)
    state = loaded.state
    for number in range(ROUNDS):
        record = added(user_message(f"m{number}", LARGE if number % LARGE_EVERY == 0 else ""))
        seq = state.header.journal_seq + 1
        state.apply(record, seq)
        writer.append([(seq, record)])
        print(record.message.id, flush=True)
        if number % FOLD_EVERY == 0:
            writer.fold(state.session())
    writer.close()


def hold(library: SessionLibrary) -> None:
    """Hold the session until somebody ends this process."""
    library.store.open(NAME)
    print("held", flush=True)
    sys.stdin.read()


def take_turns(library: SessionLibrary) -> None:
    """Open the session, add a message and let go of it, as often as it is to be had."""
    done = 0
    while done < TURNS:
        name = f"{os.getpid()}-{done}"
        try:
            if done % 5 == 0:
                library.change(NAME, title=name)
            go_on(library.store, NAME, user_message(name))
        except StoreError:
            time.sleep(PAUSE_SECONDS)
            continue
        print(name, flush=True)
        done += 1


def move(library: SessionLibrary) -> None:
    """Put the session into the trash and bring it back, until somebody ends this process."""
    while True:
        try:
            library.discard(NAME, "a test")
            library.restore(NAME)
            print("moved", flush=True)
        except StoreError:
            pass
        time.sleep(PAUSE_SECONDS)


def watch(library: SessionLibrary) -> None:
    """List the sessions; whatever else happens, none is damaged."""
    for _ in range(ROUNDS):
        damage = [each.damage for each in library.catalogue.summaries() if each.damage]
        print(damage or "fine", flush=True)


WORK: dict[str, Callable[[SessionLibrary], None]] = {
    each.__name__: each for each in (write, hold, take_turns, move, watch)
}

if __name__ == "__main__":
    WORK[sys.argv[1]](SessionLibrary.at(StoreLayout(Path(sys.argv[2]))))
