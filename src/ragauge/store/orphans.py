"""What nothing refers to any more: texts, examples, evidence and replies that came with what was deleted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Select, delete, or_, select, text

from ragauge.store.database import build_in_condition, iter_matching_rows, iter_raw_rows, split_batches
from ragauge.store.schema import calls, evidence, replies, run_evidence, runs
from ragauge.store.text_codec import unpack_text
from ragauge.store.verdict_schema import control_evidence

KEY_PATTERN = re.compile("[0-9a-f]{64}")
# In this order: what refers goes before what it refers to.
DELETE_STEPS = {
    "eval sets": text("""DELETE FROM sets WHERE kept = 0
        AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.set_no = sets.set_no)"""),
    "examples": text("""DELETE FROM examples
        WHERE NOT EXISTS (SELECT 1 FROM responses WHERE responses.example_no = examples.example_no)
        AND NOT EXISTS (SELECT 1 FROM set_examples WHERE set_examples.example_no = examples.example_no)"""),
    "texts": text("""DELETE FROM texts
        WHERE NOT EXISTS (SELECT 1 FROM run_texts WHERE run_texts.text_no = texts.text_no)"""),
    "evidence": text("""DELETE FROM evidence
        WHERE NOT EXISTS (SELECT 1 FROM run_evidence WHERE run_evidence.evidence_no = evidence.evidence_no)
        AND NOT EXISTS (SELECT 1 FROM control_evidence WHERE control_evidence.evidence_no = evidence.evidence_no)"""),
    "reasons": text("""DELETE FROM reasons
        WHERE reason_no NOT IN (SELECT reason_no FROM scores WHERE reason_no IS NOT NULL)
        AND reason_no NOT IN (SELECT reason_no FROM verdicts WHERE reason_no IS NOT NULL)"""),
}


def collect_reply_keys(connection: Connection, response_nos: Sequence[int]) -> set[str]:
    """Keys of the replies that were asked for about some responses, or that their evidence was read from."""
    call_query = select(calls.c.key)
    reply_keys = {
        row.key.hex() for row in iter_matching_rows(connection, call_query, calls.c.response_no, response_nos)
    }
    linked = (
        select(evidence.c.replies)
        .join_from(run_evidence, evidence, evidence.c.evidence_no == run_evidence.c.evidence_no)
        .where(evidence.c.replies.is_not(None))
    )
    return reply_keys | _parse_reply_keys(
        row.replies for row in iter_matching_rows(connection, linked, run_evidence.c.response_no, response_nos)
    )


def collect_run_reply_keys(connection: Connection, run_no: int) -> set[str]:
    """Keys of the replies that were asked for in a run, or that its evidence or that of its controls was read from."""
    reply_keys = {
        key.hex() for key in connection.execute(select(calls.c.key).where(calls.c.run_no == run_no)).scalars()
    }
    numbers = text("SELECT response_no FROM responses WHERE run_no = :run_no")
    reply_keys |= collect_reply_keys(connection, list(connection.execute(numbers, {"run_no": run_no}).scalars()))
    controls = select(evidence.c.replies).join_from(
        control_evidence, evidence, evidence.c.evidence_no == control_evidence.c.evidence_no
    )
    control_query = controls.where(control_evidence.c.run_no == run_no, evidence.c.replies.is_not(None))
    return reply_keys | _parse_reply_keys(connection.execute(control_query).scalars())


def delete_orphans(connection: Connection, reply_keys: Iterable[str] = ()) -> dict[str, int]:
    """Deletes what nothing refers to.

    Args:
        connection: that is writing.
        reply_keys: of replies that go too, where no evidence that is left was read from them, and no other run that is
            there asked for them, nor anything that belongs to no run.

    Returns:
        What -> how many of it went; "replies that others use" -> how many stay.
    """
    n_deleted = {what: connection.execute(step).rowcount for what, step in DELETE_STEPS.items()}
    keys = {key for key in reply_keys if KEY_PATTERN.fullmatch(key)}
    used = _find_used(connection, keys) if keys else set()
    n_deleted["replies"] = 0
    statement = delete(replies).where(build_in_condition(replies.c.key))
    for batch in split_batches(map(bytes.fromhex, sorted(keys - used))):
        n_deleted["replies"] += connection.execute(statement, {"values": list(batch)}).rowcount
    return n_deleted | {"replies that others use": len(used)}


def _find_used(connection: Connection, keys: set[str]) -> set[str]:
    """Which of some replies something else rests on."""
    run_exists = select(runs.c.run_no).where(runs.c.run_no == calls.c.run_no).exists()
    live = select(calls.c.key).where(or_(run_exists & _build_response_condition(), calls.c.run_no.is_(None)))
    used = {row.key.hex() for row in iter_matching_rows(connection, live, calls.c.key, map(bytes.fromhex, keys))}
    evidence_query: Select[tuple[bytes]] = select(evidence.c.replies).where(evidence.c.replies.is_not(None))
    for rows in iter_raw_rows(connection, evidence_query):
        used |= _parse_reply_keys(packed for (packed,) in rows) & keys
    return used


def _build_response_condition() -> object:
    """Whether the response is there that a call was made for; calls for a run as a whole are its own."""
    response_exists = text("EXISTS (SELECT 1 FROM responses WHERE responses.response_no = calls.response_no)")
    return or_(calls.c.response_no.is_(None), response_exists)


def _parse_reply_keys(packed: Iterable[bytes]) -> set[str]:
    return {key for body in packed for key in json.loads(unpack_text(body))}
