"""Validate: what a configuration file asks for, or everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.config.config_loader import ConfigFile, read_config
from ragauge.core.errors import ConfigError, DataError, UnknownName
from ragauge.core.messages import format_count
from ragauge.monitoring import policy
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.options import ValidateOptions
from ragauge.verbs.sources import load_store_metrics, parse_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragauge.core.config.monitor import MonitorSection
    from ragauge.core.example import EvalSet, Example
    from ragauge.gating.rules import Rule, Rules
    from ragauge.metrics.base import Metric

    Absent = Mapping[Metric, Mapping[str, str]]  # metric -> id of an example that it does not apply to -> why


@dataclass(frozen=True, slots=True)
class ValidatedConfig:
    """A configuration file without mistakes."""

    source: str  #: the file.
    rules: tuple[str, ...]  #: what each rule of the gate asks for, in words.
    monitor: tuple[str, ...]  #: what is asked of production, in words.
    notes: tuple[str, ...]  #: what is right but seldom meant.

    def to_dict(self) -> dict[str, Any]:
        """As JSON types."""
        lists = {"rules": list(self.rules), "monitor": list(self.monitor), "notes": list(self.notes)}
        return {"source": self.source, "valid": True, **lists}


@expand_options(ValidateOptions)
def validate(options: ValidateOptions) -> ValidatedConfig:
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
    from ragauge.gating.rules import list_untagged_rules, parse_rules
    from ragauge.metrics.configured import register_criteria
    from ragauge.monitoring.series.monitor_specs import read_monitor_specs

    file = read_config(options.config)
    load_store_metrics(None)
    watched, wrong = read_monitor_specs(file)
    monitor_lines, remarks = tuple[str, ...](), tuple[str, ...]()
    if (monitor := file.config.monitor) is not None:
        wrong = (*wrong, *policy.find_mistakes(file, monitor))
        monitor_lines = tuple(policy.describe_section(monitor, watched))
        remarks = tuple(policy.list_remarks(file, monitor, watched))
    if file.config.gate is None and file.config.model_fields_set:  # the file is about something else
        if problems := (*file.problems, *register_criteria(file)[1], *wrong):
            raise ConfigError(problems)
        return ValidatedConfig(file.name, (), monitor_lines, remarks)
    rules, problems = parse_rules(file)
    problems = (*problems, *wrong, *_check_schedules(file, rules, monitor))
    examples = () if options.set is None else tuple(_load_examples(options))
    absent = _find_absent(rules.metrics, examples)
    if options.set is not None:
        problems = (*problems, *find_misfits(file, rules, examples), *_find_inapplicable(file, rules, examples, absent))
    if problems:
        raise ConfigError(problems)
    notes = [*remarks, *(note for rule in rules.every for note in rule.list_notes())]
    if options.set is not None:
        notes += [
            *list_untagged_rules(rules, {tag for example in examples for tag in example.tags}),
            *_warn_unused(rules, examples),
        ]
        notes += [*_warn_too_few(rules, examples, absent), *_warn_undecided(rules, examples, absent)]
    return ValidatedConfig(file.name, tuple(rules.describe()), monitor_lines, tuple(notes))


def _warn_unused(rules: Rules, examples: Sequence[Example]) -> Iterator[str]:
    """Labels that no rule looks at."""
    from ragauge.gating.rules import describe_unused_labels

    if remark := describe_unused_labels(rules, sum(bool(example.relevant) for example in examples)):
        yield remark


def _check_schedules(file: ConfigFile, rules: Rules, monitor: MonitorSection | None) -> Iterator[DataError]:
    """The same of the sets that schedules hold to these rules; where users' reports join one, when it is asked."""
    from ragauge.readers.source import read_set

    needs_labels = any(rule.tag for rule in rules.every) or any(limit.segments for limit in rules.conditions)
    for schedule in monitor.schedules if monitor is not None and needs_labels else ():
        if (
            schedule.set
            and Path(schedule.set).is_file()
            and not (schedule.rules or schedule.reported or schedule.heartbeat)
        ):
            try:
                examples = read_set(schedule.set, warn=lambda _: None).examples
            except DataError as error:
                yield error
            else:
                yield from find_misfits(file, rules, examples, f" of {schedule.set}")


def find_misfits(file: ConfigFile, rules: Rules, examples: Sequence[Example], of: str = "") -> Iterator[DataError]:
    """Tags and segment columns that no example of a set has, but for tags whose examples are yet to come."""
    from ragauge.gating.rules import build_rule_problem, can_wait_for_tag

    tags = {tag for example in examples for tag in example.tags}
    columns = {column for example in examples for column in example.segments}
    reported: set[tuple[int, str]] = {(0, "")}
    for rule in rules.every:
        absent = bool(rule.tag) and rule.tag not in tags and not can_wait_for_tag(rule, tags)
        if absent and (rule.rule, "tag") not in reported:
            yield build_rule_problem(
                file, rule.rule, "tag", f"no example{of} has it: {UnknownName('tag', rule.tag, tags)}"
            )
            reported.add((rule.rule, "tag"))
    for limit in rules.conditions:
        for name in limit.segments or ():
            if name not in columns and (limit.rule, name) not in reported:
                yield build_rule_problem(
                    file, limit.rule, "segments", str(UnknownName("segment column", name, columns))
                )
                reported.add((limit.rule, name))


def _find_inapplicable(
    file: ConfigFile, rules: Rules, examples: Sequence[Example], absent: Absent
) -> Iterator[DataError]:
    """Metrics that apply to no example that their rule asks about."""
    from ragauge.gating.rules import build_rule_problem

    for rule, metric, query_ids in _iter_rule_examples(rules, examples):
        reasons = [absent[metric][field] for field in query_ids if field in absent[metric]]
        if query_ids and len(reasons) == len(query_ids):
            none = f"{metric} applies to none of {_describe_examples(rule, query_ids)}: {reasons[0]}"
            yield build_rule_problem(file, rule.rule, "metric", f"{none}. Label the examples, or remove the rule.")


def _warn_too_few(rules: Rules, examples: Sequence[Example], absent: Absent) -> Iterator[str]:
    """Rules that no run over a set can meet as it is: more examples or labels would mend that."""
    for rule, metric, query_ids in _iter_rule_examples(rules, examples):
        lacking = [field for field in query_ids if field in absent[metric]]
        minimum = getattr(rule, "min_n", len(query_ids))  # a rule on single examples asks for all of them
        if len(query_ids) - len(lacking) >= minimum:
            continue
        needs = f"min_n is {minimum}" if hasattr(rule, "min_n") else "every one must pass"
        if not lacking:
            yield (
                f"rule {rule.rule}: {needs}, more than {_describe_examples(rule, query_ids)}: no run on this set "
                "can meet it."
            )
            continue
        applies = (
            f"{metric} applies to {len(query_ids) - len(lacking)} of {_describe_examples(rule, query_ids)}, but {needs}"
        )
        reason = f"It does not apply to {lacking[0]}: {absent[metric][lacking[0]]}."
        yield f"rule {rule.rule}: {applies}: no run on this set can meet it. {reason}"


def _warn_undecided(rules: Rules, examples: Sequence[Example], absent: Absent) -> Iterator[str]:
    """Rules that the set is too small to decide: mostly their verdict would be not enough data."""
    for limit in rules.conditions:
        query_ids = [example.query_id for example in examples if not limit.tag or limit.tag in example.tags]
        n = sum(query_id not in absent[limit.metric] for query_id in query_ids)
        if limit.decide != "point" and n >= limit.min_n:  # else it is decided, or said already
            yield from limit.list_doubts(n)


def _iter_rule_examples(rules: Rules, examples: Sequence[Example]) -> Iterator[tuple[Rule, Metric, Sequence[str]]]:
    """Every rule on a metric, once, with the examples that it asks about."""
    visited: set[int] = set()
    for rule in rules.every:
        if rule.metric is not None and rule.rule not in visited:
            visited.add(rule.rule)
            query_ids = [example.query_id for example in examples if not rule.tag or rule.tag in example.tags]
            yield rule, rule.metric, query_ids


def _describe_examples(rule: Rule, query_ids: Sequence[str]) -> str:
    tagged = f" tagged {rule.tag}" if rule.tag else ""
    return f"the {format_count(len(query_ids), 'example')} of the set{tagged}"


def _find_absent(metrics: Sequence[Metric], examples: Sequence[Example]) -> Absent:
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


def _load_examples(options: ValidateOptions) -> Iterable[Example]:
    from ragauge.readers import source as readers

    if hasattr(options.set, "examples"):
        eval_set: EvalSet = options.set
        return eval_set.examples
    return readers.read_set(options.set, columns=options.columns, segments=parse_names(options.segments)).examples
