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
from ragauge.diagnosis.causes.cause_rule import format_numbered_noun
from ragauge.diagnosis.causes.decided_facts import EVEN_P, Decision
from ragauge.diagnosis.explain.causes import ExampleCase, shorten_text
from ragauge.diagnosis.explain.ranks import describe_absence, find_cutoff, list_relevant
from ragauge.metrics.base import Metric, Ratio, Undefined
from ragauge.metrics.measure import ABOUT, has_gap
from ragauge.metrics.specifics import find_unfounded, list_targets
from ragauge.scores.results.explanation import CountedItem
from ragauge.text.sentences import split_sentences
from ragauge.text.specifics import Haystack, find_specifics, is_found_in

UNITS: Mapping[str, str] = {
    **ABOUT,
    "cover_aspects.met": "aspect",
    "cover_criteria.met": "criterion",
    "rate_sentences.chance": "sentence",
    "rate_answer.chance": "sentence of the answer",
    "response.citations": "citation",
}


def list_counted_items(metric: Metric, case: ExampleCase) -> tuple[CountedItem, ...]:
    """What the metric counts on this example; () where it is no count, or a fact is not known."""
    if not all(case.has_fact(fact) for fact in metric.needs.values()):
        return ()
    list_special = ITEMS_BY_METRIC.get(metric.name()) or (_list_documents if "ranking" in metric.needs else None)
    if list_special is not None:
        return list_special(case, metric)
    unit = next((UNITS[fact] for fact in metric.needs.values() if fact in UNITS), None)
    counts_by_item = _list_counts(metric, case, unit) if unit is not None else None
    if unit is None or counts_by_item is None:
        return ()
    describe = DESCRIBERS_BY_UNIT.get(unit, _describe_nothing)
    return tuple(
        CountedItem(f"{unit} {n}", text, counts, reason)
        for n, counts in enumerate(counts_by_item, 1)
        for text, reason in [describe(case, metric, n)]
        if counts is not NOT_COUNTED
    )


NOT_COUNTED = object()  # an item that stands in no denominator


def _list_counts(metric: Metric, case: ExampleCase, unit: str) -> list[Any] | None:
    """Of each item whether it counts; None where the parts do not add up to the whole."""
    values = {argument: case.read_fact(fact) for argument, fact in metric.needs.items()}
    item_arguments = [argument for argument, fact in metric.needs.items() if UNITS.get(fact) == unit]
    if any(
        has_gap(fact, values[argument]) for argument, fact in metric.needs.items() if argument not in item_arguments
    ):
        return None
    counts_by_item: list[Any] = []
    numerator = denominator = 0.0
    for n in range(len(values[item_arguments[0]])):
        if any(_is_missing(values[argument][n]) for argument in item_arguments):
            counts_by_item.append(None)
            continue
        ratio = metric.value(**{**values, **{argument: values[argument][n : n + 1] for argument in item_arguments}})
        if isinstance(ratio, Undefined):  # it stands in no denominator
            ratio = Ratio(0, 0)
        if not isinstance(ratio, Ratio):
            return None
        numerator, denominator = numerator + ratio.numerator, denominator + ratio.denominator
        counts_by_item.append(_count_item(ratio.numerator, ratio.denominator))
    if None in counts_by_item or not counts_by_item:
        return counts_by_item or None
    total = metric.value(**values)
    is_same_total = isinstance(total, Ratio) and all(map(isclose, astuple(total), (numerator, denominator)))
    return counts_by_item if is_same_total else None


def _count_item(numerator: float, denominator: float) -> Any:
    """Whether an item counts; the share that does where that is only probable."""
    if not denominator:
        return NOT_COUNTED
    share = numerator / denominator
    return bool(share) if share in (0.0, 1.0) else share


def _is_missing(item: Any) -> bool:
    if isinstance(item, Claim):
        return item.status == "failed"
    return item is None or (isinstance(item, ReferenceClaim) and item.supporting is None)


# ---- what is known about one item ----

ItemDescription = tuple[str, str]  # text, facts in words


def _describe_nothing(_: ExampleCase, __: Metric, ___: int) -> ItemDescription:
    return "", ""


def _describe_claim(case: ExampleCase, metric: Metric, n: int) -> ItemDescription:
    needs, words = metric.needs.values(), []
    answer = case.seen.answer
    claim = answer.claims[n - 1] if answer is not None and n <= len(answer.claims) else None
    if claim is not None and "verify_answer.support" in needs:
        words.append(describe_support(claim, case.seen.is_supported(claim)))
    if "response.citations" in needs and claim is not None:
        cited = list_targets(claim, case.facts.response.citations or ())
        words.append(f"cites {', '.join(cited)}" if cited else "cites nothing")
    if "agree.answer" in needs or "agree.agrees" in needs:
        agrees = case.read_fact("agree.answer")[n - 1]
        agreements = {
            "agrees": "agrees with the reference",
            "contradicts": "contradicts the reference",
            "absent": "not in the reference",
            None: "not compared with the reference (no verdict)",
        }
        words.append(agreements[agrees])
    return shorten_text(claim.text or "" if claim is not None else ""), "; ".join(words)


def describe_support(claim: Claim, decision: Decision | None) -> str:
    """A claim's verdict in words, with its probability where the judge has one.

    Args:
        claim: of the answer.
        decision: whether that probability decides that the passages support it.
    """
    words = _describe_verdict(claim, decision)
    return words if claim.p is None or claim.status == "failed" else f"{words} (p {claim.p:.2f})"


def _describe_verdict(claim: Claim, decision: Decision | None) -> str:
    if claim.status == "failed":
        return f"no verdict{f': {claim.reason}' if claim.reason else ''}"
    missing = f"; not found: {', '.join(claim.window.missing)}" if claim.window and claim.window.missing else ""
    against = f"contradicted by {format_numbered_noun('passage', claim.contradicting)}" if claim.contradicting else ""
    if claim.supporting:
        how = " together" if claim.joint else f", {claim.strength}" if claim.strength else ""
        supported = (
            f"{'maybe ' if decision == 'open' else ''}supported by "
            f"{format_numbered_noun('passage', claim.supporting)}{how}"
        )
        return f"{supported}; {against}" if against else supported
    nowhere = {"yes": "supported, but no passage named", "open": "unclear"}.get(decision or "", "in no passage")
    return f"{f'{nowhere}, maybe {against}' if against and decision == 'open' else against or nowhere}{missing}"


def _describe_reference_claim(case: ExampleCase, metric: Metric, n: int) -> ItemDescription:
    needs, words, text = metric.needs.values(), [], ""
    claims = case.seen.reference or ()
    claim = claims[n - 1] if n <= len(claims) else None
    if claim is not None:
        text = claim.text
        if "verify_reference.claims" in needs:
            words.append(_describe_place(claim, case.seen.is_found(claim)))
    elif n <= len(case.facts.example.reference_claims or ()):
        text = (case.facts.example.reference_claims or ())[n - 1]
    if "agree.reference" in needs or "agree.states" in needs:
        # a metric of plain verdicts counts these; one of probabilities says what they decide
        plain_verdict = None if "agree.states" in needs else case.read_fact("agree.reference")[n - 1]
        decisions: Mapping[bool | None, Decision | None] = {True: "yes", False: "no", None: None}
        decision = case.seen.is_stated(n) if "agree.states" in needs else decisions[plain_verdict]
        words.append(
            {
                "yes": "the answer states it",
                "no": "the answer does not state it",
                "open": "unclear whether the answer states it",
                None: "no verdict",
            }[decision]
        )
    return shorten_text(text), "; ".join(words)


def _describe_place(claim: ReferenceClaim, decision: Decision | None) -> str:
    """Where a reference claim stands, with its probability where the judge has one.

    In no passage only where it counts as missing: what is likelier there than not is there, in none that can be named.
    """
    if claim.supporting is None:
        return "no verdict"
    nowhere = {"yes": "found, but no passage named", "open": "unclear"}.get(decision or "", "in no passage")
    words = f"in {format_numbered_noun('passage', claim.supporting)}" if claim.supporting else nowhere
    return words if claim.p is None else f"{words} (p {claim.p:.2f})"


PASSAGE_WORDS: Mapping[str, tuple[str, str]] = {
    "verify_answer.used": ("used by the answer", "not used by the answer"),
    "verify_reference.useful": ("supports a reference claim", "supports no reference claim"),
    "rate_passages.relevant": ("relevant to the question", "not relevant to the question"),
    "rate_passages.chance": ("relevant to the question", "not relevant to the question"),
}


def _describe_passage(case: ExampleCase, metric: Metric, n: int) -> ItemDescription:
    words = []
    for fact in metric.needs.values():
        if fact in PASSAGE_WORDS:
            verdict = case.read_fact(fact)[n - 1]
            words.append("no verdict" if verdict is None else PASSAGE_WORDS[fact][0 if verdict >= EVEN_P else 1])
    return case.passage_titles[n - 1] if n <= len(case.passage_titles) else "", "; ".join(words)


def _describe_sentence(case: ExampleCase, _: Metric, n: int) -> ItemDescription:
    chance = case.read_fact("rate_answer.chance")[n - 1]
    verdict = (
        "no verdict"
        if chance is None
        else "relevant to the question"
        if chance >= EVEN_P
        else "not relevant to the question"
    )
    texts = split_sentences(case.facts.response.answer or "")
    return (shorten_text(texts[n - 1].text) if n <= len(texts) else ""), verdict


def _build_text_describer(
    list_texts: Callable[[ExampleCase], Sequence[str] | None],
) -> Callable[[ExampleCase, Metric, int], ItemDescription]:
    def describe_text(case: ExampleCase, _: Metric, n: int) -> ItemDescription:
        texts = list_texts(case) or ()
        return (shorten_text(texts[n - 1]) if n <= len(texts) else ""), ""

    return describe_text


DESCRIBERS_BY_UNIT: Mapping[str, Callable[[ExampleCase, Metric, int], ItemDescription]] = {
    "claim": _describe_claim,
    "reference claim": _describe_reference_claim,
    "passage": _describe_passage,
    "aspect": _build_text_describer(lambda case: case.facts.example.aspects),
    "criterion": _build_text_describer(lambda case: case.facts.example.criteria),
    "sentence of the answer": _describe_sentence,
    "citation": _build_text_describer(
        lambda case: [citation.target for citation in case.facts.response.citations or ()]
    ),
}


# ---- what is counted over something that no judge numbers ----


def _list_documents(case: ExampleCase, metric: Metric) -> tuple[CountedItem, ...]:
    """L, and whether each was found in time."""
    k = find_cutoff(case, metric) if metric.name() not in ("bpref", "r_precision") else len(list_relevant(case, metric))
    k = case.read_fact("labels.ranking").n_returned if metric.name() == "bpref" else k
    documents = []
    for name, grade, rank in list_relevant(case, metric):
        where = describe_absence(case) if rank is None else f"rank {rank}" + ("" if rank <= k else f", beyond {k}")
        graded = f", grade {grade:g}" if grade != 1 else ""
        documents.append(CountedItem(name, "", rank is not None and rank <= k, where + graded))
    return tuple(documents)


def _list_specifics(case: ExampleCase, metric: Metric) -> tuple[CountedItem, ...]:
    """The specifics of the answer that stand nowhere, and the first few that do."""
    answer, passages = case.read_fact("response.answer"), case.read_fact("response.texts")
    supported, missing = find_unfounded(answer, case.read_fact("set.turns"), passages, getattr(metric, "kind", "any"))
    claims = case.read_fact("verify_answer.support") if "verify_answer.support" in metric.needs.values() else None
    counted_specifics = []
    for marks in supported:
        counts, reason = False, "in the passages or the question"
        if marks in missing:
            counts, reason = True, "in neither the passages nor the question"
            if claims is not None:
                inside = [c.n for c in claims if any(c.start <= mark.start < c.end for mark in marks)]
                unsupported = [c.n for c in claims if c.n in inside and not c.supporting]
                counts = bool(unsupported)
                claims_text = (
                    f"part of {format_numbered_noun('claim', unsupported or inside)}, "
                    if inside
                    else "not part of a claim"
                )
                reason += f"; {claims_text}{('unsupported' if unsupported else 'supported') if inside else ''}"
        counted_specifics.append(CountedItem(marks[0].text, "", counts, reason))
    return tuple(counted_specifics)


def _list_entities(case: ExampleCase, _: Metric) -> tuple[CountedItem, ...]:
    specifics = find_specifics(case.read_fact("set.references")[0], ("name", "number", "date", "percent"))
    haystack = Haystack.of(passage.text or "" for passage in case.read_fact("response.texts"))
    entities = {(specific.kind, specific.normal, specific.unit): specific for specific in specifics}.values()
    checked_entities = [(entity, is_found_in(entity, haystack)) for entity in entities]
    return tuple(
        CountedItem(entity.text, "", is_present, "in the passages" if is_present else "in no passage")
        for entity, is_present in checked_entities
    )


ITEMS_BY_METRIC: Mapping[str, Callable[[ExampleCase, Metric], tuple[CountedItem, ...]]] = {
    "fabricated_specifics": _list_specifics,
    "unverified_specifics": _list_specifics,
    "entity_recall": _list_entities,
}
