"""Fields of JSON that came from elsewhere: what has the wrong type counts as missing."""

from __future__ import annotations

from typing import Any, cast

Tree = dict[str, Any]


def as_tree(value: Any) -> Tree:
    """A value that should be an object; an empty one where it is not."""
    return cast(Tree, value) if isinstance(value, dict) else {}


def tree_at(tree: Tree, key: str) -> Tree:
    """The object at a key; an empty one where there is none."""
    return as_tree(tree.get(key))


def list_at(tree: Tree, key: str) -> list[Any]:
    """The list at a key; an empty one where there is none."""
    value = tree.get(key)
    return cast(list[Any], value) if isinstance(value, list) else []


def trees_at(tree: Tree, key: str) -> list[Tree]:
    """The objects of the list at a key."""
    return [cast(Tree, item) for item in list_at(tree, key) if isinstance(item, dict)]


def text_at(tree: Tree, key: str) -> str:
    """The text at a key; an empty one where there is none."""
    value = tree.get(key)
    return value if isinstance(value, str) else ""


def int_at(tree: Tree, *keys: str) -> int | None:
    """The first of these keys that holds a whole number."""
    for key in keys:
        value = tree.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def scaled(tree: Tree, key: str, per_second: float) -> float | None:
    """A duration in seconds, from a number that counts smaller units."""
    value = tree.get(key)
    return value / per_second if isinstance(value, int | float) else None


def vectors_in(value: Any) -> tuple[tuple[float, ...], ...]:
    """The vectors of a list of lists; none where something else stands among them."""
    rows = cast(list[Any], value) if isinstance(value, list) else []
    vectors = tuple(_vector(row) for row in rows)
    is_whole = len({len(vector) for vector in vectors}) == 1 and all(vectors)
    return vectors if is_whole else ()


def _vector(row: Any) -> tuple[float, ...]:
    numbers = cast(list[Any], row) if isinstance(row, list) else []
    if not all(isinstance(number, int | float) for number in numbers):
        return ()
    return tuple(map(float, numbers))
