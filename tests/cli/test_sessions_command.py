"""`ollm sessions`: every command, with good and bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ollm_tui.core.session.continuation import continuation
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.cases import some
from tests.cli.conftest import Run


def begin(run_ollm: Run, text: str) -> str:
    done = run_ollm("-p", text, "--output", "json", script=[])
    return json.loads(done.stdout)["sessionId"]


def listed(run_ollm: Run) -> list[str]:
    sessions = json.loads(run_ollm("sessions", "list", "--json").stdout)
    return [session["sessionId"] for session in sessions]


def test_an_empty_list_tells_how_to_begin(run_ollm: Run) -> None:
    done = run_ollm("sessions", "list")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ollm -p" in done.stdout
    assert run_ollm("sessions", "list", "--json").stdout == "[]\n"


def test_the_list_has_the_latest_first_and_can_be_cut(run_ollm: Run) -> None:
    old, new = begin(run_ollm, "First thing"), begin(run_ollm, "Second thing")
    lines = run_ollm("sessions", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == [new[:8], old[:8]]
    assert "Second thing" in lines[0]
    assert len(run_ollm("sessions", "list", "--limit", "1").stdout.splitlines()) == 1
    assert run_ollm("chat", "--list").stdout == run_ollm("sessions", "list").stdout


def test_a_session_is_viewed_by_a_prefix(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "What is a monad?")
    text = run_ollm("sessions", "view", session_id[:6]).stdout
    assert text.count("What is a monad?") == 3  # title, question, and the scripted echo
    tree = json.loads(run_ollm("sessions", "view", session_id, "--json").stdout)
    assert tree["sessionId"] == session_id


@some(2, "command", ("view", "export", "pin", "fork", "delete"))
def test_an_unknown_id_is_one_line_and_exit_code_1(run_ollm: Run, command: str) -> None:
    done = run_ollm("sessions", command, "ffffff", *(["--yes"] if command == "delete" else []))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "ollm: no session 'ffffff' (ollm sessions list)\n"


def test_a_prefix_of_several_ids_names_some_of_them(run_ollm: Run, home: Path) -> None:
    first = begin(run_ollm, "One")
    folder = home / "sessions"
    twin = first[:-1] + ("0" if first[-1] != "0" else "1")
    (folder / f"{twin}.json").write_bytes((folder / f"{first}.json").read_bytes())
    done = run_ollm("sessions", "view", first[:8])
    assert done.returncode == 1
    assert first in done.stderr and twin in done.stderr
    shown = run_ollm("sessions", "list").stdout.splitlines()
    assert {line.split()[0] for line in shown} == {first, twin}


@pytest.mark.parametrize("kind", ("json", "md", "html"))
def test_an_export_goes_to_stdout_or_a_file(run_ollm: Run, kind: str) -> None:
    session_id = begin(run_ollm, "Tell me <everything>")
    shown = run_ollm("sessions", "export", session_id, "--format", kind).stdout
    written = run_ollm("sessions", "export", session_id, "--output", f"chat.{kind}")
    assert (written.returncode, written.stdout) == (0, "")
    assert Path(f"chat.{kind}").read_text() in (shown, shown.rstrip("\n"))


def test_an_export_can_be_imported_again(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "Keep me")
    run_ollm("sessions", "export", session_id, "--output", "kept.json")
    run_ollm("sessions", "delete", session_id, "--yes")
    assert listed(run_ollm) == []
    assert run_ollm("sessions", "import", "kept.json").stdout == f"{session_id}\n"
    again = run_ollm("sessions", "import", "kept.json").stdout.strip()
    assert again != session_id
    assert set(listed(run_ollm)) == {session_id, again}


@some(2, "content", (b"", b"{}", b"[1]", b"\xff\xfe", b'{"messages": 3}'))
def test_what_is_no_session_is_not_imported(run_ollm: Run, content: bytes) -> None:
    Path("odd.json").write_bytes(content)
    done = run_ollm("sessions", "import", "odd.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("ollm: odd.json is not a session")
    assert done.stderr.count("\n") == 1


def test_files_that_cannot_be_read_or_written_are_one_line(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "Hi")
    for arguments in (
        ("import", "missing.json"),
        ("import", "."),
        ("export", session_id, "--output", "no/such/folder/x.json"),
    ):
        done = run_ollm("sessions", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_rename_pin_and_fork_change_what_is_listed(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "Hello")
    assert run_ollm("sessions", "rename", session_id, "A", "better", "title").returncode == 0
    assert run_ollm("sessions", "pin", session_id).returncode == 0
    assert "★ A better title" in run_ollm("sessions", "list").stdout
    run_ollm("sessions", "pin", session_id, "--off")
    assert "★" not in run_ollm("sessions", "list").stdout
    copy = run_ollm("sessions", "fork", session_id).stdout.strip()
    assert set(listed(run_ollm)) == {session_id, copy}
    assert "A better title (fork)" in run_ollm("sessions", "list").stdout


def test_a_fork_may_end_at_an_earlier_message(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "One")
    run_ollm("--resume", session_id, "-p", "Two", script=[])
    tree = json.loads(run_ollm("sessions", "view", session_id, "--json").stdout)
    copy = run_ollm("sessions", "fork", session_id, "--at", tree["messages"][1]["id"]).stdout
    shown = json.loads(run_ollm("sessions", "view", copy.strip(), "--json").stdout)
    assert [message["parts"][0]["text"] for message in shown["messages"]] == ["One", "One"]
    assert run_ollm("sessions", "fork", session_id, "--at", "nope").returncode == 1


def test_deleting_asks_and_without_anybody_to_ask_does_nothing(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "Stay")
    done = run_ollm("sessions", "delete", session_id)
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert listed(run_ollm) == [session_id]


def test_deleting_several_deletes_none_if_one_is_unknown(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "Stay")
    assert run_ollm("sessions", "delete", session_id, "ffffff", "--yes").returncode == 1
    assert listed(run_ollm) == [session_id]
    assert run_ollm("sessions", "delete", session_id, session_id[:5], "--yes").returncode == 0
    assert listed(run_ollm) == []


def test_clear_wants_all_and_yes(run_ollm: Run, home: Path) -> None:
    begin(run_ollm, "One")
    begin(run_ollm, "Two")
    assert run_ollm("sessions", "clear", "--yes").returncode == 2
    assert run_ollm("sessions", "clear", "--all").returncode == 2
    assert len(listed(run_ollm)) == 2
    assert run_ollm("sessions", "clear", "--all", "--yes").returncode == 0
    assert listed(run_ollm) == []
    assert list((home / "sessions").iterdir()) == []
    assert run_ollm("sessions", "clear", "--all", "--yes").returncode == 0


def test_cleanup_moves_the_oldest_to_the_trash_and_back(run_ollm: Run) -> None:
    old, new = begin(run_ollm, "Old"), begin(run_ollm, "New")
    dry = run_ollm("sessions", "cleanup", "--keep", "1", "--dry-run").stdout
    assert "1 would be moved" in dry and "Old" in dry
    assert set(listed(run_ollm)) == {old, new}
    run_ollm("sessions", "cleanup", "--keep", "1")
    assert listed(run_ollm) == [new]
    trash = json.loads(run_ollm("sessions", "trash", "list", "--json").stdout)
    assert [(entry["sessionId"], entry["title"]) for entry in trash] == [(old, "Old")]
    assert run_ollm("sessions", "trash", "restore", old[:6]).stdout == f"{old}\n"
    assert set(listed(run_ollm)) == {old, new}
    assert run_ollm("sessions", "trash", "list").stdout == "The trash is empty.\n"
    assert run_ollm("sessions", "trash", "restore", old).returncode == 1


def test_a_pinned_session_is_never_cleaned_up(run_ollm: Run) -> None:
    old = begin(run_ollm, "Old")
    run_ollm("sessions", "pin", old)
    new = begin(run_ollm, "New")
    run_ollm("sessions", "cleanup", "--keep", "1")
    assert listed(run_ollm) == [old]
    assert new not in listed(run_ollm)


def test_titles_of_others_reach_the_terminal_without_controls(run_ollm: Run, home: Path) -> None:
    session_id = begin(run_ollm, "Hi")
    file = home / "sessions" / f"{session_id}.json"
    tree = json.loads(file.read_text())
    tree["title"] = "a\x1b]52;c;evil\x07b"
    tree["messages"][0]["parts"][0]["text"] = "x\x1b[2Jy"
    file.write_text(json.dumps(tree))
    for command in (("list",), ("view", session_id)):
        assert "\x1b" not in run_ollm("sessions", *command).stdout
    assert "xy" in run_ollm("sessions", "view", session_id).stdout


def test_unknown_commands_and_options_are_one_line_and_exit_code_2(run_ollm: Run) -> None:
    for arguments in (
        ("bogus",),
        ("sessions",),
        ("sessions", "frobnicate"),
        ("--nope",),
        ("sessions", "cleanup", "--keep", "-1"),
    ):
        done = run_ollm(*arguments)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert "--help" in done.stderr


def test_an_empty_title_and_keeping_none_are_refused(run_ollm: Run) -> None:
    run_ollm("-p", "Hi", script=[])
    prefix = run_ollm("sessions", "list").stdout[:8]
    for arguments in (("rename", prefix, " "), ("cleanup", "--keep", "0")):
        done = run_ollm("sessions", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.count("\n") == 1
    assert "Hi" in run_ollm("sessions", "list").stdout


def test_tags_are_given_shown_filtered_by_and_taken_away(run_ollm: Run) -> None:
    old, new = begin(run_ollm, "Old"), begin(run_ollm, "New")
    assert run_ollm("sessions", "tag", old[:6], "#work", "urgent", "work").returncode == 0
    assert "Old  #work  #urgent" in run_ollm("sessions", "list").stdout
    found = json.loads(run_ollm("sessions", "list", "--tag", "Work", "--json").stdout)
    assert [(each["sessionId"], each["tags"]) for each in found] == [(old, ["work", "urgent"])]
    run_ollm("sessions", "tag", old, "work", "--remove")
    assert "No matches among 2 sessions" in run_ollm("sessions", "list", "--tag", "work").stdout
    assert listed(run_ollm) == [new, old]
    assert run_ollm("sessions", "tag", old, " # ").returncode == 2


def test_archived_sessions_are_left_out_unless_asked_for(run_ollm: Run) -> None:
    old, new = begin(run_ollm, "Old"), begin(run_ollm, "New")
    assert run_ollm("sessions", "archive", old).returncode == 0
    assert listed(run_ollm) == [new]
    everything = run_ollm("sessions", "list", "--all").stdout
    assert "Old  (archived)" in everything and "New" in everything
    only = json.loads(run_ollm("sessions", "list", "--archived", "--json").stdout)
    assert [each["sessionId"] for each in only] == [old]
    run_ollm("sessions", "archive", new)
    assert "ollm sessions list --all" in run_ollm("sessions", "list").stdout
    run_ollm("sessions", "archive", old, "--off")
    assert listed(run_ollm) == [old]


def test_the_list_can_be_of_one_project(
    run_ollm: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = begin(run_ollm, "Here")
    other = tmp_path / "elsewhere"
    other.mkdir()
    monkeypatch.chdir(other)
    there = begin(run_ollm, "There")
    for project, wanted in ((".", there), ("elsewhere", there), (str(tmp_path / "project"), here)):
        found = json.loads(run_ollm("sessions", "list", "--project", project, "--json").stdout)
        assert [each["sessionId"] for each in found] == [wanted]
    both = json.loads(run_ollm("sessions", "list", "--project", "..", "--json").stdout)
    assert len(both) == 2


def test_cleanup_goes_by_the_settings_and_says_why(run_ollm: Run, home: Path) -> None:
    old, new = begin(run_ollm, "Old"), begin(run_ollm, "New")
    (home / "config.yaml").write_text("sessions:\n  maxSessions: 0\n")
    assert "keep every session" in run_ollm("sessions", "cleanup").stdout
    (home / "config.yaml").write_text("sessions:\n  maxSessions: 1\n")
    dry = run_ollm("sessions", "cleanup", "--dry-run").stdout
    assert f"{old[:8]}  " in dry and "only the newest 1 are kept  Old" in dry
    assert set(listed(run_ollm)) == {old, new}
    assert run_ollm("sessions", "cleanup").returncode == 0
    assert listed(run_ollm) == [new]


def snapshots_of(run_ollm: Run, session_id: str) -> list[dict[str, object]]:
    return json.loads(run_ollm("snapshots", "list", session_id, "--json").stdout)


def test_a_bundle_brings_session_and_snapshots_to_another_store(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "Keep me")
    taken = run_ollm("snapshots", "create", session_id, "--name", "point").stdout.strip()
    done = run_ollm("sessions", "export", session_id, "--bundle", "--output", "kept.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    tree = json.loads(Path("kept.json").read_text())
    assert (tree["format"], tree["version"], len(tree["snapshots"])) == ("ollm-bundle", 1, 1)
    before = snapshots_of(run_ollm, session_id)
    run_ollm("sessions", "delete", session_id, "--yes")
    assert run_ollm("sessions", "import", "kept.json").stdout == f"{session_id}\n"
    assert snapshots_of(run_ollm, session_id) == before
    again = run_ollm("sessions", "import", "kept.json").stdout.strip()
    assert again != session_id
    [copy] = snapshots_of(run_ollm, again)
    assert copy["id"] != taken and copy["name"] == "point"
    assert run_ollm("snapshots", "restore", str(copy["id"])).returncode == 0


def test_a_bundle_that_cannot_be_read_is_told_in_one_line(run_ollm: Run) -> None:
    session_id = begin(run_ollm, "Hi")
    assert run_ollm("sessions", "export", session_id, "--bundle", "--format", "md").returncode == 2
    tree = json.loads(run_ollm("sessions", "export", session_id, "--bundle").stdout)
    changes: tuple[dict[str, Any], ...] = (
        {"version": 99},
        {"version": "1"},
        {"session": []},
        {"session": {}},
        {"snapshots": 1},
        {"snapshots": [3]},
        {"snapshots": [{}]},
    )
    for change in changes:
        Path("odd.json").write_text(json.dumps(tree | change))
        done = run_ollm("sessions", "import", "odd.json")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1), change
        assert done.stderr.startswith("ollm: odd.json is not a session: ")
    assert listed(run_ollm) == [session_id]


def test_deleting_leaves_nothing_of_a_session_anywhere(run_ollm: Run, home: Path) -> None:
    session_id = begin(run_ollm, "Forget me")
    kept = begin(run_ollm, "Keep me")
    for name in (session_id, kept):
        run_ollm("snapshots", "create", name)
    run_ollm("sessions", "delete", session_id, "--yes")
    assert [each for each in home.rglob("*") if session_id in each.name] == []
    assert listed(run_ollm) == [kept]
    snapshots = json.loads(run_ollm("snapshots", "list", "--json").stdout)
    assert [each["sessionId"] for each in snapshots] == [kept]
    left = [path for path in home.rglob("*") if path.is_file() and path.name != "ollm.log"]
    assert [path for path in left if session_id.encode() in path.read_bytes()] == []


def test_what_comes_back_from_the_trash_has_its_snapshots(run_ollm: Run) -> None:
    old = begin(run_ollm, "Old")
    taken = run_ollm("snapshots", "create", old).stdout.strip()
    begin(run_ollm, "New")
    run_ollm("sessions", "cleanup", "--keep", "1")
    assert json.loads(run_ollm("snapshots", "list", "--json").stdout) == []
    run_ollm("sessions", "trash", "restore", old)
    assert [each["id"] for each in snapshots_of(run_ollm, old)] == [taken]
    assert run_ollm("snapshots", "restore", taken).returncode == 0


def test_cleanup_never_moves_a_session_for_its_length(run_ollm: Run, home: Path) -> None:
    long = begin(run_ollm, "Long")
    for limits in ("", "sessions: {maxSessions: 5}\n", "sessions: {maxSessions: 0}\n"):
        (home / "config.yaml").write_text(f"{limits}retention: {{maxItems: 1}}\n")
        assert run_ollm("sessions", "cleanup").returncode == 0
        assert listed(run_ollm) == [long]


def test_a_long_session_goes_on_without_a_screen_and_says_so_in_one_line(
    run_ollm: Run, home: Path
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text("retention: {maxItems: 4}\n")
    session_id = begin(run_ollm, "One")
    told = [run_ollm("-p", "More", "-c", script=[]).stderr for _ in range(3)]
    notice = (
        "ollm: this session has {} items (retention.maxItems); continuing here "
        "(without -c a new session starts)\n"
    )
    assert told == [notice.format(4), "", notice.format(8)]
    assert listed(run_ollm) == [session_id]


def test_view_names_the_session_before_and_the_one_after(run_ollm: Run, home: Path) -> None:
    old = begin(run_ollm, "Rome")
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    new = library.add(continuation(library.load(old).state))
    library.change(old, continuedIn=new)
    library.close()
    assert f"\ncontinued in {new}\n" in run_ollm("sessions", "view", old).stdout
    after = run_ollm("sessions", "view", new).stdout
    assert after.startswith("Rome (part 2)\n") and f"\ncontinues {old}\n" in after


def test_a_list_with_costs_has_the_price_of_each_session(run_ollm: Run, home: Path) -> None:
    begin(run_ollm, "Free of charge")
    assert " free " in run_ollm("sessions", "list", "--cost").stdout
    prices = "models:\n  scripted:\n    inputPrice: 1000\n    outputPrice: 1000\n"
    (home / "config.yaml").write_text(prices)
    begin(run_ollm, "Not so")
    paid, free = json.loads(run_ollm("sessions", "list", "--cost", "--json").stdout)
    assert paid["cost"]["dollars"] > 0 == free["cost"]["dollars"]
    assert "$" in run_ollm("sessions", "list", "--cost").stdout
