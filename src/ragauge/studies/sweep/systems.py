"""Trials that are whole systems: built from parameters, asked, and evaluated as every run is."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import SystemFailed, UsageError
from ragauge.core.example import EvalSet
from ragauge.core.identity import to_canonical_json
from ragauge.core.object_lookup import is_object_path, load_object
from ragauge.core.response import Run
from ragauge.core.search_space import Parameters, format_parameters
from ragauge.core.study import Trial
from ragauge.engine.collect import Pace, RunToFill, collect_responses
from ragauge.engine.execute import execute_plan
from ragauge.engine.models import CallOptions
from ragauge.engine.plan import Selection, build_plan
from ragauge.engine.system_caller import SystemRequest
from ragauge.engine.systems import System, build_system
from ragauge.judges.judge import Judge
from ragauge.metrics.base import Metric
from ragauge.store.store_access import Store
from ragauge.studies.conduct import load_trial_scores
from ragauge.systems.reference.pipeline import PREFIX

if TYPE_CHECKING:
    import polars as pl

MAX_FAILING_CALLS = 20  # calls of a trial, all failed, after which it is asked nothing more
MAX_OPEN_INDEXES = 4  # indexes held at a time where trials are asked everything at once


class BudgetSpent(Exception):  # noqa: N818 - no error: what was paid for is kept
    """What may be spent on the judge is spent; the text says so."""


@dataclass
class SystemFactory:
    """Makes systems from parameters, and the indexes that they share.

    Args:
        target: build, whose result is whatever `run` takes: a function, "module:name", or "reference:FOLDER", whose
            settings are the parameters; or a mapping with build and index.
        index_names: parameters that the index depends on: `index(**these)` is called once for each distinct setting,
            and build gets what it returned as its first argument, the other parameters, and of these what it takes.
        keep_open: indexes held at a time; the one not used for longest goes, and is made again when it is needed. None
            = as many as there are settings, so that each is made once.
    """

    target: Any
    index_names: Sequence[str] = ()
    keep_open: int | None = None
    indexed: int = 0  #: how often index was called.
    _held: OrderedDict[str, Any] = field(default_factory=OrderedDict)
    _build: Callable[..., Any] | None = None
    _index: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        functions = dict(self.target) if isinstance(self.target, Mapping) else {"build": self.target}
        if unknown := set(functions) - {"build", "index"}:
            raise UsageError(f"sweep: system takes build and index, got {', '.join(sorted(unknown))}.")
        if "build" not in functions:
            raise UsageError("sweep: system needs build, the function that builds a system from the parameters.")
        if not self.reference:
            self._build = _load_function(functions["build"], "build")
        if "index" in functions:
            self._index = _load_function(functions["index"], "index")
            if not self.index_names:
                raise UsageError("sweep: list the parameters that the index depends on, such as index: [chunk_tokens].")
        elif self.index_names:
            raise UsageError("sweep: index lists parameters, but system has no index. Use system: {index, build}.")

    @property
    def reference(self) -> bool:
        """Whether the reference system is varied."""
        return isinstance(self.target, str) and self.target.startswith(PREFIX)

    @property
    def name(self) -> str:
        """What the runs record as their system."""
        build = self.target["build"] if isinstance(self.target, Mapping) else self.target
        return build if isinstance(build, str) else f"{build.__module__}:{build.__qualname__}"

    @property
    def code_hash(self) -> str:
        """Hash of the source files behind build and index, or of the documents of the reference system.

        Files of other packages, data and prompts that the code reads, and services that it calls are not in it.
        """
        digest = hashlib.sha256()
        for function in (self._build, self._index):
            for name, text in _collect_sources(function) if function is not None else ():
                digest.update(f"{name}\0{hashlib.sha256(text).hexdigest()}\0".encode())
        if self.reference:
            where = Path(str(self.target).removeprefix(PREFIX))
            for path in sorted(where.rglob("*")) if where.is_dir() else [where]:
                if path.is_file():
                    digest.update(f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
        return digest.hexdigest()[:16]

    def check_parameters(self, names: Collection[str]) -> None:
        """Whether the functions take these parameters; said before the first question.

        Raises:
            UsageError: one that they do not take, with those that they do.
        """
        if self._index is not None:
            _check_signature(self._index, "index", self.index_names, first=False)
        if self._build is not None:
            index_only = set(self.index_names) - self._list_build_index_names if self._index is not None else set()
            _check_signature(
                self._build, "build", [name for name in names if name not in index_only], first=self._index is not None
            )

    async def make_system(self, parameters: Parameters) -> System:
        """A system that can be asked. Whatever the functions raise is raised."""
        if self._build is None:
            return build_system(self.target, dict(parameters))
        remaining = dict(parameters)
        first: tuple[Any, ...] = ()
        if self._index is not None:
            first = (await self._get_index({name: remaining[name] for name in self.index_names}),)
            taken = self._list_build_index_names
            remaining = {
                name: value for name, value in remaining.items() if name in taken or name not in self.index_names
            }
        return build_system(await _await_if_needed(self._build(*first, **remaining)))

    @property
    def _list_build_index_names(self) -> set[str]:
        """The parameters of the index that build takes too: those it names, or all where it takes any keyword."""
        try:
            taken = inspect.signature(self._build).parameters.values() if self._build is not None else ()
        except (TypeError, ValueError):  # a builtin says nothing of itself
            return set()
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken):
            return set(self.index_names)
        return {parameter.name for parameter in list(taken)[1:]} & set(self.index_names)

    async def _get_index(self, parameters: Parameters) -> Any:
        key = to_canonical_json(dict(parameters))
        if key not in self._held:
            while self.keep_open is not None and len(self._held) >= self.keep_open:
                self._held.popitem(last=False)
            if self._index is not None:
                self._held[key] = await _await_if_needed(self._index(**parameters))
            self.indexed += 1
        self._held.move_to_end(key)
        return self._held[key]

    def build_index_key(self, parameters: Parameters) -> str:
        """Names the index of a configuration; "" where there is none."""
        return (
            to_canonical_json({name: parameters[name] for name in self.index_names}) if self._index is not None else ""
        )

    def release_indexes(self, needed: Collection[str]) -> None:
        """Lets go of all indexes but these."""
        for key in [index_key for index_key in self._held if index_key not in needed]:
            del self._held[key]


@dataclass(frozen=True)
class TrialOptions:
    """How trials are asked and judged; shared by all of them."""

    store: Store  #: where everything is kept.
    study: str  #: its name.
    eval_set: EvalSet  #: the questions.
    metrics: Sequence[Metric]  #: what is scored.
    judge: Judge | None = None  #: who is asked; None = nobody.
    calling: CallOptions | None = None  #: how the judge's models are called; what may be spent is in it.
    concurrency: int = 4  #: questions under way.
    timeout: float = 60.0  #: seconds for one question.
    moved: Callable[[str], None] | None = None  #: told of every response and verdict, with what is done.


@dataclass
class SystemTrial:
    """One configuration, asked as far as the study needs it; all of it is durable as it arrives."""

    parameters: Parameters  #: its configuration.
    how: TrialOptions  #: shared by all trials.
    factory: SystemFactory  #: makes the system.
    run_id: str = ""  #: of its run; "" before it is begun.
    made: int = 0  #: questions asked now.
    judged: int = 0  #: calls to the judge's models now.
    reused: int = 0  #: replies that were there.
    n_asked: int = 0  #: questions that it has been asked, earlier ones counted.
    answers: bool = False  #: whether it is known to have answered one.

    @property
    def name(self) -> str:
        """Unique in its study; also its run's."""
        return format_parameters(self.parameters)

    @property
    def shared_index(self) -> str:
        """Names the index that it shares with other trials."""
        return self.factory.build_index_key(self.parameters)

    async def ask_queries(self, query_ids: Sequence[str]) -> None:
        """Asks and judges these questions, less what is stored. Whatever the factory raises is raised.

        Raises:
            BudgetSpent: the judge's budget is spent.
            SystemFailed: its first 20 calls all failed, in this start or earlier ones.
        """
        by_id = {example.query_id: example for example in self.how.eval_set.examples}
        existing = self.how.store.collecting.list_response_keys(self.run_id) if self.run_id else set()
        remaining = [SystemRequest(by_id[query_id]) for query_id in query_ids if (query_id, 0) not in existing]
        self.n_asked = len(existing)
        first = remaining[
            : max(MAX_FAILING_CALLS - len(existing), 0)
        ]  # what is asked before it is clear that anything answers
        for batch in (first, remaining[len(first) :]):
            if batch:
                await self._ask_system(batch)
            self._check_answers()
        await self._judge_responses()

    def _check_answers(self) -> None:
        """SystemFailed where nothing was answered by the time that it is clear that nothing will be."""
        if self.answers or not self.run_id or self.n_asked < MAX_FAILING_CALLS:
            return
        last = ""
        for _, response in self.how.store.runs.pairs(self.run_id):
            if response.error is None:
                self.answers = True
                return
            last = response.error
        raise SystemFailed(f"stopped because all of its first {self.n_asked} calls failed: {last}")

    def scores(self) -> pl.DataFrame:
        """Its scores, as studies read them."""
        judge = self.how.judge
        return load_trial_scores(self.how.store, self.run_id, None if judge is None else judge.judge_id)

    async def _ask_system(self, requests: Sequence[SystemRequest]) -> None:
        how, n_existing = self.how, self.n_asked
        system = await self.factory.make_system(self.parameters)
        try:
            if not self.run_id:
                config = {**system.config, "study": how.study, "parameters": dict(self.parameters)}
                run = Run("", self.name, system=self.factory.name, config=config, planned=len(how.eval_set))
                self.run_id = how.store.collecting.begin_run(run, how.eval_set).run_id
                how.store.studies.save_trial(how.study, Trial(self.name, dict(self.parameters), run_id=self.run_id))
            collected = await collect_responses(
                system,
                requests,
                RunToFill(how.store, self.run_id),
                Pace.of(how.concurrency, how.timeout),
                progress=lambda current: self._report_progress(n_existing + current.done, "asking"),
            )
            self.made += collected.n_asked
            self.n_asked = n_existing + collected.n_asked
        finally:
            await system.close()
            if self.run_id:
                how.store.collecting.mark_state(self.run_id, "interrupted")

    async def _judge_responses(self) -> None:
        how = self.how
        todo = build_plan(how.store, self.run_id, how.metrics, how.judge, Selection(controls=0))  # shipped ones alone
        if not todo.pending:
            return
        outcome = await execute_plan(
            todo, how.store, calling=how.calling, progress=lambda _: self._report_progress(self.n_asked, "judging")
        )
        if outcome.calling is not None:
            self.judged += outcome.calling.calls
            self.reused += outcome.calling.reused
        if outcome.stopped:
            raise BudgetSpent(outcome.stopped)

    def _report_progress(self, n_asked: int, activity: str) -> None:
        self.n_asked = n_asked
        if self.how.moved is not None:
            self.how.moved(f"{activity} {self.name}")


def _load_function(target: Any, role: str) -> Callable[..., Any]:
    function = load_object(target) if isinstance(target, str) and is_object_path(target) else target
    if not callable(function):
        raise UsageError(f"sweep: {role} must be a function or module:name, got {target!r}.")
    return function  # type: ignore[no-any-return]     # a user's function


def _check_signature(function: Callable[..., Any], role: str, names: Collection[str], *, first: bool) -> None:
    """UsageError where a function does not take these as keywords, or needs others."""
    try:
        taken = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # a builtin says nothing of itself
        return
    if first and taken and taken[0].kind in (taken[0].POSITIONAL_ONLY, taken[0].POSITIONAL_OR_KEYWORD):
        taken = taken[1:]
    keyword_names = {item.name for item in taken if item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)}
    name = getattr(function, "__name__", role)
    unknown = (
        []
        if any(item.kind is item.VAR_KEYWORD for item in taken)
        else [item for item in names if item not in keyword_names]
    )
    if unknown:
        takes = ", ".join(sorted(keyword_names)) or "none"
        raise UsageError(f"sweep: {role} {name} does not take {', '.join(unknown)} (it takes: {takes}).")
    needed = [
        item.name
        for item in taken
        if item.default is item.empty
        and item.kind in (item.POSITIONAL_OR_KEYWORD, item.KEYWORD_ONLY)
        and item.name not in names
    ]
    if needed:
        raise UsageError(f"sweep: {role} {name} needs {', '.join(needed)}, which is missing from parameters.")


def _collect_sources(function: Callable[..., Any]) -> list[tuple[str, bytes]]:
    """The file of a function's module, and of every module that it reaches in the same package or folder."""
    function = inspect.unwrap(function)
    function = function if hasattr(function, "__module__") else type(function)
    home = inspect.getmodule(function)
    if home is None or not getattr(home, "__file__", None):  # of a notebook or a shell
        try:
            return [(getattr(function, "__qualname__", ""), inspect.getsource(function).encode("utf-8", "replace"))]
        except (OSError, TypeError):
            code = getattr(function, "__code__", None)
            return [] if code is None else [(code.co_name, code.co_code + repr(code.co_names).encode())]
    path = Path(str(home.__file__)).resolve()
    root = path.parents[max(home.__name__.count(".") - 1, 0)] if home.__name__ != "__main__" else path.parent
    todo, modules_by_path = [home], {path: home}
    while todo:
        for value in list(vars(todo.pop()).values()):
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            module = sys.modules.get(name) if isinstance(name, str) else None
            file = getattr(module, "__file__", None)
            if module is None or not file:
                continue
            module_path = Path(file).resolve()
            if (
                module_path not in modules_by_path
                and root in module_path.parents
                and "site-packages" not in module_path.relative_to(root).parts
            ):
                modules_by_path[module_path] = module
                todo.append(module)
    return [
        (str(module_path.relative_to(root)), module_path.read_bytes())
        for module_path in sorted(modules_by_path)
        if module_path.is_file()
    ]


async def _await_if_needed(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
