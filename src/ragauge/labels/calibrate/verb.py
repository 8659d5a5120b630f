"""A judge calibrated by labels, and its file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.messages import format_count
from ragauge.labels.check.verb import load_rows
from ragauge.verbs.command_output import describe_expected_calls
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.evaluate_options import CalibrateJudgeOptions
from ragauge.verbs.files import validate_report_path, write_text
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import PageResult, ValueResult
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.labels.calibrate.runner import BaseJudge
    from ragauge.rendering.sections import ReportSection
    from ragauge.scores.calibration import JudgeCalibration


class CalibrationResult(ValueResult, PageResult):
    """What calibrating a judge is worth, in every form."""

    _what = "calibration of a judge"
    data: JudgeCalibration

    @property
    def written_files(self) -> tuple[str, ...]:
        """The file of the calibrated judge."""
        return (self.data.path,)

    @property
    def judge(self) -> str:
        """What `evaluate` takes as its judge."""
        return f"calibrated:{self.data.path}"

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.labels.calibrate.tables import build_sections

        return build_sections(self.data)


def resolve_base_judge(options: CalibrateJudgeOptions) -> BaseJudge:
    """The judge that is to be calibrated.

    Raises:
        UsageError: none, people, or one that is calibrated already.
        UnknownName: no such judge.
    """
    from ragauge.engine.judges import resolve_judge_spec
    from ragauge.labels.calibrate.runner import build_base as built

    return built(resolve_judge_spec(options.judge, options.judge_name, options.prompts))


@expand_options(CalibrateJudgeOptions)
async def calibrate_judge_async(options: CalibrateJudgeOptions) -> CalibrationResult:
    """Fits a judge's probabilities to people's labels, and writes the file of the calibrated judge.

    It is used as `judge="calibrated:judge.json"`. The judge stays as it is unless labels that a fit did not see say
    that another is better by a standard error.

    Options:
        source: answers or claims with passages and labels: a path or a table (ragauge docs model-judges); or a stored
            run, and what people labelled of it.
        judge: who is calibrated: "local", "openai:gpt-5-mini", "hybrid:openai:gpt-5-mini", a function or object (text
            in, text out).
        output: the file to write, ending in .json.
        judge_name: what identifies such a function or object in reports and stored replies.
        prompts: a model's own wording, as for `evaluate`.
        guideline: of a run whose labels follow several instructions, which: a text file or its hash; those of its last
            draw by default. Labels by two are never pooled.
        limit: so many rows, drawn at random, always the same.
        columns: our field -> the source's column.
        supported: values of the label that mean supported; the usual words when empty.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        progress: called with what is done, the rate and the time left.
        concurrency: calls to a model in flight to begin with; with max_concurrency, max_cost and timeout as in
            `ModelCallOptions`.

    Raises:
        NotEnoughData: fewer than 50 labels, or fewer than 10 of the rarer kind.
        DataError: a file that cannot be read.
        UsageError: a judge that cannot be calibrated, or a path that cannot be written.
        Interrupted: what may be spent was spent before all texts were judged.
    """
    return await calibrate_from_labels(options)


calibrate_judge = make_sync(calibrate_judge_async)


async def calibrate_from_labels(options: CalibrateJudgeOptions) -> CalibrationResult:
    """What `calibrate_judge` does, with its options."""
    from ragauge.labels.calibrate.runner import learn_calibration
    from ragauge.store.store_access import open_store

    path = Path(options.output)
    validate_report_path(path, (".json",))
    base = resolve_base_judge(options)
    calling = options.of(base.judge)
    source = load_rows(options)
    with open_store(resolve_store_url(options.store)) as opened_store:
        file, calibration = await learn_calibration(source, base, opened_store, calling, options.progress)
        run = opened_store.runs.find(source.run_id).name if source.run_id else ""
    write_text(path, file.text())
    return CalibrationResult(replace(calibration, path=str(path), run=run))


def describe_estimate(planned: dict[str, Any]) -> str:
    """What `judge calibrate --dry-run` prints."""
    labeled = f"{planned['rows']:,} rows, {format_count(planned['parts'], 'labeled part')}"
    return f"{labeled}: {describe_expected_calls(planned)}"


def estimate_calibration(options: CalibrateJudgeOptions) -> dict[str, Any]:
    """What calibrating would ask and cost, as JSON types; nothing is asked or written."""
    from ragauge.labels.check.runner import JudgeMode, estimate_by_mode
    from ragauge.store.store_access import open_store

    base, rows = resolve_base_judge(options), load_rows(options).rows
    with open_store(resolve_store_url(options.store)) as opened_store:
        estimate = estimate_by_mode(rows, [JudgeMode(base.spec, "", base.judge)], opened_store)[base.spec]
    return {"rows": len(rows), "parts": sum(len(row.parts) for row in rows), **estimate.to_json()}
