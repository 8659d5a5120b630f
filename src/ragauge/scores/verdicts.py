"""The verdicts of a run's responses, and of its examples: failed, unclear, passed or not judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragauge.core.verdict import RULE_VERSION, VERDICTS, ExampleVerdict, Verdict, VerdictCounts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragauge.scores.arrays import ResponseIndex

    Codes = npt.NDArray[np.int8]

PASSED, UNCLEAR, FAILED, NOT_JUDGED = range(len(VERDICTS))


@dataclass(frozen=True, slots=True, eq=False)
class ResponseVerdicts:
    """Verdicts of responses. Every array has an entry a response of the index, a number in `VERDICTS`."""

    index: ResponseIndex  #: the responses.
    verdict: Codes  #: of the response as a whole.
    right: Codes  #: whether its answer is right.
    grounded: Codes  #: whether its passages support it.
    reason: npt.NDArray[np.int64]  #: number of the reason.
    reasons: tuple[str, ...]  #: in words, by number; "" where there is none.
    #: what would settle it, by number of the reason; shorter than `reasons` where nothing is known.
    settled_by: tuple[tuple[str, ...], ...] = ()
    #: of the rule, the oldest of these; 0 = some were judged before verdicts were stored.
    rule_version: int = RULE_VERSION

    def at(self, position: int) -> ExampleVerdict:
        """The verdict on the response at a place of the index."""
        verdict, right, grounded = (VERDICTS[column[position]] for column in (self.verdict, self.right, self.grounded))
        reason = int(self.reason[position])
        settled_by = self.settled_by[reason] if reason < len(self.settled_by) else ()
        return ExampleVerdict(verdict, right, grounded, self.reasons[reason], settled_by)

    def find_verdict(self, query_id: str, repeat: int) -> ExampleVerdict:
        """The verdict on a response of the index by its example and repeat."""
        matches = (self.index.query == self.index.query_ids.index(query_id)) & (self.index.repeat == repeat)
        return self.at(int(matches.argmax()))

    def compute_example_verdicts(self) -> Codes:
        """Shape (examples,): failed where a response failed, passed where all passed, not judged where none was judged.

        The others are unclear.
        """
        import numpy as np

        n = len(self.index.query_ids)
        has = {code: np.zeros(n, dtype=bool) for code in range(len(VERDICTS))}
        for code, mask in has.items():
            mask[self.index.query[self.verdict == code]] = True
        example_verdicts = np.select(
            [has[FAILED], ~(has[UNCLEAR] | has[NOT_JUDGED]), ~(has[UNCLEAR] | has[PASSED])],
            [FAILED, PASSED, NOT_JUDGED],
            UNCLEAR,
        )
        return example_verdicts.astype(np.int8)

    def list_reasons(self, verdict: Verdict) -> dict[str, str]:
        """query_id -> the reason of the first of its responses that did not pass, of the examples with a verdict."""
        import numpy as np

        examples = self.compute_example_verdicts() == VERDICTS.index(verdict)
        positions = np.flatnonzero(examples[self.index.query] & (self.verdict != PASSED))
        return {
            self.index.query_ids[self.index.query[position]]: self.reasons[self.reason[position]]
            for position in positions[::-1].tolist()
        }

    def counts(self, verdict: Verdict) -> dict[str, int]:
        """Reason -> examples with a verdict for that reason, most frequent first; figures in brackets are left out."""
        return dict(Counter(reason.partition(" (")[0] for reason in self.list_reasons(verdict).values()).most_common())

    def count(self) -> VerdictCounts:
        """How many examples have which verdict."""
        return VerdictCounts.from_verdicts(
            (VERDICTS[code] for code in self.compute_example_verdicts()), self.rule_version
        )

    @property
    def failed(self) -> int:
        """Examples that failed."""
        return int((self.compute_example_verdicts() == FAILED).sum())
