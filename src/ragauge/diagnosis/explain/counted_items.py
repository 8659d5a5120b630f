"""What a share is counted over: which claims, passages or documents count, and why.

Which of them count is what the metric itself returns with its share; here each has a name and the facts about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ragauge.core.facts import Claim, ReferenceClaim
from ragauge.diagnosis.causes.cause_rule import format_numbered_noun
from ragauge.diagnosis.causes.decided_facts import EVEN_P, Decision
from ragauge.diagnosis.explain.causes import ExampleCase, shorten_text
from ragauge.diagnosis.explain.ranks import RankedLabels, describe_absence
from ragauge.metrics.base import Metric, Ratio
from ragauge.metrics.measure import ABOUT
from ragauge.metrics.specifics import list_targets
from ragauge.scores.results.explanation import CountedItem
from ragauge.text.sentences import split_sentences
from ragauge.text.specifics import find_specifics

ItemDescription = tuple[str, str, str]  # name, text, facts in words


def list_counted_items(metric: Metric, case: ExampleCase) -> tuple[CountedItem, ...]:
    """What the metric counts on this example; () where it is no count, or a fact is not known."""
    needs = metric.needs.values()
    if "ranking" in metric.needs and all(map(case.has_fact, needs)):
        return tuple(_list_documents(case, metric))
    result, gaps = case.compute_value(metric)
    fact = next((fact for fact in DESCRIBERS if fact in needs), "")
    if not isinstance(result, Ratio) or not fact or {ABOUT.get(fact, fact)} < gaps.keys():
        return ()
    missing, weights = gaps.get(ABOUT.get(fact, fact), ()), result.weights or [1] * len(result.counted)
    return tuple(
        CountedItem(name, text, None if n in missing else _find_share(counted, weight), reason)
        for n, (counted, weight) in enumerate(zip(result.counted, weights, strict=True), 1)
        if weight
        for name, text, reason in [DESCRIBERS[fact](case, metric, n)]
    )


def _find_share(counted: float, weight: float) -> float:
    """Whether an item counts; the share that does where that is only probable."""
    share = counted / weight
    return bool(share) if share in (0.0, 1.0) else share


# ---- what is known about one item ----


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
        agreements = {
            "agrees": "agrees with the reference",
            "contradicts": "contradicts the reference",
            "absent": "not in the reference",
            None: "not compared with the reference (no verdict)",
        }
        words.append(agreements[case.read_fact("agree.answer")[n - 1]])
    return f"claim {n}", shorten_text(claim.text or "" if claim is not None else ""), "; ".join(words)


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


STATED_WORDS: Mapping[Decision | bool | None, str] = {
    **dict.fromkeys(("yes", True), "the answer states it"),
    **dict.fromkeys(("no", False), "the answer does not state it"),
    "open": "unclear whether the answer states it",
    None: "no verdict",
}


def _describe_reference_claim(case: ExampleCase, metric: Metric, n: int) -> ItemDescription:
    needs, words = metric.needs.values(), []
    texts, claims = case.facts.example.reference_claims or (), case.seen.reference or ()
    if n <= len(claims) and "verify_reference.claims" in needs:
        words.append(_describe_place(claims[n - 1], case.seen.is_found(claims[n - 1])))
    if "agree.states" in needs:
        words.append(STATED_WORDS[case.seen.is_stated(n)])
    text = claims[n - 1].text if n <= len(claims) else texts[n - 1] if n <= len(texts) else ""
    return f"reference claim {n}", shorten_text(text), "; ".join(words)


def _describe_place(claim: ReferenceClaim, decision: Decision | None) -> str:
    """Where a reference claim stands, with its probability where the judge has one.

    In no passage only where it counts as missing: what is likelier there than not is there, in none that can be named.
    """
    if claim.supporting is None:
        return "no verdict"
    nowhere = {"yes": "found, but no passage named", "open": "unclear"}.get(decision or "", "in no passage")
    words = f"in {format_numbered_noun('passage', claim.supporting)}" if claim.supporting else nowhere
    return words if claim.p is None else f"{words} (p {claim.p:.2f})"


RELEVANCE_WORDS = ("relevant to the question", "not relevant to the question")
PASSAGE_WORDS: Mapping[str, tuple[str, str]] = {
    "verify_answer.used": ("used by the answer", "not used by the answer"),
    "verify_reference.useful": ("supports a reference claim", "supports no reference claim"),
    "rate_passages.chance": RELEVANCE_WORDS,
}


def _format_mark(verdict: float | None, words: tuple[str, str]) -> str:
    return "no verdict" if verdict is None else words[0 if verdict >= EVEN_P else 1]


def _describe_passage(case: ExampleCase, metric: Metric, n: int) -> ItemDescription:
    facts = (fact for fact in metric.needs.values() if fact in PASSAGE_WORDS)
    words = (_format_mark(case.read_fact(fact)[n - 1], PASSAGE_WORDS[fact]) for fact in facts)
    return f"passage {n}", case.passage_titles[n - 1] if n <= len(case.passage_titles) else "", "; ".join(words)


def _describe_sentence(case: ExampleCase, _: Metric, n: int) -> ItemDescription:
    verdict = _format_mark(case.read_fact("rate_answer.chance")[n - 1], RELEVANCE_WORDS)
    texts = split_sentences(case.facts.response.answer or "")
    return f"sentence of the answer {n}", shorten_text(texts[n - 1].text) if n <= len(texts) else "", verdict


def _build_text_describer(
    unit: str, list_texts: Callable[[ExampleCase], Sequence[str] | None]
) -> Callable[[ExampleCase, Metric, int], ItemDescription]:
    def describe_text(case: ExampleCase, _: Metric, n: int) -> ItemDescription:
        texts = list_texts(case) or ()
        return f"{unit} {n}", shorten_text(texts[n - 1]) if n <= len(texts) else "", ""

    return describe_text


def _describe_specific(case: ExampleCase, metric: Metric, n: int) -> ItemDescription:
    supported, missing = case.find_unfounded(getattr(metric, "kind", "any"))
    marks = supported[n - 1]
    if marks not in missing:
        return marks[0].text, "", "in the passages or the question"
    reason = "in neither the passages nor the question"
    if "verify_answer.support" in metric.needs.values():
        claims = case.read_fact("verify_answer.support")
        inside = [claim for claim in claims if any(claim.start <= mark.start < claim.end for mark in marks)]
        unsupported = [claim.n for claim in inside if not claim.supporting]
        part = format_numbered_noun("claim", unsupported or [claim.n for claim in inside])
        support = "unsupported" if unsupported else "supported"
        reason += f"; part of {part}, {support}" if inside else "; not part of a claim"
    return marks[0].text, "", reason


def _describe_entity(case: ExampleCase, metric: Metric, n: int) -> ItemDescription:
    specifics = find_specifics(case.read_fact("set.references")[0], ("name", "number", "date", "percent"))
    texts = list({(entity.kind, entity.normal, entity.unit): entity.text for entity in specifics}.values())
    ratio, _ = case.compute_value(metric)
    is_present = isinstance(ratio, Ratio) and ratio.counted[n - 1]
    return texts[n - 1], "", "in the passages" if is_present else "in no passage"


# fact that items stand in, in their order -> what is said of one; of several that a metric needs, the first
DESCRIBERS: Mapping[str, Callable[[ExampleCase, Metric, int], ItemDescription]] = {
    "set.turns": _describe_specific,
    "verify_answer.support": _describe_claim,
    "agree.agrees": _describe_claim,
    "verify_reference.claims": _describe_reference_claim,
    "agree.states": _describe_reference_claim,
    "verify_answer.used": _describe_passage,
    "verify_reference.useful": _describe_passage,
    "rate_passages.chance": _describe_passage,
    "rate_sentences.chance": _build_text_describer("sentence", lambda _: None),
    "rate_answer.chance": _describe_sentence,
    "cover_aspects.met": _build_text_describer("aspect", lambda case: case.facts.example.aspects),
    "cover_criteria.met": _build_text_describer("criterion", lambda case: case.facts.example.criteria),
    "response.citations": _build_text_describer(
        "citation", lambda case: [citation.target for citation in case.facts.response.citations or ()]
    ),
    "set.references": _describe_entity,
    "response.passages": _describe_passage,
}


def _list_documents(case: ExampleCase, metric: Metric) -> Iterator[CountedItem]:
    """L, and whether each was found in time."""
    ranked = RankedLabels(case, metric)
    k = {"r_precision": len(ranked.relevant), "bpref": ranked.ranking.n_returned}.get(metric.name(), ranked.k)
    for name, grade, rank in ranked.relevant:
        where = describe_absence(case) if rank is None else f"rank {rank}" + ("" if rank <= k else f", beyond {k}")
        graded = f", grade {grade:g}" if grade != 1 else ""
        yield CountedItem(name, "", rank is not None and rank <= k, where + graded)
