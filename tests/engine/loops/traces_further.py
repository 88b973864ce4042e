"""Further labelled turns, written to find what the rules miss; three of them were missed."""

from __future__ import annotations

from tests.engine.loops.trace import Do, Event, Say, Stream, Trace, User


def lines(count: int, word: str = "x") -> str:
    """Lines that belong together."""
    return "\n".join(f"{word}{n} something here {n * n}" for n in range(count))


LOOPS: dict[str, list[Event]] = {
    "web search same results, new words": [
        Do("web_search", {"q": q}, lines(10, "r")) for q in ("how a", "how to a", "a howto")
    ],
    "cycle with time results": [
        Do("date", {}, f"Mon Nov 16 12:0{n % 10}:00 UTC 2026")
        if n % 2
        else Do("ls", {"p": "."}, "a b c")
        for n in range(6)
    ],
    "create duplicates": [
        Do("create_issue", {"title": "bug"}, f"Created issue #{100 + n}", True) for n in range(4)
    ],
    "append same line": [Do("exec", {"code": "echo x >> f"}, "", True)] * 4,
    "start job again": [Do("start_job", {"code": "make"}, "started job-12")] * 3,
    "server start fails": [
        Do("exec", {"code": "npm start"}, "Starting server...\nAddress already in use")
    ]
    * 3,
    "list nested args order": [
        Do("q", {"a": {"x": 1, "y": 2}}),
        Do("q", {"a": {"y": 2, "x": 1}}),
        Do("q", {"a": {"x": 1, "y": 2}}),
    ],
    "git status": [Do("git_status", {}, "On branch main\nnothing to commit, working tree clean")]
    * 3,
    "task status completed": [Do("task_status", {"id": 4}, "completed")] * 3,
    "cycle w/ parallel order swaps": [
        Do("a", {}, "1"),
        Do("b", {}, "2"),
        Do("b", {}, "2"),
        Do("a", {}, "1"),
    ]
    * 5,
    "retry refused": [Do("http", {"url": "x"}, "ECONNREFUSED", None, True)] * 4,
    "thinking aloud": [
        Say("Hmm, that is odd. Let me look at the logs once more to understand what happens."),
        Say("Hmm, that is odd. Let me look at the logs once more to understand what happens."),
        Say("Hmm, that is odd. Let me look at the logs once more to understand what happened."),
    ],
    "short chant": [Stream("I'll fix it. " * 12)],
    "paragraph x4": [
        Stream(
            (
                "First the parser reads the file and then builds a tree from it, which the "
                "printer walks to write it out again in order.\n\n"
            )
            * 4
        )
    ],
    "output chant unstreamed": [Say("Okay. Let me try. " * 30)],
    "flip with None": [
        Do("write", {"p": "a", "c": "1"}, "ok"),
        Do("write", {"p": "a", "c": "2"}, "ok"),
    ]
    * 3,
    "edit test edit-back test": [
        Do("edit", {"o": "a", "n": "b"}, "ok", True),
        Do("test", {}, "fail A in 1.2s"),
        Do("edit", {"o": "b", "n": "a"}, "ok", True),
        Do("test", {}, "fail B in 1.3s"),
    ]
    * 3,
    "reread same file w/ other limits": [
        Do("read_file", {"path": "a.py", "limit": most}, lines(40)) for most in (100, 200, 300, 400)
    ],
    "failing command variations": [
        Do("exec", {"code": c}, "bash: foo: command not found\n", None, True)
        for c in ("foo", "foo -v", "foo --help", "which foo; foo", "foo .", "./foo || foo")
    ],
    "upper/lower outputs": [
        Say("DONE. The work is complete."),
        Say("Done. The work is complete."),
        Say("Done — the work is complete."),
    ],
    "mcp tool error long": [
        Do(
            "query",
            {"sql": f"select {c} from t"},
            'ERROR: relation "t" does not exist\nLINE 1: select from t\nHINT: create it first',
            None,
            True,
        )
        for c in "abc"
    ],
    "thought loop w tool same": [
        e for n in range(4) for e in (Say(f"Try {n}"), Do("x", {"a": 1}, "bad"))
    ],
}

WORK: dict[str, list[Event]] = {
    "status polls percent": [Do("status", {}, f"{n}% done") for n in range(0, 60, 2)],
    "ci poll in_progress": [Do("exec", {"code": "gh run view 5"}, "status: in_progress  job build")]
    * 20,
    "poll w/ elapsed": [Do("check_deploy", {}, f"deploying, {n * 5}s elapsed") for n in range(20)],
    "wait tool then check": [Do("wait", {"seconds": 10}, "waited"), Do("check", {}, "down")] * 9,
    "different users": [
        Do(
            "get_user",
            {"id": n},
            f'{{"id":{n},"name":"user {n}","mail":"u{n}@x.test","active":true,"roles":["reader"]}}',
        )
        for n in range(20)
    ],
    "same shaped users": [
        Do(
            "get_user",
            {"id": n},
            f'{{"id":{n},"uuid":"6f1c0d8e-1111-4222-8333-12345678{n:04d}","at":"2026-01-01T10:00:{n:02d}Z","roles":["reader"],"active":true,"locked":false}}',
        )
        for n in range(10)
    ],
    "write many": [
        Do("write_file", {"path": f"{c}.md", "content": c}, f"wrote {c}.md") for c in "abcdefgh"
    ],
    "write many None same result": [
        Do(
            "write_file",
            {"path": f"{c}.md", "content": c},
            "The file has been updated successfully.",
        )
        for c in "abcdefgh"
    ],
    "commit repeatedly": [
        e
        for n in range(6)
        for e in (
            Do("edit", {"f": n}, "ok", True),
            Do(
                "exec",
                {"code": "git commit -am wip"},
                f"[main a{n}b3c4d] wip\n 1 file changed, 1 insertion(+)",
                True,
            ),
        )
    ],
    "edit then status unchanged": [
        e
        for n in range(6)
        for e in (
            Do("edit", {"f": f"a{n}"}, "ok", True),
            Do(
                "exec",
                {"code": "make"},
                "make: *** [all] Error 1\ncc: fatal error\ncompilation terminated",
            ),
        )
    ],
    "pages cursor": [Do("list", {"cursor": c}, lines(20, c)) for c in "abcdefgh"],
    "log tail new": [Do("exec", {"code": "tail -5 app.log"}, lines(5, f"l{n} ")) for n in range(9)],
    "read 3 then re-read once": [Do("read", {"p": c}, lines(30, c)) for c in "abc"] * 2,
    "explore": [Do("ls", {"p": c}, f"{c}1 {c}2") for c in "abcdefg"],
    "ha": [Stream("Ha ha ha ha! That is so so so funny, no no no, really, it is. " + "Well, " * 5)],
    "poem": [
        Stream(
            "O Captain! my Captain! our fearful trip is done,\n"
            "The ship has weather'd every rack, the prize we sought is won,\n"
            + "But O heart! heart! heart!\n" * 2
            + "O the bleeding drops of red,\n"
        )
    ],
    "headings": [Stream("".join(f"## File {n}\n\nNo changes needed.\n\n" for n in range(15)))],
    "q/a": [
        Stream(
            "".join(
                f"Q: what about {w}?\nA: Yes, that works.\n"
                for w in "tea coffee milk water juice wine beer rum gin ale".split()
            )
        )
    ],
    "json raw": [
        Stream('{"items": [' + ",".join(f'{{"a": {n}, "b": null}}' for n in range(40)) + "]}")
    ],
    "silent": [e for n in range(9) for e in (Say("\n"), Do("t", {"n": n}, "ok"))],
    "retry succeed 3rd": [
        *[Do("http", {"u": 1}, "timeout", None, True)] * 2,
        Do("http", {"u": 1}, "200 OK"),
    ],
    "asked benchmark": [
        User("Benchmark it: 10 runs please, then tell me the mean"),
        *[Do("exec", {"code": "./b"}, "1.02 s")] * 10,
    ],
    "asked in sentence": [
        User("I'd like you to curl the endpoint 8 times so we can see if caching works."),
        *[Do("exec", {"code": "curl x"}, "hit")] * 8,
    ],
    "asked hidden": [
        User("Check flakiness by running test_x five times."),
        *[Do("exec", {"code": "pytest -k x"}, "1 passed in 0.2s")] * 5,
    ],
    "probing ports full": [
        Do(
            "exec",
            {"code": f"nc -z h {p}"},
            f"nc: connect to h port {p} (tcp) failed: Connection refused",
            None,
            True,
        )
        for p in range(80, 90)
    ],
    "replace in many, grep after each": [
        e
        for n in range(6)
        for e in (Do("edit", {"f": n}, "ok", True), Do("grep", {"p": "old"}, lines(6 - n)))
    ],
    "translate outs": [Say(f"Translated paragraph {n}; moving on.") for n in range(8)],
    "scroll": [Do("scroll", {"dir": "down"}, lines(20, f"p{n}-")) for n in range(10)],
    "mkdirs": [Do("exec", {"code": f"mkdir -p {c}"}, "(no output)") for c in "abcdefgh"],
    "tests per dir fail same short": [
        Do("exec", {"code": f"go vet ./{c}"}, f"./{c}: no Go files", None, True) for c in "abcdef"
    ],
}

TRACES = [
    *(Trace(name, True, events) for name, events in LOOPS.items()),
    *(Trace(name, False, events) for name, events in WORK.items()),
]
