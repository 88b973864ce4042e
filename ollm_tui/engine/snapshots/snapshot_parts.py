"""What the tokens of a snapshot belong to, by the lengths of what it holds."""

from __future__ import annotations

from ollm_tui.core.session.message import Message, sent_length
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.engine.context.prompt_message import FIRST_WORDS_CHARACTERS, checkpoint_text
from ollm_tui.services.tokens.prompt_count import GROUPS, Group, Parts, shared_out

_CHARACTERS_PER_TOKEN = 4


def parts_of(snapshot: ContextSnapshot) -> Parts:
    """The tokens of each part, estimated; they add up to those of the snapshot, if it has any."""
    lengths: dict[Group, int] = dict.fromkeys(GROUPS, 0)
    lengths["system"] = len(snapshot.system_prompt)
    lengths["system"] += sum(len(entry.content) for entry in snapshot.context_entries)
    lengths["checkpoints"] = sum(len(checkpoint_text(each)) for each in snapshot.checkpoints)
    pinned, excluded = frozenset(snapshot.pins), frozenset(snapshot.excluded)
    cut = (snapshot.folded.keys() | snapshot.elisions.keys()) - pinned
    covered = {key for each in snapshot.checkpoints for key in each.messages} - pinned
    for message in snapshot.sent():
        if message.id in covered or (message.id in excluded and message.id not in pinned):
            continue
        length = sent_length(message)
        group = "system" if message.id in pinned else _group(message)
        lengths[group] += min(length, FIRST_WORDS_CHARACTERS) if message.id in cut else length
    total = snapshot.token_count or sum(lengths.values()) // _CHARACTERS_PER_TOKEN
    shares = shared_out(total, [lengths[group] for group in GROUPS])
    return Parts(**dict(zip(GROUPS, shares, strict=True)))


def _group(message: Message) -> Group:
    if message.role == "assistant":
        return "assistant"
    return "tools" if message.role == "tool" else "user"
