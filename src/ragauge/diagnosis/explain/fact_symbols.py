"""How each symbol of a formula is shown, by the fact that it is taken from."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ragauge.core.facts import Claim
from ragauge.diagnosis.explain.causes import (
    ExampleCase,
    format_indexed,
    format_list,
    format_mark,
    format_number,
    format_set,
    format_supporting,
)
from ragauge.diagnosis.explain.ranks import NEIGHBOR_SYMBOLS, RANKING_SYMBOLS, build_span_symbols
from ragauge.metrics.base import Metric
from ragauge.metrics.specifics import find_cited_passages, find_unfounded, list_targets
from ragauge.text.specifics import find_specifics
from ragauge.text.tokens import count_tokens, split_answer_tokens
from ragauge.text.tokens import normalize_answer as normal

SymbolFormatter = Callable[[ExampleCase, Metric], str]


FUNCTION = ""  # a symbol that is a function has no value of its own


def _format_claims(case: ExampleCase, _: Metric) -> str:
    return str(len(case.read_fact("verify_answer.support")))


def _format_supporting(case: ExampleCase, _: Metric) -> str:
    return format_indexed(
        "S", case.read_fact("verify_answer.support"), lambda claim: _format_numbers(claim, claim.supporting)
    )


def _format_contradicting(case: ExampleCase, _: Metric) -> str:
    return format_indexed(
        "X", case.read_fact("verify_answer.support"), lambda claim: _format_numbers(claim, claim.contradicting)
    )


def _format_support(case: ExampleCase, _: Metric) -> str:
    claims = case.read_fact("verify_answer.support")
    return format_indexed("p", claims, lambda claim: "?" if claim.status == "failed" else format_number(claim.chance))


def _format_numbers(claim: Claim, numbers: tuple[int, ...]) -> str:
    return "?" if claim.status == "failed" else format_set(numbers)


def _format_agreement(case: ExampleCase, _: Metric) -> str:
    return format_indexed("R", case.read_fact("agree.answer"), lambda stated: stated or "?")


def _format_agreeing(case: ExampleCase, _: Metric) -> str:
    return format_indexed("r", case.read_fact("agree.agrees"), format_mark)


def _format_answer_claims(case: ExampleCase, _: Metric) -> str:
    return str(len(case.read_fact("agree.answer")))


def _format_n_passages(case: ExampleCase, _: Metric) -> str:
    return str(len(case.facts.response.passages or ()))


def _build_marks_formatter(fact: str, symbol: str = "v") -> SymbolFormatter:
    return lambda case, _: format_indexed(symbol, case.read_fact(fact), format_mark)


def _format_used(case: ExampleCase, _: Metric) -> str:
    marks = case.read_fact("verify_answer.used")
    unknown = [n for n, used in enumerate(marks, 1) if used is None]
    more = f", unknown for {format_list(map(str, unknown))}" if unknown else ""
    return format_set(n for n, used in enumerate(marks, 1) if used) + more


def _format_evidence(case: ExampleCase, _: Metric) -> str:
    return format_set(n for n, useful in enumerate(case.read_fact("verify_reference.useful"), 1) if useful)


def _format_first_relevant(case: ExampleCase, _: Metric) -> str:
    marks = case.read_fact("rate_passages.relevant")
    return format_mark(marks[0]) if marks else "there is no first passage"


def _build_precision_formatter(fact: str) -> SymbolFormatter:
    def format_precision(case: ExampleCase, _: Metric) -> str:
        marks = case.read_fact(fact)
        if None in marks:
            return FUNCTION
        return format_list(
            f"prec@{n} = {format_number(sum(marks[:n]))}/{n}" for n, useful in enumerate(marks, 1) if useful
        )

    return format_precision


def _format_passage_tokens(case: ExampleCase, _: Metric) -> str:
    return format_list(
        f"#t of passage {n} = {count_tokens(p.text or '')}" for n, p in enumerate(case.read_fact("response.texts"), 1)
    )


def _format_reference_claims(case: ExampleCase, metric: Metric) -> str:
    fact = next(need for need in metric.needs.values() if need in REFERENCE_FACTS)
    return str(len(case.read_fact(fact)))


def _format_found_passages(case: ExampleCase, _: Metric) -> str:
    claims = case.read_fact("verify_reference.claims")
    return format_indexed("T", claims, lambda claim: format_supporting(claim, case.seen))


def _format_found_p(case: ExampleCase, _: Metric) -> str:
    claims = case.read_fact("verify_reference.claims")
    return format_indexed("t", claims, lambda claim: "?" if claim.supporting is None else format_number(claim.chance))


def _format_stated_p(case: ExampleCase, _: Metric) -> str:
    return format_indexed("b", case.read_fact("agree.states"), format_mark)


def _format_stated(case: ExampleCase, _: Metric) -> str:
    return format_indexed(
        "B", case.read_fact("agree.reference"), lambda stated: {True: "yes", False: "no", None: "?"}[stated]
    )


def _format_decided(case: ExampleCase, _: Metric) -> str:
    decisions = {"yes": "yes", "no": "no", "open": "unclear", None: "?"}
    numbers = range(1, len(case.read_fact("agree.states")) + 1)
    return format_indexed("B", numbers, lambda n: decisions[case.seen.is_stated(n)])


def _format_entities(case: ExampleCase, _: Metric) -> str:
    specifics = find_specifics(case.read_fact("set.references")[0], ("name", "number", "date", "percent"))
    texts_by_entity = {(specific.kind, specific.normal, specific.unit): specific.text for specific in specifics}
    return f"{len(texts_by_entity)}: {format_list(texts_by_entity.values())}"


def _format_cited(case: ExampleCase, _: Metric) -> str:
    citations, passages = case.read_fact("response.citations"), case.read_fact("response.passages")
    return format_indexed(
        "Z",
        case.read_fact("verify_answer.support"),
        lambda claim: format_set(find_cited_passages(claim, citations, passages)),
    )


def _format_pairs(case: ExampleCase, _: Metric) -> str:
    citations = case.read_fact("response.citations")
    pairs = [
        (claim, target)
        for claim in case.read_fact("verify_answer.support")
        for target in list_targets(claim, citations)
    ]
    return f"{len(pairs)}: {format_list(f'({claim.n}, {target})' for claim, target in pairs)}"


def _format_citations(case: ExampleCase, _: Metric) -> str:
    citations = case.read_fact("response.citations")
    return f"{len(citations)}: {format_list(citation.target for citation in citations)}"


def _format_specifics(case: ExampleCase, metric: Metric) -> str:
    answer, passages = case.read_fact("response.answer"), case.read_fact("response.texts")
    supported, missing = find_unfounded(answer, case.read_fact("set.turns"), passages, getattr(metric, "kind", "any"))
    nowhere = (
        f"; in neither the passages nor the question: {format_list(marks[0].text for marks in missing)}"
        if missing
        else ""
    )
    return f"{len(supported)}: {format_list(marks[0].text for marks in supported)}{nowhere}"


def _format_normal(case: ExampleCase, _: Metric) -> str:
    answer, references = case.read_fact("response.answer"), case.read_fact("set.references")
    return f"answer {normal(answer)!r}; {format_list(f'reference {normal(reference)!r}' for reference in references)}"


def _format_word_counts(case: ExampleCase, _: Metric) -> str:
    answer, references = case.read_fact("response.answer"), case.read_fact("set.references")
    sizes = ", ".join(str(len(split_answer_tokens(reference))) for reference in references)
    return (
        f"{len(split_answer_tokens(answer))} in the answer; {sizes} in the "
        f"reference{'s' if len(references) > 1 else ''}"
    )


def _format_common(case: ExampleCase, _: Metric) -> str:
    from collections import Counter

    answer_counts = Counter(split_answer_tokens(case.read_fact("response.answer")))
    reference_tokens = [split_answer_tokens(reference) for reference in case.read_fact("set.references")]
    overlaps = (
        f"{(answer_counts & Counter(reference)).total()} of {answer_counts.total()} and {len(reference)} words"
        for reference in reference_tokens
    )
    return format_list(overlaps)


def _build_submetrics(**names: str) -> dict[str, SymbolFormatter]:
    """Symbols that are other metrics."""

    def build_formatter(name: str) -> SymbolFormatter:
        def format_submetric(case: ExampleCase, _: Metric) -> str:
            measured = case.compute_result(name)
            if measured.value is None:
                return f"{measured.status}: {measured.reason}"
            has_ratio = measured.numerator is not None and measured.denominator is not None
            ratio_text = (
                f"{format_number(measured.numerator or 0)} / {format_number(measured.denominator or 0)} = "
                if has_ratio
                else ""
            )
            return f"{ratio_text}{format_number(measured.value)}"

        return format_submetric

    return {symbol: build_formatter(name) for symbol, name in names.items()}


def _build_scalar_formatter(fact: str) -> SymbolFormatter:
    return lambda case, _: {True: "yes", False: "no"}.get(case.read_fact(fact), str(case.read_fact(fact)))


def _build_met_formatter(fact: str) -> SymbolFormatter:
    return lambda case, _: (
        f"{len(case.read_fact(fact))}, met: {format_list(format_mark(met_value) for met_value in case.read_fact(fact))}"
    )


def _format_function(_: ExampleCase, __: Metric) -> str:
    return FUNCTION


def _format_latency(case: ExampleCase, metric: Metric) -> str:
    recorded = format_list(
        f"{stage} {format_number(ms)}" for stage, ms in case.read_fact("response.latency_ms").items()
    )
    return f"{getattr(metric, 'stage', 'total')}; recorded: {recorded}"


def _format_token_counts(case: ExampleCase, _: Metric) -> str:
    return format_list(f"{kind} {format_number(n)}" for kind, n in case.read_fact("response.tokens").items())


REFERENCE_FACTS = ("verify_reference.claims", "agree.reference", "agree.states")


CLAIM_SYMBOLS: Mapping[str, SymbolFormatter] = {
    "c": _format_claims,
    "S[i]": _format_supporting,
    "X[i]": _format_contradicting,
    "p[i]": _format_support,
}


FORMATTERS_BY_FACT: Mapping[str, Mapping[str, SymbolFormatter]] = {
    "labels.ranking": RANKING_SYMBOLS,
    "labels.chunks": RANKING_SYMBOLS,
    "labels.token_spans": build_span_symbols("token"),
    "labels.char_spans": build_span_symbols("char"),
    "labels.neighbours": NEIGHBOR_SYMBOLS,
    "verify_answer.support": CLAIM_SYMBOLS,
    "verify_answer.used": {
        "U": _format_used,
        "v[j]": _build_marks_formatter("verify_answer.used"),
        "n": _format_n_passages,
        "prec@j": _build_precision_formatter("verify_answer.used"),
    },
    "verify_answer.refuse": {"refuse": _build_scalar_formatter("verify_answer.refuse")},
    "verify_reference.claims": {"m": _format_reference_claims, "T[h]": _format_found_passages, "t[h]": _format_found_p},
    "verify_reference.useful": {
        "E": _format_evidence,
        "v[j]": _build_marks_formatter("verify_reference.useful"),
        "n": _format_n_passages,
        "prec@j": _build_precision_formatter("verify_reference.useful"),
    },
    "rate_passages.relevant": {"q[1]": _format_first_relevant},
    "rate_passages.chance": {
        "v[j]": _build_marks_formatter("rate_passages.chance"),
        "n": _format_n_passages,
        "prec@j": _build_precision_formatter("rate_passages.chance"),
    },
    "rate_sentences.chance": {
        "v[j]": _build_marks_formatter("rate_sentences.chance"),
        "n": lambda case, _: f"{len(case.read_fact('rate_sentences.chance'))} sentences",
        "prec@j": _build_precision_formatter("rate_sentences.chance"),
    },
    "rate_answer.chance": {
        "s[j]": _build_marks_formatter("rate_answer.chance", "s"),
        "n": lambda case, _: f"{len(case.read_fact('rate_answer.chance'))} sentences",
        "g": _format_function,
        "cos": _format_function,
    },
    "agree.answer": {"c": _format_answer_claims, "R[i]": _format_agreement},
    "agree.agrees": {"c": _format_answer_claims, "R[i]": _format_agreement, "r[i]": _format_agreeing},
    "agree.reference": {"m": _format_reference_claims, "B[h]": _format_stated},
    "agree.states": {
        "m": _format_reference_claims,
        "B[h]": _format_decided,
        "b[h]": _format_stated_p,
        **_build_submetrics(P="answer_precision", R="answer_recall"),
    },
    "cover_aspects.met": {"aspects": _build_met_formatter("cover_aspects.met")},
    "cover_criteria.met": {"criteria": _build_met_formatter("cover_criteria.met")},
    "guess_questions.cosines": {
        "g": lambda case, _: str(len(case.read_fact("guess_questions.cosines"))),
        "cos": lambda case, _: format_list(
            format_number(c) for c in case.read_fact("guess_questions.cosines") if c is not None
        ),
        "s[j]": _format_function,
        "n": _format_function,
    },
    # of answers whose relevance was judged as a whole, no question was guessed and no sentence rated
    "verify_answer.addressed": {
        "s[j]": _format_function,
        "n": _format_function,
        "g": _format_function,
        "cos": _format_function,
    },
    "similarity.cosine": {"a": _format_function, "b": _format_function},
    "set.answerable": {"answerable": _build_scalar_formatter("set.answerable")},
    "set.references": {
        "E": _format_entities,
        "normal": _format_normal,
        "tokens": _format_word_counts,
        "common": _format_common,
    },
    "response.passages": {"n": _format_n_passages},
    "response.texts": {"t": _format_passage_tokens, "A": _format_specifics},
    "response.citations": {
        "Z[i]": _format_cited,
        "(i, z)": _format_pairs,
        "z": _format_citations,
        **_build_submetrics(P="citation_precision", R="citation_recall"),
    },
    "response.answer": {
        "t": lambda case, _: f"{count_tokens(case.read_fact('response.answer'))} tokens",
        "A": _format_specifics,
    },
    "response.latency_ms": {"stage": _format_latency},
    "response.tokens": {"t": _format_token_counts, "of": _format_token_counts},
    "response.cost": {"c": lambda case, _: format_number(case.read_fact("response.cost"))},
}


# values that are computed from more than their own fact
SYMBOLS_OF_ALL_FACTS = frozenset(
    {
        ("response.texts", "A"),
        ("response.answer", "A"),
        ("set.references", "normal"),
        ("set.references", "tokens"),
        ("set.references", "common"),
        ("response.citations", "Z[i]"),
        ("response.citations", "(i, z)"),
    }
)
