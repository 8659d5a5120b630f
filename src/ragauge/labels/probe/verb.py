"""Probes of a judge: whether what must not matter changes its verdicts, on examples of one's own."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.messages import format_count
from ragauge.verbs.command_output import describe_expected_calls
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.evaluate_options import ProbeOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import HasRun, find_run_or_explain, is_existing_path, parse_names, resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.human_labels import AnswerPair
    from ragauge.engine.judges import Judge
    from ragauge.labels.probe.compute import JudgeProbes, ProbeFinding
    from ragauge.labels.probe.probe_runner import ProbeMaterial
    from ragauge.rendering.sections import ReportSection
    from ragauge.store.store_access import Store

T = TypeVar("T")


class ProbeResult(PageResult):
    """What `probe_judge` returns; in a notebook it shows itself.

    Attributes:
        probed: every number as plain frozen values.
    """

    _file: ClassVar = "probes.html"
    _what: ClassVar = "probes of a judge"

    def __init__(self, probed: JudgeProbes) -> None:
        self.probed = probed

    @property
    def _value(self) -> JudgeProbes:
        return self.probed

    @property
    def stopped(self) -> str:
        """Why probing ended early; "" where it did not."""
        return self.probed.stopped

    @property
    def findings(self) -> Mapping[str, ProbeFinding]:
        """Name of a probe -> what it found."""
        return {finding.rule.name: finding for finding in self.probed.findings}

    @property
    def alarms(self) -> tuple[str, ...]:
        """Names of the probes that alarm."""
        return tuple(finding.rule.name for finding in self.probed.findings if finding.verdict == "alarm")

    def __getitem__(self, name: str) -> ProbeFinding:
        if name not in self.findings:
            raise UnknownName("probe that was made", name, self.findings)
        return self.findings[name]

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.labels.probe.tables import build_sections

        return build_sections(self.probed)


def load_material(options: ProbeOptions, store: Store) -> ProbeMaterial:
    """The user's examples.

    Raises:
        DataError: a file that cannot be read, with line and field.
        UsageError: neither a file nor a run.
    """
    from ragauge.core.human_labels import pair_answers
    from ragauge.core.response import Run
    from ragauge.engine.people import list_answered_rows
    from ragauge.labels.probe.probe_runner import ProbeMaterial
    from ragauge.readers.answers import read_answers
    from ragauge.readers.label_rows import LabelOptions

    source, family = options.source, _parse_family(options)[0]
    no_pairs: list[AnswerPair] = []
    if isinstance(source, HasRun):
        source = source.run
    if isinstance(source, str) and not is_existing_path(source):
        source = find_run_or_explain(source, store)
    if isinstance(source, Run):
        rows, pairs = list_answered_rows(store, source.run_id), no_pairs
    else:
        right = options.supported
        words = parse_names(right if isinstance(right, str) else tuple(right))
        rows, pairs = read_answers(source, LabelOptions(options.columns or {}, (family,) if family else (), words))
    pairs = pairs or pair_answers(rows)
    return ProbeMaterial(_sample_items(rows, options.limit), _sample_items(pairs, options.limit), family)


def _parse_family(options: ProbeOptions) -> tuple[str, str]:
    column, _, own_family = options.family.partition("=")
    return column.strip(), own_family.strip()


def _sample_items(items: Sequence[T], limit: int | None) -> Sequence[T]:
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be at least 1, got {limit}.")
    if limit is None or limit >= len(items):
        return items
    return [items[n] for n in sorted(random.Random(0).sample(range(len(items)), limit))]  # noqa: S311 - a draw


def _build_probed_judge(options: ProbeOptions) -> Judge:
    from ragauge.engine.judges import build_judge, resolve_judge_spec

    if options.tolerance is not None and not 0 <= options.tolerance < 1:
        raise UsageError(f"tolerance must lie between 0 and 1, got {options.tolerance:g}. 0.05 is 5 of 100 verdicts.")
    spec = resolve_judge_spec(options.judge, options.judge_name, options.prompts)
    if spec == "none" or spec.partition(":")[0] == "people":
        raise UsageError(f"--judge {spec}: only a judge of any text can be probed. Use local or openai:MODEL.")
    return build_judge(spec)


def describe_estimate(planned: dict[str, Any]) -> str:
    """What `judge probe --dry-run` prints."""
    counts = f"{format_count(planned['examples'], 'example')}, {format_count(planned['pairs'], 'pair')} of answers"
    lines = [f"{counts}: {describe_expected_calls(planned)}", f"probes: {', '.join(planned['probes'])}"]
    return "\n".join(lines + [f"not probed: {name}: {reason}" for name, reason in planned["left_out"].items()])


def estimate_probes(options: ProbeOptions) -> dict[str, Any]:
    """What probing would ask and cost, as JSON types; nothing is asked or written."""
    from ragauge.labels.probe.probe_runner import choose_probes, estimate_probing
    from ragauge.store.store_access import open_store

    judge = _build_probed_judge(options)
    with open_store(resolve_store_url(options.store)) as opened_store:
        material = load_material(options, opened_store)
        made, without = choose_probes(parse_names(options.probes), material, judge)
        estimate = estimate_probing(material, judge, made, opened_store)
    counts = {"examples": len(material.rows), "pairs": len(material.pairs)}
    return {**counts, "probes": [probe.name for probe in made], "left_out": without, **estimate.to_json()}


@expand_options(ProbeOptions)
async def probe_judge_async(options: ProbeOptions) -> ProbeResult:
    """Whether what must not matter changes a judge's verdicts, and what must matter does, on your own examples.

    Each example is judged twice as it is and once as each probe changes it. Only what a change does beyond the judge's
    own wavering counts.

    Options:
        source: a stored run; or a path or table of answers with passages, with labels where there are some, or of pairs
            of answers (ragauge docs model-judges).
        judge: "local", "openai:gpt-5-mini", "hybrid:…", or a function or object (text in, text out).
        judge_name: what identifies such a function or object in reports and stored replies.
        prompts: a model's own wording, as for `evaluate`.
        probes: names, a text with commas or a list; empty = all that the examples and the judge allow.
        family: the column that says who wrote an answer; "COLUMN=VALUE" names the judge's own family.
        tolerance: how far a value may lie from what must hold, in [0, 1); None = 0.05.
        supported: values of the label that mean supported; the usual words when empty.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        columns: our field -> the source's column.
        limit: so many examples, drawn at random, always the same.
        progress: called with what is done, the rate and the time left.
        concurrency: calls to a model in flight to begin with; with max_concurrency, max_cost and timeout as in
            `ModelCallOptions`.

    Raises:
        DataError: a file that cannot be read.
        UsageError: an unknown judge or probe, with the nearest; a probe that cannot be made, with the reason.
        JudgeError: the model cannot be asked at all.
    """
    return await run_probes(options)


probe_judge = make_sync(probe_judge_async)


async def run_probes(options: ProbeOptions) -> ProbeResult:
    """What `probe_judge` does, of its options."""
    from ragauge.labels.probe.compute import JudgeProbes, build_findings, run_position_probe
    from ragauge.labels.probe.probe_runner import ask_probes, choose_probes
    from ragauge.store.store_access import open_store

    judge = _build_probed_judge(options)
    calling = options.of(judge)
    with open_store(resolve_store_url(options.store)) as opened_store:
        material = load_material(options, opened_store)
        made, without = choose_probes(parse_names(options.probes), material, judge)
        outcome = await ask_probes(material, judge, made, opened_store, calling, options.progress)
    rules = [probe_spec.rule for probe_spec in made]
    position = run_position_probe(material.pairs, outcome.preferences) if outcome.preferences else None
    probe_findings = build_findings(outcome.cases, rules, options.tolerance, _parse_family(options)[1])
    calls = {} if outcome.calling is None else outcome.calling.to_json()
    return ProbeResult(
        JudgeProbes(
            judge.judge_id,
            len(material.rows),
            len(outcome.preferences),
            probe_findings,
            without,
            position,
            outcome.parts,
            outcome.failed,
            outcome.reasons,
            outcome.stopped,
            calls,
        )
    )
