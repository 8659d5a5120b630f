"""Whether the facts tell retrieval from generation at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragauge.analysis.causes import likely
from ragauge.analysis.causes.cause_context import CauseContext, Counterfactual
from ragauge.analysis.causes.evidence import UNTOLD, in_the_dark
from ragauge.analysis.causes.row import CauseRow, Verdict, Why

DECIDED = 0.5     # from here on a component is more likely at fault than all else together
CERTAIN = ("record", "labels")
LABELS = "gold documents (relevant)"
REFERENCE = "a reference answer"
SPANS = "gold spans (where in the documents the evidence stands)"
SETTLES = "a model judge (--judge), labels of your own, or an experiment (ragauge confirm)"


class Odds(NamedTuple):
    """How likely each component is at fault, as far as the facts tell.

    Attributes:
        retrieval: probability that evidence is missing from the passages, R.
        generation: (1 - R) G: that it is there, and the answer is at fault all the same, G being the probability of the
            likeliest fault of the answer.
        named: the likeliest cause of each component that applies, in the order of the table.
    """

    retrieval: float
    generation: float
    named: tuple[str, ...]


def odds(seen: CauseContext, rows: Sequence[CauseRow]) -> Odds:
    """Weighs retrieval against generation by all rows of the table that apply.

    Where labels say which documents hold the evidence, they decide whether it is missing. Otherwise R is the
    probability that some reference claim is in no passage, or without a reference that no passage is relevant; it
    counts against generation also where it is too small for a row of retrieval to apply.
    """
    applying = list(_applying(seen, rows))
    of_retrieval = [why for row, why in applying if row.fault(why).component in ("retrieval", "data")]
    of_generation = [why for row, why in applying if row.fault(why).component == "generation"]
    if seen.missed is not None:
        missing = max((why.p for why in of_retrieval), default=0.0)
    else:
        gap = likely.unmet(seen) if seen.reference is not None else likely.irrelevant(seen)
        missing = max([gap, *(why.p for why in of_retrieval)])
    fault = max((why.p for why in of_generation), default=0.0)
    firsts: dict[str, str] = {}
    for row, why in applying:
        component = row.fault(why).component
        firsts.setdefault("retrieval" if component == "data" else component, row.name)
    return Odds(missing, (1 - missing) * fault, tuple(firsts.values()))


def _applying(seen: CauseContext, rows: Sequence[CauseRow]) -> Iterator[tuple[CauseRow, Why]]:
    for row in rows:
        verdict = row.decide(seen)
        if isinstance(verdict, Why):
            yield row, verdict


def _plain(seen: CauseContext) -> bool:
    """Whether no verdict is but a probability: then one component is at fault for certain, if any row applies."""
    answer, agreement = seen.answer, seen.agreement
    if answer is not None and (answer.address_p is not None or any(claim.p is not None for claim in answer.claims)):
        return False
    if agreement is not None and (agreement.answer_p or agreement.reference_p):
        return False
    return not seen.likely_only and all(claim.p is None for claim in seen.reference or ())


def undecided(rows: Sequence[CauseRow]) -> CauseRow:
    """The row of the examples whose cause lies in retrieval or in generation, and nobody can tell which.

    Args:
        rows: all others, in the order of decision.
    """

    def decide(seen: CauseContext) -> Verdict:
        """The answer failed, and nothing tells whether by retrieval or by generation.

        Applies when the first row that fits rests on a judge's verdicts, and neither the probability that evidence is
        missing nor that of a fault of the answer beside evidence that is there reaches 0.5; or when the answer
        declines, and neither labels nor a reference nor a verdict on the passages tell whether these hold the answer.
        """
        dark = in_the_dark(seen)
        if _plain(seen) and not dark:
            return None
        first = next(_applying(seen, rows), None)
        if first is not None and first[1].basis in CERTAIN:
            return None
        if dark:
            return _untold(seen, rows)
        if first is None:
            return None
        found = odds(seen, rows)
        if max(found.retrieval, found.generation) >= DECIDED:
            return None
        text = f"retrieval {found.retrieval:.2f}, generation {found.generation:.2f}: neither reaches {DECIDED:g}"
        if found.named:
            text += f" ({' or '.join(found.named)})"
        settles = f"{SPANS if seen.relevant else LABELS}, {SETTLES}"
        return Why(text, "judge", Counterfactual(everything=True), settles, 1 - found.retrieval - found.generation)

    settle = f"Settle it first: {REFERENCE} or {LABELS} where there are none, {SETTLES}."
    return CauseRow("undecided", "undecided", settle, decide)


def _untold(seen: CauseContext, rows: Sequence[CauseRow]) -> Verdict:
    """A refusal that may be right by its passages; none where it is likelier than not that evidence is missing."""
    likely_rows = ((row, why) for row, why in _applying(seen, rows) if why.p >= DECIDED)
    if any(row.fault(why).component in ("retrieval", "data") for row, why in likely_rows):
        return None
    known = ", though the question is labelled answerable" if seen.example.answerable else ""
    topic = "; to be on its topic is no evidence" if seen.likely_only else ""
    text = f"the system declined to answer{known}, and nothing tells {UNTOLD}{topic} (retrieval_miss or wrong_refusal)"
    settles = f"{REFERENCE}, {LABELS}, {SETTLES}"
    return Why(text, "judge", Counterfactual(everything=True), settles, 1 - odds(seen, rows).retrieval)
