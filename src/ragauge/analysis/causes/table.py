"""The cause table, in the order of decision: the first row that applies is the cause."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.analysis.causes.context import NOISE, SPAN_CUT
from ragauge.analysis.causes.generation import (
    CONTRADICTED,
    HALLUCINATED,
    IGNORED,
    INCOMPLETE,
    MISATTRIBUTED,
    MISSED_REFUSAL,
    OFF_TOPIC,
    WRONG_ANSWER,
    WRONG_REFUSAL,
)
from ragauge.analysis.causes.retrieval import (
    COMPOUND,
    EMPTY_RETRIEVAL,
    LOST_BEFORE_PROMPT,
    RANKED_LOW,
    RETRIEVAL_MISS,
)
from ragauge.analysis.causes.row import CauseRow
from ragauge.analysis.causes.system import NOT_IN_INDEX, STALE_SOURCE, SYSTEM_FAILED
from ragauge.analysis.causes.undecided import undecided

DECIDING: tuple[CauseRow, ...] = (
    MISSED_REFUSAL,
    EMPTY_RETRIEVAL,
    STALE_SOURCE,
    COMPOUND,
    NOT_IN_INDEX,
    RETRIEVAL_MISS,
    RANKED_LOW,
    LOST_BEFORE_PROMPT,
    SPAN_CUT,
    WRONG_REFUSAL,
    OFF_TOPIC,
    CONTRADICTED,
    NOISE,
    IGNORED,
    HALLUCINATED,
    WRONG_ANSWER,
    MISATTRIBUTED,
    INCOMPLETE,
)
UNDECIDED = undecided(DECIDING)
ROWS: tuple[CauseRow, ...] = (SYSTEM_FAILED, UNDECIDED, *DECIDING)
BY_NAME: Mapping[str, CauseRow] = {row.name: row for row in ROWS}
