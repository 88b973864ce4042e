"""Any sequence of recording, folding, crashing and moving equals a plain list of messages."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ollm_tui.core import clock
from ollm_tui.core.session.encoding import encode
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.record import AnyRecord, Created, SessionChanged
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.sessions.journal import journal_line
from ollm_tui.storage.sessions.session_writer import SessionWriter
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import LONG
from tests.crash.samples import LARGE, added, empty_session, user_message
from tests.folders import quick_folder
from tests.generators import messages, texts

NAME = "session"


class StoreModel(RuleBasedStateMachine):
    """A store and what should be in it: messages by id, and a title."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = quick_folder()
        self.library = SessionLibrary.at(StoreLayout(Path(self.folder.name) / "sessions"))
        self.layout = self.library.store.layout
        self.messages: dict[str, Message] = {}
        self.title = "before"
        self.writer: SessionWriter | None = None
        self.state = SessionState(empty_session(NAME))

    def teardown(self) -> None:
        self.close()
        self.library.close()
        self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        self.writer = self.library.store.create(NAME)
        self.record(Created(at=clock.now(), session=empty_session(NAME)))

    def record(self, *records: AnyRecord) -> None:
        assert self.writer
        entries = [
            (seq, record) for seq, record in enumerate(records, self.state.header.journal_seq + 1)
        ]
        for seq, record in entries:
            self.state.apply(record, seq)
        self.writer.append(entries)

    @precondition(lambda self: self.writer)
    @rule(new=st.lists(messages, min_size=1, max_size=3, unique_by=lambda each: each.id))
    def add_messages(self, new: list[Message]) -> None:
        self.record(*map(added, new))
        self.messages |= {message.id: message for message in new}

    @precondition(lambda self: self.writer)
    @rule(number=st.integers(0, 3))
    def add_a_large_message(self, number: int) -> None:
        message = user_message(f"large-{number}", LARGE)
        self.record(added(message))
        self.messages[message.id] = message

    @precondition(lambda self: self.writer)
    @rule(title=texts)
    def rename(self, title: str) -> None:
        self.record(SessionChanged(at=clock.now(), fields={"title": title}))
        self.title = title

    @precondition(lambda self: self.writer)
    @rule()
    def fold(self) -> None:
        assert self.writer
        self.writer.fold(self.state.session())

    @precondition(lambda self: self.writer)
    @rule(share=st.floats(0, 1))
    def fail_to_record_on_a_full_disk(self, share: float) -> None:
        assert self.writer
        entry = (self.state.header.journal_seq + 1, added(user_message("too much")))
        room = self.writer.journal_bytes + int(share * 150)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            with pytest.raises(OSError, match="File too large"):
                self.writer.append([entry, entry])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    @precondition(lambda self: self.writer)
    @rule()
    def close(self) -> None:
        if self.writer:
            self.writer.close()
            self.writer = None

    @precondition(lambda self: self.writer)
    @rule(share=st.floats(0, 0.99), zeros=st.sampled_from((0, 0, 7, 512)))
    def crash(self, share: float, zeros: int) -> None:
        """Let go as a killed process does, in the middle of a line nobody was told of."""
        assert self.writer
        line = journal_line(self.state.header.journal_seq + 1, encode(added(user_message("torn"))))
        with self.layout.journal(NAME).open("ab") as journal:
            journal.write(line[: int(share * (len(line) - 1))] + b"\0" * zeros)
        self.writer.lock().close()
        self.writer = None

    @precondition(lambda self: not self.writer)
    @rule()
    def reopen(self) -> None:
        self.writer, loaded = self.library.store.open(NAME)
        self.state = loaded.state

    @precondition(lambda self: not self.writer)
    @rule(title=texts)
    def change(self, title: str) -> None:
        self.library.change(NAME, title=title)
        self.title = title

    @precondition(lambda self: not self.writer)
    @rule()
    def move_out_and_back(self) -> None:
        self.library.discard(NAME, "a test")
        assert self.library.catalogue.summaries() == []
        self.library.restore(NAME)

    @rule()
    def lose_the_index(self) -> None:
        self.library.close()
        self.layout.index.unlink(missing_ok=True)

    @invariant()
    def what_is_on_disk_is_what_was_recorded(self) -> None:
        if self.layout.sessions.exists():
            state = self.library.load(NAME).state
            assert {message.id: message for message in state.messages()} == self.messages
            assert state.header.title == self.title

    @rule()
    def listing_shows_it(self) -> None:
        [summary] = self.library.catalogue.summaries()
        assert (summary.message_count, summary.damage) == (len(self.messages), None)


TestStoreModel = StoreModel.TestCase
TestStoreModel.settings = settings(max_examples=60 if LONG else 25, stateful_step_count=25)
