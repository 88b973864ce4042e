"""Heights of many things stacked on one another: which one is at a line, in few steps.

A Fenwick tree: changing a height and finding a line both take steps in the order of the
logarithm of the count, so ten thousand messages cost as much as ten.
"""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """Heights in order, from the top."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = list(heights)
        self._tree: list[int] = []
        self._rebuild()

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    @property
    def total(self) -> int:
        """All of them together."""
        return self.above(len(self._heights))

    def above(self, index: int) -> int:
        """The line at which a thing begins."""
        lines = 0
        while index:
            lines += self._tree[index]
            index &= index - 1
        return lines

    def set(self, index: int, height: int) -> int:
        """Give a thing another height; says by how much it grew."""
        grown = height - self._heights[index]
        if grown:
            self._heights[index] = height
            step = index + 1
            while step < len(self._tree):
                self._tree[step] += grown
                step += step & -step
        return grown

    def append(self, height: int) -> None:
        """Put a thing at the bottom."""
        self._heights.append(height)
        size = len(self._heights)
        low = size - (size & -size)
        self._tree.append(self.above(size - 1) - self.above(low) + height)

    def replace(self, heights: Iterable[int]) -> None:
        """Begin anew."""
        self._heights = list(heights)
        self._rebuild()

    def find(self, line: int) -> tuple[int, int]:
        """The thing at a line, and the line inside of it. Things of no height are passed over.

        A line below the bottom is the line after the last one of the last thing.
        """
        if line >= self.total:
            last = len(self._heights) - 1
            return last, line - self.above(last) if last >= 0 else 0
        index, step = 0, 1 << len(self._heights).bit_length()
        while step:
            below = index + step
            if below < len(self._tree) and self._tree[below] <= line:
                index = below
                line -= self._tree[below]
            step >>= 1
        return index, line

    def _rebuild(self) -> None:
        self._tree = [0, *self._heights]
        for index in range(1, len(self._tree)):
            above = index + (index & -index)
            if above < len(self._tree):
                self._tree[above] += self._tree[index]
