"""Searching the history: while typing, against grep over the same files; the index and its cost.

Bare inserts into FTS5 are measured, too: building by FTS5 costs 2.9 times reading at least (BUILD).
"""

from __future__ import annotations

import asyncio
import re
import resource
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from statistics import median, quantiles

from bench.measure import Outcome, Promise, interleaved, milliseconds
from bench.sample_sessions import sample_messages, sample_session
from bench.scratch_home import environment, scratch_home
from bench.search_samples import fill_history, library_text
from ollm_tui.core import clock
from ollm_tui.core.session.record import Created, MessageAdded
from ollm_tui.services.search.query import parse_query
from ollm_tui.services.search.searchable import searchable
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.recording import Recorder, Recording
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.search.message_matching import TOKENIZER
from ollm_tui.storage.store_layout import StoreLayout

SESSIONS, MESSAGES = 2000, 50
QUERIES = 40
SHOWN = 50
"""Hits asked for with each key: more than any screen shows."""
RECORDED = 1500
NUMBERS, DIFFERENT, BATCH = 384, 500, 2000
"""The numbers of a vector, how many vectors there are, and how many messages get one at once."""
TOOL = "rg" if shutil.which("rg") else "grep"
TYPING = Promise(f"first results for a key, p95, {SESSIONS * MESSAGES:,} messages", "50 ms", 1)
SCAN = Promise("first results for a finished query, median", f"{TOOL} over the files", 0.05)
MEANT = Promise("words and then meaning for a key, p95", "50 ms", 1)
SIZE = Promise("bytes of the search index", "the text in it", 2)
BUILD = Promise("building the search index, CPU", "reading and parsing the files", 3)
"""Out of reach for an index by FTS5: given the same texts from memory and nothing else, it costs
1.9 times reading, so 2.9 with it. Keeping the texts for what is asked inside words and for what is
shown makes that 3.3; rows for the filters, keys of copies and the texts of tools make the rest.
Tried instead of these 1.9: detail=column 1.8; detail=none 1.5, without phrases and nearness;
columnsize=0 1.6, without ranking; one column instead of four 1.4 to 1.7; the ascii tokenizer 1.6.
Batches of 3 to 24 MB, hashsize from 1 to 256 MB and the garbage collector make no difference that
can be measured; merging all in the end costs 0.5 more, and a search gains 0.1 ms."""
ABOVE = Promise(
    "building the search index, CPU", "reading the files, and SQLite alone with their texts", 2
)
RECORD = Promise("recording a message while the index is fed", "without an index", 1.05)
PROMISES = (TYPING, SCAN, MEANT, SIZE, BUILD, ABOVE, RECORD)


def main() -> list[Outcome]:
    """Measure on a history of real prose and code."""
    with scratch_home() as home:
        fill_history(home, SESSIONS, MESSAGES)
        library = SessionLibrary.at(StoreLayout(home / "sessions"))
        history = HistorySearch(library.store)
        outcomes = _building(library, history)
        outcomes = [*_searching(home, history), _meaning(history), *outcomes]
        history.close()
    return [*outcomes, _recording()]


def _building(library: SessionLibrary, history: HistorySearch) -> list[Outcome]:
    names = list(library.store.directory.fingerprints())
    texts: list[tuple[str, str, str]] = []
    for name in names:  # also warms the cache of the file system
        session = searchable(library.load(name).state, (0, 0, 0, 0))
        texts += [said.texts for said in session.messages]
    parts = {
        "read": lambda: _read(library, names),
        "build": lambda: _build(library, history),
        "SQLite": lambda: _put(texts, library.store.layout.search.with_suffix(".floor")),
        "FTS5": lambda: _put(texts, library.store.layout.search.with_suffix(".floor"), keep=False),
    }
    runs = interleaved(parts, rounds=3, warm_up=0)
    cpu = {name: min(cpu for cpu, _ in costs) for name, costs in runs.items()}
    wall = {name: min(wall for _, wall in costs) for name, costs in runs.items()}
    size = library.store.layout.search.stat().st_size
    text = sum(len(each.encode()) for said in texts for each in said)
    print(f"{text:,} bytes of text, {size:,} of index")
    for name, what in (("read", "reading and parsing"), ("build", "reading and indexing")):
        print(f"{what}: {milliseconds(cpu[name])} CPU, {milliseconds(wall[name])} wall")
    floor = cpu["read"] + cpu["SQLite"]
    bare = cpu["read"] + cpu["FTS5"]
    print(
        f"bare inserts into FTS5: {milliseconds(cpu['FTS5'])} CPU, with reading "
        f"{bare / cpu['read']:.2f} times reading; keeping the texts, too: "
        f"{milliseconds(cpu['SQLite'])}, {floor / cpu['read']:.2f} times"
    )
    return [
        Outcome(SIZE, size / text),
        Outcome(BUILD, cpu["build"] / cpu["read"]),
        Outcome(ABOVE, cpu["build"] / floor),
    ]


def _put(
    texts: list[tuple[str, str, str]], path: Path, *, keep: bool = True
) -> tuple[float, float]:
    """Index the words of texts, and `keep` these in a table as the index does, since it is asked
    for parts of words and shows them: no index by FTS5 costs less than this."""
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA page_size = 16384")
        connection.execute("CREATE TABLE texts (number INTEGER PRIMARY KEY, said, aside, tools)")
        connection.execute(
            "CREATE VIRTUAL TABLE words USING "
            f"fts5 (said, aside, tools, content='', tokenize='{TOKENIZER}')"
        )
        connection.execute(f"INSERT INTO words (words, rank) VALUES ('hashsize', {2**24})")
        into = ("texts (number, said, aside, tools)",) if keep else ()

        def put() -> None:
            with connection:
                for table in (*into, "words (rowid, said, aside, tools)"):
                    rows = ((number, *said) for number, said in enumerate(texts))
                    connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", rows)

        cost = _cost(put)
    path.unlink()
    return cost


def _read(library: SessionLibrary, names: list[str]) -> tuple[float, float]:
    def read() -> None:
        for name in names:
            library.load(name)

    return _cost(read)


def _build(library: SessionLibrary, history: HistorySearch) -> tuple[float, float]:
    history.close()
    library.store.layout.search.unlink(missing_ok=True)
    return _cost(history.refresh)


def _cost(work: Callable[[], None]) -> tuple[float, float]:
    """CPU seconds of all threads, and seconds of the clock."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def _searching(home: Path, history: HistorySearch) -> list[Outcome]:
    queries = _queries()
    keys = [query[:end] for query in queries for end in range(1, len(query) + 1)]
    costs = [_cost_of_key(history, typed) for typed in keys]
    late = quantiles((cpu for cpu, _ in costs), n=20)[18]
    late_wall = quantiles((wall for _, wall in costs), n=20)[18]
    print(
        f"{len(keys):,} keys: median {milliseconds(median(cpu for cpu, _ in costs))}, "
        f"p95 {milliseconds(late)} CPU; p95 by the clock {milliseconds(late_wall)}"
    )
    ours = [_cost_of_key(history, f"{query} ")[0] for query in queries]
    theirs = [_cost_of_grep(home, query) for query in queries[:10]]
    print(
        f"a whole query: {milliseconds(median(ours))}; "
        f"{TOOL} for one of its words: {milliseconds(median(theirs))} CPU"
    )
    return [Outcome(TYPING, late / 0.05), Outcome(SCAN, median(ours) / median(theirs))]


def _meaning(history: HistorySearch) -> Outcome:
    """With a vector for everything that was said; which model made them makes no difference."""
    random = Random(13)
    vectors = [[random.gauss(0, 1) for _ in range(NUMBERS)] for _ in range(DIFFERENT)]
    missing = history.without_vectors("bench")
    for at in range(0, len(missing), BATCH):
        contents = history.pieces(missing[at : at + BATCH])
        history.add_vectors("bench", {each: [random.choice(vectors)] for each in contents})
    keys = [query[:end] for query in _queries() for end in range(1, len(query) + 1)]
    history.release()
    before = _memory()
    costs = [_cost_of_meaning(history, typed, random.choice(vectors)) for typed in keys]
    late = quantiles(costs, n=20)[18]
    print(
        f"{len(missing):,} vectors, words and meaning: median {milliseconds(median(costs))}, "
        f"p95 {milliseconds(late)} CPU; {_memory() - before:.0f} MB more, ",
        end="",
    )
    history.release()
    print(f"{_memory() - before:.0f} after it")
    return Outcome(MEANT, late / 0.05)


def _cost_of_meaning(history: HistorySearch, typed: str, vector: list[float]) -> float:
    cpu, query = time.thread_time(), parse_query(typed, typing=True)
    next(history.search(query, limit=SHOWN), None)
    next(history.search(query, limit=SHOWN, vector=vector), None)
    return time.thread_time() - cpu


def _memory() -> float:
    """Megabytes in use by this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def _queries() -> list[str]:
    """What somebody might look for: one to three words that stand together in the texts."""
    random, words = Random(11), re.findall(r"[A-Za-z]{3,}", library_text())
    starts = [random.randrange(len(words)) for _ in range(QUERIES)]
    return [" ".join(words[at : at + random.choice((1, 2, 3))]).lower() for at in starts]


def _cost_of_key(history: HistorySearch, typed: str) -> tuple[float, float]:
    cpu, wall = time.thread_time(), time.perf_counter()
    next(history.search(parse_query(typed, typing=True), limit=SHOWN), None)
    return time.thread_time() - cpu, time.perf_counter() - wall


def _cost_of_grep(home: Path, query: str) -> float:
    """CPU seconds for the longest word. Its output is read: unread, grep would stop early."""
    word = max(query.split(), key=len)
    options = ["-n", "-i", "-F"] + (["-r"] if TOOL == "grep" else ["-j", "1"])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [TOOL, *options, "--", word, str(home / "sessions")]
    subprocess.run(command, env=environment(home), capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _recording() -> Outcome:
    """Two stores side by side, one of them with an index that is fed."""
    with scratch_home() as plain, scratch_home() as fed, asyncio.Runner() as runner:
        recordings, recorders = dict[str, Recording](), dict[str, Recorder]()
        for name, home in (("plain", plain), ("fed", fed)):
            library = SessionLibrary.at(StoreLayout(home / "sessions"))
            recordings[name] = Recording(library.store, library.index)
            recorders[name] = runner.run(_begin(recordings[name]))
        history = HistorySearch(recordings["fed"].store, recordings["fed"].topic)
        subjects = {name: _record(runner, recorder) for name, recorder in recorders.items()}
        runs = interleaved(subjects, RECORDED, warm_up=20)
        for name, recorder in recorders.items():
            runner.run(recorder.close())
            runner.run(recordings[name].close())
        history.close()
    # One after the other: what else the disk has to do changes from second to second.
    pairs = zip(runs["fed"], runs["plain"], strict=True)
    ratio = median(with_feed / without for with_feed, without in pairs)
    print(f"recording: {milliseconds(median(runs['plain']))}, fed {ratio:.3f} times that")
    return Outcome(RECORD, ratio)


async def _begin(recording: Recording) -> Recorder:
    session = sample_session(0)
    recorder = recording.create(session)
    await recorder.record(Created(at=clock.now(), session=session))
    return recorder


def _record(runner: asyncio.Runner, recorder: Recorder) -> Callable[[], float]:
    messages = sample_messages()

    async def record() -> float:
        added = MessageAdded(at=clock.now(), message=next(messages))
        start = time.perf_counter()
        await recorder.record(added)
        return time.perf_counter() - start

    return lambda: runner.run(record())
