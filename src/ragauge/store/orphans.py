"""What nothing refers to any more: texts, examples, evidence and replies that came with what was deleted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, Select, delete, or_, select, text

from ragauge.store.database import among, chunks, raw_rows, rows_among
from ragauge.store.schema import calls, evidence, replies, run_evidence, runs
from ragauge.store.text_codec import unpack
from ragauge.store.verdict_schema import control_evidence

KEY = re.compile("[0-9a-f]{64}")
# In this order: what refers goes before what it refers to.
STEPS = {
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


def reply_keys_of(connection: Connection, response_nos: Sequence[int]) -> set[str]:
    """Keys of the replies that were asked for about some responses, or that their evidence was read from."""
    asked = select(calls.c.key)
    found = {row.key.hex() for row in rows_among(connection, asked, calls.c.response_no, response_nos)}
    linked = (
        select(evidence.c.replies)
        .join_from(run_evidence, evidence, evidence.c.evidence_no == run_evidence.c.evidence_no)
        .where(evidence.c.replies.is_not(None))
    )
    return found | _listed(
        row.replies for row in rows_among(connection, linked, run_evidence.c.response_no, response_nos)
    )


def reply_keys_of_run(connection: Connection, run_no: int) -> set[str]:
    """Keys of the replies that were asked for in a run, or that its evidence or that of its controls was read from."""
    found = {key.hex() for key in connection.execute(select(calls.c.key).where(calls.c.run_no == run_no)).scalars()}
    numbers = text("SELECT response_no FROM responses WHERE run_no = :run_no")
    found |= reply_keys_of(connection, list(connection.execute(numbers, {"run_no": run_no}).scalars()))
    controls = select(evidence.c.replies).join_from(
        control_evidence, evidence, evidence.c.evidence_no == control_evidence.c.evidence_no
    )
    mine = controls.where(control_evidence.c.run_no == run_no, evidence.c.replies.is_not(None))
    return found | _listed(connection.execute(mine).scalars())


def delete_orphans(connection: Connection, reply_keys: Iterable[str] = ()) -> dict[str, int]:
    """Deletes what nothing refers to.

    Args:
        connection: that is writing.
        reply_keys: of replies that go too, where no evidence that is left was read from them, and no other run that is
            there asked for them, nor anything that belongs to no run.

    Returns:
        What -> how many of it went; "replies that others use" -> how many stay.
    """
    gone = {what: connection.execute(step).rowcount for what, step in STEPS.items()}
    keys = {key for key in reply_keys if KEY.fullmatch(key)}
    used = _used(connection, keys) if keys else set()
    gone["replies"] = 0
    mine = delete(replies).where(among(replies.c.key))
    for part in chunks(map(bytes.fromhex, sorted(keys - used))):
        gone["replies"] += connection.execute(mine, {"values": list(part)}).rowcount
    return gone | {"replies that others use": len(used)}


def _used(connection: Connection, keys: set[str]) -> set[str]:
    """Which of some replies something else rests on."""
    there = select(runs.c.run_no).where(runs.c.run_no == calls.c.run_no).exists()
    live = select(calls.c.key).where(or_(there & _of_response(), calls.c.run_no.is_(None)))
    used = {row.key.hex() for row in rows_among(connection, live, calls.c.key, map(bytes.fromhex, keys))}
    left: Select[tuple[bytes]] = select(evidence.c.replies).where(evidence.c.replies.is_not(None))
    for rows in raw_rows(connection, left):
        used |= _listed(packed for (packed,) in rows) & keys
    return used


def _of_response() -> object:
    """Whether the response is there that a call was made for; calls for a run as a whole are its own."""
    there = text("EXISTS (SELECT 1 FROM responses WHERE responses.response_no = calls.response_no)")
    return or_(calls.c.response_no.is_(None), there)


def _listed(packed: Iterable[bytes]) -> set[str]:
    return {key for one in packed for key in json.loads(unpack(one))}
