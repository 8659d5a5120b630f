"""A judge held against human labels: how far it can be trusted on data of one's own."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.labels.label.verb import resolve_guideline
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.evaluate_options import CheckJudgeOptions, LabeledOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.sources import find_run_or_explain, is_existing_path, parse_names, resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.human_labels import LabeledAnswer
    from ragauge.labels.check.runner import JudgeMode, LabeledRows
    from ragauge.readers.label_rows import LabelOptions
    from ragauge.scores.judge_check import JudgeCheck

REFERENCE_JUDGE = "local"
MODES = ("fused", "per_claim")


def load_rows(options: LabeledOptions, label_options: LabelOptions | None = None) -> LabeledRows:
    """The labelled rows, and the file that they come from.

    Args:
        options: where they are.
        label_options: what else is read of a file.

    Raises:
        DataError: a file that cannot be read, with line, field and the nearest name.
    """
    from ragauge.labels.check.runner import LabeledRows
    from ragauge.scores.label_scores import deduplicate_rows, hash_file

    labeled_rows, name, guideline, run_id = _read_labeled(options, label_options)
    rows = deduplicate_rows(labeled_rows)
    all_rows = LabeledRows(rows, name, hash_file(rows, name), len(labeled_rows) - len(rows), guideline, run_id)
    if options.limit is None or options.limit >= len(rows):
        return all_rows
    if options.limit < 1:
        raise UsageError(f"limit must be at least 1, got {options.limit}.")
    sampled = sorted(random.Random(0).sample(range(len(rows)), options.limit))  # noqa: S311 - a draw
    return all_rows._replace(rows=[rows[n] for n in sampled])


def _read_labeled(
    options: LabeledOptions, label_options: LabelOptions | None
) -> tuple[list[LabeledAnswer], str, str, str]:
    """Rows of a file or table, or what people labelled of a stored run; what they are called; a guideline; the run."""
    from ragauge.engine.people import find_run_guideline, list_labeled_rows
    from ragauge.readers.label_rows import LabelOptions, read_labeled_answers
    from ragauge.store.store_access import open_store

    source = options.source
    if source is None:
        raise UsageError("name a file of labels, or a run that people labeled: ragauge judge check FILE.")
    if isinstance(source, str) and not is_existing_path(source):
        with open_store(resolve_store_url(options.store)) as opened_store:
            run = find_run_or_explain(source, opened_store)
            if label_options is not None and label_options.verdicts:
                raise UsageError("--verdict names columns of a label file, but a run has none. Give the file.")
            guideline = resolve_guideline(options.guideline)[0] or find_run_guideline(opened_store, run.run_id)
            return (
                list_labeled_rows(opened_store, run.run_id, guideline),
                f"labels of {run.name}",
                guideline,
                run.run_id,
            )
    if options.guideline:
        raise UsageError("guideline selects among a run's labels, but a file has only one guideline. Leave it out.")
    right = options.supported
    words = parse_names(right if isinstance(right, str) else tuple(right))
    read_options = replace(label_options or LabelOptions(), columns=options.columns or {}, supported=words)
    name = Path(source).name if isinstance(source, str | Path) else "a table"
    return list(read_labeled_answers(source, read_options)), name, "", ""


def _build_label_options(options: CheckJudgeOptions) -> LabelOptions:
    """What a check reads of a file beside texts and labels."""
    from ragauge.readers.label_rows import LabelOptions

    return LabelOptions(
        segments=parse_names(options.segments), verdicts=parse_names(options.verdict), texts=needs_judges(options)
    )


def needs_judges(options: CheckJudgeOptions) -> bool:
    """Whether judges are asked: where verdicts come from the file only those that are named."""
    return bool(options.judge) or not parse_names(options.verdict)


def build_ways(options: CheckJudgeOptions) -> tuple[JudgeMode, ...]:
    """The judges, each in its ways of being asked; the local one last, () where verdicts come from the file alone.

    Raises:
        UnknownName: no such judge, provider, setting or mode.
    """
    from ragauge.core.errors import UnknownName
    from ragauge.engine.judges import resolve_judge_spec
    from ragauge.labels.check.runner import list_judge_modes

    modes = parse_names(options.modes)
    for mode in modes:
        if mode not in MODES:
            raise UnknownName("judge mode", mode, MODES)
    if not needs_judges(options):
        return ()
    judges = options.judge if isinstance(options.judge, list | tuple) else (options.judge,)
    specs = (resolve_judge_spec(judge, options.judge_name, options.prompts) for judge in judges)
    return list_judge_modes((*specs, REFERENCE_JUDGE), modes or MODES)


@expand_options(CheckJudgeOptions)
async def check_judge_async(options: CheckJudgeOptions) -> JudgeCheck:
    """How far a judge agrees with people; how far it is off is kept, and from then on in the intervals of its scores.

    Options:
        source: answers or claims with passages and labels: a path or a table (ragauge docs model-judges); or a stored
            run, and what people labelled of it.
        judge: "openai:gpt-5-mini", a function or object (text in, text out), or several; the local one comes along.
        judge_name: what identifies such a function or object in reports and stored replies.
        verdict: columns of the source with verdicts of judges that were asked elsewhere, as labels or as probabilities
            of supported; then nobody is asked but who `judge` names, and rows need no texts.
        prompts: a model's own wording, as for `evaluate`.
        modes: how a model is asked: "fused", "per_claim" or both; evaluate asks fused where nothing else is said.
        limit: so many rows, drawn at random, always the same.
        guideline: of a run whose labels follow several instructions, which: a text file or its hash; those of its last
            draw by default.
        columns: our field -> the source's column.
        segments: columns of the source to report by.
        supported: values of the label that mean supported; the usual words when empty.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        progress: called with what is done, the rate and the time left.
        concurrency: calls to a model in flight to begin with; with max_concurrency, max_cost and timeout as in
            `ModelCallOptions`.

    Raises:
        DataError: a file that cannot be read.
        UsageError: an unknown judge or setting, with the nearest.
    """
    return await check_against_labels(options)


check_judge = make_sync(check_judge_async)


async def check_against_labels(options: CheckJudgeOptions) -> JudgeCheck:
    """Asks the judges about every row and compares with what people said.

    What models said is kept in the store, and how far each judge is off, which intervals of its scores then include.

    Raises:
        DataError: a file that cannot be read.
        JudgeError: a model cannot be asked at all.
        RagaugeError: a bound on cost, and a model whose price is unknown.
    """
    from ragauge.engine.judge_error import find_judge_errors
    from ragauge.labels.check.runner import check_labels, count_cross_fitted, read_recorded_answers
    from ragauge.labels.judges.verb import log_check
    from ragauge.scores.judge_check import build_report
    from ragauge.store.store_access import open_store
    from ragauge.verbs.columns import renew_judge_means

    judge_ways = build_ways(options)
    calling = options.of(*(way.judge for way in judge_ways))
    source = load_rows(options, _build_label_options(options))
    with open_store(resolve_store_url(options.store)) as opened_store:
        outcome = await check_labels(source, judge_ways, opened_store, calling, options.progress)
        runs = (source.run_id,) if source.run_id else ()
        errors = {way.judge.judge_id: find_judge_errors(way.judge.judge_id, opened_store, runs) for way in judge_ways}
        calls = {} if outcome.calling is None else outcome.calling.to_json()
        elsewhere = read_recorded_answers(source.rows, parse_names(options.verdict))
        fitted = {way.judge.judge_id: count_cross_fitted(way.judge, source.rows) for way in judge_ways}
        judge_report = build_report(source.rows, (*outcome.answers, *elsewhere), outcome.stopped, calls)
        renew_judge_means(opened_store, errors)
        if not outcome.stopped:
            log_check(judge_report, source, opened_store)
    return replace(
        judge_report, errors=errors, repeated=source.repeated, cross_fitted={name: n for name, n in fitted.items() if n}
    )


def require_kappa(judge_check: JudgeCheck, min_kappa: float, *, is_named: bool) -> None:
    """Holds judges to a least kappa, by supported or not.

    Args:
        judge_check: the check.
        min_kappa: Cohen's kappa, in (0, 1).
        is_named: judges were named: the local one, which comes along, is not held to it.

    Raises:
        GateFailed: of a judge the whole interval lies below.
        NotEnoughData: of a judge the interval holds it, or kappa is not defined.
    """
    from ragauge.core.errors import GateFailed, NotEnoughData
    from ragauge.labels.check.tables import format_judge_name

    if not 0 < min_kappa < 1:
        raise UsageError(f"--min-kappa must lie between 0 and 1, got {min_kappa:g}. 0.6 is substantial agreement.")
    below, astride = [], []
    for judge_result in judge_check.judges:
        if is_named and judge_result.answers.name == REFERENCE_JUDGE:
            continue
        bounds = judge_result.supported.kappa.interval
        if bounds is not None and bounds.high < min_kappa:
            below.append(f"{format_judge_name(judge_result)} [{bounds.low:.2f}, {bounds.high:.2f}]")
        elif bounds is None or bounds.low < min_kappa:
            detail = judge_result.supported.kappa.reason if bounds is None else f"[{bounds.low:.2f}, {bounds.high:.2f}]"
            astride.append(f"{format_judge_name(judge_result)} {detail}")
    if below:
        raise GateFailed(
            f"kappa is below {min_kappa:g}: {', '.join(below)}. Look at the differences, or use another judge."
        )
    if astride:
        raise NotEnoughData(f"it is unclear whether kappa reaches {min_kappa:g}: {', '.join(astride)}. Label more.")


def delete_checks(options: CheckJudgeOptions) -> int:
    """Removes what was kept of a file, for every judge; returns how many checks of it there were.

    Texts of which another file that was checked says the same stay, as that file's. Replies of models stay too: the
    same check again costs nothing.
    """
    from ragauge.labels.judges.compute import hash_parts
    from ragauge.scores.label_scores import hash_row_text
    from ragauge.store.store_access import open_store
    from ragauge.verbs.columns import renew_judge_means

    source = load_rows(options, _build_label_options(options))
    keyed = [(hash_row_text(row), set(hash_parts(row))) for row in source.rows]
    with open_store(resolve_store_url(options.store)) as opened_store:
        others = [
            (record.judge_id, record.file, {part.part for part in record.parts})
            for record in opened_store.check_log.list()
            if record.file != source.digest
        ]
        shared = [(judge, file, [item for item, keys in keyed if keys <= parts]) for judge, file, parts in others]
        judges = {record.judge_id for record in opened_store.checks.files() if record.digest == source.digest}
        count = opened_store.checks.delete_file(source.digest, shared)
        renew_judge_means(opened_store, judges)
        return count


def estimate_check(options: CheckJudgeOptions) -> dict[str, Any]:
    """What checking would ask and cost, by judge, as JSON types; nothing is asked or written."""
    from ragauge.labels.check.runner import estimate_by_mode
    from ragauge.store.store_access import open_store

    judge_ways, rows = build_ways(options), load_rows(options, _build_label_options(options)).rows
    with open_store(resolve_store_url(options.store)) as opened_store:
        estimates = estimate_by_mode(rows, judge_ways, opened_store)
    judges = {name: estimate.to_json() for name, estimate in estimates.items()}
    return {"rows": len(rows), "parts": sum(len(row.parts) for row in rows), "judges": judges}


def save_check(check: JudgeCheck, path: Path) -> Path:
    """Writes a report by the ending of its name: .md or .json, or .jsonl with every part on which a judge differs."""
    from ragauge.core.json_keys import format_json
    from ragauge.labels.check.tables import format_json_lines, format_markdown
    from ragauge.verbs.files import make_folder

    make_folder(path)
    texts = {".md": format_markdown, ".json": format_json, ".jsonl": format_json_lines}
    path.write_text(texts[path.suffix.lower()](check), encoding="utf-8")
    return path


def validate_output(path: Path) -> None:
    """Refuses a name that says no format, before anything is asked."""
    if path.suffix.lower() not in (".md", ".json", ".jsonl"):
        raise UsageError(f"-o {path}: expected a file that ends in .md, .json or .jsonl (the parts that differ).")
