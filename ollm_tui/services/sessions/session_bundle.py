"""Bundles: a session and its snapshots as one JSON file, to be taken to another store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import replace

from ollm_tui.core.errors import StoreError
from ollm_tui.core.session.encoding import (
    CannotDecode,
    Tree,
    parse_json,
    session_from_tree,
    to_tree,
)
from ollm_tui.core.session.message import new_id
from ollm_tui.core.session.session import Session
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.core.snapshot_encoding import encode_snapshot, snapshot_from_tree
from ollm_tui.services.export.shareable import hide_secrets, json_document
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.storage.snapshots.snapshot_store import snapshots_beside
from ollm_tui.storage.store_layout import is_valid_name

FORMAT = "ollm-bundle"
VERSION = 1


class _Envelope(msgspec.Struct, frozen=True):
    """The bundle file, parsed."""

    version: int
    session: Tree
    snapshots: list[Tree]


class Bundle(NamedTuple):
    """A session and its snapshots, as one bundle file holds them."""

    session: Session
    snapshots: tuple[ContextSnapshot, ...] = ()
    """Newest first."""
    problems: tuple[str, ...] = ()
    """What could not be read and is missing, in words."""


def bundle_of(sessions: SessionLibrary, session_id: str) -> Bundle:
    """Return a session of a store with all of its snapshots that can be read.

    StoreError if the session cannot be read.
    """
    store = snapshots_beside(sessions.store)
    loaded = sessions.load(session_id)
    snapshots: list[ContextSnapshot] = []
    problems = [*loaded.problems]
    for summary in store.summaries(session_id):
        try:
            snapshots.append(store.read(session_id, summary.id).snapshot)
        except StoreError as error:
            problems.append(error.message)
    return Bundle(loaded.state.session(), tuple(snapshots), tuple(problems))


def bundle_document(bundle: Bundle) -> str:
    """Return the text of the bundle file, without secrets."""
    redactor = Redactor.knowing(os.environ)
    trees = [cast(Tree, parse_json(encode_snapshot(each))) for each in bundle.snapshots]
    return json_document(
        {
            "format": FORMAT,
            "version": VERSION,
            "session": hide_secrets(to_tree(bundle.session), redactor),
            "snapshots": [hide_secrets(tree, redactor) for tree in trees],
        }
    )


def read_bundle(data: bytes) -> Bundle | None:
    """Return the bundle in a file, None if the file is something else; CannotDecode if damaged."""
    tree = parse_json(data)
    if not isinstance(tree, dict) or cast(Tree, tree).get("format") != FORMAT:
        return None
    try:
        envelope = msgspec.convert(tree, _Envelope)
    except msgspec.ValidationError as error:
        raise CannotDecode(f"not a valid bundle: {error}") from error
    if envelope.version > VERSION:
        raise CannotDecode("it was written by a newer version of ollm")
    session = session_from_tree(envelope.session)
    return Bundle(session, tuple(map(snapshot_from_tree, envelope.snapshots)))


def add_bundle(sessions: SessionLibrary, bundle: Bundle) -> str:
    """Put a bundle into a store and return the session's id there.

    Session and snapshots get new ids where theirs are taken.
    """
    store = snapshots_beside(sessions.store)
    session_id = sessions.free_id(bundle.session.session_id)
    names = _free_names(bundle.snapshots, session_id, store.owners())
    # Snapshots first: once the session can be seen, all that belongs to it is there.
    for snapshot in bundle.snapshots:
        store.write(replace(snapshot, id=names[snapshot.id], session_id=session_id))
    if names:
        store.refresh(session_id)
    return sessions.add(replace(_renamed(bundle.session, names), session_id=session_id))


def _free_names(
    snapshots: tuple[ContextSnapshot, ...], session_id: str, owners: Mapping[str, str]
) -> dict[str, str]:
    """Return the new id of each snapshot: its own if that is free and a valid file name."""
    ids = [snapshot.id for snapshot in snapshots]
    return {
        key: key if is_valid_name(key) and owners.get(key, session_id) == session_id else new_id()
        for key in ids
    }


def _renamed(session: Session, names: Mapping[str, str]) -> Session:
    """Return a session that refers to its snapshots by their new ids."""

    def name(key: str | None) -> str | None:
        return names.get(key, key) if key else key

    metadata = session.metadata
    return replace(
        session,
        metadata=replace(
            metadata,
            compression_history=tuple(
                replace(entry, snapshot=name(entry.snapshot))
                for entry in metadata.compression_history
            ),
            restores=tuple(
                replace(
                    each, snapshot=names.get(each.snapshot, each.snapshot), safety=name(each.safety)
                )
                for each in metadata.restores
            ),
        ),
    )
