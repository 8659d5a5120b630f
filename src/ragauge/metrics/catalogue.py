"""Every metric there is, by name. A family is imported when it is first looked into: most commands need one.

The family `own` holds what users bring: it is registered while a program runs, by its object or its name.

Named selections of metrics.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Literal

from ragauge.core.errors import RagaugeError, UnknownName, UsageError
from ragauge.core.object_lookup import is_object_path, load_object
from ragauge.metrics.base import Metric
from ragauge.metrics.metric_names import Aliases, build_unknown_error, get_head, parse_name

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
SEARCH_ORDER: tuple[Family, ...] = ("own", "retrieval", "context", "answer", "composite", "spans", "ann")
BUILT_IN: tuple[Family, ...] = FAMILIES[:-1]
_OWN: dict[str, type[Metric]] = {}  # name, of a stored class the printed one -> class


@cache
def list_family(name: Family) -> tuple[type[Metric], ...]:
    """The classes of a family, in order."""
    if name == "own":
        return tuple(_OWN.values())
    if name == "retrieval":
        from ragauge.metrics.retrieval import METRICS
    elif name == "spans":
        from ragauge.metrics.spans import METRICS
    elif name == "ann":
        from ragauge.metrics.ann import METRICS
    elif name == "context":
        from ragauge.metrics.context import METRICS
    elif name == "answer":
        from ragauge.metrics.answer import METRICS
    else:
        from ragauge.metrics.composite import METRICS
    return METRICS


def register_metric(cls: type[Metric]) -> None:
    """Makes a class of the user's own findable by its name, in place of one that had the name before.

    Raises:
        UsageError: a built-in metric or preset has the name.
    """
    name = cls.name()
    if _OWN.get(name) is cls:
        return
    if name in PRESETS or name in list_classes(BUILT_IN) or name in list_aliases(BUILT_IN):
        column = getattr(getattr(cls, "declared", None), "more", {}).get("column")
        renamed = f"--map own_{name}={column} --scores own_{name}" if column else f'@rg.metric(name="own_{name}")'
        raise UsageError(
            f"{name} is a built-in {'preset' if name in PRESETS else 'metric'}. Give yours another name: {renamed}."
        )
    for stored_name in [
        stored_name for stored_name in _OWN if _is_name_of(cls, stored_name)
    ]:  # with parameters, of stored ones
        del _OWN[stored_name]
    _OWN[name] = cls
    _clear_caches()


def register_object(candidate: object) -> Metric:
    """The metric of an object that users name one by: a function, a callable object, a Metric or a class of metrics.

    Raises:
        UsageError: it is none, or its name is a built-in one's.
    """
    from ragauge.metrics.own import build_metric
    from ragauge.metrics.own_class import is_same_function

    metric = build_metric(candidate)
    if metric is None:
        raise UsageError(
            f"{candidate!r:.60} is not a metric. Pass a name, a function with named arguments, or an rg.Metric."
        )
    cls, current = type(metric), _OWN.get(metric.name())
    if list_classes(BUILT_IN).get(metric.name()) is cls:
        return metric
    if current is not None and is_same_function(current, cls):
        return current()
    register_metric(cls)
    return metric


def register_stored(declarations: Sequence[Declaration]) -> None:
    """Makes metrics known whose scores a store holds, where their code is not loaded."""
    from ragauge.metrics.criterion import KIND, build_criterion_class
    from ragauge.metrics.own_class import build_stored_class

    for declared in declarations:
        head = _OWN.get(get_head(declared.name))
        current = _OWN.get(declared.name) or (head if head is not None and _is_name_of(head, declared.name) else None)
        of_store = current is not None and getattr(current, "of_store", is_stored(current))
        replaced = current is None or (of_store and getattr(current, "declared", None) != declared)
        if replaced and declared.name not in list_classes(BUILT_IN):
            criterion = KIND in declared.more  # its declaration is all of it: it is computed too
            _OWN[declared.name] = (
                build_criterion_class(declared, of_store=True) if criterion else build_stored_class(declared)
            )
            _clear_caches()


def _is_name_of(cls: type[Metric], printed: str) -> bool:
    """Whether a printed name is one of a class, with parameters that it has."""
    try:
        parse_name(printed, {cls.name(): cls}, {})
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
            typed = format_typed_name(metric)
            how = f"Use -m {typed}." if typed != str(metric) else "Pass its function in metrics=[…], in Python."
            raise UsageError(f"{metric} has stored scores, but the code that computes it is not loaded. {how}")


def format_typed_name(metric: Metric) -> str:
    """What is typed for a metric, so that it can be computed: its name, and before that module:name of its code."""
    from ragauge.metrics.own_class import build_declaration

    code = build_declaration(metric).load if is_own(metric) else ""
    return code if code and re.fullmatch("[a-z0-9_]+", str(metric)) else ",".join(filter(None, (code, str(metric))))


def has_own_units(metric: Metric) -> bool:
    """Whether a metric of the user's own has no range: then a point of it is 1 in its own units, not a hundredth."""
    return is_own(metric) and not all(map(isfinite, metric.range))


def _clear_caches() -> None:
    for cached in (list_family, list_classes, list_aliases, parse_metric):
        cached.cache_clear()


@cache
def list_classes(families: tuple[Family, ...] = FAMILIES) -> dict[str, type[Metric]]:
    """Name -> class, of every family, in order."""
    return {cls.name(): cls for name in families for cls in list_family(name)}


@cache
def list_aliases(families: tuple[Family, ...] = FAMILIES) -> Aliases:
    """Other name -> (name, parameters)."""
    return {
        alias: (cls.name(), params) for cls in list_classes(families).values() for alias, params in cls.aliases.items()
    }


@cache
def parse_metric(name: str) -> Metric:
    """The metric that a printed name or an alias stands for, or module:name of the user's own.

    Raises:
        UnknownName: no such metric or parameter; the nearest names are in the text.
        UsageError: a value that the parameter does not take.

    >>> parse_metric("groundedness") == parse_metric("faithfulness")
    True
    >>> str(parse_metric("context_utilization"))
    'context_precision:by=answer:ranked=true'
    """
    if (stored := _OWN.get(name.strip())) is not None and is_stored(stored):  # with its parameters
        return stored()
    if is_object_path(name.strip()):
        return register_object(load_object(name.strip()))
    families = _find_families(name)
    return parse_name(name, list_classes(families), list_aliases(families))


def _find_families(name: str) -> tuple[Family, ...]:
    """The one that knows a name, the usual ones being asked first, so that others need not be imported; else all."""
    head = get_head(name)
    for candidate in SEARCH_ORDER:
        if head in list_classes((candidate,)) or head in list_aliases((candidate,)):
            return (candidate,)
    from ragauge.metrics.own import load_plug_ins

    return ("own",) if load_plug_ins(register_object, head) else FAMILIES


def select_metrics(names: Sequence[str | Metric]) -> list[Metric]:
    """Metrics of names and presets, in order, each once; a metric stands for itself.

    Raises:
        UsageError: two metrics have one name.

    >>> [str(metric) for metric in select_metrics(["triad", "faithfulness"])]
    ['context_precision', 'faithfulness', 'answer_relevance']
    """
    from ragauge.metrics.own_class import check_distinct_names

    selected: dict[Metric, None] = {}
    for name in names:
        if isinstance(name, Metric):
            selected[register_object(name)] = None
            continue
        if name in PRESETS:
            selected.update(dict.fromkeys(parse_metric(preset_name) for preset_name in PRESETS[name]))
            continue
        try:
            selected[parse_metric(name)] = None
        except UnknownName as error:
            if error.name == name.strip():
                raise build_unknown_error(name.strip(), list_classes(), list_aliases(), PRESETS) from None
            raise
    check_distinct_names(list(selected))
    for metric in selected:
        metric.check()
    return list(selected)


def list_renamed(names: Sequence[str]) -> tuple[str, ...]:
    """For each name that is another's here, one sentence with the name that it is printed under.

    >>> list_renamed(["answer_relevancy", "faithfulness", "hit_rate@5", "triad"])
    ('answer_relevancy is answer_relevance here', 'hit_rate@5 is hit@5 here')
    """
    others = ((name, _find_families(name)) for name in dict.fromkeys(names) if name.strip() not in PRESETS)
    return tuple(
        f"{name.strip()} is {parse_metric(name)} here"
        for name, families in others
        if get_head(name) in list_aliases(families) and get_head(name) not in list_classes(families)
    )


def list_questions(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """The questions that have to be asked for these metrics, in the order of asking."""
    from ragauge.metrics.facts import find_question

    needed = {find_question(fact) for metric in metrics for fact in metric.needs.values()}
    if "agree" in needed:
        needed.add("verify_answer")
    return tuple(question for question in QUESTIONS if question in needed)


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
