"""What would have to happen if a cause were right: which passages to hand over instead, and how to read the answer.

Which failed examples are experimented on, and how often each cause was confirmed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, zip_longest

from ragauge.core.response import REDACTED, Passage
from ragauge.diagnosis.causes.attribution import BY_NAME, UNCLEAR, find_row
from ragauge.diagnosis.causes.cause_context import CauseContext
from ragauge.diagnosis.causes.cause_rule import Lack
from ragauge.diagnosis.causes.evidence import judged
from ragauge.scores.results.experiments import CauseTally, Experiment, ExperimentOutcome, Graded, Rule, Verdict

Gold = tuple[Passage, ...] | None  # the labelled passages from a corpus; None where there is none
Handed = tuple[Passage, ...] | Lack

CHANGED, UNCHANGED = 0, 1  # the repeats under which a run keeps the new answers and the controls
WRONG, PARTLY, RIGHT = 0, 1, 2
NO_GOLD = "no labelled passages at hand: give the corpus"
NO_TEXTS = "the passages' texts were not recorded"
SAME = "the change would hand over the same passages again"
RIGHT_ALREADY = "the answer was right all the same"
UNREADABLE = "no verdict on the answer"
NO_EXPERIMENT = "no change of passages can tell"
CHANCE = "right from the unchanged passages too: the failure does not repeat"


# ---- which passages to hand over ----


def labelled(seen: CauseContext, gold: Gold) -> tuple[Passage, ...]:
    """The passages that hold the evidence; () where they are not at hand.

    From the corpus, where it has them. Else the recorded passages and candidates of the labelled documents, if there
    is one of each; without labels, those that support the reference claims, if each claim has one.
    """
    if gold:
        return gold
    if not seen.relevant:
        return () if seen.unmet or not seen.evidence_whole else _numbered(seen, judged(seen))
    known = (*(seen.passages or ()), *(seen.response.candidates or ()))
    held = [passage for passage in known if passage.text and passage.text != REDACTED]
    if not all(any(passage.doc_id in item.doc_ids for passage in held) for item in seen.relevant):
        return ()
    wanted = {doc_id for item in seen.relevant for doc_id in item.doc_ids}
    return tuple({passage.passage_id: passage for passage in held if passage.doc_id in wanted}.values())


def _swapped(seen: CauseContext, gold: Gold) -> Handed:
    """The labelled passages first, then those that were handed on, as many as before."""
    return _filled(seen, gold, seen.passages or ())


def _renewed(seen: CauseContext, gold: Gold) -> Handed:
    """The same without the passages that are outdated."""
    if not gold:
        return Lack(NO_GOLD)  # what was recorded of the document may be the outdated version itself
    return _filled(seen, gold, [passage for n, passage in enumerate(seen.passages or (), 1) if n not in seen.stale])


def _filled(seen: CauseContext, gold: Gold, others: Sequence[Passage]) -> Handed:
    evidence = labelled(seen, gold)
    if not evidence:
        return Lack(NO_GOLD)
    if not seen.response.texts_recorded:
        return Lack(NO_TEXTS)
    first = {passage.passage_id for passage in evidence}
    rest = [passage for passage in others if passage.passage_id not in first]
    return (*evidence, *rest)[: max(len(evidence), seen.n)]


def _only_labelled(seen: CauseContext, gold: Gold) -> Handed:
    """Nothing but the labelled passages."""
    return labelled(seen, gold) or Lack(NO_GOLD)


def _only_evidence(seen: CauseContext, _: Gold) -> Handed:
    """Of what was handed on, the passages of labelled documents and those that a reference claim rests on."""
    kept = _evidence(seen)
    if not kept:
        return Lack("none of the passages is known to hold evidence")
    return _numbered(seen, kept) if seen.response.texts_recorded else Lack(NO_TEXTS)


def _evidence_first(seen: CauseContext, _: Gold) -> Handed:
    """The same passages, those that hold the evidence first."""
    first = _evidence(seen)
    if not first:
        return Lack("none of the passages is known to hold evidence")
    rest = [n for n in range(1, seen.n + 1) if n not in first]
    return _numbered(seen, [*sorted(first), *rest]) if seen.response.texts_recorded else Lack(NO_TEXTS)


def _evidence(seen: CauseContext) -> set[int]:
    wanted = {doc_id for item in seen.relevant for doc_id in item.doc_ids}
    there = {n for n, passage in enumerate(seen.passages or (), 1) if passage.doc_id in wanted}
    return there | judged(seen)


def _numbered(seen: CauseContext, numbers: Sequence[int] | set[int] | frozenset[int]) -> tuple[Passage, ...]:
    ordered = sorted(numbers) if isinstance(numbers, set | frozenset) else numbers
    return tuple((seen.passages or ())[n - 1] for n in ordered)


SWAP_IN = Rule(
    "swap in",
    "the labelled passages first, in place of the last ones",
    "right",
    "the answer is right",
    "it is no better",
)
RENEW = Rule(
    "renew", "the labelled passages in place of the outdated ones", "right", "the answer is right", "it is no better"
)
DROP = Rule("drop", "only the passages that hold evidence", "right", "the answer is right", "it is no better")
FIRST = Rule(
    "move first", "the same passages, those with the evidence first", "right or open", "the answer is right", ""
)
ONLY = Rule(
    "labelled only",
    "the labelled passages and nothing else",
    "still wrong",
    "the answer is no better",
    "it is right: what else was handed on is to blame",
)
SETTLE = Rule(
    "settle",
    "the labelled passages first, in place of the last ones",
    "right",
    "the answer is right: evidence was missing",
    "it is no better: the answer is at fault",
)
HANDS: Mapping[Rule, Callable[[CauseContext, Gold], Handed]] = {
    SWAP_IN: _swapped,
    SETTLE: _swapped,
    RENEW: _renewed,
    DROP: _only_evidence,
    FIRST: _evidence_first,
    ONLY: _only_labelled,
}
RULES: Mapping[str, Rule] = {
    UNCLEAR.name: SETTLE,
    "empty_retrieval": SWAP_IN,
    "stale_source": RENEW,
    "compound": SWAP_IN,
    "not_in_index": SWAP_IN,
    "retrieval_miss": SWAP_IN,
    "ranked_low": SWAP_IN,
    "lost_before_prompt": SWAP_IN,
    "span_cut": SWAP_IN,
    "wrong_refusal": ONLY,
    "off_topic": ONLY,
    "contradicted": ONLY,
    "noise": DROP,
    "ignored": FIRST,
    "hallucinated": ONLY,
    "wrong_answer": ONLY,
    "incomplete": ONLY,
}


def experiment(seen: CauseContext, cause: str, answer_no: int, gold: Gold) -> Experiment | str:
    """The experiment that tells whether a cause is right, or why there is none.

    Args:
        seen: the failed example.
        cause: that was inferred.
        answer_no: which of the system's answers it is.
        gold: the labelled passages, where a corpus was given.
    """
    rule = RULES.get(cause or UNCLEAR.name)
    if rule is None:
        return NO_EXPERIMENT
    before = graded(seen)
    if before.grade is None:
        return UNREADABLE
    if before.grade == RIGHT:
        return RIGHT_ALREADY
    passages = HANDS[rule](seen, gold)
    if isinstance(passages, Lack):
        return passages.what
    if [passage.text for passage in passages] == [passage.text for passage in seen.passages or ()]:
        return SAME
    return _made(seen, cause, rule, answer_no, passages, before)


def reread(seen: CauseContext, cause: str, answer_no: int, passages: tuple[Passage, ...]) -> Experiment | None:
    """An experiment that was made before, from the passages that it handed over; None for a cause that has none."""
    rule = RULES.get(cause or UNCLEAR.name)
    return None if rule is None else _made(seen, cause, rule, answer_no, passages, graded(seen))


def _made(
    seen: CauseContext, cause: str, rule: Rule, answer_no: int, passages: tuple[Passage, ...], before: Graded
) -> Experiment:
    unchanged = seen.response.passages if seen.response.texts_recorded else None
    answer = seen.response.answer or ""
    return Experiment(seen.example.query_id, answer_no, cause, rule, passages, unchanged, before, answer)


# ---- how to read the answers ----


def graded(seen: CauseContext) -> Graded:
    """How good an answer is by itself: what was missed on the way to it does not count.

    Wrong: an error, a refusal, or an answer where a refusal is right; another subject, a claim that contradicts the
    reference, or not one reference claim stated. Partly: some reference claims or parts of the question left out, or
    claims without support. Right: none of these, every verdict being there.
    """
    if seen.response.error is not None:
        return Graded(WRONG, f"the system failed: {seen.response.error}")
    if seen.answer is None:
        return Graded(None, UNREADABLE)
    if seen.is_answerable is False and seen.refuse is not None:
        return Graded(RIGHT) if seen.refuse else Graded(WRONG, "it answers an unanswerable question")
    if seen.refuse:
        return Graded(WRONG, "it declines to answer")
    if seen.address == "no":
        return Graded(WRONG, "it does not address the question")
    if seen.wrong:
        return Graded(WRONG, f"claim {seen.wrong[0].n} contradicts the reference")
    of = len(seen.agreement.reference) if seen.agreement else 0
    if of and len(seen.unstated) == of:
        return Graded(WRONG, f"it states none of {of} reference claims")
    if seen.unstated:
        return Graded(PARTLY, f"it states {of - len(seen.unstated)} of {of} reference claims")
    if seen.bare or seen.against:
        return Graded(PARTLY, f"{len(seen.bare) + len(seen.against)} of its claims have no support")
    if seen.address == "partly":
        return Graded(PARTLY, "it addresses part of the question")
    return Graded(RIGHT) if _whole(seen) else Graded(None, "verdicts are missing")


def _whole(seen: CauseContext) -> bool:
    agreed = seen.agreement is None or None not in (*seen.agreement.reference, *seen.agreement.answer)
    supported = seen.claims_whole and not seen.open_support
    return supported and agreed and seen.address is not None and seen.refuse is not None


def outcome(made: Experiment, seen: CauseContext | None, control: CauseContext | None = None) -> ExperimentOutcome:
    """What an experiment says about its cause.

    Args:
        made: the experiment.
        seen: the new answer, judged as the first was; None where there is none yet.
        control: another answer from the passages that the failed one had, judged alike; None where none was asked for.
            Where it is right too, the failure does not repeat, and a right new answer says nothing about passages.
    """
    if seen is None:
        return ExperimentOutcome(made, "undecided", "not answered", Graded(None, "not answered"), "")
    after = graded(seen)
    if seen.response.error is not None:
        return ExperimentOutcome(made, "undecided", after.sign, after, "")
    verdict, why = _read(made.rule, made.before, after)
    if after.grade == RIGHT and control is not None and graded(control).grade == RIGHT:
        verdict, why = "undecided", CHANCE
    return ExperimentOutcome(made, verdict, why, after, seen.response.answer or "")


def _read(rule: Rule, before: Graded, after: Graded) -> tuple[Verdict, str]:
    if before.grade is None or after.grade is None:
        return "undecided", after.sign or before.sign
    if after.grade == RIGHT:
        mended = "right with the other passages"
        return ("refuted", mended) if rule.expects == "still wrong" else ("confirmed", mended)
    if after.grade > before.grade:
        return "undecided", f"better, but not right: {after.sign}"
    still = f"no better with the other passages: {after.sign}"
    match rule.expects:
        case "right":
            return "refuted", still
        case "still wrong":
            return "confirmed", still
    return "undecided", still


def drawn(failed: Mapping[str, str], version: str, seed: int = 0) -> list[str]:
    """The failed examples in the order of their experiments: one of each cause in turn, each cause's at random.

    So a limit cuts every cause alike, within a cause the sample is random, and a higher limit only adds to it.

    Args:
        failed: query_id -> cause.
        version: of the eval set.
        seed: of the draw.
    """

    def place(query_id: str) -> bytes:
        return hashlib.sha256(f"{seed} {version} {query_id}".encode("utf-8", "surrogatepass")).digest()

    by_cause: dict[str, list[str]] = {name: [] for name in (*BY_NAME, "")}
    for query_id in sorted(failed, key=place):
        by_cause.setdefault(failed[query_id], []).append(query_id)
    turns = zip_longest(*by_cause.values())
    return [query_id for query_id in chain.from_iterable(turns) if query_id is not None]


def tallies(
    failed: Mapping[str, str], without: Mapping[str, str], outcomes: Sequence[ExperimentOutcome]
) -> tuple[CauseTally, ...]:
    """Inferred and confirmed side by side, the most frequent cause first.

    Args:
        failed: query_id -> cause, of all failed examples.
        without: query_id -> why no experiment was made, of those looked at.
        outcomes: of the experiments.
    """
    tallied = []
    for cause in dict.fromkeys(failed.values()):
        verdicts = [outcome.verdict for outcome in outcomes if outcome.experiment.cause == cause]
        reasons = [why for query_id, why in without.items() if failed[query_id] == cause]
        counts = verdicts.count("confirmed"), verdicts.count("refuted"), verdicts.count("undecided")
        row = find_row(cause or UNCLEAR.name)
        component = row.component if row is not None else ""
        left = {why: reasons.count(why) for why in dict.fromkeys(reasons)}
        tallied.append(CauseTally(cause, component, list(failed.values()).count(cause), *counts, left))
    return tuple(sorted(tallied, key=lambda tally: (-tally.inferred, tally.cause)))
