"""Every metric there is, by name. A family is imported when it is first looked into: most commands need one.

The family `own` holds what users bring: it is registered while a program runs, by its object or its name.

Named selections of metrics.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from itertools import product
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

from ragauge.core.errors import RagaugeError, UnknownName, UsageError
from ragauge.core.object_lookup import is_named, load
from ragauge.metrics.base import Metric
from ragauge.metrics.metric_names import Aliases, head_of, read, unknown

if TYPE_CHECKING:
    from ragauge.metrics.own_class import Declaration

PRESETS: Mapping[str, tuple[str, ...]] = {
    "prototype": ("faithfulness", "answer_relevance"),
    "retrieval": (
        "recall@5",
        "precision@5",
        "mrr",
        "ndcg@10",
        "empty_result_rate",
        "context_recall",
        "context_precision",
    ),
    "prompt": (
        "faithfulness",
        "contradicted",
        "not_in_context",
        "fabricated_specifics",
        "answer_relevance",
        "refusal_correctness",
    ),
    "production": (
        "faithfulness",
        "answer_relevance",
        "context_precision",
        "fabricated_specifics",
        "ignored_top_ranked",
        "stale_passage_rate",
        "empty_result_rate",
        "context_tokens",
        "latency",
        "tokens",
        "cost",
    ),
    "triad": ("context_precision", "faithfulness", "answer_relevance"),
    "bootstrap": ("faithfulness", "answer_relevance", "context_utilization"),
    "default": (
        "recall@5",
        "precision@5",
        "mrr",
        "ndcg@10",
        "empty_result_rate",
        "context_recall",
        "context_precision",
        "faithfulness",
        "contradicted",
        "not_in_context",
        "fabricated_specifics",
        "ignored_top_ranked",
        "citation_precision",
        "citation_recall",
        "invented_citations",
        "answer_relevance",
        "answer_correctness",
        "answer_recall",
        "refusal_correctness",
        "token_f1",
        "latency",
        "tokens",
        "cost",
    ),
}


Family = Literal["retrieval", "spans", "ann", "context", "answer", "composite", "own"]
FAMILIES: tuple[Family, ...] = ("retrieval", "spans", "ann", "context", "answer", "composite", "own")
SEARCHED: tuple[Family, ...] = ("own", "retrieval", "context", "answer", "composite", "spans", "ann")
BUILT_IN: tuple[Family, ...] = FAMILIES[:-1]
_OWN: dict[str, type[Metric]] = {}  # name, of a stored class the printed one -> class


@cache
def family(name: Family) -> tuple[type[Metric], ...]:
    """The classes of a family, in order."""
    match name:
        case "retrieval":
            from ragauge.metrics import retrieval

            return retrieval.METRICS
        case "spans":
            from ragauge.metrics import spans

            return spans.METRICS
        case "ann":
            from ragauge.metrics import ann

            return ann.METRICS
        case "context":
            from ragauge.metrics import context

            return context.METRICS
        case "answer":
            from ragauge.metrics import answer

            return answer.METRICS
        case "composite":
            from ragauge.metrics import composite

            return composite.METRICS
        case "own":
            return tuple(_OWN.values())


def register(cls: type[Metric]) -> None:
    """Makes a class of the user's own findable by its name, in place of one that had the name before.

    Raises:
        UsageError: a built-in metric or preset has the name.
    """
    name = cls.name()
    if _OWN.get(name) is cls:
        return
    if name in PRESETS or name in classes(BUILT_IN) or name in aliases(BUILT_IN):
        column = getattr(getattr(cls, "declared", None), "more", {}).get("column")
        renamed = f"--map own_{name}={column} --scores own_{name}" if column else f'@rg.metric(name="own_{name}")'
        raise UsageError(
            f"{name} is a built-in {'preset' if name in PRESETS else 'metric'}. Give yours another name: {renamed}."
        )
    for known in [known for known in _OWN if _is_of(cls, known)]:  # with parameters, of stored ones
        del _OWN[known]
    _OWN[name] = cls
    _clear()


def register_object(given: object) -> Metric:
    """The metric of an object that users name one by: a function, a callable object, a Metric or a class of metrics.

    Raises:
        UsageError: it is none, or its name is a built-in one's.
    """
    from ragauge.metrics.own import metric_of
    from ragauge.metrics.own_class import same_function

    metric = metric_of(given)
    if metric is None:
        raise UsageError(f"{given!r:.60} is no metric. Give a name, a function with named arguments, or a rg.Metric.")
    cls, current = type(metric), _OWN.get(metric.name())
    if classes(BUILT_IN).get(metric.name()) is cls:
        return metric
    if current is not None and same_function(current, cls):
        return current()
    register(cls)
    return metric


def register_stored(declarations: Sequence[Declaration]) -> None:
    """Makes metrics known whose scores a store holds, where their code is not loaded."""
    from ragauge.metrics.criterion import KIND, criterion_class
    from ragauge.metrics.own_class import stored_class

    for declared in declarations:
        head = _OWN.get(head_of(declared.name))
        current = _OWN.get(declared.name) or (head if head is not None and _is_of(head, declared.name) else None)
        of_store = current is not None and getattr(current, "of_store", is_stored(current))
        replaced = current is None or (of_store and getattr(current, "declared", None) != declared)
        if replaced and declared.name not in classes(BUILT_IN):
            criterion = KIND in declared.more  # its declaration is all of it: it is computed too
            _OWN[declared.name] = criterion_class(declared, of_store=True) if criterion else stored_class(declared)
            _clear()


def _is_of(cls: type[Metric], printed: str) -> bool:
    """Whether a printed name is one of a class, with parameters that it has."""
    try:
        read(printed, {cls.name(): cls}, {})
    except RagaugeError:
        return False
    return True


def is_own(metric: Metric) -> bool:
    """Whether a metric is one of the user's own."""
    return type(metric) in _OWN.values()


def is_stored(cls: type[Metric]) -> bool:
    """Whether a class is known by its scores only, so that it computes nothing."""
    return not hasattr(cls, "value")


def require_code(metrics: Sequence[Metric]) -> None:
    """Refuses metrics that cannot be computed.

    Raises:
        UsageError: the code of one is not loaded.
    """
    for metric in metrics:
        if is_stored(type(metric)):
            typed = typed_name(metric)
            how = f"Name it as -m {typed}." if typed != str(metric) else "Give its function in metrics=[…], in Python."
            raise UsageError(f"{metric} is known here by its scores: the code that computes it is not loaded. {how}")


def typed_name(metric: Metric) -> str:
    """What is typed for a metric, so that it can be computed: its name, and before that module:name of its code."""
    from ragauge.metrics.own_class import declaration

    code = declaration(metric).load if is_own(metric) else ""
    return code if code and re.fullmatch("[a-z0-9_]+", str(metric)) else ",".join(filter(None, (code, str(metric))))


def in_own_units(metric: Metric) -> bool:
    """Whether a metric of the user's own has no range: then a point of it is 1 in its own units, not a hundredth."""
    return is_own(metric) and not all(map(isfinite, metric.range))


def _clear() -> None:
    for cached in (family, classes, aliases, parse):
        cached.cache_clear()


@cache
def classes(families: tuple[Family, ...] = FAMILIES) -> dict[str, type[Metric]]:
    """Name -> class, of every family, in order."""
    return {cls.name(): cls for name in families for cls in family(name)}


@cache
def aliases(families: tuple[Family, ...] = FAMILIES) -> Aliases:
    """Other name -> (name, parameters)."""
    return {alias: (cls.name(), given) for cls in classes(families).values() for alias, given in cls.aliases.items()}


@cache
def parse(name: str) -> Metric:
    """The metric that a printed name or an alias stands for, or module:name of the user's own.

    Raises:
        UnknownName: no such metric or parameter; the nearest names are in the text.
        UsageError: a value that the parameter does not take.

    >>> parse("groundedness") == parse("faithfulness")
    True
    >>> str(parse("context_utilization"))
    'context_precision:by=answer:ranked=true'
    """
    if (stored := _OWN.get(name.strip())) is not None and is_stored(stored):  # with its parameters
        return stored()
    if is_named(name.strip()):
        return register_object(load(name.strip()))
    own = _families_of(name)
    return read(name, classes(own), aliases(own))


def _families_of(name: str) -> tuple[Family, ...]:
    """The one that knows a name, the usual ones being asked first, so that others need not be imported; else all."""
    head = head_of(name)
    for one in SEARCHED:
        if head in classes((one,)) or head in aliases((one,)):
            return (one,)
    from ragauge.metrics.own import load_plug_ins

    return ("own",) if load_plug_ins(register_object, head) else FAMILIES


def select(names: Sequence[str | Metric]) -> list[Metric]:
    """Metrics of names and presets, in order, each once; a metric stands for itself.

    Raises:
        UsageError: two metrics have one name.

    >>> [str(metric) for metric in select(["triad", "faithfulness"])]
    ['context_precision', 'faithfulness', 'answer_relevance']
    """
    from ragauge.metrics.own_class import refuse_one_name

    chosen: dict[Metric, None] = {}
    for name in names:
        if isinstance(name, Metric):
            chosen[register_object(name)] = None
            continue
        if name in PRESETS:
            chosen.update(dict.fromkeys(parse(part) for part in PRESETS[name]))
            continue
        try:
            chosen[parse(name)] = None
        except UnknownName as error:
            if error.name == name.strip():
                raise unknown(name.strip(), classes(), aliases(), PRESETS) from None
            raise
    refuse_one_name(list(chosen))
    for metric in chosen:
        metric.check()
    return list(chosen)


def said_otherwise(names: Sequence[str]) -> tuple[str, ...]:
    """For each name that is another's here, one sentence with the name that it is printed under.

    >>> said_otherwise(["answer_relevancy", "faithfulness", "hit_rate@5", "triad"])
    ('answer_relevancy is answer_relevance here', 'hit_rate@5 is hit@5 here')
    """
    others = ((name, _families_of(name)) for name in dict.fromkeys(names) if name.strip() not in PRESETS)
    return tuple(
        f"{name.strip()} is {parse(name)} here"
        for name, own in others
        if head_of(name) in aliases(own) and head_of(name) not in classes(own)
    )


def questions(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """The questions that have to be asked for these metrics, in the order of asking."""
    from ragauge.metrics.facts import question_of

    asked = {question_of(fact) for metric in metrics for fact in metric.needs.values()}
    if "agree" in asked:
        asked.add("verify_answer")
    return tuple(question for question in QUESTIONS if question in asked)


def describe(metric: Metric) -> tuple[str, str, str]:
    """(sentence, formula, source) of a metric with its parameters, from its docstring.

    >>> describe(parse("faithfulness"))[1]
    'faithfulness = #{i : S[i] is not empty} / c; Σ p[i] / c where the judge has probabilities'
    """
    from ragauge.metrics.docstring import described

    return described(metric)


def entries() -> list[dict[str, Any]]:
    """One entry a class, in order, as JSON types: what `ragauge metrics` lists.

    name, example (a printed name that parses), parameters, aliases (other name -> printed name), measures, asks (the
    questions), needs, range (None: no bound), direction, kind, version, sentence, formula, source.
    """
    return [_entry(cls, _instances(cls)[0]) for cls in classes().values()]


def samples() -> list[Metric]:
    """At least one metric of every class and of every option of its parameters, for tests over all of them."""
    return [metric for cls in classes().values() for metric in _instances(cls)]


def _entry(cls: type[Metric], example: Metric) -> dict[str, Any]:
    sentence, formula, source = describe(example)
    hints = get_type_hints(cls)
    return {
        "name": cls.name(),
        "example": str(example),
        "parameters": [_parameter(part, hints[part.name]) for part in fields(cls)],
        "aliases": {alias: str(parse(alias)) for alias in cls.aliases},
        "measures": example.measures,
        "asks": list(questions([example])),
        "needs": dict(example.needs),
        "range": [bound if isfinite(bound) else None for bound in example.range],
        "direction": example.direction,
        "kind": example.scale,
        "version": example.version,
        "sentence": sentence,
        "formula": formula,
        "source": source,
    }


def _parameter(part: Field[Any], hint: Any) -> dict[str, Any]:
    """A parameter as JSON types: its values where they are few, else their kind."""
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not type(None)]
    few = list(kinds) if get_origin(hint) is Literal else [False, True] if kinds == [bool] else None
    return {
        "name": part.name,
        "values": few,
        "kind": "choice" if few else kinds[0].__name__,
        "required": part.default is MISSING,
        "default": None if part.default is MISSING else part.default,
    }


def _instances(cls: type[Metric]) -> list[Metric]:
    """Every combination of options that the class takes, the defaults first; other parameters at one value each."""
    hints = get_type_hints(cls)
    made: dict[Metric, None] = {}
    for choice in product(*(list(_values(part, hints[part.name])) for part in fields(cls))):
        try:
            made[cls(*choice)] = None
        except UsageError:
            continue  # options that do not go together
    if not made:
        raise UsageError(
            f"{cls.name()}: no instance can be made of its options. "
            'Give a parameter a value to try: field(metadata={"sample": ...}).'
        )
    return list(made)


def _values(part: Field[Any], hint: Any) -> Iterator[Any]:
    """Values of one parameter to try: its default, every option, and an instance of an open kind where there is none.

    A class names one of its own where these would not do: field(metadata={"sample": ...}).
    """
    if part.default is not MISSING:
        yield part.default
    if "sample" in part.metadata:
        yield part.metadata["sample"]
        return
    described_as = _parameter(part, hint)
    if described_as["values"]:
        yield from (value for value in described_as["values"] if value != part.default)
    elif part.default is MISSING or part.default is None:
        yield {"int": 5, "float": 0.5, "str": "sample"}[described_as["kind"]]


QUESTIONS = (
    "verify_answer",
    "verify_reference",
    "rate_passages",
    "rate_sentences",
    "rate_answer",
    "agree",  # on the claims of verify_answer
    "cover_aspects",
    "cover_criteria",
    "meet_criteria",  # of the run, not of the example
    "guess_questions",
    "similarity",  # vectors only
)
