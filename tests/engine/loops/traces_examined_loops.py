"""A second set of turns that go in circles, written without sight of the detector."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User

ASK = User("Please find out why the build fails and mend it.")
LISTING = "README.md\nmain.py\nsetup.cfg\ntests"
MISSING = "No such file or directory: src/handlers/auth_handler.py"
FAILURE = """FAILED tests/test_cart.py::test_total - assert 10 == 12
    def test_total():
>       assert total([4, 6]) == 12
E       assert 10 == 12
1 failed, 14 passed"""
PROMISE = "Let me look at the file again to be sure that I understand the problem correctly."
EXCUSE = "I apologize for the confusion. Let me try a different approach to solve this problem."


def _loop(name: str, *events: Event) -> Trace:
    return Trace(name, True, [ASK, *events])


def _swapped(path: str, one: str, other: str, times: int) -> list[Event]:
    pairs = [(one, other), (other, one)]
    return [
        Do("edit_file", {"path": path, "old": old, "new": new}, "1 replacement", True)
        for old, new in pairs * times
    ]


def _after_each(done: list[Event], then: Event) -> list[Event]:
    return [event for step in done for event in (step, then)]


SAME_CALL = [
    _loop("the same listing", *[Do("exec", {"code": "ls"}, LISTING)] * 4),
    _loop(
        "the same file read", *[Do("read_file", {"path": "main.py"}, "import app\napp.run()")] * 4
    ),
    _loop("the same search without hits", *[Do("search_text", {"pattern": "foo"}, "no match")] * 5),
    _loop("the same error", *[Do("read_file", {"path": "x.py"}, MISSING, is_error=True)] * 4),
    _loop("the same call with empty results", *[Do("exec", {"code": "true"}, "")] * 6),
    _loop(
        "the same call, its arguments in another order",
        *[
            Do("search_text", args, "src/a.py:3: def total(items):")
            for args in [{"pattern": "total", "path": "src"}, {"path": "src", "pattern": "total"}]
            * 3
        ],
    ),
    _loop(
        "the same test run, only its time differs",
        *[
            Do("exec", {"code": "pytest -q"}, f"{FAILURE} in {0.31 + n / 7:.2f}s", False)
            for n in range(5)
        ],
    ),
    _loop(
        "the same command, only the clock differs",
        *[
            Do(
                "exec",
                {"code": "make"},
                f"[12:0{n}:17] make: *** No rule to make target 'all'. Stop.",
            )
            for n in range(5)
        ],
    ),
    _loop(
        "the same failing start, another pid each time",
        *[
            Do(
                "exec",
                {"code": "./serve"},
                f"started pid {4100 + 13 * n}\nport 8080 is taken",
                False,
            )
            for n in range(5)
        ],
    ),
    _loop(
        "the same failing request, another request id each time",
        *[
            Do(
                "exec",
                {"code": "curl api"},
                f"500 error, request-id: 7f3a9c{n}e-11d2-4b7e-9a01-0c{n}4f5a6b7d8e",
            )
            for n in range(5)
        ],
    ),
    _loop(
        "the same crash at another address",
        *[
            Do("exec", {"code": "./a.out"}, f"Segmentation fault at 0x7f{n}c12ab{n}0", False)
            for n in range(5)
        ],
    ),
    _loop(
        "the same call with words between",
        *[
            event
            for n in range(5)
            for event in (
                Say(f"Attempt {n + 1}: {PROMISE}"),
                Do("exec", {"code": "cat a"}, "alpha"),
            )
        ],
    ),
    _loop(
        "the same file written again and again",
        *[Do("write_file", {"path": "a.py", "content": "x = 1\n"}, "written", True)] * 5,
    ),
    _loop("calls whose results nobody knows", *[Do("fetch", {"url": "http://a/b"})] * 4),
    _loop(
        "the same read with deeply nested arguments",
        *[Do("query", {"filter": {"all": [{"a": 1}, {"b": [1, 2]}]}}, "rows: none found at all")]
        * 4,
    ),
    _loop(
        "the same tasks list", *[Do("tasks", {"action": "list"}, "1. mend the build (open)")] * 5
    ),
]

NEARLY_SAME_CALL = [
    _loop(
        "one missing file under ever other names",
        *[
            Do(
                "exec",
                {"code": f"cat {p}/config.yaml"},
                "permission denied: the folder is locked",
                False,
                True,
            )
            for p in ("a", "b", "c", "d", "e", "f")
        ],
    ),
    _loop(
        "a search reworded without end",
        *[
            Do("search_text", {"pattern": p}, "No matches found in 214 files searched.")
            for p in (
                "getUser",
                "get_user",
                "fetchUser",
                "user_get",
                "loadUser",
                "User.get",
                "getuser",
            )
        ],
    ),
    _loop(
        "an edit whose text is never found",
        *[
            Do(
                "edit_file",
                {
                    "path": "a.py",
                    "old": f"def total(items{' ' * n}):",
                    "new": "def total(items, tax):",
                },
                "The text to replace is not in the file; read it again.",
                False,
                True,
            )
            for n in range(6)
        ],
    ),
    _loop(
        "the same page of a file under slightly other ranges",
        *[
            Do(
                "read_file",
                {"path": "a.py", "start": 1 + n, "count": 40},
                "\n".join(
                    f"{line}: value_{line} = compute({line})" for line in range(1 + n, 41 + n)
                ),
            )
            for n in range(7)
        ],
    ),
    _loop(
        "the same command in ever longer words",
        *[
            Do(
                "exec",
                {"code": f"{'sudo ' * n}systemctl restart web"},
                "Interactive authentication required.",
                False,
            )
            for n in range(6)
        ],
    ),
    _loop(
        "a useless changing argument",
        *[
            Do(
                "exec",
                {"code": f"npm test -- --seed={n * 37}"},
                "Error: Cannot find module 'jest'\ncode: MODULE_NOT_FOUND",
            )
            for n in range(6)
        ],
    ),
    _loop(
        "a timestamp in the arguments",
        *[
            Do(
                "fetch",
                {"url": f"http://x/status?t=17316000{n:02}"},
                '{"error": "unauthorized", "code": 401}',
            )
            for n in range(6)
        ],
    ),
    _loop(
        "a tool that does not exist, with guessed arguments",
        *[
            Do(
                "browser",
                {"action": a},
                "Unknown tool: browser. Known: read_file, exec.",
                False,
                True,
            )
            for a in ("open", "goto", "visit", "load", "navigate", "see")
        ],
    ),
    _loop(
        "installing under other names, the same refusal",
        *[
            Do(
                "exec",
                {"code": f"pip install {p}"},
                "ERROR: Could not connect: network is unreachable",
                False,
            )
            for p in ("requests", "httpx", "urllib3", "aiohttp", "pycurl", "treq")
        ],
    ),
    _loop(
        "the same directory asked for in other spellings",
        *[
            Do("find_files", {"pattern": p}, f"{LISTING}\ndocs/index.md\ndocs/usage.md")
            for p in ("*", "**", "./*", "./**", "**/*", ".//*", "././*")
        ],
    ),
]

CYCLES = [
    _loop(
        "two reads in turn",
        *[
            Do("read_file", {"path": "a.py"}, "alpha = 1"),
            Do("read_file", {"path": "b.py"}, "beta = 2"),
        ]
        * 4,
    ),
    _loop(
        "list and read in turn",
        *[Do("exec", {"code": "ls"}, LISTING), Do("read_file", {"path": "main.py"}, "app.run()")]
        * 4,
    ),
    _loop(
        "three reads in turn",
        *[Do("read_file", {"path": p}, f"text of {p}") for p in ("a", "b", "c")] * 4,
    ),
    _loop(
        "four calls in turn",
        *[Do("search_text", {"pattern": p}, f"src/{p}.py:1: {p}") for p in ("a", "b", "c", "d")]
        * 4,
    ),
    _loop(
        "five calls in turn",
        *[Do("read_file", {"path": f"src/{p}.py"}, f"class {p}: pass") for p in "vwxyz"] * 4,
    ),
    _loop(
        "three in turn with changing times",
        *[
            event
            for n in range(5)
            for event in (
                Do("exec", {"code": "make"}, f"error: x.c:4 unknown type, took 0.{n}s", False),
                Do("read_file", {"path": "x.c"}, "int x;\nfoo y;"),
                Do("search_text", {"pattern": "foo"}, "x.c:2: foo y;"),
            )
        ],
    ),
    _loop(
        "a test and a read in turn, nothing changed",
        *[
            Do("exec", {"code": "pytest"}, FAILURE, False),
            Do("read_file", {"path": "cart.py"}, "def total(x): ..."),
        ]
        * 5,
    ),
    _loop(
        "two in turn with words between",
        *[
            event
            for n in range(5)
            for event in (
                Say(f"First I check the listing ({n})."),
                Do("exec", {"code": "ls"}, LISTING),
                Say(f"Now the main file, pass {n}."),
                Do("read_file", {"path": "main.py"}, "app.run()"),
            )
        ],
    ),
    _loop(
        "errors in turn",
        *[
            Do("read_file", {"path": "a"}, "not found: a", is_error=True),
            Do("read_file", {"path": "b"}, "not found: b", is_error=True),
        ]
        * 4,
    ),
]

FLIP_FLOPS = [
    _loop("an edit and its undoing", *_swapped("a.py", "x = 1", "x = 2", 4)),
    _loop(
        "an edit and its undoing with the same test between",
        *_after_each(
            _swapped("cart.py", "sum(items)", "sum(items) + 1", 4),
            Do("exec", {"code": "pytest"}, FAILURE),
        ),
    ),
    _loop(
        "two whole files in turn",
        *[
            Do("write_file", {"path": "a.py", "content": text}, "written", True)
            for text in ("x = 1\n", "x = 2\n") * 4
        ],
    ),
    _loop(
        "an import added and removed, two failures in turn",
        *[
            Do("edit_file", {"path": "a.py", "old": "", "new": "import b"}, "1 replacement", True),
            Do("exec", {"code": "pytest"}, "ImportError: circular import of b", False),
            Do("edit_file", {"path": "a.py", "old": "import b", "new": ""}, "1 replacement", True),
            Do("exec", {"code": "pytest"}, "NameError: name 'b' is not defined", False),
        ]
        * 4,
    ),
    _loop(
        "three versions in turn",
        *[
            Do(
                "write_file",
                {"path": "conf.toml", "content": f"level = {level}\n"},
                "written",
                True,
            )
            for level in (1, 2, 3) * 4
        ],
    ),
    _loop(
        "a package put in and taken out",
        *[
            Do("exec", {"code": "pip install foo"}, "Successfully installed foo-1.0", True),
            Do("exec", {"code": "pip uninstall -y foo"}, "Successfully uninstalled foo-1.0", True),
        ]
        * 4,
    ),
    _loop(
        "a stash and a pop",
        *[
            Do("git", {"args": ["stash"]}, "Saved working directory and index state", True),
            Do("git", {"args": ["stash", "pop"]}, "Dropped refs/stash@{0}", True),
        ]
        * 5,
    ),
]

WORDS = [
    _loop("the same reply", *[Say(EXCUSE)] * 4),
    _loop(
        "nearly the same reply",
        *[Say(f"{EXCUSE} This is attempt number {n}.") for n in range(1, 6)],
    ),
    _loop("one sentence without end", Stream("I will now check the file. " * 60)),
    _loop("one word without end", Stream("The answer is " + "yes " * 300)),
    _loop(
        "two sentences in turn", Stream("Wait, that is wrong. Let me think about it again. " * 40)
    ),
    _loop(
        "a paragraph without end",
        Stream(
            (
                "To mend the build we first have to look at the configuration, because "
                "the compiler "
                "reads it before anything else.\n\nThen we look at the sources and "
                "compare them.\n\n"
            )
            * 15
        ),
    ),
    _loop("letters without end", Stream("Sure! " + "ha" * 600)),
    _loop("one line without end", Stream("I am checking the logs now.\n" * 60)),
    _loop(
        "a chant after a sound beginning",
        Stream(
            "The parser splits the input into tokens. Each token carries its place. The "
            "tree is built "
            "bottom up, and errors are told with the place.\n\n"
            + "So the parser is the parser of the parser. "
            * 40
        ),
    ),
    _loop(
        "a chant in another language", Stream("Ich werde die Datei jetzt noch einmal lesen. " * 50)
    ),
    _loop("a chant without spaces", Stream("我现在再检查一遍这个文件。" * 60)),
    _loop(
        "thinking in a circle",
        Stream("Hmm, but if x is 1 then y is 2. But if y is 2 then x is 1. " * 40),
    ),
    _loop(
        "a chant of numbered steps in prose",
        Stream("".join(f"Step {n}: check the file again. " for n in range(1, 80))),
    ),
]

TOO_LONG = [
    _loop(
        "rounds without end",
        *[Do("exec", {"code": f"echo {n} | md5sum"}, f"{n * 7919:032x}") for n in range(501)],
    ),
]

SLOW = [
    _loop(
        "ever other blanks, always the same failure",
        *[
            event
            for n in range(12)
            for event in (
                Do(
                    "edit_file",
                    {"path": "cart.py", "old": "return s", "new": f"return s{' ' * n}"},
                    "1 replacement",
                    True,
                ),
                Do("exec", {"code": "pytest -q"}, FAILURE, False),
            )
        ],
    ),
    _loop(
        "the same line rewritten, always the same failure",
        *[
            event
            for n in range(14)
            for event in (
                Do(
                    "edit_file",
                    {"path": "cart.py", "old": f"k = {n}", "new": f"k = {n + 1}"},
                    "1 replacement",
                    True,
                ),
                Do("exec", {"code": "pytest -q"}, f"{FAILURE} in 0.{n}s", False),
            )
        ],
    ),
]

LOOPS = [*SAME_CALL, *NEARLY_SAME_CALL, *CYCLES, *FLIP_FLOPS, *WORDS, *TOO_LONG, *SLOW]
