"""No control from outside reaches the terminal, by whatever way foreign text gets on the screen.

Everything is read from the terminal of the real command; what its own output may hold is known.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from msgspec.structs import replace

from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Reasoning,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.core.session.session import Session
from ollm_tui.services.sessions.prompt_memory import PromptMemory
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.cases import some
from tests.end_to_end.control_sequences import (
    CUT_OFF,
    SURROGATES,
    WHOLE,
    leaks,
    marked,
    split_everywhere,
    words,
)
from tests.end_to_end.terminal import Terminal
from tests.stand_ins.http_server import Handler, HttpServer, Reply, Request

ALL = (*WHOLE, *CUT_OFF)
LARGE = (300, 150)
"""So large that everything is on the screen at once."""
PAGE_OPEN, LIST_OPEN = "Ctrl+P commands", "Esc close"
F3, F7, F10, F12 = "\x1bOR", "\x1b[18~", "\x1b[21~", "\x1b[24~"
ID = "00000000-0000-4000-8000-000000000000"


def batches(size: int) -> list[str]:
    """All sequences as lines of a few each: a title or a name shows no more."""
    names = [f"w{number:03}{sequence}z" for number, sequence in enumerate(ALL)]
    return [" ".join(names[start : start + size]) for start in range(0, len(names), size)]


def leaked(terminal: Terminal) -> list[str]:
    """What got through, once all is drawn."""
    terminal.settle()
    return leaks(terminal.seen)


def test_the_list_is_long_enough() -> None:
    assert len(set(ALL)) >= 200
    assert sum(1 for _ in split_everywhere(ALL)) >= 1000


def test_an_answer_cut_anywhere(home: Path) -> None:
    config(home, {"loopDetection": {"enabled": False}})  # every text comes many times
    steps = [{"text": chunk} for pair in split_everywhere(ALL) for chunk in pair]
    with Terminal(home, [steps], size=LARGE) as terminal:
        terminal.wait_for("scripted")
        terminal.type("hello\r")
        terminal.wait_for("saved", *words(ALL))
        assert leaked(terminal) == []


@pytest.mark.more
def test_reasoning_cut_anywhere(home: Path) -> None:
    steps = [{"reasoning": chunk} for pair in split_everywhere(ALL) for chunk in pair]
    with Terminal(home, [[*steps, {"text": "Done."}]], size=LARGE) as terminal:
        terminal.wait_for("scripted")
        terminal.type("hello\r")
        terminal.wait_for("Done.", "saved")
        terminal.type("\x0f")
        terminal.wait_for(*words(ALL))
        assert leaked(terminal) == []


def test_tool_calls(home: Path) -> None:
    calls = [{"tool": name, "args": {name: name, "list": [name]}} for name in batches(12)]
    # A checkpoint that is there in time would be opened in their place.
    config(home, {"compression": {"enabled": False}})
    # Opened, they take more rows than the large terminal has.
    with Terminal(home, [[*calls, {"text": "Done."}]], size=(300, 300)) as terminal:
        terminal.wait_for("scripted")
        terminal.type("hello\r")
        terminal.wait_for("Done.", "saved")
        terminal.type("\x0f")
        terminal.wait_for("▾ w276", "list: ['w276")
        assert leaked(terminal) == []


# What was edited outside


def session_of(name: str, text: str) -> Session:
    """A session with a text in every place where there can be one."""
    said: tuple[Text | Reasoning, ...] = (Reasoning(text), Text(text))
    message = Message(
        f"m{text}",
        "assistant",
        (
            *said,
            ToolCallPart(f"c{text}", text, {text: text}),
            ToolResultPart(f"c{text}", text, text, is_error=True),
            Attachment(text, "text/plain", text, path=text),
            Retrieval(text, text),
        ),
        text,
        model=text,
        provider=text,
        status="failed",
        error=text,
    )
    return Session(
        name,
        start_time=text,
        last_activity="2026-01-01T00:00:00.000Z",
        model=text,
        provider=text,
        messages=(message,),
        head=message.id,
        title=text,
        project=text,
        tags=(text, text),
    )


def store(home: Path, *sessions: Session) -> None:
    """Put sessions into the store, then lone surrogates where the sign for them stands."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    for session in sessions:
        library.add(session)
    library.close()
    for file in (home / "sessions").glob("*.json"):
        file.write_text(file.read_text().replace("SURROGATE", "\\ud83d \\udfff"))


def test_a_session_file_in_every_field_of_it(home: Path) -> None:
    text = marked(ALL).replace("\n", "") + "SURROGATE"
    lists = [session_of(f"{number:08}{ID[8:]}", line) for number, line in enumerate(batches(3), 1)]
    lists = [replace(each, messages=(), head=None) for each in lists]
    store(home, replace(session_of(ID, text), last_activity="2026-02-01T00:00:00.000Z"), *lists)
    with Terminal(home, [], size=LARGE) as terminal:
        terminal.wait_for("scripted")
        terminal.type("\x02")
        terminal.wait_for("w276")
        terminal.type("\x1b\x13")
        terminal.wait_for("w276", "w000", LIST_OPEN)
        terminal.type("\x1b[B" * 4)
        terminal.settle()
        terminal.type("\x1b[A" * 4)
        terminal.settle()
        terminal.type("\r")
        terminal.wait_for("asks for", PAGE_OPEN)
        terminal.type("\x1b[1;3A\x0f")
        terminal.wait_for("from an earlier session")
        terminal.type("\x1b[17~")
        assert leaked(terminal) == []


@some(1, "kind", ("field", "side file", "older"))
def test_a_damaged_session(home: Path, kind: str) -> None:
    text = marked(ALL).replace("\n", "")
    store(home, session_of(ID, text))
    file = home / "sessions" / f"{ID}.json"
    tree = json.loads(file.read_bytes())
    if kind == "field":
        tree["messages"] = text
    elif kind == "side file":
        tree["messages"][0]["file"] = {"sha256": text, "size": 1}
    elif kind == "older":
        tree = {"sessionId": text, "messages": [{"role": text, "content": [text]}], "model": text}
    file.write_text(json.dumps(tree))
    with Terminal(home, [], "--resume", ID, size=LARGE) as terminal:
        terminal.wait_for("!" if kind != "older" else PAGE_OPEN)
        terminal.type("\x13")
        terminal.wait_for(LIST_OPEN)
        assert leaked(terminal) == []


# What servers say


@contextmanager
def served(handler: Handler) -> Generator[str]:
    """A server in a thread of its own; gives its address."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = HttpServer(handler)
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        yield server.url
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def config(home: Path, tree: object) -> None:
    """Settings in the user's file, with every control as an escape."""
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(yaml.safe_dump(tree))


@some(1, "kind", ("openai", "ollama"))
def test_a_server_in_its_models_errors_and_answers(home: Path, kind: str) -> None:
    names = ["plain", *batches(3)]
    answers = iter(
        [
            (500, json.dumps({"error": {"message": marked(ALL[:40])}})),
            (404, json.dumps({"error": marked(ALL[40:80])})),
            (429, marked(ALL[80:120])),
            (400, json.dumps({"detail": marked(CUT_OFF)})),
            (200, "data: " + json.dumps({"error": {"message": marked(ALL)}}) + "\n\n"),
            (200, json.dumps({"error": marked(ALL)}) + "\n"),
        ]
    )

    async def handle(request: Request, reply: Reply) -> None:
        if request.method == "GET":
            entries = [{"id": name, "name": name, "model": name} for name in names]
            await reply.json({"data": entries, "models": entries})
        elif "chat" in request.path:
            status, body = next(answers, (500, marked(SURROGATES)))
            await reply.whole(body.encode("utf-8", "replace"), status)
        else:
            await reply.json({"error": marked(ALL)}, 500)

    with served(handle) as url:
        path = "/v1" if kind == "openai" else ""
        evil = f"evil{marked(ALL[:30])}"
        kinds = {name: {"kind": kind, "baseUrl": url + path} for name in ("server", evil)}
        config(home, {"providers": kinds, "model": "plain"})
        with Terminal(home, size=LARGE) as terminal:
            terminal.wait_for("plain · server", PAGE_OPEN)
            for number in range(7):
                terminal.type(f"hello {number}\r")
                terminal.wait_for(f"hello {number}", PAGE_OPEN)
            terminal.type(F7)
            terminal.wait_for("Enter use", "server", "plain")
            terminal.type("\x1b[B\x1b[B")
            assert leaked(terminal) == []


def test_an_answer_of_a_server_with_halves_of_characters(home: Path) -> None:
    halves = r"\ud83d \ude00 \ud83d\ude00 \ud800x \udfff"
    texts = [f'{{"content": "{half}"}}' for half in halves.split(" ")]
    lines = [f'{{"message": {text}, "done": false}}\n' for text in texts]
    last = '{"message": {"content": " END"}, "done": true, "done_reason": "stop"}\n'

    async def handle(request: Request, reply: Reply) -> None:
        if "chat" not in request.path:
            await reply.json({"models": [{"name": "plain", "model": "plain"}]})
            return
        for line in (*lines, last):
            await reply.chunk(line.encode())
        await reply.end()

    with served(handle) as url:
        config(home, {"provider": "ollama", "model": "plain"})
        with Terminal(home, OLLAMA_HOST=url) as terminal:
            terminal.wait_for("plain", PAGE_OPEN)
            terminal.type("hello\r")
            terminal.wait_for("END")
            assert "😀" in terminal.screen()
            assert leaked(terminal) == []


# What was written before, and where


def test_pastes_prompts_drafts_and_the_place_of_an_export(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequences = [each for each in ALL if not each.endswith(("200~", "201~"))]
    project = home.parent / f"evil{''.join(WHOLE[:9])}".replace("/", "")
    project.mkdir()
    monkeypatch.chdir(project)
    memory = PromptMemory(home, project)
    memory.remember("before")
    memory.keep_draft(None, "draft")
    [history] = (home / "prompt-history").glob("*.jsonl")
    lines = [json.dumps({"text": line}) for line in batches(3)]
    history.write_text("\n".join(lines))
    draft = next(file for file in (home / "drafts").iterdir() if file.read_text() == "draft")
    draft.write_text(marked(ALL, "d").replace("\n", ""))
    with Terminal(home, [], size=LARGE) as terminal:
        terminal.wait_for("d255", PAGE_OPEN)
        terminal.type("\x03\x12")
        terminal.wait_for("w276", "Prompt history", LIST_OPEN)
        terminal.type("\x1b")
        terminal.wait_until_gone(LIST_OPEN)
        terminal.paste(marked(sequences, "p"))
        terminal.wait_for(max(words(sequences, "p")))
        terminal.type("\r")
        terminal.wait_for("┃ p000", PAGE_OPEN, "saved")
        terminal.type("/export\r")
        terminal.wait_for("Exported to")
        terminal.type("/export no/such/place.md\r")
        terminal.wait_for("Cannot write")
        terminal.type("/rename ")
        terminal.paste(marked(sequences, "p")[:3000])
        terminal.type("\r")
        terminal.type(F3)
        terminal.wait_for(LIST_OPEN)
        assert leaked(terminal) == []
        assert leaks(terminal.seen, ALL, "d") == []
        assert leaks(terminal.seen, sequences, "p") == []


def test_settings_and_their_warnings(home: Path) -> None:
    text, key = marked(ALL).replace("\n", ""), marked(ALL[::20]).replace("\n", "")
    tree = {
        "provider": batches(5)[0],
        "model": batches(5)[1],
        "ui": {"theme": text, key: text},
        "keymap": {key: text, "chat.stop": text},
        "sessions": {"maxSessions": text},
        "environment": {"denyPatterns": batches(5), "allowList": text},
        key: text,
    }
    config(home, tree)
    with Terminal(home, [], "--provider", "scripted", size=LARGE) as terminal:
        terminal.wait_for("! ", "w000", PAGE_OPEN)
        terminal.type(F10)
        terminal.wait_for("Settings", "model = ")
        terminal.type("/")
        terminal.wait_for("Type to find a setting")
        terminal.type("denyp")
        terminal.wait_for("denyPatterns = ")
        assert leaked(terminal) == []


def test_the_log_and_a_theme_that_is_not_there(home: Path) -> None:
    text = marked(ALL).replace("\n", "")
    (home / "logs").mkdir(parents=True)
    event = {"message": text, "level": text, "time": text, "error": text, text: text}
    (home / "logs" / "ollm.log").write_text(json.dumps(event) + "\n")
    with Terminal(home, [], size=LARGE) as terminal:
        terminal.wait_for("scripted", PAGE_OPEN)
        terminal.type(F12)
        terminal.wait_for("Log", "w000", LIST_OPEN)
        terminal.type("\x1b")
        terminal.wait_until_gone(LIST_OPEN)
        terminal.paste(f"/theme {marked(ALL[::20])}")
        terminal.type("\r")
        terminal.wait_for("Cannot read theme")
        assert leaked(terminal) == []


# Commands without the screen


@some(
    4,
    ("line", "shown"),
    (
        ("-p hello", "w000z"),
        ("--plain", "w000z"),
        ("sessions list", "w000z"),
        (f"sessions view {ID}", "w000z"),
        (f"sessions view {ID} --json", "w000"),
        (f"sessions export {ID} --format md", "w000z"),
        ("sessions view \x1b]0;T\x07", "ollm: "),
        ("sessions import \x1b]0;T\x07", "ollm: "),
        ("config check", "w000"),
        ("-p hello --provider \x1b]52;c;eA==\x07", "ollm: "),
    ),
)
def test_commands_that_print(home: Path, line: str, shown: str) -> None:
    text = marked(ALL).replace("\n", "")
    store(home, session_of(ID, text))
    if line.startswith("config"):
        config(home, {"model": text, "ui": {"theme": text}, "nothing": text})
    steps = [{"reasoning": text}, {"text": text}, {"tool": text, "args": {text: text}}]
    with Terminal(home, [steps], *line.split(" ")) as terminal:
        if line == "--plain":
            terminal.wait_for_output("> ")
            terminal.type("hello\r")
            terminal.wait_for_output("\r\n\r\n> ")
            terminal.type("\x04")
        terminal.ended()
        assert shown in terminal.seen
        assert leaks(terminal.seen.replace("\n", " ")) == []
