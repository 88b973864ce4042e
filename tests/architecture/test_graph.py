"""Who knows whom: no cycle of any kind, small folders, features that know the chat by its port."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from graphlib import CycleError, TopologicalSorter

from tests.architecture.source import PACKAGE, files, imports, modules, named_by_string, parsed

MOST_IN_A_FOLDER = 20
MOST_USERS_OF_A_SCREEN = 8
FIXED_NAMES = {"__init__", "screen", "words", "commands", "port"}
"""Names that every feature of the TUI may have a file of."""


def test_no_import_leads_back_to_where_it_started() -> None:
    try:
        TopologicalSorter({module: imports(module) for module in modules()}).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(error.args[1])) from error


def test_no_module_of_ours_is_imported_by_a_string() -> None:
    assert not {
        module: names for module, path in modules().items() if (names := [*named_by_string(path)])
    }


def test_a_folder_has_few_modules() -> None:
    folders = Counter(path.parent for path in modules().values() if path.name != "__init__.py")
    assert not {str(folder): n for folder, n in folders.items() if n > MOST_IN_A_FOLDER}


def test_a_name_of_a_file_is_used_once() -> None:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for module, path in modules().items():
        if path.stem not in FIXED_NAMES:
            found[path.stem].append(module)
    assert not {name: twins for name, twins in found.items() if len(twins) > 1}


def test_few_modules_know_a_screen() -> None:
    users = Counter(other for module in modules() for other in imports(module))
    screens = {module: users[module] for module in modules() if module.endswith(".screen")}
    assert screens
    assert not {module: n for module, n in screens.items() if n > MOST_USERS_OF_A_SCREEN}


def test_only_the_application_knows_the_chat_screen() -> None:
    screen = f"{PACKAGE.name}.tui.chat.screen"
    assert {module for module in modules() if screen in imports(module)} == {"ollm_tui.tui.app"}


def test_features_ask_their_port_for_the_conversation() -> None:
    """The conversation in front is the program's business; a feature belongs to one of them."""
    asking = re.compile(r"\bapp\.conversation\b")
    found = {name for name, path in files() if asking.search(path.read_text(encoding="utf-8"))}
    assert {name for name in found if name.startswith("tui/")} == {"tui/chat/screen.py"}


def test_what_is_public_is_used_somewhere() -> None:
    """Code that nothing but a test uses is not connected, or not needed."""
    words = {
        name: set(re.findall(r"\w+", path.read_text(encoding="utf-8"))) for name, path in files()
    }
    mentions = Counter(word for found in words.values() for word in found)
    styles = " ".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.tcss"))
    unused = {
        f"{name}: {node.name}"
        for name, path in files()
        for node in parsed(path).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and mentions[node.name] == 1
        and len(re.findall(rf"\b{node.name}\b", path.read_text(encoding="utf-8"))) == 1
        and node.name not in styles
    }
    assert unused <= NOT_CONNECTED_YET


NOT_CONNECTED_YET = {"services/redaction/stream_redactor.py: StreamRedactor"}
"""Live output is still hidden piece by piece; this is what will hide it as a stream."""
