"""What a run's responses are, before anything is judged: answered, empty, failed, how long, how much.

Which causes stand out in which segment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ragauge.core.json_keys import Key, json_keys, key
from ragauge.scores.failures import EXCEPTION, FailedResponses, describe_failed_calls
from ragauge.scores.gather import Visit
from ragauge.scores.results.overview import Spending, Timing
from ragauge.scores.segments import Segments

CauseCounts = Mapping[str, Mapping[str, Mapping[str, int]]]


def count_causes_by_segment(
    failed: FailedResponses, segments: Segments, shown_segments: Mapping[str, Mapping[str, object]]
) -> CauseCounts:
    """Column -> value -> cause -> failed examples, over the failed examples of a run.

    An example of several failed repeats counts once, as in the causes of the whole run; so the counts of a column
    sum to the failed examples.

    Args:
        failed: the failed responses.
        segments: tidy, of the same run.
        shown_segments: column -> value -> anything, as the scorecard shows segments: its columns and their order
            are kept.

    Returns:
        The values in the order shown, also those where nothing failed; the causes of each most frequent first.
    """
    import numpy as np

    failed_examples = failed.by_example()
    columns = segments.align_columns(failed_examples.index.query_ids)
    by_column: dict[str, dict[str, dict[str, int]]] = {}
    for name, values in shown_segments.items():
        labels, cells = columns[name].take(failed_examples.query), {value: dict[str, int]() for value in values}
        for number, value in enumerate(labels.values):
            counts = failed_examples.cause.take(np.flatnonzero(labels.codes == number)).counts()
            pairs = sorted(zip(failed_examples.cause.values, counts, strict=True), key=lambda pair: (-pair[1], pair[0]))
            nonzero_counts = {cause: count for cause, count in pairs if count}
            if value is not None and nonzero_counts:
                cells.setdefault(value, {}).update(nonzero_counts)
        by_column[name] = cells
    return by_column


MAX_KINDS = 8  # of failure that are named


class FailedQuestion(NamedTuple):
    """A question that failed, and how."""

    query_id: str
    error: str


@json_keys("responses answered unanswered blank empty failed such_as derived_ids")
@json_keys("timings tokens cost", view="spent", cost=Key("spending", at="cost"))
@dataclass(frozen=True, slots=True)
class RunCounts:
    """The responses of a run."""

    responses: int  #: failures counted.
    answered: int  #: with an answer, blank ones counted.
    unanswered: int  #: without an answer and without an error: retrieval alone.
    empty: int = field(metadata=key("empty_retrieval"))  #: that retrieved nothing, where own retrieval was asked.
    #: kind of failure -> how many, most first; the kind is the word before the colon of `Response.error`.
    failed: Mapping[str, int]
    derived_ids: Mapping[str, int]  #: how many have passages whose ids were derived -> by which rule.
    #: by stage, the total first; failed calls count with what was recorded of them.
    timings: tuple[Timing, ...] = field(default=(), metadata=key("latency_ms", by="stage"))
    spending: Spending | None = None  #: tokens and cost as far as reported; None where nothing was.
    blank: int = 0  #: of these, without a word in the answer.
    #: kind of failure -> one that failed so.
    such_as: Mapping[str, FailedQuestion] = field(default_factory=dict)

    @property
    def tokens(self) -> Mapping[str, float]:
        """Kind of token: how many, over the responses that recorded them."""
        return {} if self.spending is None else self.spending.tokens

    @property
    def n_failed(self) -> int:
        """Failures of every kind."""
        return sum(self.failed.values())

    @property
    def all_failed(self) -> str:
        """That every call failed, with the error of one of the most frequent kind; "" where one did not, or none is.

        >>> such_as = {"exception": FailedQuestion("q1", "KeyError: 'a'")}
        >>> RunCounts(2, 0, 0, 0, {"exception": 2}, {}, such_as=such_as).all_failed
        "2 of 2 calls failed: KeyError: 'a'."
        """
        if not self.responses or self.n_failed < self.responses:
            return ""
        kind = next(iter(self.failed))
        error = self.such_as[kind][1] if kind in self.such_as else ""
        return describe_failed_calls(self.n_failed, self.responses, error if kind == EXCEPTION else f"{kind}: {error}")

    def words(self) -> list[str]:
        """How many were answered, with retrieval alone, and failed; what none was is left out, unless nothing came.

        >>> RunCounts(3, 0, 3, 0, {}, {}).words(), RunCounts(2, 0, 0, 0, {"timeout": 2}, {}).words()
        (['3 with retrieval only'], ['0 answered', '2 failed (timeout 2)'])
        """
        phrases = [f"{self.answered:,} answered"] if self.answered or not self.unanswered else []
        if self.unanswered:
            phrases.append(f"{self.unanswered:,} with retrieval only")
        if self.blank:
            phrases.append(f"{self.blank:,} of them blank")
        if self.n_failed:
            kinds = ", ".join(f"{kind} {n:,}" for kind, n in list(self.failed.items())[:MAX_KINDS])
            phrases.append(f"{self.n_failed:,} failed ({kinds})")
        return phrases


class CountsGatherer:
    """Counts responses as they are visited."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._derived: Counter[str] = Counter()
        self._such_as: dict[str, FailedQuestion] = {}

    def add(self, visit: Visit) -> None:
        """Takes in a response."""
        response = visit.response
        self._counts["responses"] += 1
        if response.error is not None:
            kind = find_error_kind(response.error)
            self._failed[kind] += 1
            self._such_as.setdefault(kind, FailedQuestion(response.query_id, response.error.removeprefix(f"{kind}: ")))
            return
        self._counts["answered" if response.answer is not None else "unanswered"] += 1
        self._counts["blank"] += response.answer is not None and not response.answer.strip()
        self._counts["empty"] += response.passages == ()
        if rule := response.missing.get("doc_id"):
            self._derived[rule] += 1

    def counts(self, timings: tuple[Timing, ...] = (), spending: Spending | None = None) -> RunCounts:
        """The counts, with what others gathered."""
        n = self._counts
        return RunCounts(
            n["responses"],
            n["answered"],
            n["unanswered"],
            n["empty"],
            dict(self._failed.most_common()),
            dict(self._derived.most_common()),
            timings,
            spending,
            n["blank"],
            dict(self._such_as),
        )


def find_error_kind(error: str) -> str:
    """The kind of a failure: the word before the colon; "error" where there is none.

    >>> find_error_kind("timeout: no response within 30 s"), find_error_kind("something else went wrong")
    ('timeout', 'error')
    """
    kind, colon, _ = error.partition(":")
    return kind if colon and kind.isidentifier() else "error"
