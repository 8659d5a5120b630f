"""A judge held against human labels: how far it can be trusted on data of one's own."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.labels.label.verb import guideline_named
from ragauge.verbs.coroutines import plain
from ragauge.verbs.evaluate_options import CheckJudgeOptions, LabelledOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.sources import is_there, named, run_or_file, store_url

if TYPE_CHECKING:
    from ragauge.core.human_labels import Labelled
    from ragauge.labels.check.runner import LabelledRows, Way
    from ragauge.readers.label_rows import LabelOptions
    from ragauge.scores.judge_check import JudgeCheck

REFERENCE = "local"
MODES = ("fused", "per_claim")


def rows_of(wanted: LabelledOptions, reading: LabelOptions | None = None) -> LabelledRows:
    """The labelled rows, and the file that they come from.

    Args:
        wanted: where they are.
        reading: what else is read of a file.

    Raises:
        DataError: a file that cannot be read, with line, field and the nearest name.
    """
    from ragauge.labels.check.runner import LabelledRows
    from ragauge.scores.label_scores import file_of, once

    every, name, guideline, run_id = _labelled(wanted, reading)
    rows = once(every)
    whole = LabelledRows(rows, name, file_of(rows, name), len(every) - len(rows), guideline, run_id)
    if wanted.limit is None or wanted.limit >= len(rows):
        return whole
    if wanted.limit < 1:
        raise UsageError(f"limit must be at least 1, got {wanted.limit}.")
    drawn = sorted(random.Random(0).sample(range(len(rows)), wanted.limit))  # noqa: S311 - a draw
    return whole._replace(rows=[rows[n] for n in drawn])


def _labelled(wanted: LabelledOptions, reading: LabelOptions | None) -> tuple[list[Labelled], str, str, str]:
    """Rows of a file or table, or what people labelled of a stored run; what they are called; a guideline; the run."""
    from ragauge.engine.people import guideline_of_run, labelled_rows
    from ragauge.readers.label_rows import LabelOptions, read_labelled
    from ragauge.store.store_access import open_store

    source = wanted.source
    if source is None:
        raise UsageError("name a file of labels, or a run that people labelled: ragauge judge check FILE.")
    if isinstance(source, str) and not is_there(source):
        with open_store(store_url(wanted.store)) as opened:
            run = run_or_file(source, opened)
            if reading is not None and reading.verdicts:
                raise UsageError("--verdict names columns of a file of labels, and a run has none. Give the file.")
            guideline = guideline_named(wanted.guideline)[0] or guideline_of_run(opened, run.run_id)
            return labelled_rows(opened, run.run_id, guideline), f"labels of {run.name}", guideline, run.run_id
    if wanted.guideline:
        raise UsageError("guideline chooses among labels of a run; a file is of one. Leave it out.")
    right = wanted.supported
    words = named(right if isinstance(right, str) else tuple(right))
    options = replace(reading or LabelOptions(), columns=wanted.columns or {}, supported=words)
    name = Path(source).name if isinstance(source, str | Path) else "a table"
    return list(read_labelled(source, options)), name, "", ""


def _reading(wanted: CheckJudgeOptions) -> LabelOptions:
    """What a check reads of a file beside texts and labels."""
    from ragauge.readers.label_rows import LabelOptions

    return LabelOptions(segments=named(wanted.segments), verdicts=named(wanted.verdict), texts=asks(wanted))


def asks(wanted: CheckJudgeOptions) -> bool:
    """Whether judges are asked: where verdicts come from the file only those that are named."""
    return bool(wanted.judge) or not named(wanted.verdict)


def ways_of(wanted: CheckJudgeOptions) -> tuple[Way, ...]:
    """The judges, each in its ways of being asked; the local one last, () where verdicts come from the file alone.

    Raises:
        UnknownName: no such judge, provider, setting or mode.
    """
    from ragauge.core.errors import UnknownName
    from ragauge.engine.judges import given_judge
    from ragauge.labels.check.runner import ways

    modes = named(wanted.modes)
    for mode in modes:
        if mode not in MODES:
            raise UnknownName("mode of a judge", mode, MODES)
    if not asks(wanted):
        return ()
    judges = wanted.judge if isinstance(wanted.judge, list | tuple) else (wanted.judge,)
    specs = (given_judge(judge, wanted.judge_name, wanted.prompts) for judge in judges)
    return ways((*specs, REFERENCE), modes or MODES)


@keywords(CheckJudgeOptions)
async def check_judge_async(wanted: CheckJudgeOptions) -> JudgeCheck:
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
    return await check_labelled(wanted)


check_judge = plain(check_judge_async)


async def check_labelled(wanted: CheckJudgeOptions) -> JudgeCheck:
    """Asks the judges about every row and compares with what people said.

    What models said is kept in the store, and how far each judge is off, which intervals of its scores then include.

    Raises:
        DataError: a file that cannot be read.
        JudgeError: a model cannot be asked at all.
        RagaugeError: a bound on cost, and a model whose price is unknown.
    """
    from ragauge.engine.judge_error import judge_errors
    from ragauge.labels.check.file_verdicts import recorded_answers
    from ragauge.labels.check.runner import check, cross_fitted
    from ragauge.labels.history.verb import log_check
    from ragauge.scores.judge_check import report
    from ragauge.store.store_access import open_store
    from ragauge.verbs.summary_refresh import renew_judged

    asked = ways_of(wanted)
    calling = wanted.of(*(way.judge for way in asked))
    source = rows_of(wanted, _reading(wanted))
    with open_store(store_url(wanted.store)) as opened:
        outcome = await check(source, asked, opened, calling, wanted.progress)
        runs = (source.run_id,) if source.run_id else ()
        errors = {way.judge.judge_id: judge_errors(way.judge.judge_id, opened, runs) for way in asked}
        calls = {} if outcome.calling is None else outcome.calling.plain()
        elsewhere = recorded_answers(source.rows, named(wanted.verdict))
        fitted = {way.judge.judge_id: cross_fitted(way.judge, source.rows) for way in asked}
        told = report(source.rows, (*outcome.said, *elsewhere), outcome.stopped, calls)
        renew_judged(opened, errors)
        if not outcome.stopped:
            log_check(told, source, opened)
    return replace(
        told, errors=errors, repeated=source.repeated, cross_fitted={name: n for name, n in fitted.items() if n}
    )


def hold(found: JudgeCheck, least: float, *, given: bool) -> None:
    """Holds judges to a least kappa, by supported or not.

    Args:
        found: the check.
        least: Cohen's kappa, in (0, 1).
        given: judges were named: the local one, which comes along, is not held to it.

    Raises:
        GateFailed: of a judge the whole interval lies below.
        NotEnoughData: of a judge the interval holds it, or kappa is not defined.
    """
    from ragauge.core.errors import GateFailed, NotEnoughData
    from ragauge.rendering.json_values import judge_name

    if not 0 < least < 1:
        raise UsageError(f"--min-kappa must lie between 0 and 1, got {least:g}. 0.6 is substantial agreement.")
    below, astride = [], []
    for one in found.judges:
        if given and one.said.name == REFERENCE:
            continue
        ends = one.supported.kappa.interval
        if ends is not None and ends.high < least:
            below.append(f"{judge_name(one)} [{ends.low:.2f}, {ends.high:.2f}]")
        elif ends is None or ends.low < least:
            said = one.supported.kappa.reason if ends is None else f"[{ends.low:.2f}, {ends.high:.2f}]"
            astride.append(f"{judge_name(one)} {said}")
    if below:
        raise GateFailed(f"kappa is below {least:g}: {', '.join(below)}. Look at what differs, or take another judge.")
    if astride:
        raise NotEnoughData(f"whether kappa reaches {least:g} is open: {', '.join(astride)}. Label more.")


def forget(wanted: CheckJudgeOptions) -> int:
    """Removes what was kept of a file, for every judge; returns how many checks of it there were.

    Texts of which another file that was checked says the same stay, as that file's. Replies of models stay too: the
    same check again costs nothing.
    """
    from ragauge.labels.history.compute import part_keys
    from ragauge.scores.label_scores import text_of
    from ragauge.store.store_access import open_store
    from ragauge.verbs.summary_refresh import renew_judged

    source = rows_of(wanted, _reading(wanted))
    keyed = [(text_of(row), set(part_keys(row))) for row in source.rows]
    with open_store(store_url(wanted.store)) as opened:
        others = [
            (one.judge_id, one.file, {part.part for part in one.parts})
            for one in opened.check_log.list()
            if one.file != source.digest
        ]
        shared = [(judge, file, [item for item, keys in keyed if keys <= parts]) for judge, file, parts in others]
        judges = {one.judge_id for one in opened.checks.files() if one.digest == source.digest}
        count = opened.checks.forget(source.digest, shared)
        renew_judged(opened, judges)
        return count


def expect(wanted: CheckJudgeOptions) -> dict[str, Any]:
    """What checking would ask and cost, by judge, as JSON types; nothing is asked or written."""
    from ragauge.labels.check.runner import expected
    from ragauge.store.store_access import open_store

    asked, rows = ways_of(wanted), rows_of(wanted, _reading(wanted)).rows
    with open_store(store_url(wanted.store)) as opened:
        estimates = expected(rows, asked, opened)
    judges = {name: estimate.plain() for name, estimate in estimates.items()}
    return {"rows": len(rows), "parts": sum(len(row.parts) for row in rows), "judges": judges}


def save(check: JudgeCheck, path: Path) -> Path:
    """Writes a report by the ending of its name: .md or .json, or .jsonl with every part on which a judge differs."""
    from ragauge.labels.check.tables import lines, markdown
    from ragauge.rendering.encoder import json_text
    from ragauge.verbs.files import make_folder

    make_folder(path)
    texts = {".md": markdown, ".json": json_text, ".jsonl": lines}
    path.write_text(texts[path.suffix.lower()](check), encoding="utf-8")
    return path


def check_output(path: Path) -> None:
    """Refuses a name that says no format, before anything is asked."""
    if path.suffix.lower() not in (".md", ".json", ".jsonl"):
        raise UsageError(f"-o {path}: expected a file that ends in .md, .json or .jsonl (the parts that differ).")
