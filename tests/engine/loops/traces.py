"""Labelled turns the detector was built with: loops, and work that only looks like one."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User

TWELVE_LINES = "\n".join(f"src/upload.py:{n}: retry(n={n})" for n in range(10, 22))
FAILED = (
    "FAILED tests/test_up.py::test_retry - AssertionError: assert 3 == 4\n"
    "1 failed, 11 passed in {}s"
)


def pytest(seconds: str = "0.41", failed: str = FAILED) -> Do:
    """A run of the tests."""
    return Do("exec", {"code": "pytest -q"}, failed.format(seconds))


def edit(number: int) -> Do:
    """An edit that was not made before."""
    args = {"path": "src/upload.py", "old": f"n = {number}", "new": f"n = {number + 1}"}
    return Do("edit_file", args, "edited src/upload.py", True)


def page(first: int, last: int, path: str = "src/app.py") -> Do:
    """Lines of a file."""
    lines = "\n".join(f"{n}\t{path}_{n} = compute({n * 7})" for n in range(first, last))
    return Do("read_file", {"path": path, "offset": first, "limit": last - first}, lines)


def search(pattern: str, result: str = TWELVE_LINES) -> Do:
    """A search in all files."""
    return Do("search_text", {"pattern": pattern, "path": "src/"}, result)


def poll(result: str, job: str = "job-7") -> Do:
    """A look at a job."""
    return Do("getJobOutput", {"jobId": job}, result)


RUNNING = '{"status": "running", "stdout": "compiling"}'
ONTO = {"path": "cfg.toml", "old": "debug = false", "new": "debug = true"}
BACK = {"path": "cfg.toml", "old": "debug = true", "new": "debug = false"}

LOOPS: dict[str, list[Event]] = {
    "the same search three times": [search("retry")] * 3,
    "the same call without results": [Do("read_file", {"path": "a.py"})] * 3,
    "arguments in another order": [
        Do("exec", {"code": "ls", "cwd": "/x", "env": {"A": 1, "B": [1, 2]}}, "a\nb\nc"),
        Do("exec", {"env": {"B": [1, 2], "A": 1}, "cwd": "/x", "code": "ls"}, "a\nb\nc"),
        Do("exec", {"cwd": "/x", "env": {"A": 1.0, "B": [1, 2]}, "code": "ls"}, "a\nb\nc"),
    ],
    "tests without a change between": [pytest("0.41"), pytest("0.39"), pytest("1.2")],
    "a result with times and ids": [
        Do("http", {"url": "/health"}, f'{{"at": "2026-01-01T10:00:0{n}Z", "id": "a{n}f3c9d{n}"}}')
        for n in range(4)
    ],
    "a result with addresses": [
        Do("exec", {"code": "python x.py"}, f"<Thing object at 0x7f3a{n}c0d{n}> pid {400 + n}")
        for n in range(3)
    ],
    "the same error": [
        Do("edit_file", {"path": "a", "old": "x", "new": "y"}, "no such text", None, True)
    ]
    * 3,
    "an error for ever other attempts": [
        Do(
            "edit_file",
            {"path": "a", "old": f"  x{' ' * n}", "new": "y"},
            "old not found",
            None,
            True,
        )
        for n in range(6)
    ],
    "searches that differ and find the same": [
        search("retry"),
        search("retry("),
        search("retry.*"),
    ],
    "the search says nothing every time": [
        search(word, "No matches found")
        for word in ("retry", "Retry", "re_try", "retries", "retrying", "RETRY")
    ],
    "two calls in turn": [
        Do("read_file", {"path": "a.py"}, "x = 1\ny = 2\nz = 3"),
        search("x"),
    ]
    * 3,
    "two calls in turn without results": [Do("a", {"x": 1}), Do("b", {})] * 3,
    "three calls in turn": [
        Do("ls", {}, "a b"),
        Do("read_file", {"path": "a"}, "text of a\nmore\nend"),
        Do("git", {"args": ["status"]}, "clean"),
    ]
    * 3,
    "five calls in turn": [Do("t", {"n": n}, f"answer {n}") for n in range(5)] * 3,
    "to and fro": [
        Do("edit_file", ONTO, "edited", True),
        Do("edit_file", BACK, "edited", True),
    ]
    * 3,
    "to and fro with tests": [
        Do("edit_file", ONTO, "edited", True),
        pytest("0.1"),
        Do("edit_file", BACK, "edited", True),
        pytest("0.2", "2 failed: test_a, test_b in {}s"),
    ]
    * 3,
    "overlapping pages": [page(1, 101), page(5, 101), page(1, 90), page(10, 105), page(2, 100)],
    "a finished job is asked again": [poll('{"status": "completed", "exitCode": 0}')] * 3,
    "a job that never ends": [poll(RUNNING)] * 31,
    "no order but nothing new": [
        Do("t", {"n": n}, f"answer number {n}")
        for n in (1, 2, 3, 1, 1, 2, 3, 2, 2, 1, 3, 3, 1, 2, 1, 3, 2, 2, 1, 1, 3)
    ],
    "the same reply": [Say("I will now look at the configuration.")] * 3,
    "almost the same reply": [
        Say("I'll run the tests again to see whether the problem is still there."),
        Say("I will run the tests again to see whether the problem is still there."),
        Say("I'll run the tests again, to see whether that problem is still there."),
    ],
    "attempts that are counted": [
        Say(f"Attempt {n}: the build is still failing, I will try the same again.")
        for n in (1, 2, 3)
    ],
    "two replies in turn": [Say("Let me check the config."), Say("Now on to the tests, then.")] * 3,
    "the same words around the same call": [Say("Let me look."), Do("ls", {}, "a\nb\nc")] * 3,
    "more often than asked": [User("Run it 4 times"), *[pytest()] * 5],
    "a sentence for ever": [Stream("I need to fix this first. " * 40)],
    "a line for ever": [Stream("Let me check the file again\n" * 30)],
    "words without end": [Stream("and then the " * 60)],
    "a paragraph again and again": [
        Stream(
            (
                "The uploader retries without bound. We should add a cap to it. "
                "After that the tests have to be run, and the change be committed.\n\n"
            )
            * 8
        )
    ],
    "the same words and code again": [
        Stream("That did not work, so I try it again:\n```py\nx = f(1)\n```\n" * 12)
    ],
    "five hundred rounds and more": [Do("t", {"n": n}, f"answer {n * 31}") for n in range(501)],
}

WORK: dict[str, list[Event]] = {
    "reading on": [page(n, n + 100) for n in range(1, 1500, 100)],
    "reading on with some overlap": [page(n, n + 100) for n in range(1, 1000, 50)],
    "reading on in the shell": [
        Do(
            "exec",
            {"code": f"sed -n '{n},{n + 50}p' big.log"},
            "\n".join(f"2026-01-01 10:00:00 request {k} served" for k in range(n, n + 50)),
        )
        for n in range(1, 600, 50)
    ],
    "test and fix": [
        event for n in range(8) for event in (pytest(f"0.{n + 1}"), edit(n), Say("Trying again."))
    ],
    "many files edited": [
        Do("edit_file", {"path": f"src/m{n}.py", "old": "a", "new": "b"}, "ok", True)
        for n in range(30)
    ],
    "many files checked": [
        Do("exec", {"code": f"ruff check src/m{n}.py"}, "All checks passed!") for n in range(20)
    ],
    "many files formatted": [
        Do("exec", {"code": f"black m{n}.py"}, "All done! ✨ 🍰 ✨\n1 file left unchanged.")
        for n in range(12)
    ],
    "many files read": [
        Do("read_file", {"path": f"src/m{n}.py"}, f"import os\n\n\ndef run_{n}():\n    pass\n")
        for n in range(20)
    ],
    "progress of a job": [poll(f'{{"status": "running", "done": {n}}}') for n in range(20)],
    "waiting for a job": [*[poll(RUNNING)] * 30, poll('{"status": "completed", "exitCode": 0}')],
    "waiting with pauses": [
        *[Do("exec", {"code": "sleep 5"}, ""), Do("exec", {"code": "curl :80"}, "refused")] * 12,
        Do("exec", {"code": "curl :80"}, "hello"),
    ],
    "trying again later and later": [
        *[
            Do("exec", {"code": f"sleep {2**n} && curl -sS :8000"}, "curl: (7) connection refused")
            for n in range(7)
        ],
        Do("exec", {"code": "sleep 128 && curl -sS :8000"}, "ok"),
    ],
    "twice the same and then another": [
        search("retry"),
        search("retry"),
        search("backoff", "a:1: x"),
    ],
    "the same call with new results": [
        Do("git", {"args": ["log", "-1"]}, f"fix number {n}: part {n} of the work")
        for n in range(9)
    ],
    "a counter that counts": [Do("next", {}, f"item {n} of 40") for n in range(40)],
    "as often as asked": [
        User("Please run the tests 6 times"),
        *[pytest(f"{n}.1") for n in range(6)],
    ],
    "as often as asked in words": [
        User("Call the endpoint ten times and tell me what you see"),
        *[Do("http", {"url": "/x"}, "pong")] * 10,
    ],
    "written as often as asked": [
        User("Write the sentence 'I shall not copy.' 40 times"),
        Stream("I shall not copy my homework. " * 40),
    ],
    "asked again by the user": [
        User("status?"),
        pytest(),
        User("and now?"),
        pytest(),
        User("?"),
        pytest(),
    ],
    "ports are looked at": [Do("port", {"n": n}, "closed") for n in range(8000, 8030)],
    "short notes between steps": [
        event for n in range(12) for event in (Say("Next file."), page(1, 50, f"src/f{n}.py"))
    ],
    "narrowing a search": [
        search("retry", TWELVE_LINES),
        search("retry(n", "\n".join(TWELVE_LINES.splitlines()[:6])),
        search("def retry", "src/upload.py:9: def retry(n):"),
        page(1, 60, "src/upload.py"),
    ],
    "editing and looking": [event for n in range(6) for event in (edit(n), page(1, 80))],
    "steps that are counted": [Say(f"Step {n} of 9 is done.") for n in range(1, 10)],
    "one report after another": [
        Say(f"`src/mod_{c}.py` is fine, nothing to do.") for c in "abcdef"
    ],
    "a table": [
        Stream("| a | b |\n|---|---|\n" + "".join(f"| a{n} | none |\n" for n in range(60)))
    ],
    "a list": [
        Stream("Here it is:\n" + "".join(f"- part {n}: not tested yet\n" for n in range(60)))
    ],
    "code": [
        Stream(
            "So:\n```c\n" + "".join(f"    x = x + {n};\n" for n in range(60)) + "```\nThat is all."
        )
    ],
    "counting": [Stream(", ".join(str(n) for n in range(1, 400)))],
    "a song": [
        Stream(
            "\n\n".join(
                f"Verse {n}: the ship goes on from port number {n}.\nRow the boat, my brothers.\n"
                for n in range(12)
            )
        )
    ],
    "code after code": [
        Stream("".join(f"And the next one:\n```py\nx = {n}\n```\n" for n in range(20)))
    ],
    "a ruler": [Stream("Title\n" + "=" * 200 + "\nText follows here.\n" + "-" * 120)],
    "no words between calls": [
        event for n in range(9) for event in (Say(""), Do("t", {"n": n}, f"result {n}"))
    ],
    "written files": [
        Do("write_file", {"path": f"a{n}.txt", "content": "x"}, "File written successfully")
        for n in range(10)
    ],
    "deep work": [
        event
        for n in range(7)
        for event in (
            search(f"name_{n}", f"src/a.py:{n}: name_{n}"),
            page(n * 40, n * 40 + 40),
            edit(n),
            pytest(f"0.{n + 1}"),
        )
    ],
}

TRACES = [
    *(Trace(name, True, events) for name, events in LOOPS.items()),
    *(Trace(name, False, events) for name, events in WORK.items()),
]
