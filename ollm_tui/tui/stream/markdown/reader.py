"""Turns lines of source into blocks on the page, as they come."""

from __future__ import annotations

from ollm_tui.tui.stream.markdown.block import Block, FixedBlock
from ollm_tui.tui.stream.markdown.code_block import CodeBlock, VerbatimBlock
from ollm_tui.tui.stream.markdown.containers import Container, Item, drawn_indent
from ollm_tui.tui.stream.markdown.line_plan import Action, Leaf, Plan, ReadingState, plan_line
from ollm_tui.tui.stream.markdown.page import Indent, Page
from ollm_tui.tui.stream.markdown.styles import Palette
from ollm_tui.tui.stream.markdown.syntax import ends_html
from ollm_tui.tui.stream.markdown.table_block import TableBlock
from ollm_tui.tui.stream.markdown.text_block import Heading, Paragraph


class BlockReader:
    """Reads a text once, line by line. Only the last block of `blocks` can still change."""

    def __init__(self, page: Page, palette: Palette) -> None:
        self.blocks: list[Block] = []
        self._page = page
        self._palette = palette
        self._state = ReadingState()
        self._open: Block | None = None
        """The block that takes further lines."""
        self._growing: Block | None = None
        """The block whose last line goes on."""
        self._held = ""
        """The beginning of a line whose meaning is not decided."""
        self._line_start = 0
        self._at = 0
        self._blank_at: int | None = None
        """Where the first blank line after the last block is."""
        self._blank_lines: list[int] = []
        """Blank lines that belong to indented code if more of it follows."""
        self._empty_item: Block | None = None
        """The mark of an item that has no text so far."""
        self._left: list[Container] = []
        """What was open before a blank line ended an item: the next item counts on from it."""
        self._is_after_heading = False

    def feed(self, text: str) -> None:
        """Read more text; a line that is not complete is read as far as it is decided."""
        *lines, last = text.split("\n")
        for line in lines:
            self._grow(line, is_complete=True)
            self._end_line()
        if last:
            self._grow(last, is_complete=False)
        if self._open:
            self._open.draw()

    def finish(self) -> None:
        """End the text; a line held back is read as it is."""
        if self._at > self._line_start:
            self._grow("", is_complete=True)
            self._end_line()
        self._close_leaf()

    def _grow(self, text: str, is_complete: bool) -> None:
        self._at += len(text)
        if self._growing:
            if text:
                self._growing.extend(text)
            return
        self._held += text
        if self._open and self._state.leaf is Leaf.PARAGRAPH:
            assert isinstance(self._open, Paragraph)
            self._state.last_line = self._open.last_line
        plan = plan_line(self._held, is_complete, self._state)
        if plan:
            self._apply(plan)
            self._held = ""

    def _end_line(self) -> None:
        growing, self._growing = self._growing, None
        if growing:
            growing.end_line()
            if self._state.leaf is Leaf.HTML and isinstance(growing, VerbatimBlock):
                if ends_html(growing.last_line, self._state.mark):
                    self._close_leaf()
            elif isinstance(growing, Heading):
                growing.close()
        self._at += 1
        self._line_start = self._at

    def _apply(self, plan: Plan) -> None:
        match plan.action:
            case Action.BLANK:
                self._blank(plan)
            case Action.CONTINUE:
                assert self._open
                if self._blank_lines and isinstance(self._open, CodeBlock):
                    self._open.add_blank_lines(self._blank_lines)
                self._begin(self._open, plan)
            case Action.FENCE_END:
                self._close_leaf()
            case Action.UNDERLINE:
                assert isinstance(self._open, Paragraph)
                self._open.become_heading(plan.level)
                self._close_leaf()
                self._is_after_heading = True
            case Action.TABLE:
                self._table(plan)
            case _:
                self._new_block(plan)

    def _begin(self, block: Block, plan: Plan) -> None:
        source = self._line_start + len(self._held) - len(plan.rest)
        block.begin_line(plan.rest, max(source, self._line_start), self._line_start)
        self._growing = block
        self._blank_at = None
        self._blank_lines = []

    def _blank(self, plan: Plan) -> None:
        """Close what a blank line ends; indented code may go on after it."""
        if self._blank_at is None:
            self._blank_at = self._line_start
        if self._state.leaf is Leaf.INDENTED and plan.keep == len(self._state.stack):
            self._blank_lines.append(self._line_start)
            return
        self._close_leaf()
        if plan.keep < len(self._state.stack):
            self._left = self._state.stack[:]
        del self._state.stack[plan.keep :]
        self._state.stack += plan.opened

    def _new_block(self, plan: Plan) -> None:
        indents = self._enter(plan)
        page, palette, start = self._page, self._palette, self._line_start
        state = self._state
        match plan.action:
            case Action.EMPTY_ITEM:
                self._empty_item = FixedBlock(page, palette, indents, start)
                self.blocks.append(self._empty_item)
            case Action.RULE:
                self.blocks.append(FixedBlock(page, palette, indents, start, is_rule=True))
            case Action.HEADING:
                heading = Heading(page, palette, indents, plan.level)
                self._start(heading, Leaf.NONE, plan)
                self._is_after_heading = True
            case Action.FENCE:
                language = _language(plan.rest)
                fence = CodeBlock(page, palette, indents, start, language)
                state.mark, state.indent = plan.mark, plan.level
                self.blocks.append(fence)
                self._open, state.leaf = fence, Leaf.FENCE
            case Action.INDENTED:
                code = CodeBlock(page, palette, indents, start)
                self._start(code, Leaf.INDENTED, plan)
            case Action.HTML:
                state.mark = plan.mark
                self._start(VerbatimBlock(page, palette, indents), Leaf.HTML, plan)
            case _:
                self._start(Paragraph(page, palette, indents), Leaf.PARAGRAPH, plan)

    def _start(self, block: Block, leaf: Leaf, plan: Plan) -> None:
        self.blocks.append(block)
        self._open, self._state.leaf = block, leaf
        self._begin(block, plan)

    def _table(self, plan: Plan) -> None:
        """Make the last line of the open paragraph the head of a table."""
        paragraph = self._open
        assert isinstance(paragraph, Paragraph)
        is_whole = paragraph.is_one_line
        head, source = paragraph.take_last_line()
        indents = paragraph.indents
        if is_whole:
            self.blocks.pop()
        else:
            self._close_leaf()
            indents = self._indents()
            if not self._is_in_list():
                self._add_gap(indents, source)
        table = TableBlock(self._page, self._palette, indents, head, plan.alignments or [], source)
        self.blocks.append(table)
        self._open, self._state.leaf = table, Leaf.TABLE

    def _enter(self, plan: Plan) -> list[Indent]:
        """Leave and enter containers, with a gap before the new block where it needs one."""
        stack = self._state.stack
        before = stack if plan.keep < len(stack) else self._left
        left = before[plan.keep] if plan.keep < len(before) else None
        self._left = []
        self._close_leaf()
        del stack[plan.keep :]
        first = plan.opened[0] if plan.opened else None
        is_next_item = (
            isinstance(first, Item) and isinstance(left, Item) and left.kind == first.kind
        )
        if isinstance(first, Item) and isinstance(left, Item) and is_next_item:
            # Only the first number of a list counts; the others follow it, whatever they are.
            first.number = left.number + 1
        self._leave_gap(plan, is_next_item)
        stack += plan.opened
        indents = self._indents()
        for container in stack:
            is_empty = plan.action is Action.EMPTY_ITEM and container is stack[-1]
            if isinstance(container, Item) and not is_empty:
                container.has_content = container.is_marked = True
        return indents

    def _leave_gap(self, plan: Plan, is_next_item: bool) -> None:
        empty_item, self._empty_item = self._empty_item, None
        stack = self._state.stack
        if empty_item and stack and not _has_content(stack[-1]):
            # The item has a text after all: its mark is drawn again together with the text.
            self._page.put(empty_item.top, [])
            self.blocks.remove(empty_item)
        elif self.blocks and self._needs_gap(plan, is_next_item):
            source = self._line_start if self._blank_at is None else self._blank_at
            self._add_gap(self._indents(), source)
        self._blank_at = None
        self._is_after_heading = False

    def _needs_gap(self, plan: Plan, is_next_item: bool) -> bool:
        if self._blank_at is not None:
            return True
        begins_list = bool(plan.opened) and isinstance(plan.opened[0], Item)
        # Lists stay as tight as they were written, and a heading is close to its text.
        is_close = is_next_item or begins_list or self._is_in_list() or self._is_after_heading
        return not is_close

    def _add_gap(self, indents: list[Indent], source: int) -> None:
        self.blocks.append(FixedBlock(self._page, self._palette, indents, source))

    def _is_in_list(self) -> bool:
        return any(isinstance(container, Item) for container in self._state.stack)

    def _indents(self) -> list[Indent]:
        """Return what the open containers put before a line; marks that were drawn are blank."""
        styles = self._palette.styles
        found: list[Indent] = []
        depth = 0
        for container in self._state.stack:
            found.append(drawn_indent(container, depth, styles))
            depth += isinstance(container, Item) and not container.is_ordered
        return found

    def _close_leaf(self) -> None:
        if self._open:
            self._open.close()
        self._open = None
        self._state.leaf = Leaf.NONE
        self._state.last_line = ""
        self._blank_lines = []


def _has_content(container: Container) -> bool:
    return not isinstance(container, Item) or container.has_content


def _language(info: str) -> str:
    """Return the language in the info string of a fence, as `python`, `{.python}`, `py:file`."""
    words = info.replace("{", " ").replace("}", " ").replace(",", " ").split()
    return words[0].lstrip(".").partition(":")[0] if words else ""
