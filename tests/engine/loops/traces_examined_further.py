"""More turns of both kinds, written after the first look at the detector: what it might mistake."""

from __future__ import annotations

from random import Random

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User

ASK = User("Please mend it.")
WORDS = "amber basil cedar daisy elder fern grape hazel iris juniper".split()
LISTING = "\n".join(f"src/{word}.py" for word in WORDS)


def _shuffled(text: str, seed: int) -> str:
    lines = text.split("\n")
    Random(seed).shuffle(lines)
    return "\n".join(lines)


LOOPS: dict[str, list[Event]] = {
    "shuffled listing": [
        ASK,
        *[Do("exec", {"code": "find ."}, _shuffled(LISTING, k)) for k in range(5)],
    ],
    "40 polls": [
        ASK,
        *[Do("jobs", {"action": "wait", "job": "1"}, "job 1 is running", False)] * 40,
    ],
    "guessed paths, error names them": [
        ASK,
        *[
            Do(
                "read_file",
                {"path": f"src/{w}/main.py"},
                f"Error: src/{w}/main.py does not exist",
                False,
                True,
            )
            for w in WORDS
        ],
    ],
    "guessed commands not found": [
        ASK,
        *[
            Do("exec", {"code": f"{w} --version"}, f"bash: {w}: command not found", False, True)
            for w in WORDS
        ],
    ],
    "guessed modules": [
        ASK,
        *[
            Do(
                "exec",
                {"code": f"python -c 'import {w}'"},
                f"ModuleNotFoundError: No module named '{w}'",
                False,
                True,
            )
            for w in WORDS
        ],
    ],
    "description varies, slight": [
        ASK,
        *[
            Do(
                "exec",
                {"code": "make", "description": f"{w} the project"},
                "make: Nothing to be done for 'all'.",
                False,
            )
            for w in WORDS[:6]
        ],
    ],
    "edit fails naming file": [
        ASK,
        *[
            Do(
                "edit_file",
                {"path": "a.py", "old": w, "new": "x"},
                f"old text '{w}' not found in a.py",
                False,
                True,
            )
            for w in WORDS[:7]
        ],
    ],
    "flip flop without changed": [
        ASK,
        *[
            Do("edit_file", {"path": "a", "old": o, "new": n}, "ok")
            for o, n in [("1", "2"), ("2", "1")] * 4
        ],
    ],
    "replies in turn": [
        ASK,
        *[Say(t) for t in ["I will read the file now.", "I will run the tests now."] * 4],
    ],
    "replies with ordinals": [
        ASK,
        *[
            Say(
                f"This is my {n}th attempt to fix the build; I change the import and run the tests."
            )
            for n in range(4, 9)
        ],
    ],
    "very very": [ASK, Stream("It is " + "very " * 60 + "good.")],
    "chant blank lines": [ASK, Stream("I see.\n\nLet me check.\n\n" * 40)],
    "chant numbering": [ASK, Stream("I should stop now. But first one more thing. " * 30)],
    "emoji": [ASK, Stream("Great! " + "🚀" * 1500)],
    "no-op write alternate read": [
        ASK,
        *[
            Do("write_file", {"path": "a", "content": "x"}, "written", True),
            Do("read_file", {"path": "a"}, "x"),
        ]
        * 5,
    ],
    "six-cycle": [
        ASK,
        *[Do("read_file", {"path": w}, f"text of {w} is here") for w in WORDS[:6]] * 4,
    ],
    "seven cycle": [
        ASK,
        *[Do("search_text", {"pattern": w}, f"{w}.py:1: {w}") for w in WORDS[:7]] * 4,
    ],
    "cycle with one varying": [
        ASK,
        *[
            e
            for k in range(8)
            for e in (
                Do("exec", {"code": "pytest"}, "FAILED a - assert 1\n1 failed", False),
                Do("read_file", {"path": "a.py", "start": k}, "def f(): pass\nx=1\ny=2\nz=3"),
            )
        ],
    ],
    "json error ids": [
        ASK,
        *[
            Do(
                "api",
                {"q": 1},
                f'{{"error":"bad token","trace":"{k * 987654321987 + 11:032x}",'
                f'"ts":{1731600000 + k * 7}}}',
            )
            for k in range(5)
        ],
    ],
    "date lines": [
        ASK,
        *[
            Do(
                "exec",
                {"code": "systemctl status web"},
                f"web.service: failed since Mon 2026-11-16 10:0{k}:12 UTC; {k}min ago",
                False,
            )
            for k in range(5)
        ],
    ],
    "tmp names": [
        ASK,
        *[
            Do(
                "exec",
                {"code": f"cat /tmp/out{k}.txt"},
                "cat: cannot open file: permission denied",
                False,
            )
            for k in range(7)
        ],
    ],
    "memory addr": [
        ASK,
        *[
            Do("exec", {"code": "py"}, f"<Foo object at 0x7f{k}8a9b{k}cd0> is not callable", False)
            for k in range(5)
        ],
    ],
    "counter output": [
        ASK,
        *[
            Do("exec", {"code": "curl x"}, f"HTTP 401 unauthorized (request {1000 + k})", False)
            for k in range(6)
        ],
    ],
    "reverted by git": [
        ASK,
        *[
            e
            for _ in range(5)
            for e in (
                Do("edit_file", {"path": "a", "old": "x", "new": "y"}, "1 replacement", True),
                Do("git", {"args": ["checkout", "a"]}, "Updated 1 path from the index", True),
            )
        ],
    ],
    "chant list in prose": [ASK, Stream("The options are red, green, blue, " * 50)],
    "chant q": [ASK, Stream("Is it? " * 100)],
    "slow same failure, two files": [
        ASK,
        *[
            e
            for k in range(14)
            for e in (
                Do(
                    "edit_file",
                    {"path": "ab"[k % 2] + ".py", "old": f"{k}", "new": f"{k + 1}"},
                    "1 replacement",
                    True,
                ),
                Do("exec", {"code": "npm test"}, "TypeError: x is undefined\n1 failing", False),
            )
        ],
    ],
}

WORK: dict[str, list[Event]] = {
    "csv": [
        ASK,
        Stream("".join(f"user{n},active,unknown,none,nothing here\n" for n in range(1, 60))),
    ],
    "sql unfenced": [
        ASK,
        Stream(
            "".join(
                f"INSERT INTO people (id, name) VALUES ({n}, 'nobody');\n" for n in range(1, 60)
            )
        ),
    ],
    "rows": [ASK, Stream("".join(f"Row {n}: nothing to report today\n" for n in range(1, 60)))],
    "batch with errors": [
        ASK,
        *[
            Do(
                "exec",
                {"code": f"rm {w}.o"},
                f"rm: cannot remove '{w}.o': No such file or directory",
                False,
                True,
            )
            for w in WORDS[:4]
        ],
    ],
    "batch lint errors": [
        ASK,
        *[
            Do(
                "exec",
                {"code": f"ruff check {w}.py"},
                f"{w}.py:{n}:1: F401 {w} imported but unused\nFound 1 error.",
                False,
                True,
            )
            for n, w in enumerate(WORDS)
        ],
    ],
    "chorus": [
        ASK,
        Stream(
            "".join(
                f"{w.title()} days and {w} nights,\nNever will come back.\n\nOh sing it "
                f"loud, oh sing it low,\nOh sing it as the rivers flow,\nOh sing it in the "
                f"rain and snow,\nOh sing it, let it go.\n\n"
                for w in WORDS[:6]
            )
        ),
    ],
    "let it be": [
        ASK,
        Stream(
            "Let it be, let it be, let it be, let it be.\nWhisper words of wisdom, let it "
            "be.\n\nAnd then the second verse comes round.\n"
        ),
    ],
    "pages w overlap": [
        ASK,
        *[
            Do(
                "read_file",
                {"path": "a", "start": n},
                "\n".join(f"{k}: v{k * k}" for k in range(n, n + 40)),
            )
            for n in range(0, 300, 25)
        ],
    ],
    "ci": [ASK, *[Do("exec", {"code": "gh run view 1"}, "status: in_progress", False)] * 20],
    "edit+same success": [
        ASK,
        *[
            e
            for w in WORDS
            for e in (
                Do("edit_file", {"path": f"{w}.py", "old": "a", "new": "b"}, "1 replacement", True),
                Do("exec", {"code": "pytest -q"}, "12 passed in 0.3s", False),
            )
        ],
    ],
    "edit+same failure, many files": [
        ASK,
        *[
            e
            for w in WORDS + [x + "2" for x in WORDS]
            for e in (
                Do("edit_file", {"path": f"{w}.py", "old": "a", "new": "b"}, "1 replacement", True),
                Do("exec", {"code": "mypy ."}, "error: import cycle\nFound 1 error", False),
            )
        ],
    ],
    "edit+same success one file": [
        ASK,
        *[
            e
            for k in range(20)
            for e in (
                Do(
                    "edit_file",
                    {"path": "a.py", "old": f"{k}", "new": f"{k + 1}"},
                    "1 replacement",
                    True,
                ),
                Do("exec", {"code": "pytest -q"}, "12 passed in 0.3s", False),
            )
        ],
    ],
    "tasks": [
        ASK,
        *[Do("tasks", {"action": "done", "step": f"{n}"}, "done", True) for n in range(1, 9)],
    ],
    "tasks list between": [
        ASK,
        *[
            e
            for n in range(6)
            for e in (
                Do("edit_file", {"path": f"{n}", "old": "a", "new": "b"}, "1 replacement", True),
                Do("tasks", {"action": "list"}, "1. mend (open)\n2. test (open)"),
            )
        ],
    ],
    "conj": [
        ASK,
        Stream(
            "I go, you go, he goes. I went, you went, he went. I have gone, you have gone, "
            "he has gone. I will go, you will go, he will go."
        ),
    ],
    "fib": [ASK, Stream(" ".join(f"F({n}) is {n * n + 1}." for n in range(1, 40)))],
    "bottles": [
        ASK,
        Stream(
            "".join(
                f"{n} green bottles hanging on the wall,\n{n} green bottles hanging on the "
                f"wall,\nAnd if one green bottle should accidentally fall,\nThere'd be "
                f"{n - 1} green bottles hanging on the wall.\n\n"
                for n in range(10, 0, -1)
            )
        ),
    ],
    "days of christmas": [
        ASK,
        Stream(
            "".join(
                f"On day {n} of the feast my true love gave to me: {', '.join(WORDS[:n])} "
                f"and a partridge in a pear tree.\n"
                for n in range(1, 11)
            )
        ),
    ],
    "search none x4": [
        ASK,
        *[Do("search_text", {"pattern": w}, "No matches found.") for w in WORDS[:4]],
    ],
    "try then works": [
        ASK,
        *[
            Do(
                "exec",
                {"code": f"pip install {w}"},
                "ERROR: No matching distribution found",
                False,
                True,
            )
            for w in WORDS[:3]
        ],
        Do("exec", {"code": "pip install x"}, "Successfully installed x", True),
    ],
    "tests one by one failing": [
        ASK,
        *[
            Do(
                "exec",
                {"code": f"pytest tests/test_{w}.py"},
                f"FAILED tests/test_{w}.py::test_a - assert\n1 failed",
                False,
            )
            for w in WORDS
        ],
    ],
    "yaml": [
        ASK,
        Stream(
            "services:\n"
            + "".join(
                f"  {w}:\n    image: base\n    restart: always\n    network: none\n" for w in WORDS
            )
        ),
    ],
    "hex dump": [
        ASK,
        Stream(
            "".join(
                f"{n * 16:08x}  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  "
                f"|................|\n"
                for n in range(60)
            )
        ),
    ],
    "dialog": [
        ASK,
        Stream('"Why?" asked the child. "Because," said the father. ' * 4 + "And they went home."),
    ],
    "mantra": [ASK, Stream("Repeat after me: I am calm. I am calm. I am calm. Now breathe.")],
    "morse": [ASK, Stream("... --- ... " * 10)],
}

TRACES = [
    *(Trace(name, True, events) for name, events in LOOPS.items()),
    *(Trace(name, False, events) for name, events in WORK.items()),
]
