"""config/default.yaml says what the schema says: every key, its default, its line of help."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from docs.generate import settings_page
from ollm_tui.settings import schema
from ollm_tui.settings.keys import camel, fixed_keys, is_table, names_below
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.resources import default_config
from ollm_tui.settings.schema import Settings
from tests.conftest import REPOSITORY

EXAMPLE_LINE = re.compile(r"^( *)#(?! \S)", re.MULTILINE)
"""A commented-out line: # not followed by exactly one space."""


def load_text(home: Path, text: str) -> Loaded:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(text)
    return load_settings({"OLLM_HOME": str(home)}, Path.cwd(), {})


def fields_with_help() -> Iterator[tuple[str, str | None]]:
    """Every field of the schema in the spelling of files, with the line under it."""
    for node in ast.parse(Path(schema.__file__).read_text()).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for index, field in enumerate(node.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                after = node.body[index + 1] if index + 1 < len(node.body) else None
                words = (
                    after.value.value
                    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
                    else None
                )
                yield camel(field.target.id), words if isinstance(words, str) else None


def test_the_file_holds_exactly_the_defaults(home: Path) -> None:
    loaded = load_text(home, default_config().read_text())
    assert loaded.warnings == ()
    assert loaded.settings == Settings()
    assert set(loaded.sources) == set(fixed_keys())


def test_the_file_names_every_table() -> None:
    text = default_config().read_text()
    for name in names_below(()):
        assert re.search(rf"^{name}:", text, re.MULTILINE), name


def test_the_examples_are_right_when_they_are_taken_over(home: Path) -> None:
    text = EXAMPLE_LINE.sub(r"\1", default_config().read_text())
    loaded = load_text(home, text)
    assert loaded.warnings == ()
    tables = [name for name in names_below(()) if is_table((name,))]
    assert {path[0] for path in loaded.sources} >= set(tables)
    for table in ("providers", "models", "modes"):
        shown = {path[2] for path in loaded.sources if path[0] == table and len(path) > 2}
        assert shown == set(names_below((table, "any")))
    assert set(loaded.settings.hooks) == set(names_below(("hooks",)))


def test_every_field_has_a_line_of_help_and_the_file_repeats_it() -> None:
    text = default_config().read_text()
    for name, words in fields_with_help():
        assert words, name
        assert "\n" not in words, name
        assert re.search(rf"# {re.escape(words)}\n[ #]*{name}:", text), (name, words)


def test_the_docs_list_every_setting() -> None:
    page = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page(), "make docs writes it"
