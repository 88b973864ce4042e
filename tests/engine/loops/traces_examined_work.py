"""A second set of turns that only look like circles, written without sight of the detector."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User

ASK = User("Please go through the project and put it in order.")
FILES = [
    f"src/{name}.py" for name in "alpha beta gamma delta epsilon zeta eta theta iota kappa".split()
]
VERSE = """The ships go out, the ships come in,
{}
And all the bells of harbour ring,
And all the bells of harbour ring.

"""


def _work(name: str, *events: Event) -> Trace:
    return Trace(name, False, [ASK, *events])


def _page(path: str, start: int, count: int = 50) -> Do:
    lines = "\n".join(f"{n}: {path} holds entry {n * n} here" for n in range(start, start + count))
    return Do("read_file", {"path": path, "start": start, "count": count}, lines)


def _tests(failed: int, passed: int, names: str = "") -> Do:
    return Do(
        "exec", {"code": "pytest -q"}, f"{names}\n{failed} failed, {passed} passed in 1.2s", False
    )


def _edit(path: str, old: str, new: str) -> Do:
    return Do("edit_file", {"path": path, "old": old, "new": new}, "1 replacement", True)


WAITING = [
    _work(
        "a job that gets on",
        *[
            Do("jobs", {"action": "output", "job": "1"}, f"compiling {n * 10} of 200 files", False)
            for n in range(12)
        ],
    ),
    _work(
        "a progress bar",
        *[
            Do("exec", {"code": "cat progress"}, f"[{'#' * n}{'.' * (20 - n)}] {n * 5}%")
            for n in range(1, 15)
        ],
    ),
    _work(
        "a job that prints nothing for a while",
        *[Do("jobs", {"action": "wait", "job": "3"}, "job 3 is running", False)] * 8,
        Do("jobs", {"action": "wait", "job": "3"}, "job 3 ended with 0", False),
    ),
    _work(
        "a growing log",
        *[
            Do(
                "exec",
                {"code": "tail -n 3 build.log"},
                "\n".join(f"linked part {k}" for k in range(n, n + 3)),
            )
            for n in range(0, 24, 3)
        ],
    ),
    _work(
        "a queue that shrinks",
        *[
            Do("exec", {"code": "queue --count"}, f"{40 - 3 * n} messages waiting")
            for n in range(10)
        ],
    ),
    _work(
        "a rollout that comes up",
        *[Do("exec", {"code": "kubectl get pods"}, f"web {n}/6 ready") for n in range(7)],
    ),
    _work(
        "retries with longer waits, then success",
        *[
            Do("exec", {"code": f"sleep {2**n}; curl -s x"}, "503 service unavailable", False)
            for n in range(2)
        ],
        Do("exec", {"code": "sleep 8; curl -s x"}, "200 ok", False),
        _edit("a.py", "retry", "done"),
    ),
    _work(
        "waiting for a server, twice in vain",
        *[Do("exec", {"code": "curl -s localhost:80"}, "connection refused", False)] * 2,
        Do("exec", {"code": "curl -s localhost:80"}, "<html>hello</html>", False),
    ),
    _work(
        "several jobs watched in turn",
        *[
            Do(
                "jobs",
                {"action": "output", "job": f"{job}"},
                f"worker {job}: row {n * 100 + job}",
                False,
            )
            for n in range(6)
            for job in (1, 2, 3)
        ],
    ),
    _work(
        "training that gets better",
        *[
            Do("exec", {"code": "tail -1 train.log"}, f"epoch {n} loss {2.5 / (n + 1):.3f}")
            for n in range(12)
        ],
    ),
    _work(
        "a download that gets on",
        *[
            Do("jobs", {"action": "output", "job": "9"}, f"{n * 3.7:.1f} MB of 50 MB", False)
            for n in range(1, 12)
        ],
    ),
]

PAGING = [
    _work("a file read page by page", *[_page("big.log", n * 50) for n in range(15)]),
    _work("a file read with a little overlap", *[_page("big.log", n * 45) for n in range(12)]),
    _work("a file read backwards", *[_page("big.log", (12 - n) * 50) for n in range(12)]),
    _work(
        "pages by sed",
        *[
            Do(
                "exec",
                {"code": f"sed -n {n},{n + 39}p a.c"},
                "\n".join(f"int v{k} = {k * 3};" for k in range(n, n + 40)),
            )
            for n in range(1, 400, 40)
        ],
    ),
    _work(
        "pages of an interface",
        *[
            Do(
                "fetch",
                {"url": f"http://x/items?page={n}"},
                f'{{"page": {n}, "items": ["item-{n * 3}", "part-{n * 3 + 1}"]}}',
            )
            for n in range(12)
        ],
    ),
    _work(
        "pages of a search",
        *[
            Do(
                "search_text",
                {"pattern": "import", "offset": n},
                "\n".join(f"f{k}.py:{k}: import m{k}" for k in range(n, n + 10)),
            )
            for n in range(0, 100, 10)
        ],
    ),
    _work(
        "two files read side by side",
        *[_page(path, n * 50) for n in range(6) for path in ("a.txt", "b.txt")],
    ),
]

BATCH = [
    _work(
        "many files read",
        *[Do("read_file", {"path": p}, f"# {p}\nclass {p[4:-3].title()}: ...") for p in FILES],
    ),
    _work("the same edit in many files", *[_edit(p, "import old", "import new") for p in FILES]),
    _work(
        "the same header written in many files",
        *[Do("write_file", {"path": p, "content": "# MIT\n"}, "written", True) for p in FILES],
    ),
    _work(
        "many files formatted",
        *[Do("exec", {"code": f"ruff format {p}"}, "1 file reformatted", True) for p in FILES],
    ),
    _work(
        "many files checked and found clean",
        *[Do("exec", {"code": f"ruff check {p}"}, "All checks passed!", False) for p in FILES],
    ),
    _work(
        "many files without a match",
        *[Do("search_text", {"pattern": "TODO", "path": p}, f"no match in {p}") for p in FILES],
    ),
    _work(
        "read then edit, file after file",
        *[
            event
            for p in FILES
            for event in (
                Do("read_file", {"path": p}, f"# {p}\nimport old"),
                _edit(p, "import old", "import new"),
            )
        ],
    ),
    _work(
        "edit then check, file after file",
        *[
            event
            for p in FILES
            for event in (
                _edit(p, "x", "y"),
                Do("exec", {"code": f"python -m py_compile {p}"}, "", False),
            )
        ],
    ),
    _work(
        "many directories made",
        *[Do("exec", {"code": f"mkdir -p out/{p[4:-3]}"}, "", True) for p in FILES],
    ),
    _work(
        "line counts of many files",
        *[Do("exec", {"code": f"wc -l {p}"}, f"{40 + 7 * n} {p}") for n, p in enumerate(FILES)],
    ),
    _work(
        "many rows put in",
        *[Do("exec", {"code": f"db insert {n}"}, f"inserted row {n}", True) for n in range(20)],
    ),
    _work(
        "many pictures turned",
        *[
            Do("exec", {"code": f"convert -rotate 90 img{n}.png out{n}.png"}, "", True)
            for n in range(15)
        ],
    ),
    _work(
        "commits file by file",
        *[
            event
            for n, p in enumerate(FILES)
            for event in (
                Do("git", {"args": ["add", p]}, "", True),
                Do(
                    "git",
                    {"args": ["commit", "-m", f"tidy {p}"]},
                    f"[main a{n}f3c9{n}] tidy {p}",
                    True,
                ),
            )
        ],
    ),
    _work(
        "a status line after each file",
        *[
            event
            for n, p in enumerate(FILES)
            for event in (
                _edit(p, "a", "b"),
                Say(f"{p} is done, {len(FILES) - n - 1} files are left to do."),
            )
        ],
    ),
]

MENDING = [
    _work(
        "tests that get better",
        *[
            event
            for n in range(7)
            for event in (
                _tests(7 - n, 10 + n, f"FAILED test_{n}"),
                _edit("a.py", f"bug{n}", f"fix{n}"),
            )
        ],
    ),
    _work(
        "another error each time",
        *[
            event
            for n, error in enumerate(
                ("SyntaxError: line 3", "NameError: foo", "TypeError: int", "KeyError: 'a'", "ok")
            )
            for event in (
                Do("exec", {"code": "python a.py"}, error, False),
                _edit("a.py", f"v{n}", f"v{n + 1}"),
            )
        ],
    ),
    _work(
        "the same failure thrice, with a new idea each time",
        *[
            event
            for n, idea in enumerate(("use a lock", "copy the list", "sort first"))
            for event in (_edit("a.py", f"body{n}", idea), _tests(1, 20, "FAILED test_race"))
        ],
        _edit("b.py", "threads = 4", "threads = 1"),
        _tests(0, 21),
    ),
    _work(
        "read, edit, test on one file",
        *[
            event
            for n in range(6)
            for event in (
                Do("read_file", {"path": "a.py"}, f"def f():\n    return {n}\n"),
                _edit("a.py", f"return {n}", f"return {n + 1}"),
                _tests(6 - n, n),
            )
        ],
    ),
    _work(
        "one undoing on the way",
        _edit("a.py", "x = 1", "x = 2"),
        _tests(3, 5),
        _edit("a.py", "x = 2", "x = 1"),
        _tests(1, 7),
        _edit("b.py", "y = 1", "y = 2"),
        _tests(0, 8),
    ),
    _work(
        "a compiler whose error moves down the file",
        *[
            event
            for n in range(8)
            for event in (
                Do(
                    "exec",
                    {"code": "cc a.c"},
                    f"a.c:{12 + 9 * n}: error: missing ';' before '}}'",
                    False,
                ),
                _edit("a.c", f"line{n}", f"line{n};"),
            )
        ],
    ),
    _work(
        "lint warnings that become fewer",
        *[
            event
            for n in range(9)
            for event in (
                Do("exec", {"code": "lint"}, f"{9 - n} warnings", False),
                _edit("a.js", f"var a{n}", f"let a{n}"),
            )
        ],
    ),
    _work(
        "bisecting",
        *[
            Do(
                "git",
                {"args": ["bisect", "bad" if n % 2 else "good"]},
                f"Bisecting: {2 ** (7 - n)} revisions left\n[{n * 99991:040x}]",
                True,
            )
            for n in range(7)
        ],
    ),
    _work(
        "a file looked at before and after an edit, twice",
        *[
            event
            for n in range(2)
            for event in (
                Do("read_file", {"path": "a.py"}, f"a = {n}"),
                _edit("a.py", f"a = {n}", f"a = {n + 1}"),
                Do("read_file", {"path": "a.py"}, f"a = {n + 1}"),
            )
        ],
    ),
    _work(
        "a number tuned with another outcome each time",
        *[
            event
            for n in range(8)
            for event in (
                Do("write_file", {"path": "c.toml", "content": f"rate = 0.{n}"}, "written", True),
                Do("exec", {"code": "run"}, f"score 0.{(n * 37) % 89:02}", False),
            )
        ],
    ),
]

LOOKING = [
    _work(
        "a listing twice, with work between",
        Do("exec", {"code": "ls"}, "a b"),
        Do("write_file", {"path": "c", "content": "c"}, "written", True),
        Do("exec", {"code": "ls"}, "a b c"),
        Do("write_file", {"path": "d", "content": "d"}, "written", True),
        Do("exec", {"code": "ls"}, "a b c d"),
    ),
    _work("the same call twice", *[Do("exec", {"code": "ls"}, "a b")] * 2),
    _work(
        "the same words before calls that each bring something new",
        *[
            event
            for n in range(6)
            for event in (
                Do("exec", {"code": f"echo {n}"}, f"{n}"),
                Say("Let me look at the next one to be sure that I understand it correctly."),
            )
        ],
    ),
    _work(
        "searches that find other things",
        *[
            Do("search_text", {"pattern": w}, f"src/{w}.py:{n}: class {w}")
            for n, w in enumerate("Ant Bee Cat Dog Elk".split())
        ],
    ),
    _work(
        "a few searches in vain, then a hit",
        *[Do("search_text", {"pattern": w}, "no match") for w in ("Foo", "foo")],
        Do("search_text", {"pattern": "fo+"}, "a.py:3: fooo"),
    ),
    _work(
        "different commands that print nothing",
        *[
            Do("exec", {"code": c}, "", None)
            for c in ("cd src", "test -f a", "true", "git diff --quiet", "sync")
        ],
    ),
    _work(
        "git looked at from many sides",
        *[
            Do("git", {"args": [name]}, text)
            for name, text in (
                ("status", "clean"),
                ("log", "a1 first\nb2 second"),
                ("branch", "* main"),
                ("diff", ""),
                ("stash", ""),
                ("tag", "v1"),
            )
        ],
    ),
    _work(
        "the dice thrown as often as asked",
        *[
            Do("exec", {"code": "shuf -i 1-999999 -n 1"}, f"{(n * 7919 + 13) % 999983}")
            for n in range(10)
        ],
    ),
]

ASKED = [
    Trace(
        "a call repeated because the user wants it",
        False,
        [User("Run the tests 5 times, I think they are flaky."), *[_tests(0, 12)] * 5],
    ),
    Trace(
        "a sentence repeated because the user wants it",
        False,
        [
            User("Write 'I will not be late again.' 50 times."),
            Stream("I will not be late again.\n" * 50),
        ],
    ),
    Trace(
        "the user asks the same question again and again",
        False,
        [
            event
            for _ in range(5)
            for event in (User("Is the server up?"), Say("Yes, the server is up and answers."))
        ],
    ),
    Trace(
        "the user asks for another run each time",
        False,
        [
            event
            for _ in range(5)
            for event in (
                User("again"),
                Do("exec", {"code": "make"}, "nothing to be done"),
                Say("Nothing to be done."),
            )
        ],
    ),
    Trace(
        "a benchmark of ten runs that was asked for",
        False,
        [
            User("please benchmark it ten times"),
            *[Do("exec", {"code": "./bench"}, "ok, 3.2s", False)] * 10,
        ],
    ),
]

WRITING = [
    _work(
        "a table",
        Stream(
            "| name | size | kind |\n|---|---|---|\n"
            + "".join(f"| file | {n} | text |\n" for n in range(60))
        ),
    ),
    _work(
        "a table of like rows",
        Stream("| day | state |\n|---|---|\n" + "".join(f"| day {n} | ok |\n" for n in range(40))),
    ),
    _work(
        "code of like lines",
        Stream("```python\n" + "".join(f"    result.append({n})\n" for n in range(60)) + "```\n"),
    ),
    _work(
        "a list",
        Stream(
            "Steps:\n" + "".join(f"- check the file number {n} and close it\n" for n in range(50))
        ),
    ),
    _work(
        "a numbered list",
        Stream("".join(f"{n}. Open door {n} and count the boxes.\n" for n in range(1, 40))),
    ),
    _work(
        "a picture of letters",
        Stream("```\n" + ("+" + "-" * 30 + "+\n" + ("|" + " " * 30 + "|\n") * 8) * 3 + "```\n"),
    ),
    _work("a picture of letters without a fence", Stream("  /\\_/\\\n ( o.o )\n  > ^ <\n" * 3)),
    _work(
        "a poem with a refrain",
        Stream(
            "".join(
                VERSE.format(f"And {what} is all they bring,")
                for what in ("silver", "salt", "silk", "sorrow", "spice")
            )
        ),
    ),
    _work(
        "a ruler and headings",
        Stream(
            "".join(
                f"# Part {n}\n\n{'-' * 60}\n\nAbout the {n * 17}th matter.\n\n" for n in range(12)
            )
        ),
    ),
    _work(
        "json of like records",
        Stream(
            "```json\n[\n"
            + "".join(f'  {{"id": {n}, "ok": true}},\n' for n in range(40))
            + "]\n```\n"
        ),
    ),
    _work(
        "zeros in a matrix",
        Stream("The matrix is\n\n" + "    0 0 0 0 0 0 0 0\n" * 12 + "\nas expected.\n"),
    ),
    _work("a count to two hundred", Stream(", ".join(str(n) for n in range(1, 201)))),
    _work("the decimals of a third", Stream("One third is 0." + "3" * 120 + " and so on.")),
    _work(
        "a dialogue with short answers",
        Stream(
            "".join(
                f'"Is it the {w}?" she asked.\n"No," he said.\n\n'
                for w in "key door lamp book coat hat ring map".split()
            )
        ),
    ),
    _work(
        "a log in a fence",
        Stream(
            "```\n" + "".join(f"12:00:{n:02} INFO worker started\n" for n in range(50)) + "```\n"
        ),
    ),
    _work(
        "a quotation in prose",
        Stream(
            "He wrote: never give up, never give up, never give up. That was all. She "
            "laughed, and the train left."
        ),
    ),
    _work(
        "a separator of dashes and stars",
        Stream("Done.\n\n" + "=" * 200 + "\n\nNext.\n\n" + "* " * 60 + "\n\nEnd.\n"),
    ),
    _work(
        "short acknowledgements of different things",
        *[Say(f"Done with {p}.") for p in ("a", "the long list", "tests")],
    ),
    _work(
        "a lesson of like sentences",
        Stream(
            "".join(
                f"The {a} is a kind of {b}, and it lives in {c}. "
                for a, b, c in (
                    ("cod", "fish", "the sea"),
                    ("owl", "bird", "the wood"),
                    ("ant", "insect", "the earth"),
                    ("toad", "amphibian", "ponds"),
                    ("lynx", "cat", "the hills"),
                    ("hare", "mammal", "the fields"),
                )
            )
        ),
    ),
]

LONG = [
    _work(
        "a hundred rounds of different work",
        *[Do("exec", {"code": f"step {n}"}, f"step {n} gave {n * n * 31}") for n in range(100)],
    ),
]

WORK = [*WAITING, *PAGING, *BATCH, *MENDING, *LOOKING, *ASKED, *WRITING, *LONG]
