"""The symbols of formulas with their values, by the fact that they come from.

A metric says which facts it needs; its docstring says which symbols its formula has. The first of its facts that
knows a symbol gives the value, so that a new metric over known facts is explained without a word of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields

from ragauge.core.facts import Claim
from ragauge.diagnosis.explain.case import ExampleCase, braces, each, holding, listed, mark, number
from ragauge.diagnosis.explain.ranks import OF_NEIGHBOURS, OF_RANKING, of_spans
from ragauge.metrics.base import Metric, shown
from ragauge.metrics.catalogue import describe
from ragauge.metrics.docstring import parts
from ragauge.metrics.facts import Absent
from ragauge.metrics.specifics import cited_for, targets, unfounded
from ragauge.scores.results.explanation import Symbol
from ragauge.text.specifics import find
from ragauge.text.tokens import answer as normal
from ragauge.text.tokens import answer_tokens, count

Value = Callable[[ExampleCase, Metric], str]
FUNCTION = ""  # a symbol that is a function has no value of its own
PARAMETER = "parameter"  # what stands for the meaning of a parameter
# facts that a value may turn on although the formula has no symbol for them
UNNAMED: Mapping[str, tuple[str, str]] = {
    "verify_answer.addressed": ("address", "how far the answer addresses the question"),
    "verify_answer.refuse": ("refuse", "the answer declines to answer"),
    "set.answerable": ("answerable", "the corpus holds the answer, by the labels of the example"),
}


def symbols(metric: Metric, case: ExampleCase) -> tuple[Symbol, ...]:
    """The symbols of a metric's formula with their values on this example, and its parameters."""
    _, formula, _ = describe(metric)
    of_formula = [
        Symbol(name, meaning, _value(name, metric, case))
        for name, meaning in parts(type(metric)).symbols
        if any(_stands_in(symbol, formula) for symbol in (name, *name.split(", "))) or _parameter(name, metric)
    ]
    named = {symbol.name for symbol in of_formula}
    given = [
        Symbol(part.name, PARAMETER, shown(getattr(metric, part.name)))
        for part in fields(metric)
        if getattr(metric, part.name) is not None and part.name not in named
    ]
    more = [
        Symbol(name, meaning, (_addressed if fact == "verify_answer.addressed" else _scalar(fact))(case, metric))
        for fact, (name, meaning) in UNNAMED.items()
        if fact in metric.needs.values() and name not in named and case.known(fact)
    ]
    return (*given, *of_formula, *more)


def _stands_in(name: str, formula: str) -> bool:
    """Whether a symbol is one of this form of the metric: parameters choose among several formulas."""
    return re.search(rf"(?<![A-Za-z_]){re.escape(name)}(?![A-Za-z_])", formula) is not None


def covered(metric: Metric) -> Iterator[tuple[str, bool]]:
    """Each symbol of a metric's docstring, and whether something here knows its value."""
    for name, _ in parts(type(metric)).symbols:
        yield name, any(name in BY_FACT.get(fact, {}) for fact in metric.needs.values()) or _parameter(name, metric)


def _value(name: str, metric: Metric, case: ExampleCase) -> str:
    for fact in metric.needs.values():
        value = BY_FACT.get(fact, {}).get(name)
        if value is not None:
            missing = next((case.fact(need) for need in metric.needs.values() if not case.known(need)), None)
            if not case.known(fact) or (missing is not None and (fact, name) in NEED_ALL):
                reason = case.fact(fact) if not case.known(fact) else missing
                return f"not known: {reason.reason}" if isinstance(reason, Absent) else "not known"
            return value(case, metric)
    return shown(getattr(metric, name)) if _parameter(name, metric) else FUNCTION


def _parameter(name: str, metric: Metric) -> bool:
    return any(part.name == name for part in fields(metric))


# ---- claims of the answer ----


def _claims(case: ExampleCase, _: Metric) -> str:
    return str(len(case.fact("verify_answer.support")))


def _supporting(case: ExampleCase, _: Metric) -> str:
    return each("S", case.fact("verify_answer.support"), lambda claim: _unless_failed(claim, claim.supporting))


def _contradicting(case: ExampleCase, _: Metric) -> str:
    return each("X", case.fact("verify_answer.support"), lambda claim: _unless_failed(claim, claim.contradicting))


def _support(case: ExampleCase, _: Metric) -> str:
    claims = case.fact("verify_answer.support")
    return each("p", claims, lambda claim: "?" if claim.status == "failed" else number(claim.chance))


def _unless_failed(claim: Claim, numbers: tuple[int, ...]) -> str:
    return "?" if claim.status == "failed" else braces(numbers)


def _agreement(case: ExampleCase, _: Metric) -> str:
    return each("R", case.fact("agree.answer"), lambda stated: stated or "?")


def _agreeing(case: ExampleCase, _: Metric) -> str:
    return each("r", case.fact("agree.agrees"), mark)


def _answer_claims(case: ExampleCase, _: Metric) -> str:
    return str(len(case.fact("agree.answer")))


# ---- passages ----


def _n_passages(case: ExampleCase, _: Metric) -> str:
    return str(len(case.facts.response.passages or ()))


def _marks(fact: str, symbol: str = "v") -> Value:
    return lambda case, _: each(symbol, case.fact(fact), mark)


def _used(case: ExampleCase, _: Metric) -> str:
    marks = case.fact("verify_answer.used")
    unknown = [n for n, used in enumerate(marks, 1) if used is None]
    more = f", not known of {listed(map(str, unknown))}" if unknown else ""
    return braces(n for n, used in enumerate(marks, 1) if used) + more


def _evidence(case: ExampleCase, _: Metric) -> str:
    return braces(n for n, useful in enumerate(case.fact("verify_reference.useful"), 1) if useful)


def _first_relevant(case: ExampleCase, _: Metric) -> str:
    marks = case.fact("rate_passages.relevant")
    return mark(marks[0]) if marks else "there is no first passage"


def _share_at(fact: str) -> Value:
    def value(case: ExampleCase, _: Metric) -> str:
        marks = case.fact(fact)
        if None in marks:
            return FUNCTION
        return listed(f"prec@{n} = {number(sum(marks[:n]))}/{n}" for n, useful in enumerate(marks, 1) if useful)

    return value


def _tokens_of_passages(case: ExampleCase, _: Metric) -> str:
    return listed(f"#t of passage {n} = {count(p.text or '')}" for n, p in enumerate(case.fact("response.texts"), 1))


# ---- reference ----


def _reference_claims(case: ExampleCase, metric: Metric) -> str:
    fact = next(need for need in metric.needs.values() if need in OF_REFERENCE)
    return str(len(case.fact(fact)))


def _found_in(case: ExampleCase, _: Metric) -> str:
    claims = case.fact("verify_reference.claims")
    return each("T", claims, lambda claim: holding(claim, case.seen))


def _found_p(case: ExampleCase, _: Metric) -> str:
    claims = case.fact("verify_reference.claims")
    return each("t", claims, lambda claim: "?" if claim.supporting is None else number(claim.chance))


def _stated_p(case: ExampleCase, _: Metric) -> str:
    return each("b", case.fact("agree.states"), mark)


def _stated(case: ExampleCase, _: Metric) -> str:
    return each("B", case.fact("agree.reference"), lambda stated: {True: "yes", False: "no", None: "?"}[stated])


def _surely_stated(case: ExampleCase, _: Metric) -> str:
    decisions = {"yes": "yes", "no": "no", "open": "unclear", None: "?"}
    numbers = range(1, len(case.fact("agree.states")) + 1)
    return each("B", numbers, lambda n: decisions[case.seen.is_stated(n)])


def _entities(case: ExampleCase, _: Metric) -> str:
    specifics = find(case.fact("set.references")[0], ("name", "number", "date", "percent"))
    every = {(specific.kind, specific.normal, specific.unit): specific.text for specific in specifics}
    return f"{len(every)}: {listed(every.values())}"


# ---- citations ----


def _cited(case: ExampleCase, _: Metric) -> str:
    citations, passages = case.fact("response.citations"), case.fact("response.passages")
    return each("Z", case.fact("verify_answer.support"), lambda claim: braces(cited_for(claim, citations, passages)))


def _pairs(case: ExampleCase, _: Metric) -> str:
    citations = case.fact("response.citations")
    pairs = [(claim, target) for claim in case.fact("verify_answer.support") for target in targets(claim, citations)]
    return f"{len(pairs)}: {listed(f'({claim.n}, {target})' for claim, target in pairs)}"


def _citations(case: ExampleCase, _: Metric) -> str:
    citations = case.fact("response.citations")
    return f"{len(citations)}: {listed(citation.target for citation in citations)}"


# ---- words of the answer ----


def _specifics(case: ExampleCase, metric: Metric) -> str:
    answer, passages = case.fact("response.answer"), case.fact("response.texts")
    supported, missing = unfounded(answer, case.fact("set.turns"), passages, getattr(metric, "kind", "any"))
    nowhere = f"; in no passage nor the question: {listed(marks[0].text for marks in missing)}" if missing else ""
    return f"{len(supported)}: {listed(marks[0].text for marks in supported)}{nowhere}"


def _normal(case: ExampleCase, _: Metric) -> str:
    answer, references = case.fact("response.answer"), case.fact("set.references")
    return f"answer {normal(answer)!r}; {listed(f'reference {normal(reference)!r}' for reference in references)}"


def _words(case: ExampleCase, _: Metric) -> str:
    answer, references = case.fact("response.answer"), case.fact("set.references")
    sizes = ", ".join(str(len(answer_tokens(reference))) for reference in references)
    return f"{len(answer_tokens(answer))} in the answer; {sizes} in the reference{'s' if len(references) > 1 else ''}"


def _common(case: ExampleCase, _: Metric) -> str:
    from collections import Counter

    given = Counter(answer_tokens(case.fact("response.answer")))
    every = [answer_tokens(reference) for reference in case.fact("set.references")]
    overlaps = (
        f"{(given & Counter(reference)).total()} of {given.total()} and {len(reference)} words" for reference in every
    )
    return listed(overlaps)


def _submetrics(**names: str) -> dict[str, Value]:
    """Symbols that are other metrics."""

    def value(name: str) -> Value:
        def of(case: ExampleCase, _: Metric) -> str:
            measured = case.result(name)
            if measured.value is None:
                return f"{measured.status}: {measured.reason}"
            ratio = measured.numerator is not None and measured.denominator is not None
            whole = f"{number(measured.numerator or 0)} / {number(measured.denominator or 0)} = " if ratio else ""
            return f"{whole}{number(measured.value)}"

        return of

    return {symbol: value(name) for symbol, name in names.items()}


def _addressed(case: ExampleCase, _: Metric) -> str:
    fully, partly, no = case.fact("verify_answer.addressed")
    levels = {"fully": fully, "partly": partly, "no": no}
    certain = next((name for name, p in levels.items() if p == 1), "")
    return certain or listed(f"{name} {number(p)}" for name, p in levels.items())


def _scalar(fact: str) -> Value:
    return lambda case, _: {True: "yes", False: "no"}.get(case.fact(fact), str(case.fact(fact)))


def _met(fact: str) -> Value:
    return lambda case, _: f"{len(case.fact(fact))}, met: {listed(mark(met) for met in case.fact(fact))}"


def _function(_: ExampleCase, __: Metric) -> str:
    return FUNCTION


def _latency(case: ExampleCase, metric: Metric) -> str:
    recorded = listed(f"{stage} {number(ms)}" for stage, ms in case.fact("response.latency_ms").items())
    return f"{getattr(metric, 'stage', 'total')}; recorded: {recorded}"


def _token_counts(case: ExampleCase, _: Metric) -> str:
    return listed(f"{kind} {number(n)}" for kind, n in case.fact("response.tokens").items())


OF_REFERENCE = ("verify_reference.claims", "agree.reference", "agree.states")
OF_CLAIMS: Mapping[str, Value] = {"c": _claims, "S[i]": _supporting, "X[i]": _contradicting, "p[i]": _support}
BY_FACT: Mapping[str, Mapping[str, Value]] = {
    "labels.ranking": OF_RANKING,
    "labels.chunks": OF_RANKING,
    "labels.token_spans": of_spans("token"),
    "labels.char_spans": of_spans("char"),
    "labels.neighbours": OF_NEIGHBOURS,
    "verify_answer.support": OF_CLAIMS,
    "verify_answer.used": {
        "U": _used,
        "v[j]": _marks("verify_answer.used"),
        "n": _n_passages,
        "prec@j": _share_at("verify_answer.used"),
    },
    "verify_answer.refuse": {"refuse": _scalar("verify_answer.refuse")},
    "verify_reference.claims": {"m": _reference_claims, "T[h]": _found_in, "t[h]": _found_p},
    "verify_reference.useful": {
        "E": _evidence,
        "v[j]": _marks("verify_reference.useful"),
        "n": _n_passages,
        "prec@j": _share_at("verify_reference.useful"),
    },
    "rate_passages.relevant": {"q[1]": _first_relevant},
    "rate_passages.chance": {
        "v[j]": _marks("rate_passages.chance"),
        "n": _n_passages,
        "prec@j": _share_at("rate_passages.chance"),
    },
    "rate_sentences.chance": {
        "v[j]": _marks("rate_sentences.chance"),
        "n": lambda case, _: f"{len(case.fact('rate_sentences.chance'))} sentences",
        "prec@j": _share_at("rate_sentences.chance"),
    },
    "rate_answer.chance": {
        "s[j]": _marks("rate_answer.chance", "s"),
        "n": lambda case, _: f"{len(case.fact('rate_answer.chance'))} sentences",
        "g": _function,
        "cos": _function,
    },
    "agree.answer": {"c": _answer_claims, "R[i]": _agreement},
    "agree.agrees": {"c": _answer_claims, "R[i]": _agreement, "r[i]": _agreeing},
    "agree.reference": {"m": _reference_claims, "B[h]": _stated},
    "agree.states": {
        "m": _reference_claims,
        "B[h]": _surely_stated,
        "b[h]": _stated_p,
        **_submetrics(P="answer_precision", R="answer_recall"),
    },
    "cover_aspects.met": {"aspects": _met("cover_aspects.met")},
    "cover_criteria.met": {"criteria": _met("cover_criteria.met")},
    "guess_questions.cosines": {
        "g": lambda case, _: str(len(case.fact("guess_questions.cosines"))),
        "cos": lambda case, _: listed(number(c) for c in case.fact("guess_questions.cosines") if c is not None),
        "s[j]": _function,
        "n": _function,
    },
    # of answers whose relevance was judged as a whole, no question was guessed and no sentence rated
    "verify_answer.addressed": {"s[j]": _function, "n": _function, "g": _function, "cos": _function},
    "similarity.cosine": {"a": _function, "b": _function},
    "set.answerable": {"answerable": _scalar("set.answerable")},
    "set.references": {"E": _entities, "normal": _normal, "tokens": _words, "common": _common},
    "response.passages": {"n": _n_passages},
    "response.texts": {"t": _tokens_of_passages, "A": _specifics},
    "response.citations": {
        "Z[i]": _cited,
        "(i, z)": _pairs,
        "z": _citations,
        **_submetrics(P="citation_precision", R="citation_recall"),
    },
    "response.answer": {"t": lambda case, _: f"{count(case.fact('response.answer'))} tokens", "A": _specifics},
    "response.latency_ms": {"stage": _latency},
    "response.tokens": {"t": _token_counts, "of": _token_counts},
    "response.cost": {"c": lambda case, _: number(case.fact("response.cost"))},
}
# values that are computed from more than their own fact
NEED_ALL = frozenset(
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
