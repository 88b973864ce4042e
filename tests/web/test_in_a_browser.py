"""The screens in a real browser: typed into, reloaded, resized, copied from."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.web.conftest import Open, Serve

COUNTING = [
    [
        {"text": "One"},
        *({"wait": 1}, {"text": " two"}, {"wait": 1}, {"text": " three"}, {"wait": 1}),
        {"text": " four"},
    ]
]


def test_a_reload_in_the_middle_of_an_answer_finds_it_still_growing(
    serve: Serve, open_tab: Open
) -> None:
    served = serve(script=COUNTING)
    tab = open_tab(served.address)
    assert tab.page.title() == "ollm · project"
    tab.wait_for("Type a message")
    tab.type("Count for me")  # nothing was clicked: the page has the focus at once
    tab.press("Enter")
    tab.wait_for("One two")
    programs = served.children()
    tab.page.reload()
    tab.wait_for("Count for me", "One two")
    tab.type("a draft")
    tab.wait_for("One two three four", "saved", "a draft")
    assert served.children() == programs
    assert len(programs) == 1


def test_screens_open_by_their_keys_and_follow_the_window(serve: Serve, open_tab: Open) -> None:
    served = serve(script=[[{"text": "A narrow answer"}]])
    tab = open_tab(served.address)
    tab.wait_for("Type a message")
    tab.type("Hello there")
    tab.press("Enter")
    tab.wait_for("A narrow answer", "saved")
    assert "unknown" not in tab.screen()  # what the server hands down is no setting
    tab.press("F3")
    tab.wait_for("Type to find", "started")
    tab.page.set_viewport_size({"width": 420, "height": 700})
    tab.wait_until_gone("started")  # there is room for the list only
    tab.press("Escape")
    tab.wait_for("A narrow answer")
    # On narrow screens there are keys to touch, also for what browsers keep for themselves.
    tab.page.get_by_role("button", name="Search").click()
    tab.wait_for("Search")
    tab.page.get_by_role("button", name="Esc").click()
    tab.wait_for("A narrow answer")
    tab.page.get_by_role("button", name="New", exact=True).click()
    tab.wait_until_gone("A narrow answer")
    tab.page.set_viewport_size({"width": 1200, "height": 700})
    tab.page.wait_for_selector("#keys", state="hidden")
    tab.press("F4")
    tab.type("narrow")
    tab.wait_for("A narrow answer")


@pytest.mark.long
def test_copies_pastes_and_keys_arrive_as_they_are_meant(serve: Serve, open_tab: Open) -> None:
    served = serve(
        script=[[{"text": "Words to copy"}], [{"text": "At https://example.com/ today"}]]
    )
    tab = open_tab(served.address)
    tab.wait_for("Type a message")
    tab.type("first line")
    tab.press("Shift+Enter")
    tab.type("second line")
    tab.wait_for("first line", "second line")
    tab.press("Enter")
    tab.wait_for("Words to copy", "saved")
    tab.press("Alt+ArrowUp")  # the cursor of messages; as Ctrl+Up it would do nothing
    tab.wait_for("edit")
    tab.press("y")
    read = "async () => await navigator.clipboard.readText()"
    tab.page.wait_for_function(f"({read})().then(text => text === 'Words to copy')")
    tab.press("Escape")
    tab.wait_for("Ctrl+P commands")
    tab.type("Where?")
    tab.press("Enter")
    tab.wait_for("example.com", "saved")
    left, right, height = tab.place("Where")
    tab.page.keyboard.down("Shift")
    tab.page.mouse.move(left, height)
    tab.page.mouse.down()
    tab.page.mouse.move(right, height, steps=5)
    tab.page.mouse.up()
    tab.page.keyboard.up("Shift")
    tab.press("Control+c")
    tab.page.wait_for_function(f"({read})().then(text => text === 'Where')")
    left, right, height = tab.place("example")
    with tab.page.context.expect_page() as opened:
        tab.page.mouse.move(left, height, steps=3)
        tab.page.mouse.move(right, height, steps=3)
        tab.page.mouse.click(right, height)
    opened.value.close()
    tab.page.bring_to_front()
    tab.press("Escape")  # the click was one on the conversation, too
    tab.wait_for("Ctrl+P commands")
    # The end of a paste, and then F3: neither may act as a key.
    evil = "copied \x1b[201~\x1bOR\x03 here"
    tab.page.evaluate("text => navigator.clipboard.writeText(text)", evil)
    tab.press("Control+V")
    tab.wait_for("copied [201~OR here", "example.com")
    tab.press("Control+z")
    tab.wait_for("No shell to return to")
    tab.type(" and on")
    tab.wait_for("here and on")


@pytest.mark.long
def test_two_tabs_are_two_programs_on_the_same_sessions(serve: Serve, open_tab: Open) -> None:
    served = serve(script=[[{"text": "An answer"}]])
    first = open_tab(served.address)
    first.wait_for("Type a message")
    first.type("Asked in the first tab")
    first.press("Enter")
    first.wait_for("An answer", "saved")
    second = open_tab(served.address)
    second.wait_for("Type a message")
    assert "Asked in the first tab" not in second.screen()
    assert len(served.children()) == 2
    second.press("F3")
    second.wait_for("Asked in the first tab")
    second.press("Enter")
    second.wait_for("Read-only · following another window", "An answer")
    first.press("Control+Q")
    first.page.get_by_text("The program has ended. Enter starts it again.").wait_for()
    first.press("Enter")
    first.wait_for("Type a message")


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_program_that_ends_with_the_server_has_saved_everything(
    home: Path, serve: Serve, open_tab: Open, number: signal.Signals
) -> None:
    served = serve(script=[[{"text": "Half of an answer"}, {"wait": 600}]])
    tab = open_tab(served.address)
    tab.wait_for("Type a message")
    tab.type("Tell me all")
    tab.press("Enter")
    tab.wait_for("Half of an answer")
    (program,) = served.children()
    served.process.send_signal(number)
    assert served.process.wait() == (0 if number == signal.SIGINT else -number)
    told = "has ended" if number == signal.SIGINT else "No connection"
    tab.page.get_by_text(told).wait_for()
    if number == signal.SIGINT:
        assert not Path(f"/proc/{program}").exists()
    while Path(f"/proc/{program}").exists():  # its terminal is gone, and it saves and ends
        tab.page.wait_for_timeout(50)
    (session,) = (home / "sessions").glob("*-*.json")
    assert "Half of an answer" in session.read_text()


def test_a_shared_session_is_seen_live_by_several_and_typed_into_by_none(
    home: Path, serve: Serve, open_tab: Open, run_ollm: Run
) -> None:
    story = "\n\n".join(f"Line {number}" for number in range(1, 60))
    run_ollm("-p", "Tell a story", script=[[{"text": story}]])
    run_ollm("-p", "Say nothing of this", script=[[{"text": "A secret"}]])
    (session,) = (
        file.stem
        for file in (home / "sessions").glob("*-*.json")
        if "Tell a story" in file.read_text()
    )
    served = serve("--share", session[:8], script=[[{"text": "The end"}]])
    mine, shared = served.addresses
    viewers = [open_tab(shared), open_tab(shared)]
    for viewer in viewers:
        viewer.wait_for("Tell a story", "read-only · live", "Line 59")
        viewer.type("Let me in")
        viewer.press("Enter", "F3", "Control+N", "Control+Q", "Escape", "PageUp")
        viewer.wait_until_gone("Line 59")
        viewer.press("PageDown", "PageDown")
        viewer.wait_for("Line 59")
        viewer.swipe(100, 500)  # on a phone there is no other way
        viewer.wait_until_gone("Line 59")
        viewer.swipe(500, 100)
        viewer.wait_for("Line 59")
        assert "Let me in" not in viewer.screen()
    own = open_tab(mine)
    own.wait_for("Type a message")
    own.press("F3")
    own.wait_for("Tell a story", "Say nothing of this")
    own.type("story")
    own.wait_until_gone("Say nothing of this")
    own.press("Enter")
    own.wait_for("Line 59", "Type a message")
    own.type("And then?")
    own.press("Enter")
    for viewer in viewers:
        viewer.wait_for("And then?", "The end")
