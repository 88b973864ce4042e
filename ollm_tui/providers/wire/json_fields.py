"""Reading fields of foreign JSON: a value of the wrong type counts as missing."""

from __future__ import annotations

from typing import Any, cast

Tree = dict[str, Any]


def as_tree(value: Any) -> Tree:
    """Return a value that should be an object; an empty one if it is not."""
    return cast(Tree, value) if isinstance(value, dict) else {}


def tree_at(tree: Tree, key: str) -> Tree:
    """Return the object at a key; an empty one if there is none."""
    return as_tree(tree.get(key))


def list_at(tree: Tree, key: str) -> list[Any]:
    """Return the list at a key; an empty one if there is none."""
    value = tree.get(key)
    return cast(list[Any], value) if isinstance(value, list) else []


def trees_at(tree: Tree, key: str) -> list[Tree]:
    """Return the objects in the list at a key."""
    return [cast(Tree, item) for item in list_at(tree, key) if isinstance(item, dict)]


def text_at(tree: Tree, key: str) -> str:
    """Return the text at a key; an empty one if there is none."""
    value = tree.get(key)
    return value if isinstance(value, str) else ""


def int_at(tree: Tree, *keys: str) -> int | None:
    """Return the value of the first of these keys that holds an integer."""
    for key in keys:
        value = tree.get(key)
        # In Python, True is an int too.
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def scaled(tree: Tree, key: str, per_second: float) -> float | None:
    """Return a duration in seconds from a number of units, `per_second` of which are a second."""
    value = tree.get(key)
    return value / per_second if isinstance(value, int | float) else None


def vectors_in(value: Any) -> tuple[tuple[float, ...], ...]:
    """Return the vectors of a list of lists; none unless all are numbers and of one length."""
    rows = cast(list[Any], value) if isinstance(value, list) else []
    vectors = tuple(_vector(row) for row in rows)
    is_whole = len({len(vector) for vector in vectors}) == 1 and all(vectors)
    return vectors if is_whole else ()


def _vector(row: Any) -> tuple[float, ...]:
    numbers = cast(list[Any], row) if isinstance(row, list) else []
    if not all(isinstance(number, int | float) for number in numbers):
        return ()
    return tuple(map(float, numbers))
