"""A kill in the middle of a comparison: every answer is there, as far as it came."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

from ollm_tui.core.errors import StoreError
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.store_layout import StoreLayout
from tests.engine.conftest import OpenWorkspace

CHILD = """
import asyncio, sys
from pathlib import Path
from ollm_tui.core.provider import TextDelta
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.providers.scripted import Scripted
from ollm_tui.settings.schema import Settings
from tests.engine.conftest import workspace_on

async def main():
    conversation = await workspace_on(Path(sys.argv[1]), (), Settings()).begin()
    print(conversation.session_id, flush=True)
    choices = [
        ModelChoice(
            Scripted([[TextDelta(f"so far by {name}"), asyncio.Event()]], name=f"{name}-server"),
            name,
            remote_host=f"{name}.example",
        )
        for name in ("a", "b", "c")
    ]
    async for _ in conversation.comparison.events(choices, "Why?"):
        pass

asyncio.run(main())
"""


async def test_after_a_kill_every_answer_is_there_and_interrupted(
    open_workspace: OpenWorkspace, home: Path
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(home)], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout
    session_id = child.stdout.readline().strip()
    await asyncio.to_thread(_wait_for_answers, home, session_id, 3)
    child.kill()
    child.wait()
    child.stdout.close()
    conversation, problems = await (await open_workspace()).resume(session_id)
    assert not problems
    question = conversation.state.branch()[0]
    answers = conversation.state.children(question.id)
    assert question.text == "Why?"
    assert sorted((each.text, each.status) for each in answers) == [
        (f"so far by {name}", "interrupted") for name in "abc"
    ]
    await conversation.close()


def _wait_for_answers(home: Path, session_id: str, count: int) -> None:
    """Wait until so many answers have begun on disk."""
    library = SessionLibrary.at(StoreLayout(home / "sessions"))
    while True:
        try:
            messages = list(library.load(session_id).state.messages())
        except StoreError:  # nothing is on disk before the first message
            messages = []
        if sum("so far" in message.text for message in messages) == count:
            return
        time.sleep(0.05)
