"""Whatever happens to the files and the index, a search finds what a plain scan finds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.search import Order, Query, Term, Where
from ollm_tui.core.session.message import (
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.session.record import (
    AnyRecord,
    Created,
    MessageAdded,
    MetadataChanged,
    SessionChanged,
    TextAppended,
    ToolCallAdded,
)
from ollm_tui.core.session.session import ToolCall, ToolResult
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.conftest import LONG
from tests.crash.samples import empty_session
from tests.folders import quick_folder
from tests.services.search.plain_scan import Found, scan

WORDS = (
    "retry Retries re-try café CAFE 日本語 日本 本を getUserName user_name c++ C# --flag 🚀 "
    '100% O\'Brien "quoted" back\\slash naïve __init__ go os the'
).split()
BEGIN = datetime(2025, 10, 1, tzinfo=UTC)

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
moments = st.integers(0, 60 * 48).map(lambda minutes: BEGIN + timedelta(minutes=minutes))
parts: st.SearchStrategy[Part] = st.one_of(
    st.builds(Text, words),
    st.builds(Text, words),
    st.builds(Reasoning, words),
    st.builds(ToolCallPart, st.just("c"), st.sampled_from(WORDS), st.just({"path": "src/retry"})),
    st.builds(ToolResultPart, st.just("c"), st.just("tool"), words),
)
texts_cut = st.tuples(words, words, words).map(
    lambda drawn: ToolResult(
        f"{drawn[0]}\n[… 1 line, 9 characters cut here …]\n{drawn[2]}", "\n".join(drawn)
    )
)
results: st.SearchStrategy[ToolResult] = st.one_of(
    st.builds(ToolResult, words), st.builds(ToolResult, words, words), texts_cut
)
call_ids = st.sampled_from(("c", "job-1", "job-2", "m1"))
roles: st.SearchStrategy[Role] = st.sampled_from(("user", "assistant", "tool"))
names = st.integers(0, 3).map(lambda number: f"session-{number}")
pieces = st.sampled_from(WORDS).flatmap(
    lambda word: st.tuples(st.integers(0, len(word) - 1), st.integers(1, len(word))).map(
        lambda cut: word[cut[0] : cut[0] + cut[1]]
    )
)
terms = st.builds(Term, pieces | words, st.booleans(), exact=st.just(True))
filters = st.one_of(
    st.just(Query()),
    st.sampled_from(
        (
            Query(roles=("user",)),
            Query(roles=("tool", "assistant")),
            Query(models=("big",)),
            Query(has_tool=True),
            Query(pinned=True),
            Query(on_branch=False),
        )
    ),
    moments.map(lambda moment: Query(after=moment)),
    moments.map(lambda moment: Query(before=moment)),
)
lacking = st.lists(st.builds(Term, pieces | words, st.just(True)), max_size=1)
queries = st.tuples(filters, st.lists(terms, max_size=2), lacking).map(
    lambda drawn: drawn[0]._replace(terms=tuple(drawn[1]), without=tuple(drawn[2]))
)
ALWAYS = (
    Query(),
    Query(on_branch=True),
    Query(pinned=True, models=("big",)),
    Query((Term("re", exact=True),)),
    Query((Term("retry", exact=True),), has_tool=True),
    Query(roles=("tool",)),
    Query((Term("本", exact=True),)),
    Query((Term("日本", exact=True),)),
    Query((Term("cafe", whole=True, exact=True),)),
    Query((Term("username", exact=True),)),
    Query((Term("c++", exact=True),)),
)
"""Asked each time: all rows, all flags, and every way of finding a word."""


class HistoryModel(RuleBasedStateMachine):
    """Sessions that are written, branched, deleted and torn, and an index that is as well."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = quick_folder()
        self.layout = StoreLayout(Path(self.folder.name) / "sessions")
        self.library = SessionLibrary.at(self.layout)
        self.history = HistorySearch(self.library.store)
        self.said: dict[str, list[str]] = {}
        self.number = 0

    def teardown(self) -> None:
        self.history.close()
        self.library.close()
        self.folder.cleanup()

    def write(self, name: str, *records: AnyRecord, fold: bool = False) -> None:
        """Into the journal, and left there as by a process that was killed."""
        store = self.library.store
        if name in self.said:
            writer, loaded = store.open(name)
            seq = loaded.state.header.journal_seq
        else:
            self.said[name] = []
            writer, seq = store.create(name), 0
            records = (Created(at=clock.now(), session=empty_session(name)), *records)
        writer.append(list(enumerate(records, seq + 1)))
        writer.close()
        if fold:
            self.library.record(name, lambda _: [MetadataChanged(at=clock.now(), fields={})])

    @rule(
        name=names, role=roles, said=st.lists(parts, max_size=3), at=moments, data=st.data(),
        model=st.sampled_from((None, "big-one")), fold=st.booleans(),
    )  # fmt: skip
    def say(
        self, name: str, role: Role, said: list[Part], at: datetime, data: st.DataObject,
        model: str | None, fold: bool,
    ) -> None:  # fmt: skip
        self.number += 1
        parent = data.draw(st.sampled_from([None, *self.said.get(name, [])]))
        message = Message(
            f"m{self.number}", role, tuple(said), clock.iso(at), parent_id=parent, model=model
        )
        self.write(name, MessageAdded(at=clock.iso(at), message=message), fold=fold)
        self.said[name].append(message.id)

    @rule(
        name=names, call_id=call_ids, result=results, code=words, at=moments,
        tool=st.sampled_from(("exec", "read_file")), is_answered=st.booleans(), fold=st.booleans(),
    )  # fmt: skip
    def run(
        self, name: str, call_id: str, result: ToolResult, code: str, at: datetime,
        tool: str, is_answered: bool, fold: bool,
    ) -> None:  # fmt: skip
        """A command of the user, or a tool whose answer a message has."""
        call = ToolCall(call_id, tool, {"code": code}, result, clock.iso(at))
        records: list[AnyRecord] = [ToolCallAdded(at=call.timestamp, tool_call=call)]
        keys: list[str] = []
        if is_answered:
            self.number += 1
            keys = [f"m{self.number}"]
            answer = ToolResultPart(call_id, tool, result.llm_content)
            message = Message(keys[0], "tool", (answer,), call.timestamp)
            records.insert(0, MessageAdded(at=call.timestamp, message=message))
        self.write(name, *records, fold=fold)
        self.said[name] += keys

    @precondition(lambda self: any(self.said.values()))
    @rule(data=st.data(), more=words)
    def change(self, data: st.DataObject, more: str) -> None:
        name = data.draw(st.sampled_from([name for name, said in self.said.items() if said]))
        key = data.draw(st.sampled_from(self.said[name]))
        change: AnyRecord = data.draw(
            st.sampled_from(
                (
                    TextAppended(at=clock.now(), message_id=key, part="text", text=f" {more}"),
                    SessionChanged(at=clock.now(), fields={"head": key}),
                    SessionChanged(at=clock.now(), fields={"pinned": True, "model": "a-big-one"}),
                    SessionChanged(at=clock.now(), fields={"pinned": False, "title": more}),
                    MetadataChanged(at=clock.now(), fields={"pins": [key]}),
                )
            )
        )
        self.write(name, change)

    @precondition(lambda self: self.said)
    @rule(data=st.data(), how=st.sampled_from(("delete", "discard", "tear", "damage")))
    def lose(self, data: st.DataObject, how: str) -> None:
        name = data.draw(st.sampled_from(sorted(self.said)))
        if how == "tear":
            with self.layout.journal(name).open("ab") as journal:
                journal.write(b'deadbeef 9 {"kind":"mess')
            return
        if how == "damage":
            self.layout.session(name).write_bytes(b"{")
            self.layout.journal(name).unlink(missing_ok=True)
            self.library.delete(name) if self.number % 2 else self.history.refresh()
        if how == "discard":
            self.library.discard(name, "a test")
            if self.number % 2:
                self.library.restore(name)
                return
        self.library.delete(name)
        del self.said[name]

    @rule(how=st.sampled_from(("remove", "cut", "garbage", "empty")), reopen=st.booleans())
    def lose_the_index(self, how: str, reopen: bool) -> None:
        if reopen:
            self.history.close()
        path = self.layout.search
        if how == "remove" or not path.exists():
            path.unlink(missing_ok=True)
        else:
            data = path.read_bytes()
            half = data[: len(data) // 2]
            path.write_bytes({"cut": half, "empty": b""}.get(how, half + b"x" * len(half)))
        if reopen:
            self.history = HistorySearch(self.library.store)

    @rule(drawn=st.lists(queries, min_size=3, max_size=3))
    def search(self, drawn: list[Query]) -> None:
        self.history.refresh()
        orders: tuple[Order, ...] = ("relevance", "time")
        for query in (*ALWAYS, *drawn):
            self.check_overview(query, "words")
            expected = self.check_overview(query, "anywhere")
            for order in orders:
                *_, last = self.history.search(query, limit=100, order=order)
                assert len(last.hits) == last.total == len(set(expected.values()))
                places = [
                    (each.session_id, each.message_id, each.on_branch)
                    for hit in last.hits
                    for each in (hit, *hit.places)
                ]
                assert len(places) == len(set(places))
                assert set(places) == expected.keys()

    def check_overview(self, query: Query, where: Where) -> dict[Found, str]:
        expected = scan(self.library.store, query, where)
        overview = self.history.overview(query, where)
        assert overview
        assert overview.total == len(set(expected.values()))
        assert overview.sessions == len({name for name, _, _ in expected})
        return expected


HistoryModel.TestCase.settings = settings(
    max_examples=50 if LONG else 8,
    stateful_step_count=30,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a life is small as it is
)
TestTheIndexIsNeverWrong = HistoryModel.TestCase


def test_a_long_random_life_ends_in_the_same(tmp_path: Path) -> None:
    """Many messages of the same second, in several sessions that are indexed out of order."""
    random = Random(3)
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    history = HistorySearch(library.store)
    for number in random.sample(range(20), 20):
        messages = tuple(
            Message(
                f"{number}-{each}",
                "user",
                (Text(" ".join(random.choices(WORDS, k=4))),),
                clock.iso(BEGIN + timedelta(seconds=number // 5)),
            )
            for each in range(30)
        )
        session = empty_session(f"session-{number}")
        library.add(replace(session, messages=messages))
        if number % 3 == 0:
            history.refresh()
    history.refresh()
    for second in range(5):
        query = Query(before=BEGIN + timedelta(seconds=second))
        overview = history.overview(query)
        assert overview
        assert overview.total == len(set(scan(library.store, query, "words").values()))
    history.close()


def test_more_messages_of_one_second_than_an_hour_has_are_found_before_the_next(
    tmp_path: Path,
) -> None:
    """Their numbers are those of later seconds."""
    library = SessionLibrary.at(StoreLayout(tmp_path / "sessions"))
    history = HistorySearch(library.store)
    messages = tuple(
        Message(f"m{number}", "user", (Text(f"retry {number}"),), clock.iso(BEGIN))
        for number in range(3700)
    )
    library.add(replace(empty_session("crowded"), messages=messages))
    history.refresh()
    for second, total in ((0, 0), (1, len(messages))):
        overview = history.overview(Query(before=BEGIN + timedelta(seconds=second)))
        assert overview and overview.total == total
    history.close()
