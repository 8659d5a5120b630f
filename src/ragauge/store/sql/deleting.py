"""Removing a run, and what only it referred to."""

from __future__ import annotations

from sqlalchemy import Connection, text

# In this order: what refers goes before what it refers to. The run's own rows go by cascade.
STEPS = tuple(
    text(step)
    for step in (
        "DELETE FROM runs WHERE run_no = :run_no",
        """DELETE FROM sets WHERE kept = 0
           AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.set_no = sets.set_no)""",
        """DELETE FROM examples
           WHERE NOT EXISTS (SELECT 1 FROM responses WHERE responses.example_no = examples.example_no)
           AND NOT EXISTS (SELECT 1 FROM set_examples WHERE set_examples.example_no = examples.example_no)""",
        """DELETE FROM texts
           WHERE NOT EXISTS (SELECT 1 FROM run_texts WHERE run_texts.text_no = texts.text_no)""",
        """DELETE FROM evidence
           WHERE NOT EXISTS (SELECT 1 FROM run_evidence WHERE run_evidence.evidence_no = evidence.evidence_no)""",
        """DELETE FROM reasons
           WHERE reason_no NOT IN (SELECT reason_no FROM scores WHERE reason_no IS NOT NULL)""",
    )
)


def delete_run(connection: Connection, run_no: int) -> None:
    """Deletes a run with its responses, scores and causes, then every row that nothing refers to any more."""
    for step in STEPS:
        connection.execute(step, {"run_no": run_no} if ":run_no" in step.text else {})
