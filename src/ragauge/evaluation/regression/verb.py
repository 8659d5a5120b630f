"""An eval set as tests: evaluated once for all processes of a test session, then looked at example by example."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import RagaugeError, UsageError
from ragauge.core.messages import format_command, name_store

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.core.response import Passage
    from ragauge.evaluation.scorecard.result import Scorecard
    from ragauge.scores.results.scorecard import ExampleView

MAX_TEXT_CHARS = 600  # characters of an answer that a failure prints
LOCK_TIMEOUT_S = 24 * 3600.0  # seconds to wait for the process that evaluates


class ExampleOpen(Exception):  # noqa: N818 - what happened
    """An example neither failed nor passed: it is unclear or was not judged; the text says why."""

    __module__ = "builtins"


class ExampleFailed(AssertionError):  # noqa: N818 - what happened
    """An example does not meet what a test wants of it; the text holds its question, answer, cause and what to do."""

    __module__ = "builtins"  # as of pytest's own: a line of the summary begins with what fell short, not with a path


@dataclass(frozen=True)
class RegressionInputs:
    """What is evaluated for tests."""

    #: of recorded answers one (questions with answers) or two (the set, then the answers); of a system the set alone. A
    #: path, a list of dicts, an EvalSet.
    sources: tuple[Any, ...]
    system: Any = None  #: what answers the questions, as `run` takes it; None = the answers are recorded.
    metrics: tuple[str, ...] = ()  #: names and presets; () = the default preset.
    judge: str = "local"  #: who answers what labels do not.
    name: str = ""  #: of the run.
    #: segment column or "tag" -> value; only examples that match.
    keep: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)  #: our field -> the source's column.
    segments: tuple[str, ...] = ()  #: columns of the source to report by.
    settings: Any = None  #: of the system, as `run` takes them.
    concurrency: int = 4  #: questions to the system under way, at most.

    def __post_init__(self) -> None:
        max_sources = 1 if self.system is not None else 2
        if not 1 <= len(self.sources) <= max_sources:
            takes = "a file with answers, or set and answers" if max_sources == 2 else "only a set with a system"
            raise UsageError(f"ragauge takes {takes}; got {len(self.sources)} sources.")

    @property
    def key(self) -> str:
        """The same for the same wish in every process of a session."""
        from ragauge.core.identity import hash_json

        what = (
            [_identify_item(item) for item in self.sources],
            _identify_item(self.system),
            _identify_item(self.settings),
        )
        more = self.metrics, self.judge, self.name, dict(self.keep), dict(self.columns), self.segments
        return hash_json(json.loads(json.dumps([what, more], default=str)))[:24]

    def keys(self) -> list[tuple[str, int]]:
        """(query_id, repeat) of the examples, in the order of the source.

        Raises:
            DataError: a source that cannot be read.
            UsageError: no example matches.
        """
        if self.system is not None:
            query_ids = [(example.query_id, 0) for example in self.eval_set().examples if _is_kept(example, self.keep)]
        else:
            query_ids = [
                (record.example.query_id, record.response.repeat if record.response else 0)
                for record in self._read_records()
                if _is_kept(record.example, self.keep)
            ]
        if not query_ids:
            conditions = " and ".join(f"{column}={value}" for column, value in self.keep.items())
            raise UsageError(f"no example of {_identify_item(self.sources[0])} matches {conditions or 'anything'}.")
        return query_ids

    def eval_set(self) -> EvalSet:
        """The questions."""
        from ragauge.core.example import EvalSet
        from ragauge.readers.source import read_set

        (source, *_) = self.sources
        if isinstance(source, EvalSet):
            return source
        return read_set(source, columns=self.columns, segments=self.segments)

    def _read_records(self) -> Iterator[Any]:
        from ragauge.readers import source

        more: dict[str, Any] = {"columns": self.columns, "segments": self.segments}
        return (
            source.read_joined(*self.sources, **more)
            if len(self.sources) == 2
            else source.read_source(*self.sources, **more)
        )


class TestedExample:
    """One example of an evaluated set, as a test sees it.

    Attributes:
        card: the scorecard of the whole set.
        view: the example with its response, evidence, scores and cause.
    """

    __test__ = False  # no class of tests, whatever its name begins with

    def __init__(self, card: Scorecard, view: ExampleView, store: str, *, whole: bool) -> None:
        self.card, self.view = card, view
        self._store, self._whole = store, whole

    @property
    def query_id(self) -> str:
        """Identity of the example."""
        return self.view.example.query_id

    @property
    def query(self) -> str:
        """The question."""
        return self.view.example.query

    @property
    def answer(self) -> str | None:
        """What the system answered; None when it did not."""
        return self.view.response.answer

    @property
    def passages(self) -> Sequence[Passage]:
        """What the generator saw, in order."""
        return self.view.response.passages or ()

    @property
    def cause(self) -> str:
        """Why the example failed, such as retrieval_miss; "" when it did not."""
        return "" if self.view.cause is None else self.view.cause.name or "unnamed"

    def __getitem__(self, metric: str) -> float | None:
        """A metric's score; None where it is undefined for this example, or does not apply to it.

        Raises:
            UsageError: it was not evaluated, or could not be scored.
        """
        score = self.view.scores[self._require_score(metric)]
        if score.status == "failed":
            raise UsageError(f"{self.query_id}: {metric} could not be scored: {score.reason}")
        return score.value if score.status == "scored" else None

    def check(self, requirements: Mapping[str, float] | None = None, /, **more: float) -> None:
        """Holds the example to what is wanted of it.

        Without arguments it fails where the example failed; where that is unclear, or the example was not judged, the
        test is skipped with the reason (--ragauge-strict fails it). Otherwise each metric must reach its number: at
        least, for metrics that should be high, at most, for those that should be low. A metric that the judge cannot
        read here skips the test likewise. A metric that is undefined for this example, or does not apply to it, is
        passed by; one that applies to none of the set is refused.

        Args:
            requirements: printed name -> number, for names such as "recall@5".
            more: the same for plain names: faithfulness=0.8.

        Raises:
            ExampleFailed: it does not; the text says what, why and what to look at.
            ExampleOpen: it is unclear or was not judged; the plugin makes this a skip.
            UsageError: a metric that was not evaluated, or applies to no example: the check could never fail.
        """
        __tracebackhide__ = True
        bounds = {**(requirements or {}), **more}
        if not bounds:
            if self.view.cause is not None:
                raise ExampleFailed(self.facts())
            if self.view.reason:
                from ragauge.rendering.verdict_texts import VERDICTS

                raise ExampleOpen(f"{self.query_id}: {VERDICTS[self.view.verdict]}: {self.view.reason}")
            return
        short = [problem for name, bound in bounds.items() if (problem := self._describe_shortfall(name, bound))]
        if short:
            raise ExampleFailed(self.facts("; ".join(short)))
        unread = [name for name in bounds if self.view.scores[self._require_score(name)].status == "not_read"]
        if unread:
            reason = self.view.scores[self._require_score(unread[0])].reason
            raise ExampleOpen(f"{self.query_id}: {', '.join(unread)} not read: {reason}")

    def facts(self, failed: str = "") -> str:
        """Question, answer, cause with its facts, and the command that explains every number."""
        view, cause = self.view, self.view.cause
        answer = "(none)" if self.answer is None else _shorten_text(self.answer)
        error = view.response.error
        lines = [("question", _shorten_text(self.query)), ("answer", answer)]
        lines += [("error", _shorten_text(error))] if error else []
        if cause is not None:
            where = f" ({cause.component})" if cause.component else ""
            lines.append(
                ("cause", f"{self.cause}{where}: {_shorten_text(cause.decided_by) or 'the facts do not decide it'}")
            )
            lines += [("fix", cause.fix)] if cause.fix else []
        lines.append(("explain", self.command))
        head = f"{self.query_id}: {failed or self.cause}" if failed or self.cause else self.query_id
        return f"{head}\n" + "\n".join(f"  {label:<9} {text}" for label, text in lines)

    @property
    def command(self) -> str:
        """What to type to see every number of this example come about."""
        repeat = ["--repeat", str(self.view.response.repeat)] if self.view.response.repeat else []
        with name_store(self._store):
            return format_command("explain", self.card.run.run_id, self.query_id, *repeat)

    def _describe_shortfall(self, name: str, bound: float) -> str:
        """What a metric falls short of; "" when it does not."""
        from ragauge.metrics.catalogue import parse_metric

        metric, score = parse_metric(name), self.view.scores[self._require_score(name)]
        if metric.direction == "neither":
            raise UsageError(f"{name}: it has no better direction, so it cannot have a threshold. Use assert.")
        if self._whole and not self.card[str(metric)].scored and score.status != "failed":
            reasons = ", ".join(self.card[str(metric)].reasons)
            raise UsageError(f"{name} has no value for any example ({reasons}): this check could never fail.")
        if score.status == "failed":
            return f"{name} could not be scored: {score.reason}"
        if score.value is None or score.status != "scored":
            return ""
        above = metric.direction == "higher"
        if score.value >= bound if above else score.value <= bound:
            return ""
        return f"{name} is {score.value:.3g}, expected at {'least' if above else 'most'} {bound:g}"

    def _require_score(self, name: str) -> str:
        from ragauge.metrics.catalogue import parse_metric

        metric = str(parse_metric(name))
        if metric not in self.view.scores:
            raise UsageError(f'{metric} was not evaluated. Add it: metrics="default,{metric}" next to the set.')
        return metric

    def __repr__(self) -> str:
        return f"<example {self.query_id} of run {self.card.run.run_id}>"


class SessionEvaluations:
    """Evaluates each wish once a session: in one process, the others wait and read what it stored.

    Args:
        store: URL of the store.
        shared: a folder that the processes of the session share; None when there is one process.
        shown: the store as commands in texts name it; "" where the default leads to it.
    """

    def __init__(self, store: str, shared: Path | None = None, store_name: str = "") -> None:
        self.store, self._shared, self._shown = store, shared, store_name
        self._found: dict[str, Scorecard | RagaugeError] = {}

    def get_card(self, inputs: RegressionInputs, only: frozenset[str] | None = None) -> Scorecard:
        """The scorecard of a wish.

        Args:
            inputs: the wish.
            only: of a system: ask these questions alone; None = all. Recorded answers are evaluated whole in any case.
        """
        only = only if inputs.system is not None else None
        key = inputs.key if only is None else f"{inputs.key}-{_hash_json(sorted(only))}"
        if key not in self._found:
            try:
                with self._lock_key(key):
                    self._found[key] = self._evaluate_inputs(inputs, only, key)
            except RagaugeError as error:  # said by every test, tried once
                self._found[key] = error
        evaluated = self._found[key]
        if isinstance(evaluated, RagaugeError):
            raise evaluated.with_traceback(None)
        return evaluated

    def example(
        self, inputs: RegressionInputs, query_id: str, repeat: int = 0, only: frozenset[str] | None = None
    ) -> TestedExample:
        """One example of a wish, evaluated."""
        from ragauge.store.store_access import open_store
        from ragauge.verbs.example_views import load_example_view

        card = self.get_card(inputs, only)
        with open_store(self.store) as store:
            view = load_example_view(store, card.run.run_id, query_id, repeat, card.card.judge.judge_id or None)
        return TestedExample(card, view, self._shown, whole=only is None or inputs.system is None)

    def _evaluate_inputs(self, inputs: RegressionInputs, only: frozenset[str] | None, key: str) -> Scorecard:
        from ragauge.evaluation.verbs import evaluate

        source: Any = inputs.sources[-1]
        more: dict[str, Any] = {"columns": inputs.columns, "segments": inputs.segments}
        if inputs.system is not None:
            source, more = self._run_system(inputs, only, key), {}
        elif len(inputs.sources) == 2:
            more["set"] = inputs.sources[0]
        if inputs.system is None:
            more |= {"name": inputs.name, "filter": inputs.keep}
        return evaluate(source, metrics=inputs.metrics, judge=inputs.judge, store=self.store, **more)

    def _run_system(self, inputs: RegressionInputs, only: frozenset[str] | None, key: str) -> str:
        """The run that a system was asked for in this session; the first process asks, the others read its id."""
        from ragauge.evaluation.run.verb import run

        run_file = None if self._shared is None else self._shared / f"{key}.run"
        if run_file is not None and run_file.exists():
            return run_file.read_text(encoding="utf-8")
        eval_set = inputs.eval_set()
        matching = (example for example in eval_set.examples if _is_kept(example, inputs.keep))
        selected = tuple(example for example in matching if only is None or example.query_id in only)
        suffix = "" if len(selected) == len(eval_set.examples) else f" ({len(selected)} of {len(eval_set.examples)})"
        made = run(
            inputs.system,
            replace(eval_set, name=f"{eval_set.name}{suffix}", examples=selected),
            name=inputs.name,
            settings=inputs.settings,
            concurrency=inputs.concurrency,
            fresh=True,
            store=self.store,
        )
        if run_file is not None:
            run_file.write_text(made.run.run_id, encoding="utf-8")
        return made.run.run_id

    @contextmanager
    def _lock_key(self, key: str) -> Iterator[None]:
        """A block that one process of the session is in at a time; a killed one leaves it."""
        if self._shared is None:
            yield
            return
        from ragauge.store.exclusive import lock_file

        with lock_file(self._shared / f"{key}.lock", LOCK_TIMEOUT_S):
            yield


def _is_kept(example: Any, keep: Mapping[str, str]) -> bool:
    return all(
        value in example.tags
        if column == "tag" and column not in example.segments
        else example.segments.get(column) == value
        for column, value in keep.items()
    )


def _identify_item(item: Any) -> str:
    """What tells a source or system from another: the same in every process, where that can be.

    Objects, closures and tables are told apart by their identity: each process of a session evaluates its own.
    """
    from ragauge.core.example import EvalSet

    if item is None or isinstance(item, str | Path):
        return str(item or "")
    if isinstance(item, list | tuple | dict):
        return _hash_json(item)
    if isinstance(item, EvalSet):
        return f"{item.name}@{item.version}"
    if isinstance(item, FunctionType) and not (item.__closure__ or item.__defaults__ or item.__kwdefaults__):
        code = item.__code__  # two lambdas have one name
        made = code.co_code.hex(), code.co_names, repr(code.co_consts)
        return f"{item.__module__}:{item.__qualname__}:{code.co_firstlineno}:{_hash_json(made)}"
    if isinstance(item, type):
        return f"{item.__module__}:{item.__qualname__}"
    return f"{type(item).__qualname__} of process {os.getpid()}, {id(item)}"


def _hash_json(value: Any) -> str:
    from ragauge.core.identity import hash_json

    return hash_json(json.loads(json.dumps(value, default=str)))[:12]


def _shorten_text(text: str) -> str:
    from ragauge.rendering.words import to_line

    return to_line(text, MAX_TEXT_CHARS)
