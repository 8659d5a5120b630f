"""Validate: what a configuration file asks for, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.config.config_loader import ConfigFile, read_config
from ragauge.core.errors import ConfigError, DataError, UnknownName
from ragauge.core.messages import plural
from ragauge.monitoring import monitor_section
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.options import ValidateOptions
from ragauge.verbs.sources import know_own_metrics, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragauge.core.config.monitor import MonitorSection
    from ragauge.core.example import EvalSet, Example
    from ragauge.gating.rules import Condition, MustPass, Rules
    from ragauge.metrics.base import Metric

    Absent = Mapping[Metric, Mapping[str, str]]  # metric -> id of an example that it does not apply to -> why


@dataclass(frozen=True, slots=True)
class Validated:
    """A configuration file without mistakes.

    Attributes:
        source: the file.
        rules: what each rule of the gate asks for, in words.
        monitor: what is asked of production, in words.
        notes: what is right but seldom meant.
    """

    source: str
    rules: tuple[str, ...]
    monitor: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        lists = {"rules": list(self.rules), "monitor": list(self.monitor), "notes": list(self.notes)}
        return {"source": self.source, "valid": True, **lists}


@keywords(ValidateOptions)
def validate(wanted: ValidateOptions) -> Validated:
    """Reads a configuration file and says what it asks for.

    Refused are unknown keys, metrics and values, and gates that can never fail or never pass.

    Options:
        config: path of ragauge.yaml, or its content as a mapping.
        set: the eval set, as `read_set` takes it: then tags and segments that no example has are refused too, and
            metrics that apply to none; where they apply to too few for a rule, a note says so.
        columns: our field -> the set's column.
        segments: columns of the set to report by.

    Raises:
        ConfigError: mistakes; all of them are in the text, each with its line.
        DataError: there is no such file, or it is not YAML.
    """
    from ragauge.gating.examples import untagged
    from ragauge.gating.rules import understood
    from ragauge.metrics.configured import register_criteria
    from ragauge.monitoring.series.monitor_specs import watches

    file = read_config(wanted.config)
    know_own_metrics(None)
    watched, wrong = watches(file)
    asked, remarks = tuple[str, ...](), tuple[str, ...]()
    if (monitor := file.config.monitor) is not None:
        wrong = (*wrong, *monitor_section.mistakes(file, monitor))
        asked = tuple(monitor_section.said(monitor, watched))
        remarks = tuple(monitor_section.remarks(file, monitor, watched))
    if file.config.gate is None and file.config.model_fields_set:  # the file is about something else
        if problems := (*file.problems, *register_criteria(file)[1], *wrong):
            raise ConfigError(problems)
        return Validated(file.name, (), asked, remarks)
    rules, problems = understood(file)
    problems = (*problems, *wrong, *_of_schedules(file, rules, monitor))
    examples = () if wanted.set is None else tuple(_examples(wanted))
    absent = _absent(rules.metrics, examples)
    if wanted.set is not None:
        problems = (*problems, *misfits(file, rules, examples), *_inapplicable(file, rules, examples, absent))
    if problems:
        raise ConfigError(problems)
    notes = [*remarks, *_notes(rules)]
    if wanted.set is not None:
        notes += [*untagged(rules, {tag for example in examples for tag in example.tags}), *_unused(rules, examples)]
        notes += [*_too_few(rules, examples, absent), *_undecided(rules, examples, absent)]
    return Validated(file.name, tuple(_said(rules)), asked, tuple(notes))


def _unused(rules: Rules, examples: Sequence[Example]) -> Iterator[str]:
    """Labels that no rule looks at."""
    from ragauge.gating.examples import unused

    if remark := unused(rules, sum(bool(example.relevant) for example in examples)):
        yield remark


def _of_schedules(file: ConfigFile, rules: Rules, monitor: MonitorSection | None) -> Iterator[DataError]:
    """The same of the sets that schedules hold to these rules; where users' reports join one, when it is asked."""
    from ragauge.readers.source import read_set

    asked = any(rule.tag for rule in rules.every) or any(limit.segments for limit in rules.conditions)
    for one in monitor.schedules if monitor is not None and asked else ():
        if one.set and Path(one.set).is_file() and not (one.rules or one.reported or one.heartbeat):
            try:
                examples = read_set(one.set, warn=lambda _: None).examples
            except DataError as error:
                yield error
            else:
                yield from misfits(file, rules, examples, f" of {one.set}")


def misfits(file: ConfigFile, rules: Rules, examples: Sequence[Example], of: str = "") -> Iterator[DataError]:
    """Tags and segment columns that no example of a set has, but for tags whose examples are yet to come."""
    from ragauge.gating.examples import yet_to_come

    tags = {tag for example in examples for tag in example.tags}
    columns = {column for example in examples for column in example.segments}
    seen: set[tuple[int, str]] = {(0, "")}
    for rule in rules.every:
        absent = bool(rule.tag) and rule.tag not in tags and not yet_to_come(rule, tags)
        if absent and (rule.rule, "tag") not in seen:
            yield _wrong(file, rule.rule, "tag", f"no example{of} has it: {UnknownName('tag', rule.tag, tags)}")
            seen.add((rule.rule, "tag"))
    for limit in rules.conditions:
        for name in limit.segments or ():
            if name not in columns and (limit.rule, name) not in seen:
                yield _wrong(file, limit.rule, "segments", str(UnknownName("segment column", name, columns)))
                seen.add((limit.rule, name))


def _inapplicable(file: ConfigFile, rules: Rules, examples: Sequence[Example], absent: Absent) -> Iterator[DataError]:
    """Metrics that apply to no example that their rule asks about."""
    for rule, metric, asked in _asked(rules, examples):
        why = [absent[metric][field] for field in asked if field in absent[metric]]
        if asked and len(why) == len(asked):
            none = f"{metric} applies to none of {_of(rule, asked)}: {why[0]}"
            yield _wrong(file, rule.rule, "metric", f"{none}. Label the examples, or leave the rule out.")


def _too_few(rules: Rules, examples: Sequence[Example], absent: Absent) -> Iterator[str]:
    """Rules that no run over a set can meet as it is: more examples or labels would mend that."""
    for rule, metric, asked in _asked(rules, examples):
        lacking = [field for field in asked if field in absent[metric]]
        least = getattr(rule, "min_n", len(asked))  # a rule on single examples asks for all of them
        if len(asked) - len(lacking) >= least:
            continue
        needs = f"min_n is {least}" if hasattr(rule, "min_n") else "every one must pass"
        if not lacking:
            yield f"rule {rule.rule}: {needs}, more than {_of(rule, asked)}: no run over this set can meet it."
            continue
        applies = f"{metric} applies to {len(asked) - len(lacking)} of {_of(rule, asked)}, and {needs}"
        why = f"It does not apply to {lacking[0]}: {absent[metric][lacking[0]]}."
        yield f"rule {rule.rule}: {applies}: no run over this set can meet it. {why}"


def _undecided(rules: Rules, examples: Sequence[Example], absent: Absent) -> Iterator[str]:
    """Rules that the set is too small to decide: mostly their verdict would be not enough data."""
    from ragauge.gating.decide import examples_for, examples_for_quantile, least_drop

    for limit in rules.conditions:
        asked = [example.query_id for example in examples if not limit.tag or limit.tag in example.tags]
        n = sum(query_id not in absent[limit.metric] for query_id in asked)
        if limit.decide == "point" or n < limit.min_n:  # decided, or said already
            continue
        if limit.kind == "max_drop" and limit.metric.range == (0, 1) and 0 < limit.amount < least_drop(n):
            more = examples_for(limit.amount)
            those = "more than 10,000" if more is None else f"about {more:,}"
            yield (
                f"rule {limit.rule}: {plural(n, 'example')} of the set seldom decide a drop of {limit.text}: where one "
                f"score in ten differs, for better and for worse alike, the verdict is not enough data. So many "
                f"decide {100 * least_drop(n):g} points; {limit.text} take {those} examples. See ragauge docs gates."
            )
        if limit.kind == "max" and limit.statistic != "mean" and n < (least := examples_for_quantile(limit.statistic)):
            yield (
                f"rule {limit.rule}: {plural(n, 'example')} of the set cannot show that {limit.statistic} of "
                f"{limit.metric} keeps a limit: that takes {least:,}. No run over this set can meet it."
            )


def _asked(rules: Rules, examples: Sequence[Example]) -> Iterator[tuple[Condition | MustPass, Metric, Sequence[str]]]:
    """Every rule on a metric, once, with the examples that it asks about."""
    seen: set[int] = set()
    for rule in rules.every:
        if rule.metric is not None and rule.rule not in seen:
            seen.add(rule.rule)
            asked = [example.query_id for example in examples if not rule.tag or rule.tag in example.tags]
            yield rule, rule.metric, asked


def _of(rule: Condition | MustPass, asked: Sequence[str]) -> str:
    tagged = f" tagged {rule.tag}" if rule.tag else ""
    return f"the {plural(len(asked), 'example')} of the set{tagged}"


def _absent(metrics: Sequence[Metric], examples: Sequence[Example]) -> Absent:
    """Which examples a metric does not apply to, whatever the response, and why."""
    from ragauge.core.response import Response
    from ragauge.metrics.facts import Facts
    from ragauge.metrics.measure import measure_all

    absent: dict[Metric, dict[str, str]] = {metric: {} for metric in metrics}
    for example in examples:
        unanswered = Response(example.query_id, error="not asked")  # a missing label comes before any failure
        for metric, measured in zip(metrics, measure_all(metrics, Facts(example, unanswered)), strict=True):
            if measured.status == "not_applicable":
                absent[metric][example.query_id] = measured.reason
    return absent


def _wrong(file: ConfigFile, rule: int, key: str, text: str) -> DataError:
    return file.problem(f"gate.rules[{rule}].{key}", text, _line(file, rule, key))


def _line(file: ConfigFile, rule: int, key: str) -> int | None:
    gate = file.config.gate
    return next((one.line(key) for one in gate.rules if one.place == rule), None) if gate is not None else None


def _examples(wanted: ValidateOptions) -> Iterable[Example]:
    from ragauge.readers import source as readers

    if hasattr(wanted.set, "examples"):
        eval_set: EvalSet = wanted.set
        return eval_set.examples
    return readers.read_set(wanted.set, columns=wanted.columns, segments=named(wanted.segments)).examples


def _said(rules: Rules) -> Iterator[str]:
    from ragauge.gating.check_builder import asks, least_n
    from ragauge.gating.examples import asks as asks_of_examples
    from ragauge.gating.examples import asks_share

    yield asks_share(rules.max_failed)
    for limit in rules.conditions:
        parts = "every declared segment" if limit.segments is None else f"every value of {', '.join(limit.segments)}"
        where = "the whole run" if limit.segments == () else f"the whole run and {parts}"
        how = "by the estimate alone" if limit.decide == "point" else "by its interval"
        warns = "; warns only" if limit.on_fail == "warn" else ""
        least = f"{least_n(limit)} {'labelled ' if limit.rectified else ''}examples"
        yield f"{asks(limit)}: {where}, {how}, from {least} on{warns}"
    for must in rules.must_pass:
        yield asks_of_examples(must) + ("; warns only" if must.on_fail == "warn" else "")


def _notes(rules: Rules) -> Iterator[str]:
    for limit in rules.conditions:
        if limit.kind == "max_drop" and limit.amount == 0 and limit.decide == "interval":
            yield (
                f"rule {limit.rule}: max_drop: 0 passes only where {limit.metric} is shown to be better (or nothing "
                "changed at all); mostly it says not enough data. Usual is a small drop, such as 2 points."
            )
