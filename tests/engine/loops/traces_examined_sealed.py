"""A third of the second set, measured once after the rules stood: the honest figure."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User

ASK = User("Upgrade the service to the new version and make all tests pass.")
TRACEBACK = """Traceback (most recent call last):
  File "app.py", line 14, in <module>
    main()
ModuleNotFoundError: No module named 'yaml'"""
WORDS = "amber basil cedar daisy elder fern grape hazel iris juniper".split()


def _loop(name: str, *events: Event) -> Trace:
    return Trace(name, True, [ASK, *events])


def _work(name: str, *events: Event) -> Trace:
    return Trace(name, False, [ASK, *events])


def _edit(path: str, old: str, new: str) -> Do:
    return Do("edit_file", {"path": path, "old": old, "new": new}, "1 replacement", True)


LOOPS = [
    _loop(
        "a program started again and again",
        *[Do("exec", {"code": "python app.py"}, TRACEBACK, False)] * 4,
    ),
    _loop(
        "a status asked again and again",
        *[Do("git", {"args": ["status"]}, "nothing to commit, working tree clean")] * 5,
    ),
    _loop(
        "a file that is not there",
        *[Do("read_file", {"path": "conf/app.toml"}, "not found: conf/app.toml", False, True)] * 5,
    ),
    _loop("the same diff", *[Do("git", {"args": ["diff"]}, "-a = 1\n+a = 2\n context line")] * 4),
    _loop(
        "a run with another date each time",
        *[
            Do(
                "exec",
                {"code": "./deploy"},
                f"2026-11-{10 + n}T08:1{n}:00Z FATAL no credentials",
                False,
            )
            for n in range(5)
        ],
    ),
    _loop(
        "a run with another temporary path each time",
        *[
            Do(
                "exec",
                {"code": "./build"},
                f"error: cannot write /tmp/build-a{n}x{n * 3}f9/out.o: disk full",
                False,
            )
            for n in range(5)
        ],
    ),
    _loop(
        "a run with another duration each time",
        *[
            Do(
                "exec",
                {"code": "cargo test"},
                f"test a::b ... FAILED\nfinished in {1.01 + n / 9:.2f}s",
                False,
            )
            for n in range(5)
        ],
    ),
    _loop(
        "a container that fails under another id",
        *[
            Do(
                "exec",
                {"code": "docker run web"},
                f"{n * 999331 + 7:012x}\nexited with code 137",
                False,
            )
            for n in range(6)
        ],
    ),
    _loop(
        "a note written twice over",
        *[Do("write_file", {"path": "NOTES.md", "content": "# Notes\n"}, "written", True)] * 6,
    ),
    _loop(
        "guessing a host name",
        *[
            Do(
                "exec",
                {"code": f"ping -c1 {w}.local"},
                "ping: Temporary failure in name resolution",
                False,
            )
            for w in WORDS[:7]
        ],
    ),
    _loop(
        "guessing a flag",
        *[
            Do(
                "exec",
                {"code": f"tool --{w}"},
                "error: unknown option; run tool --help for the list",
                False,
                True,
            )
            for w in WORDS[:7]
        ],
    ),
    _loop(
        "a patch that never applies",
        *[
            Do(
                "edit_file",
                {"path": "app.py", "old": f"{w}()", "new": "run()"},
                "error: the old text was not found in app.py",
                False,
                True,
            )
            for w in WORDS[:6]
        ],
    ),
    _loop(
        "reading on at the end of a file",
        *[
            Do(
                "read_file",
                {"path": "a.txt", "start": 500 + 50 * n},
                "the file has only 480 lines",
                False,
            )
            for n in range(6)
        ],
    ),
    _loop(
        "two greps in turn",
        *[
            Do("exec", {"code": "grep -rn Foo ."}, "a.py:1: Foo"),
            Do("exec", {"code": "grep -rn Bar ."}, "b.py:1: Bar"),
        ]
        * 4,
    ),
    _loop(
        "status and diff in turn",
        *[Do("git", {"args": ["status"]}, "modified: a.py"), Do("git", {"args": ["diff"]}, "+x")]
        * 4,
    ),
    _loop(
        "plan, list, read, and all over",
        *[
            Do("tasks", {"action": "list"}, "1. upgrade (open)"),
            Do("exec", {"code": "ls src"}, "a.py b.py"),
            Do("read_file", {"path": "src/a.py"}, "print(1)"),
        ]
        * 4,
    ),
    _loop(
        "install and run in turn, always refused",
        *[
            Do("exec", {"code": "pip install yaml"}, "ERROR: no matching distribution", False),
            Do("exec", {"code": "python app.py"}, TRACEBACK, False),
        ]
        * 4,
    ),
    _loop(
        "a version up and down",
        *[
            event
            for old, new in [("1.0", "2.0"), ("2.0", "1.0")] * 4
            for event in (
                _edit("deps.txt", f"lib=={old}", f"lib=={new}"),
                Do("exec", {"code": "pip check"}, f"conflict with lib {new}", False),
            )
        ],
    ),
    _loop(
        "a comment on and off",
        *[
            step
            for _ in range(4)
            for step in (_edit("a.py", "call()", "# call()"), _edit("a.py", "# call()", "call()"))
        ],
    ),
    _loop(
        "a service stopped and started",
        *[
            Do("exec", {"code": "svc stop web"}, "stopped", True),
            Do("exec", {"code": "svc start web"}, "started", True),
        ]
        * 5,
    ),
    _loop(
        "the same promise",
        *[
            Say(
                "I have now updated the configuration. Let me verify that everything "
                "works as expected."
            )
        ]
        * 4,
    ),
    _loop(
        "the same promise with another number",
        *[
            Say(f"Retrying the upgrade now, this should finally work (try {n} of many).")
            for n in range(2, 8)
        ],
    ),
    _loop(
        "the same apology around useless calls",
        *[
            event
            for _ in range(6)
            for event in (
                Say("Sorry, there was a mistake in my last command. Here is the corrected one."),
                Do("exec", {"code": "make deploy"}, "make: nothing to be done for deploy", False),
            )
        ],
    ),
    _loop("a chant of one clause", Stream("and then we update the service, " * 60)),
    _loop("a chant of a question and its answer", Stream("What is next? We run the tests. " * 50)),
    _loop("a chant of one token", Stream("version " * 400)),
    _loop("a chant of syllables", Stream("la" * 500)),
    _loop(
        "a chant of a heading in prose", Stream("Final answer: the upgrade is complete.\n\n" * 40)
    ),
    _loop(
        "a chant in Spanish", Stream("Voy a revisar el archivo otra vez para estar seguro. " * 40)
    ),
    _loop(
        "a chant of long thoughts",
        Stream(
            (
                "Okay, so the service reads its settings at the start, which means that "
                "a change needs a restart. "
                "But wait, the settings may be read again on a signal. Let me think. If "
                "that were so, then no restart "
                "would be needed, and the tests would pass without one. Hmm.\n"
            )
            * 14
        ),
    ),
    _loop(
        "constants guessed, always the same failure",
        *[
            event
            for n in range(14)
            for event in (
                _edit("app.py", f"TIMEOUT = {n}", f"TIMEOUT = {n + 1}"),
                Do(
                    "exec",
                    {"code": "pytest -q"},
                    "FAILED tests/test_app.py::test_start - ConnectionRefusedError\n1 "
                    "failed, 8 passed",
                    False,
                ),
            )
        ],
    ),
    _loop(
        "far too many rounds",
        *[Do("exec", {"code": f"try {n}"}, f"outcome {n * 7919}") for n in range(501)],
    ),
]

WORK = [
    _work(
        "a migration that gets on",
        *[Do("exec", {"code": "migrate status"}, f"{n} of 30 applied") for n in range(0, 30, 3)],
    ),
    _work(
        "a job without news, then its end",
        *[Do("jobs", {"action": "output", "job": "2"}, "(nothing new; job 2 is running)", False)]
        * 10,
    ),
    _work(
        "a coverage run that grows",
        *[Do("exec", {"code": "cat cov"}, f"coverage {50 + 3 * n}%") for n in range(10)],
    ),
    _work(
        "a lock that is freed",
        *[Do("exec", {"code": "apt list"}, "waiting for the lock", False)] * 2,
        Do("exec", {"code": "apt list"}, "done", False),
    ),
    _work(
        "a cluster that scales",
        *[
            Do("exec", {"code": "nodes"}, "\n".join(f"node-{w} ready" for w in WORDS[: n + 1]))
            for n in range(10)
        ],
    ),
    _work(
        "backups watched",
        *[
            Do(
                "jobs",
                {"action": "output", "job": "4", "since": f"{n * 80}"},
                f"copied {w}.db ({n * 11 + 3} MB)",
                False,
            )
            for n, w in enumerate(WORDS)
        ],
    ),
    _work(
        "a log read in parts",
        *[
            Do(
                "exec",
                {"code": f"tail -n +{n} x.log | head -20"},
                "\n".join(f"event {k} from {WORDS[k % 10]}" for k in range(n, n + 20)),
            )
            for n in range(1, 200, 20)
        ],
    ),
    _work(
        "a document read in parts",
        *[
            Do(
                "read_file",
                {"path": "doc.md", "start": n, "count": 30},
                "\n".join(f"{k}: sentence {k * 13} about {WORDS[k % 7]}" for k in range(n, n + 30)),
            )
            for n in range(1, 300, 30)
        ],
    ),
    _work(
        "commits looked at one by one",
        *[
            Do(
                "git",
                {"args": ["show", f"{n * 31337:07x}"]},
                f"commit {n * 31337:040x}\n{w}: change {n}\n+{w} = {n}",
            )
            for n, w in enumerate(WORDS)
        ],
    ),
    _work(
        "deletions one by one", *[Do("exec", {"code": f"rm build/{w}.o"}, "", True) for w in WORDS]
    ),
    _work(
        "renames one by one",
        *[Do("git", {"args": ["mv", f"{w}.txt", f"{w}.md"]}, "", True) for w in WORDS],
    ),
    _work(
        "types checked file by file",
        *[
            Do("exec", {"code": f"mypy {w}.py"}, "Success: no issues found in 1 source file", False)
            for w in WORDS
        ],
    ),
    _work(
        "links tried one by one",
        *[Do("exec", {"code": f"curl -sI https://x/{w}"}, "HTTP/2 200", False) for w in WORDS],
    ),
    _work(
        "packages looked up one by one",
        *[
            Do("exec", {"code": f"pip show {w}"}, f"Name: {w}\nVersion: 1.{n}", False)
            for n, w in enumerate(WORDS)
        ],
    ),
    _work("licences put on top", *[_edit(f"{w}.py", "", "# SPDX: MIT\n") for w in WORDS]),
    _work(
        "translations written",
        *[
            Do("write_file", {"path": f"i18n/{w}.json", "content": "{}"}, "written", True)
            for w in WORDS
        ],
    ),
    _work(
        "read and write, file after file",
        *[
            event
            for w in WORDS
            for event in (
                Do("read_file", {"path": f"{w}.yml"}, "version: 1"),
                Do("write_file", {"path": f"{w}.yml", "content": "version: 2"}, "written", True),
            )
        ],
    ),
    _work(
        "tests of one module after another",
        *[
            Do("exec", {"code": f"pytest -q tests/test_{w}.py"}, f"{n + 3} passed in 0.{n}s", False)
            for n, w in enumerate(WORDS)
        ],
    ),
    _work(
        "failures mended one after another",
        *[
            event
            for n, w in enumerate(WORDS)
            for event in (
                Do("exec", {"code": "pytest -q"}, f"FAILED test_{w}\n{10 - n} failed", False),
                _edit(f"{w}.py", "1", "2"),
            )
        ],
    ),
    _work(
        "the same failure after four different ideas, then another",
        *[
            event
            for w in WORDS[:4]
            for event in (
                _edit("app.py", w, f"new_{w}"),
                Do("exec", {"code": "pytest -q"}, "FAILED test_start\n1 failed", False),
            )
        ],
        Do("exec", {"code": "pytest -q"}, "FAILED test_stop\n1 failed", False),
    ),
    _work(
        "build, read the log, mend",
        *[
            event
            for n, w in enumerate(WORDS[:6])
            for event in (
                Do("exec", {"code": "make"}, "make: *** [all] Error 1", False),
                Do("exec", {"code": "tail -5 make.log"}, f"{w}.c:{n}: undeclared {w}", False),
                _edit(f"{w}.c", "", f"int {w};"),
            )
        ],
    ),
    _work(
        "a sketch thrown away once",
        _edit("a.py", "a", "b"),
        Do("exec", {"code": "run"}, "worse", False),
        _edit("a.py", "b", "a"),
        Do("exec", {"code": "run"}, "as before", False),
        _edit("a.py", "a", "c"),
        Do("exec", {"code": "run"}, "better", False),
    ),
    _work(
        "three different looks at one file",
        *[
            Do("exec", {"code": c}, r)
            for c, r in (("wc -l a", "9 a"), ("head -1 a", "first"), ("tail -1 a", "last"))
        ],
    ),
    _work(
        "the time asked twice", *[Do("exec", {"code": "date"}, f"Mon 12:0{n}") for n in range(2)]
    ),
    Trace(
        "runs the user asked for",
        False,
        [
            User("Start the program three times in a row."),
            *[Do("exec", {"code": "./p"}, "hello", False)] * 3,
        ],
    ),
    Trace(
        "lines the user asked for",
        False,
        [User("print hello world twenty times"), Stream("hello world\n" * 20)],
    ),
    Trace(
        "the same thanks",
        False,
        [
            event
            for _ in range(6)
            for event in (
                User("thanks"),
                Say("You are welcome. Is there anything else I can do for you?"),
            )
        ],
    ),
    _work(
        "a changelog",
        Stream(
            "# Changes\n\n"
            + "".join(
                f"## 1.{n}\n\n- Mended an error in {w}.\n- Made {w} faster.\n\n"
                for n, w in enumerate(WORDS)
            )
        ),
    ),
    _work(
        "sql of like rows",
        Stream(
            "```sql\n" + "".join(f"INSERT INTO t VALUES ({n}, 'a');\n" for n in range(50)) + "```"
        ),
    ),
    _work("a chess board", Stream("```\n" + "# . # . # . # .\n. # . # . # . #\n" * 4 + "```")),
    _work(
        "a tree of folders",
        Stream("project\n" + "".join(f"├── {w}\n│   └── __init__.py\n" for w in WORDS)),
    ),
    _work(
        "a song with a chorus",
        Stream(
            "".join(
                f"{w.title()} in the morning, {w} in the rain,\nRow, row, row the "
                f"boat,\nGently home again.\n\n"
                for w in WORDS[:6]
            )
        ),
    ),
    _work("tick marks", Stream("".join(f"- [x] {w}\n" for w in WORDS * 4))),
    _work(
        "definitions",
        Stream(
            "".join(
                f"**{w}**: a plant that is grown in gardens of the {d}.\n\n"
                for w, d in zip(
                    WORDS,
                    (
                        "north",
                        "south",
                        "east",
                        "west",
                        "hills",
                        "coast",
                        "plain",
                        "isles",
                        "marsh",
                        "valley",
                    ),
                    strict=True,
                )
            )
        ),
    ),
    _work("the squares", Stream("".join(f"The square of {n} is {n * n}. " for n in range(1, 40)))),
    _work(
        "an html list",
        Stream(
            "```html\n<ul>\n"
            + "".join(f"  <li>item {n}</li>\n" for n in range(40))
            + "</ul>\n```\n"
        ),
    ),
    _work(
        "many different steps",
        *[
            Do("exec", {"code": f"make {w}{n}"}, f"made {w}{n}: {n * 97} bytes", True)
            for n in range(4)
            for w in WORDS
        ],
    ),
]

SEALED = [*LOOPS, *WORK]
