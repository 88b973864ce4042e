"""Finding the answers of questions: a set of messages and questions, with and without a model.

question_set/README.md tells how another set is asked.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

import msgspec

from bench.measure import Outcome, Promise
from bench.scratch_home import REPOSITORY
from bench.search_samples import library_text
from ollm_tui.core import clock
from ollm_tui.core.search import Hit
from ollm_tui.core.session.message import Message, Role, Text
from ollm_tui.core.session.session import Session, new_session_id
from ollm_tui.engine.project.search_model import SearchModel
from ollm_tui.providers.embedded import Embedded
from ollm_tui.services.search.passages import asked_text, means_something
from ollm_tui.services.search.query import parse_query
from ollm_tui.services.search.searching import HistorySearch
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout

T = TypeVar("T")

SETS = Path(__file__).parent / "question_set"
MODELS = REPOSITORY / ".cache" / "models"
MESSAGES, PER_SESSION = 5_000, 50
AMONG = 10
EXACT = 200
ALL = Promise("questions not answered in the first ten, with minilm", "a fifth of them", 1)
STEM = Promise("questions that share a stem, not answered without a model", "a tenth of them", 1)
FIRST = Promise("exact words that do not come first", "none of them", 0)
PROMISES = (ALL, STEM, FIRST)


class Said(msgspec.Struct):
    """A message of a set."""

    id: str
    text: str
    role: Role = "user"


class Asked(msgspec.Struct):
    """A question of a set, and the messages that answer it."""

    question: str
    answer: str | list[str]
    kind: str = "meaning"

    @property
    def answers(self) -> list[str]:
        """The ids of the messages that answer it."""
        return [self.answer] if isinstance(self.answer, str) else self.answer


class Found(NamedTuple):
    """Which questions were answered, by kind."""

    kind: str
    first: bool
    among: bool


def main() -> list[Outcome]:
    """Ask every question twice, and look for exact words."""
    folder = Path(os.environ.get("OLLM_QUESTIONS", SETS))
    said = _read(folder / "messages.jsonl", Said)
    asked = _read(folder / "questions.jsonl", Asked)
    home = _home(folder, said)
    history = HistorySearch(SessionLibrary.at(StoreLayout(home / "sessions")).store)
    history.refresh()
    plain = [_found(each, _hits(history, each.question)) for each in asked]
    _tell("without a model", plain)
    with asyncio.Runner() as runner:
        meant = runner.run(_with_model(history, asked))
    _tell("with minilm", meant)
    missed = _not_first(history, said)
    history.close()
    stem = [each.among for each in plain if each.kind == "stem"]
    return [
        Outcome(ALL, (1 - _share([each.among for each in meant])) / 0.2),
        Outcome(STEM, (1 - _share(stem)) / 0.1),
        Outcome(FIRST, missed),
    ]


async def _with_model(history: HistorySearch, asked: Sequence[Asked]) -> list[Found]:
    provider = Embedded(models_dir=MODELS)
    async for _ in provider.pull("minilm"):
        pass
    model = SearchModel(provider, "embedded/minilm", "minilm")
    missing = history.without_vectors(model.name)
    for at in range(0, len(missing), 64):
        pieces = history.pieces(missing[at : at + 64])
        made = {content: await model.embed(texts) for content, texts in pieces.items()}
        if made:
            history.add_vectors(model.name, made)
    found: list[Found] = []
    for each in asked:
        text = asked_text(parse_query(each.question))
        vector = (await model.embed([text]))[0] if means_something(text) else ()
        hits = _hits(history, each.question, vector)
        found.append(_found(each, hits))
        if not found[-1].among and os.environ.get("OLLM_MISSED"):
            print(f"missed ({each.kind}): {each.question}")
    await provider.close()
    return found


def _hits(history: HistorySearch, question: str, vector: Sequence[float] = ()) -> list[Hit]:
    *_, results = history.search(parse_query(question), limit=50, vector=vector)
    return list(results.ranked)


def _found(asked: Asked, hits: Sequence[Hit]) -> Found:
    ids = [{hit.message_id, *(place.message_id for place in hit.places)} for hit in hits]
    answered = [not each.isdisjoint(asked.answers) for each in ids]
    return Found(asked.kind, any(answered[:1]), any(answered[:AMONG]))


def _not_first(history: HistorySearch, said: Sequence[Said]) -> int:
    """Look for three words that stand together in a message: what has them must come first."""
    random, missed = Random(5), 0
    for _ in range(EXACT):
        parts = re.findall(r"[^\W_]+", random.choice(said).text)
        words = [part for part in parts if len(part) >= 4 and part.isascii() and part.isalpha()]
        if len(words) < 3:
            continue
        at = random.randrange(len(words) - 2)
        wanted = [word.lower() for word in words[at : at + 3]]
        hits = _hits(history, " ".join(wanted))
        best = hits[0].snippet.text.lower() if hits else ""
        whole = {each.lower() for each in re.findall(r"[^\W_]+", best)}
        missed += not whole.issuperset(wanted) and hits[0].covered < 1 if hits else 1
    return missed


def _tell(how: str, found: Sequence[Found]) -> None:
    for kind in ("all", *sorted({each.kind for each in found})):
        some = [each for each in found if kind in ("all", each.kind)]
        first, among = _share([each.first for each in some]), _share([each.among for each in some])
        print(f"{how}, {kind}: {len(some)} questions, first {first:.2f}, among ten {among:.2f}")


def _share(answers: Sequence[bool]) -> float:
    return sum(answers) / len(answers) if answers else 1.0


def _read(path: Path, kind: type[T]) -> list[T]:
    return [msgspec.json.decode(line, type=kind) for line in path.read_bytes().splitlines() if line]


def _home(folder: Path, said: list[Said]) -> Path:
    """A store with these messages, made once for a set."""
    digest = hashlib.sha256((folder / "messages.jsonl").read_bytes()).hexdigest()[:12]
    home = REPOSITORY / ".cache" / f"questions-{digest}"
    if home.exists():
        return home
    messages = [*said, *_filling(MESSAGES - len(said))]
    Random(3).shuffle(messages)
    begin = datetime(2025, 1, 1, tzinfo=UTC)
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    for at in range(0, len(messages), PER_SESSION):
        library.add(_session(messages[at : at + PER_SESSION], begin + timedelta(hours=at)))
    library.close()
    return home


def _session(said: Sequence[Said], begin: datetime) -> Session:
    moments = [clock.iso(begin + timedelta(minutes=number)) for number in range(len(said))]
    parents = (None, *(each.id for each in said))
    messages = tuple(
        Message(each.id, each.role, (Text(each.text),), moment, parent_id=parent)
        for each, moment, parent in zip(said, moments, parents, strict=False)
    )
    return Session(
        session_id=new_session_id(),
        start_time=moments[0],
        last_activity=moments[-1],
        model="none",
        provider="none",
        messages=messages,
        head=messages[-1].id,
    )


def _filling(count: int) -> list[Said]:
    """Paragraphs of documentation, each once."""
    found = re.findall(r'"""([A-Z][^"]{40,600}?)"""', library_text())
    texts = list(dict.fromkeys(" ".join(each.split()) for each in found))
    Random(4).shuffle(texts)
    roles: tuple[Role, Role] = ("user", "assistant")
    chosen = enumerate(texts[: max(0, count)])
    return [Said(f"f{number}", text, roles[number % 2]) for number, text in chosen]
