"""What a share is counted over: which claims, passages or documents count, and why.

Which of them count is found by the metric itself, asked about one item at a time. It is shown only where these parts
add up to the whole, so that nothing here can contradict the score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from math import isclose
from typing import Any

from ragauge.core.facts import Claim, ReferenceClaim
from ragauge.diagnosis.causes.cause_rule import counted
from ragauge.diagnosis.causes.decided_facts import EVEN, Decision
from ragauge.diagnosis.explain.case import ExampleCase, cut
from ragauge.diagnosis.explain.ranks import absent, cutoff, relevant
from ragauge.metrics.base import Metric, Ratio, Undefined
from ragauge.metrics.bounds import ABOUT, has_gap
from ragauge.metrics.specifics import targets, unfounded
from ragauge.scores.results.explanation import CountedItem
from ragauge.text.sentences import split
from ragauge.text.specifics import Haystack, find, found_in

UNITS: Mapping[str, str] = {
    **ABOUT,
    "cover_aspects.met": "aspect",
    "cover_criteria.met": "criterion",
    "rate_sentences.chance": "sentence",
    "rate_answer.chance": "sentence of the answer",
    "response.citations": "citation",
}


def items(metric: Metric, case: ExampleCase) -> tuple[CountedItem, ...]:
    """What the metric counts on this example; () where it is no count, or a fact is not known."""
    if not all(case.known(fact) for fact in metric.needs.values()):
        return ()
    special = SPECIAL.get(metric.name()) or (_documents if "ranking" in metric.needs else None)
    if special is not None:
        return special(case, metric)
    unit = next((UNITS[fact] for fact in metric.needs.values() if fact in UNITS), None)
    parts = _parts(metric, case, unit) if unit is not None else None
    if unit is None or parts is None:
        return ()
    describe = DESCRIBED.get(unit, _plain)
    return tuple(
        CountedItem(f"{unit} {n}", text, counts, why)
        for n, counts in enumerate(parts, 1)
        for text, why in [describe(case, metric, n)]
        if counts is not NOT_ASKED
    )


NOT_ASKED = object()  # an item that stands in no denominator


def _parts(metric: Metric, case: ExampleCase, unit: str) -> list[Any] | None:
    """Of each item whether it counts; None where the parts do not add up to the whole."""
    values = {argument: case.fact(fact) for argument, fact in metric.needs.items()}
    about = [argument for argument, fact in metric.needs.items() if UNITS.get(fact) == unit]
    if any(has_gap(fact, values[argument]) for argument, fact in metric.needs.items() if argument not in about):
        return None
    parts: list[Any] = []
    numerator = denominator = 0.0
    for n in range(len(values[about[0]])):
        if any(_missing(values[argument][n]) for argument in about):
            parts.append(None)
            continue
        part = metric.value(**{**values, **{argument: values[argument][n : n + 1] for argument in about}})
        if isinstance(part, Undefined):  # it stands in no denominator
            part = Ratio(0, 0)
        if not isinstance(part, Ratio):
            return None
        numerator, denominator = numerator + part.numerator, denominator + part.denominator
        parts.append(_counted(part.numerator, part.denominator))
    if None in parts or not parts:
        return parts or None
    whole = metric.value(**values)
    same = isinstance(whole, Ratio) and all(map(isclose, astuple(whole), (numerator, denominator)))
    return parts if same else None


def _counted(numerator: float, denominator: float) -> Any:
    """Whether an item counts; the share that does where that is only probable."""
    if not denominator:
        return NOT_ASKED
    share = numerator / denominator
    return bool(share) if share in (0.0, 1.0) else share


def _missing(item: Any) -> bool:
    if isinstance(item, Claim):
        return item.status == "failed"
    return item is None or (isinstance(item, ReferenceClaim) and item.supporting is None)


# ---- what is known about one item ----

Described = tuple[str, str]  # text, facts in words


def _plain(_: ExampleCase, __: Metric, ___: int) -> Described:
    return "", ""


def _claim(case: ExampleCase, metric: Metric, n: int) -> Described:
    needs, words = metric.needs.values(), []
    answer = case.seen.answer
    claim = answer.claims[n - 1] if answer is not None and n <= len(answer.claims) else None
    if claim is not None and "verify_answer.support" in needs:
        words.append(support(claim, case.seen.is_supported(claim)))
    if "response.citations" in needs and claim is not None:
        cited = targets(claim, case.facts.response.citations or ())
        words.append(f"cites {', '.join(cited)}" if cited else "cites nothing")
    if "agree.answer" in needs or "agree.agrees" in needs:
        agrees = case.fact("agree.answer")[n - 1]
        agreements = {
            "agrees": "agrees with the reference",
            "contradicts": "contradicts the reference",
            "absent": "the reference does not say it",
            None: "no verdict against the reference",
        }
        words.append(agreements[agrees])
    return cut(claim.text or "" if claim is not None else ""), "; ".join(words)


def support(claim: Claim, decision: Decision | None) -> str:
    """A claim's verdict in words, with its probability where the judge has one.

    Args:
        claim: of the answer.
        decision: whether that probability decides that the passages support it.
    """
    words = _support(claim, decision)
    return words if claim.p is None or claim.status == "failed" else f"{words} (p {claim.p:.2f})"


def _support(claim: Claim, decision: Decision | None) -> str:
    if claim.status == "failed":
        return f"no verdict{f': {claim.reason}' if claim.reason else ''}"
    missing = f"; not found: {', '.join(claim.window.missing)}" if claim.window and claim.window.missing else ""
    against = f"contradicted by {counted('passage', claim.contradicting)}" if claim.contradicting else ""
    if claim.supporting:
        how = " together" if claim.joint else f", {claim.strength}" if claim.strength else ""
        supported = f"{'maybe ' if decision == 'open' else ''}supported by {counted('passage', claim.supporting)}{how}"
        return f"{supported}; {against}" if against else supported
    nowhere = {"yes": "supported, no passage named", "open": "unclear"}.get(decision or "", "in no passage")
    return f"{f'{nowhere}, maybe {against}' if against and decision == 'open' else against or nowhere}{missing}"


def _reference_claim(case: ExampleCase, metric: Metric, n: int) -> Described:
    needs, words, text = metric.needs.values(), [], ""
    claims = case.seen.reference or ()
    claim = claims[n - 1] if n <= len(claims) else None
    if claim is not None:
        text = claim.text
        if "verify_reference.claims" in needs:
            words.append(_there(claim, case.seen.is_found(claim)))
    elif n <= len(case.facts.example.reference_claims or ()):
        text = (case.facts.example.reference_claims or ())[n - 1]
    if "agree.reference" in needs or "agree.states" in needs:
        # a metric of plain verdicts counts these; one of probabilities says what they decide
        plain = None if "agree.states" in needs else case.fact("agree.reference")[n - 1]
        decisions: Mapping[bool | None, Decision | None] = {True: "yes", False: "no", None: None}
        decision = case.seen.is_stated(n) if "agree.states" in needs else decisions[plain]
        words.append(
            {
                "yes": "the answer states it",
                "no": "the answer does not state it",
                "open": "unclear whether the answer states it",
                None: "no verdict",
            }[decision]
        )
    return cut(text), "; ".join(words)


def _there(claim: ReferenceClaim, decision: Decision | None) -> str:
    """Where a reference claim stands, with its probability where the judge has one.

    In no passage only where it counts as missing: what is likelier there than not is there, in none that can be named.
    """
    if claim.supporting is None:
        return "no verdict"
    nowhere = {"yes": "no passage named", "open": "unclear"}.get(decision or "", "in no passage")
    words = f"in {counted('passage', claim.supporting)}" if claim.supporting else nowhere
    return words if claim.p is None else f"{words} (p {claim.p:.2f})"


PASSAGE_WORDS: Mapping[str, tuple[str, str]] = {
    "verify_answer.used": ("used by the answer", "not used by the answer"),
    "verify_reference.useful": ("supports a reference claim", "supports no reference claim"),
    "rate_passages.relevant": ("relevant to the question", "not relevant to the question"),
    "rate_passages.chance": ("relevant to the question", "not relevant to the question"),
}


def _passage(case: ExampleCase, metric: Metric, n: int) -> Described:
    words = []
    for fact in metric.needs.values():
        if fact in PASSAGE_WORDS:
            verdict = case.fact(fact)[n - 1]
            words.append("no verdict" if verdict is None else PASSAGE_WORDS[fact][0 if verdict >= EVEN else 1])
    return case.titles[n - 1] if n <= len(case.titles) else "", "; ".join(words)


def _sentence(case: ExampleCase, _: Metric, n: int) -> Described:
    chance = case.fact("rate_answer.chance")[n - 1]
    verdict = "no verdict" if chance is None else "bears on the question" if chance >= EVEN else "off the question"
    texts = split(case.facts.response.answer or "")
    return (cut(texts[n - 1].text) if n <= len(texts) else ""), verdict


def _listed(of: Callable[[ExampleCase], Sequence[str] | None]) -> Callable[[ExampleCase, Metric, int], Described]:
    def described(case: ExampleCase, _: Metric, n: int) -> Described:
        texts = of(case) or ()
        return (cut(texts[n - 1]) if n <= len(texts) else ""), ""

    return described


DESCRIBED: Mapping[str, Callable[[ExampleCase, Metric, int], Described]] = {
    "claim": _claim,
    "reference claim": _reference_claim,
    "passage": _passage,
    "aspect": _listed(lambda case: case.facts.example.aspects),
    "criterion": _listed(lambda case: case.facts.example.criteria),
    "sentence of the answer": _sentence,
    "citation": _listed(lambda case: [citation.target for citation in case.facts.response.citations or ()]),
}


# ---- what is counted over something that no judge numbers ----


def _documents(case: ExampleCase, metric: Metric) -> tuple[CountedItem, ...]:
    """L, and whether each was found in time."""
    k = cutoff(case, metric) if metric.name() not in ("bpref", "r_precision") else len(relevant(case, metric))
    k = case.fact("labels.ranking").n_returned if metric.name() == "bpref" else k
    documents = []
    for name, grade, rank in relevant(case, metric):
        where = absent(case) if rank is None else f"rank {rank}" + ("" if rank <= k else f", beyond {k}")
        graded = f", grade {grade:g}" if grade != 1 else ""
        documents.append(CountedItem(name, "", rank is not None and rank <= k, where + graded))
    return tuple(documents)


def _specifics(case: ExampleCase, metric: Metric) -> tuple[CountedItem, ...]:
    """The specifics of the answer that stand nowhere, and the first few that do."""
    answer, passages = case.fact("response.answer"), case.fact("response.texts")
    supported, missing = unfounded(answer, case.fact("set.turns"), passages, getattr(metric, "kind", "any"))
    claims = case.fact("verify_answer.support") if "verify_answer.support" in metric.needs.values() else None
    every = []
    for places in supported:
        counts, why = False, "in the passages or the question"
        if places in missing:
            counts, why = True, "in no passage nor the question"
            if claims is not None:
                inside = [c.n for c in claims if any(c.start <= mark.start < c.end for mark in places)]
                weak = [c.n for c in claims if c.n in inside and not c.supporting]
                counts = bool(weak)
                held = f"inside {counted('claim', weak or inside)}, " if inside else "inside no claim"
                why += f"; {held}{('unsupported' if weak else 'supported') if inside else ''}"
        every.append(CountedItem(places[0].text, "", counts, why))
    return tuple(every)


def _entities(case: ExampleCase, _: Metric) -> tuple[CountedItem, ...]:
    specifics = find(case.fact("set.references")[0], ("name", "number", "date", "percent"))
    haystack = Haystack.of(passage.text or "" for passage in case.fact("response.texts"))
    every = {(specific.kind, specific.normal, specific.unit): specific for specific in specifics}.values()
    checked = [(entity, found_in(entity, haystack)) for entity in every]
    return tuple(
        CountedItem(entity.text, "", there, "in the passages" if there else "in no passage")
        for entity, there in checked
    )


SPECIAL: Mapping[str, Callable[[ExampleCase, Metric], tuple[CountedItem, ...]]] = {
    "fabricated_specifics": _specifics,
    "unverified_specifics": _specifics,
    "entity_recall": _entities,
}
