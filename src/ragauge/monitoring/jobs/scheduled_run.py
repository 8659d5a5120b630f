"""A scheduled run: the system is asked, its answers are judged, and the gate's rules decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ragauge.core.errors import ConfigError, DataError, MissingExtra, MissingFile, RagaugeError, StoreError, UsageError
from ragauge.evaluation.run.verb import run_system
from ragauge.evaluation.verbs import evaluate
from ragauge.gating.verb import gate
from ragauge.verbs.coroutines import run_coroutine
from ragauge.verbs.evaluate_options import RunOptions

if TYPE_CHECKING:
    from ragauge.core.config.config_loader import ConfigFile
    from ragauge.core.config.monitor import AnnSection, ScheduleSection
    from ragauge.gating.rules import Rules
    from ragauge.scores.results.jobs import JobState

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
        from ragauge.gating.tables.gate_texts import format_summary

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
        from ragauge.monitoring.user_reports import add_reported
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
        from ragauge.testsets.gold_index import build_gold_listing

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
        from ragauge.gating.tables.gate_texts import format_summary
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
