"""A scheduled run with its gate, the questions that users reported, when it is due, and the alerts of schedules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from ragauge.core.errors import ConfigError, DataError, MissingExtra, MissingFile, RagaugeError, StoreError, UsageError
from ragauge.core.example import EvalSet, Example
from ragauge.core.identity import hash_json, normalize_text
from ragauge.core.messages import format_count
from ragauge.core.outcomes import is_complaint
from ragauge.core.response import REDACTED
from ragauge.evaluation.run.verb import run_system
from ragauge.evaluation.verbs import evaluate
from ragauge.gating.verb import gate
from ragauge.monitoring.series.monitor_tracker import Alert, build_schedule_name
from ragauge.monitoring.series.series import ALL
from ragauge.testsets.add.verb import strip_traffic_segments
from ragauge.verbs.coroutines import run_coroutine
from ragauge.verbs.evaluate_options import RunOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.monitor import AnnSection, ScheduleSection
    from ragauge.gating.rules import Rules
    from ragauge.scores.results.monitoring import Job, JobState
    from ragauge.store.store_access import Store


MAX_REASON_CHARS = 400  # characters of a reason


class ScheduledOutcome(NamedTuple):
    """What came of a job."""

    state: JobState  #: that it ends in.
    run_id: str  #: of the run that it made; "" = none.
    message: str  #: both in one sentence.
    why: str = ""  #: it could not be made, without a user's words; "" = it could, or nothing can be said without them.


def build_error_outcome(error: Exception) -> ScheduledOutcome:
    """The outcome of a job that ended with an error.

    Errors about the configuration, the store, missing files and what is not installed say why in full. Others may quote
    a question, an answer or a line of data: of these the kind alone is told, and `monitor status` shows the text.
    """
    if isinstance(error, ConfigError | UsageError | StoreError | MissingExtra | MissingFile):
        message = str(error)
        return ScheduledOutcome("error", "", message, " ".join(message.split())[:MAX_REASON_CHARS])
    kind = type(error).__name__
    text = str(error) if isinstance(error, RagaugeError) else f"{kind}: {error}"
    return ScheduledOutcome("error", "", text, f"{kind}; see its message with ragauge monitor status")


@dataclass(frozen=True)
class ScheduledRun:
    """What is to be done once; it can be sent to another process."""

    schedule: ScheduleSection  #: the entry of the configuration.
    name: str  #: of the run.
    config: str  #: the configuration file, whose section gate counts where the entry names no other.
    judge: str  #: who is asked.
    store: str  #: URL of the store.
    fresh: bool = True  #: a new run, not the rest of one that stopped.

    def outcome(self) -> ScheduledOutcome:
        """Does it; what goes wrong is an outcome too."""
        try:
            return self._run_schedule()
        except Exception as error:
            return build_error_outcome(error)

    def _run_schedule(self) -> ScheduledOutcome:
        if self.schedule.ann is not None:
            return self._check_index(self.schedule.ann)
        return self._run_heartbeat(self.schedule.heartbeat) if self.schedule.heartbeat else self._run_gated()

    def _run_gated(self) -> ScheduledOutcome:
        """Asks the set, and what users reported, judges the answers, and holds them to the rules."""
        from ragauge.core.config.config_loader import read_config
        from ragauge.gating.rules import read_rules
        from ragauge.gating.tables.texts import format_summary

        schedule, file = self.schedule, read_config(self.schedule.rules or self.config)
        rules = read_rules(file) if file.checked().gate is not None else None
        metrics = schedule.metrics or tuple(map(str, rules.metrics if rules is not None else ()))
        source, joined = self._load_set()
        if rules is not None:
            self._validate_rules(file, rules, source)
        run_id = self._ask_system(source)
        self._save_listing(run_id)
        evaluate(run_id, metrics=metrics, judge=self.judge, store=self.store, warn=_ignore_warning)
        if rules is None:
            return ScheduledOutcome("done", run_id, f"evaluated; {file.name} has no gate section.{joined}")
        gate_result = gate(run_id, baseline=schedule.baseline, rules=file.name, store=self.store)
        return ScheduledOutcome(gate_result.verdict, run_id, f"{format_summary(gate_result.gated)}{joined}")

    def _validate_rules(self, file: ConfigFile, rules: Rules, source: Any) -> None:
        """Refuses rules on tags and segments that the set lacks, before anything is asked."""
        from ragauge.evaluation.doctor.validate import find_misfits
        from ragauge.evaluation.run.verb import load_set
        from ragauge.store.store_access import open_store

        with open_store(self.store) as store:
            problems = list(find_misfits(file, rules, load_set(source, store, _ignore_warning).examples, " of the set"))
        if problems:
            raise ConfigError(problems)

    def _ask_system(self, source: Any, limit: int | None = None) -> str:
        """The run that it makes, by id."""
        options = RunOptions(
            self.schedule.run,
            source,
            name=self.name,
            settings=self.schedule.settings,
            store=self.store,
            fresh=self.fresh,
            limit=limit,
            warn=_ignore_warning,
        )
        return run_coroutine(lambda: run_system(options)).run.run_id

    def _load_set(self) -> tuple[Any, str]:
        """The questions: those of the set, and what users reported where that is wanted."""
        if self.schedule.reported is None:
            return self.schedule.set, ""
        from ragauge.evaluation.run.verb import load_set
        from ragauge.store.store_access import open_store

        with open_store(self.store) as store:
            eval_set = load_set(self.schedule.set, store, _ignore_warning)
            return add_reported(eval_set, store, self.schedule.reported, self.config, self.schedule.project)

    def _save_listing(self, run_id: str) -> None:
        """Keeps which of the labelled documents the index should hold, where a corpus is named that has any of them."""
        if self.schedule.corpus is None:
            return
        from ragauge.readers.corpus import read_corpus
        from ragauge.store.store_access import open_store
        from ragauge.testsets.corpus_view import build_gold_listing

        try:
            documents = read_corpus(self.schedule.corpus, [])
        except DataError:  # it is watched for changes; it need not be text
            return
        with open_store(self.store) as store:
            listing = build_gold_listing(store, run_id, self.schedule, documents)
            if listing is not None:
                store.listings.write(run_id, listing)

    def _run_heartbeat(self, count: int) -> ScheduledOutcome:
        """Asks a few questions; one without an answer, or that failed, is the end of it."""
        from ragauge.store.store_access import open_store

        run_id = self._ask_system(self._load_set()[0], count)
        with open_store(self.store) as store:
            pairs = list(store.runs.pairs(run_id))
        wrong = [
            f"{example.query_id}: {response.error or 'no answer'}"
            for example, response in pairs
            if response.error is not None or not (response.answer or response.passages)
        ]
        if wrong:
            more = f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""
            return ScheduledOutcome("fail", run_id, f"{len(wrong):,} of {len(pairs):,} unanswered: {wrong[0]}{more}")
        return ScheduledOutcome("pass", run_id, f"all {len(pairs):,} answered")

    def _check_index(self, ann_section: AnnSection) -> ScheduledOutcome:
        """Checks an index of vectors."""
        from ragauge.gating.tables.texts import format_summary
        from ragauge.studies.ann.verb import ann_check

        bound: dict[str, Any] = {"minimum": ann_section.min}
        if ann_section.max_drop is not None:
            bound = {"baseline": self.schedule.baseline, "max_drop": ann_section.max_drop}
        gate_result = ann_check(
            ann_section.study,
            ann_section.queries,
            vectors=ann_section.vectors,
            trial=ann_section.trial or "",
            name=self.name,
            store=self.store,
            **bound,
        )
        return ScheduledOutcome(gate_result.verdict, gate_result.gated.run.run_id, format_summary(gate_result.gated))


def _ignore_warning(_: str) -> None:
    """Nobody looks on; what is worth knowing of a run stands in its report."""


MISSED_AFTER_S = 3600.0  # seconds after its time from which on an occurrence counts as missed
MAX_RULES = 3
GOOD_STATES = ("pass", "done")


def list_schedule_alerts(store: Store, job: Job, outcome: ScheduledOutcome, now: float) -> list[Alert]:
    """The alert that an occurrence raises, or the one that it ends: by one that was made in time and passed.

    Of an error it says why, as far as that holds no user's words; `monitor status` shows all that the run says of it.

    Args:
        store: with the alerts that are open.
        job: the occurrence.
        outcome: what came of it.
        now: seconds since 1970.
    """
    name, timestamp = build_schedule_name(job.name), datetime.fromtimestamp(now, UTC)
    open_alerts = [
        entry.alert
        for entry in store.monitors.list_alerts()
        if entry.alert.monitor == name and entry.alert.ended_at is None
    ]
    problem = _describe_problem(job, outcome)
    if not problem:
        return [replace(entry, ended_at=timestamp) for entry in open_alerts] if outcome.state in GOOD_STATES else []
    if open_alerts:
        return []
    due = datetime.fromtimestamp(job.due, UTC)
    return [
        Alert(
            hash_json([name, job.due])[:10],
            name,
            "a run on time that passes its gate",
            ALL,
            timestamp,
            -1,
            "",
            due.date(),
            None,
            0,
            0.0,
            None,
            1.0,
            1.0,
            1,
            "schedule",
            False,
            said=f"{name}, due {due:%Y-%m-%d %H:%M} UTC, {problem}",
        )
    ]


def _describe_problem(job: Job, outcome: ScheduledOutcome) -> str:
    """What was wrong with an occurrence; "" = nothing, or not enough data to say."""
    run = f" (run {outcome.run_id})" if outcome.run_id else ""
    if outcome.state == "fail":
        unmet = [
            text_line.removeprefix("- ") for text_line in outcome.message.splitlines() if text_line.startswith("- ")
        ][:MAX_RULES]
        return f"did not pass its gate{run}" + (f": {'; '.join(unmet)}" if unmet else "")
    if outcome.state == "error":
        return f"could not run{run}" + (f": {outcome.why}" if outcome.why else "")
    if not job.why and job.attempts == 1 and job.began - job.due > MISSED_AFTER_S:
        return f"was missed: it started {(job.began - job.due) / 3600:,.0f} hours late{run}"
    return ""


def find_last_due(cron: str, zone: str, now: float) -> float:
    """When a schedule was last due, seconds since 1970.

    A time that is skipped where clocks are put forward is due as much later; one that comes twice is due the first
    time.

    >>> datetime.fromtimestamp(find_last_due("0 2 * * *", "Europe/Berlin", 1767225600), UTC).isoformat()
    '2025-12-31T01:00:00+00:00'
    """
    from croniter import croniter

    time_zone = ZoneInfo(zone)
    # by the clock on the wall: what it shows twice is then one time; a second later, so that the moment itself counts
    wall = datetime.fromtimestamp(now + 1, UTC).astimezone(time_zone).replace(tzinfo=None)
    times = croniter(cron, wall)
    while True:
        occurrence: datetime = times.get_prev(datetime)
        due = occurrence.replace(tzinfo=time_zone).timestamp()
        if due <= now:
            return due


def find_next_due(cron: str, zone: str, now: float) -> float:
    """When a schedule is due next, seconds since 1970.

    >>> datetime.fromtimestamp(find_next_due("0 2 * * *", "Europe/Berlin", 1767225600), UTC).isoformat()
    '2026-01-01T01:00:00+00:00'
    """
    from croniter import croniter

    time_zone = ZoneInfo(zone)
    times = croniter(cron, datetime.fromtimestamp(now, UTC).astimezone(time_zone).replace(tzinfo=None))
    while True:
        occurrence: datetime = times.get_next(datetime)
        due = occurrence.replace(tzinfo=time_zone).timestamp()
        if due > now:
            return due


MAX_QUESTIONS_PER_SOURCE, REPORTED_TAG = (
    200,
    "reported",
)  # questions of each source that join a set, at most; what those of users are tagged with


def add_reported(
    eval_set: EvalSet, store: Store, since: timedelta, config: str, project: str = ""
) -> tuple[EvalSet, str]:
    """A set with the questions that users reported, and those of the regression set, where it does not ask them yet.

    Args:
        eval_set: the set.
        store: with the traffic.
        since: how far back users count, from now.
        config: the file whose section `ui` may name a regression set, and whose section `monitor` a project.
        project: whose users; "" = of that one, else of the one whose traffic came first.

    Returns:
        The set, and what joined in words; "" = nothing.
    """
    from ragauge.core.config.config_loader import read_config

    known_questions, ids = (
        {_build_question_key(known_example) for known_example in eval_set.examples},
        {known_example.query_id for known_example in eval_set.examples},
    )
    added: list[Example] = []
    counts: dict[str, int] = {}
    monitor = read_config(config).config.monitor
    reported = _iter_user_reports(store, since, project or ("" if monitor is None else monitor.project))
    sources = {"reported by users": reported, "from the regression set": _iter_regressions(config)}
    for what, examples in sources.items():
        for example in examples:
            if counts.get(what, 0) == MAX_QUESTIONS_PER_SOURCE:
                break
            query_id = example.query_id if example.query_id not in ids else f"{example.query_id} ({REPORTED_TAG})"
            if _build_question_key(example) in known_questions or query_id in ids:
                continue
            known_questions.add(_build_question_key(example))
            ids.add(query_id)
            added.append(replace(example, query_id=query_id))
            counts[what] = counts.get(what, 0) + 1
    if not added:
        return eval_set, ""
    additions = " and ".join(f"{format_count(n, 'question')} {what}" for what, n in counts.items())
    return replace(eval_set, examples=(*eval_set.examples, *added)), f" Added {additions}."


def _build_question_key(example: Example) -> object:
    return normalize_text(example.query), example.history


def _iter_user_reports(store: Store, since: timedelta, project: str) -> Iterator[Example]:
    """Questions whose answers users of a project called bad, the newest first."""
    from ragauge.engine.request_stream import list_traffic_runs

    day = (datetime.now(UTC) - since).date().isoformat()
    for run in reversed(list_traffic_runs(store, day, project=project)):
        numbers = sorted(store.runs.load_order(run.run_id).numbers, reverse=True)
        for start in range(0, len(numbers), MAX_QUESTIONS_PER_SOURCE * 5):
            for stored in store.runs.load(numbers[start : start + MAX_QUESTIONS_PER_SOURCE * 5]):
                if is_complaint(stored.response.outcome) and stored.example.query not in ("", REDACTED):
                    example = strip_traffic_segments(stored.example, run)
                    yield replace(example, tags=example.tags | {REPORTED_TAG})


def _iter_regressions(config: str) -> Iterator[Example]:
    from ragauge.core.config.config_loader import read_config
    from ragauge.testsets.set_file import read_set_file

    section = read_config(config).config.ui
    name = section.regression_set if section is not None else ""
    if name and Path(name).is_file() and Path(name).read_bytes().strip():
        yield from read_set_file(Path(name)).eval_set.examples
