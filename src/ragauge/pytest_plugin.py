"""pytest plugin: each example of an eval set as a test, fixtures that evaluate and gate.

    @pytest.mark.ragauge("golden.jsonl", system="my_app:answer")
    def test_answers(ragauge_example):
        ragauge_example.check(faithfulness=0.8)

pytest loads this module in every project where ragauge is installed: everything beyond pytest is imported by the first
test that uses it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragauge.evaluation.regression.verb import RegressionInputs, SessionEvaluations, TestedExample
    from ragauge.evaluation.scorecard.result import Scorecard
    from ragauge.gating.gate_result import GateResult

FIXTURE = "ragauge_example"
MARKER = (
    "ragauge(set, [answers], *, system=None, metrics='', judge='', name='', filter={}, columns={}, segments=[], "
    "settings=None, concurrency=4): a test for each example of an eval set; the test takes ragauge_example."
)
RUN_PROPERTY, NAME_PROPERTY = "ragauge_run", "ragauge_run_name"  # properties of a test's report


@dataclass(frozen=True)
class ExampleParam:
    """One example of one marker."""

    inputs: RegressionInputs
    key: str
    query_id: str
    repeat: int


SELECTED: pytest.StashKey[dict[str, frozenset[str]]] = pytest.StashKey()
COUNTS: pytest.StashKey[dict[str, int]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Where results are kept, and who judges."""
    group = parser.getgroup("ragauge", "ragauge: evaluation of retrieval-augmented generation")
    group.addoption(
        "--ragauge-store",
        metavar="URL",
        default="",
        help="where to store results; defaults to RAGAUGE_STORE, or .ragauge/ragauge.db in pytest's start folder.",
    )
    group.addoption(
        "--ragauge-judge",
        metavar="JUDGE",
        default="",
        help="the judge, overriding the tests: local (offline, the default), none, openai:MODEL.",
    )
    group.addoption(
        "--ragauge-strict",
        action="store_true",
        help="make check() fail, not skip, if an example is unclear or was not judged.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line("markers", MARKER)
    config.stash[COUNTS] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each example of the marker's set, its query_id in brackets."""
    marker = metafunc.definition.get_closest_marker("ragauge")
    if marker is None:
        return
    if FIXTURE not in metafunc.fixturenames:
        if any(own_marker.name == "ragauge" for own_marker in metafunc.definition.own_markers):
            _fail_test(f"{metafunc.definition.nodeid} is marked ragauge but has no argument {FIXTURE}. Add it.")
        return
    from ragauge.core.errors import RagaugeError

    folders = (metafunc.definition.path.parent, metafunc.config.rootpath)
    try:
        inputs = _build_inputs(metafunc.config, folders, marker.args, marker.kwargs)
        keys, key = inputs.keys(), inputs.key
    except RagaugeError as error:
        _fail_test(f"{metafunc.definition.nodeid}: {error}")
    metafunc.config.stash[COUNTS][key] = len(keys)
    params = [
        pytest.param(ExampleParam(inputs, key, query_id, repeat), id=f"{query_id}-{repeat}" if repeat else query_id)
        for query_id, repeat in keys
    ]
    metafunc.parametrize(FIXTURE, params, indirect=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Which examples are left by -k and the like: of a system's questions no other one is asked."""
    examples: dict[str, set[str]] = {}
    for item in session.items:
        param = getattr(item, "callspec", None) and item.callspec.params.get(FIXTURE)  # type: ignore[attr-defined]
        if isinstance(param, ExampleParam):
            examples.setdefault(param.key, set()).add(param.query_id)
    session.config.stash[SELECTED] = {key: frozenset(ids) for key, ids in examples.items()}


@pytest.fixture(scope="session")
def _ragauge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SessionEvaluations:
    """What is evaluated in this session."""
    from ragauge.evaluation.regression.verb import SessionEvaluations

    option = request.config.getoption("--ragauge-store")
    url = option or os.environ.get("RAGAUGE_STORE") or ""
    usual = not option
    if not url:
        url = f"sqlite:///{(request.config.invocation_params.dir / '.ragauge' / 'ragauge.db').as_posix()}"
    # a worker of pytest-xdist: the folders of all of them lie in one of the session
    worker = hasattr(request.config, "workerinput")
    shared = tmp_path_factory.getbasetemp().parent / "ragauge" if worker else None
    return SessionEvaluations(url, shared, "" if usual else url)


@pytest.fixture
def ragauge_example(request: pytest.FixtureRequest, _ragauge: SessionEvaluations) -> TestedExample:
    """One example of the marker's set: `.query`, `.answer`, `["mrr"]`, `.cause`, `.check(faithfulness=0.8)`."""
    param = getattr(request, "param", None)
    if not isinstance(param, ExampleParam):
        _fail_test(f'{request.node.nodeid} takes {FIXTURE} but is not marked: @pytest.mark.ragauge("golden.jsonl").')
    selected = request.config.stash[SELECTED].get(param.key, frozenset())
    all_selected = len(selected) >= request.config.stash[COUNTS].get(param.key, 0)
    from ragauge.core.errors import RagaugeError

    try:
        tested = _ragauge.example(param.inputs, param.query_id, param.repeat, None if all_selected else selected)
    except RagaugeError as error:
        _fail_test(str(error))
    run = tested.card.run
    request.node.user_properties += [
        (RUN_PROPERTY, run.run_id),
        (NAME_PROPERTY, run.name),
        ("ragauge_cause", tested.cause),
    ]
    return tested


@pytest.fixture(scope="session")
def ragauge_evaluate(request: pytest.FixtureRequest, _ragauge: SessionEvaluations) -> Callable[..., Scorecard]:
    """Evaluates what the marker takes, once a session whatever asks for it, and returns the scorecard."""
    folders = (request.config.invocation_params.dir, request.config.rootpath)

    def evaluate(*sources: Any, **options: Any) -> Scorecard:
        return _ragauge.get_card(_build_inputs(request.config, folders, sources, options))

    return evaluate


@pytest.fixture(scope="session")
def ragauge_gate(request: pytest.FixtureRequest, _ragauge: SessionEvaluations) -> Callable[..., GateResult]:
    """Holds a scorecard to the rules of ragauge.yaml; a gate that fails, or lacks the data to say, fails the test."""
    folders = (request.config.invocation_params.dir, request.config.rootpath)

    def gate(
        run: Any,
        *,
        baseline: Any = None,
        rules: Any = "ragauge.yaml",
        judge: str | None = None,
        not_enough_data: bool = True,
    ) -> GateResult:
        __tracebackhide__ = True
        from ragauge.core.errors import GateFailed, NotEnoughData
        from ragauge.gating.verb import gate as verb

        gate_result = verb(
            run, baseline=baseline, rules=_resolve_path(rules, folders), store=_ragauge.store, judge=judge
        )
        try:
            return gate_result.raise_if_failed(not_enough_data=not_enough_data)
        except (GateFailed, NotEnoughData) as failed:
            text = str(failed)
        pytest.fail(text)  # outside, so that the failure is not shown as one on top of another

    return gate


@pytest.hookimpl(hookwrapper=True)  # the older form, which pytest 7 knows too
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Iterator[None]:
    """Skips a test whose example is unclear; puts the example's facts under a failed assert of the test itself."""
    outcome: Any = yield
    report = outcome.get_result()
    tested = getattr(item, "funcargs", {}).get(FIXTURE)
    if report.when == "call" and report.failed and tested is not None and call.excinfo is not None:
        from ragauge.evaluation.regression.verb import ExampleFailed, ExampleOpen

        if isinstance(call.excinfo.value, ExampleOpen) and not item.config.getoption("--ragauge-strict"):
            report.outcome = "skipped"
            report.longrepr = (str(item.path), (item.location[1] or 0) + 1, f"Skipped: {call.excinfo.value}")
        elif not isinstance(call.excinfo.value, ExampleFailed):  # that one has them in its text
            report.sections.append(("ragauge", tested.facts()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The runs that were tested, and where to read on."""
    counts: dict[tuple[str, str], list[int]] = {}
    for position, outcome in enumerate(("passed", "failed", "skipped")):
        for report in terminalreporter.getreports(outcome):
            properties = dict(getattr(report, "user_properties", ()))
            if report.when == "call" and RUN_PROPERTY in properties:
                counts.setdefault((properties[RUN_PROPERTY], properties.get(NAME_PROPERTY, "")), [0, 0, 0])[
                    position
                ] += 1
    if not counts:
        return
    terminalreporter.section("ragauge")
    from ragauge.core.messages import format_command, format_count, name_store

    with name_store(terminalreporter.config.getoption("--ragauge-store")):
        for (run_id, name), (passed, failed, skipped) in counts.items():
            skips = f", {skipped:,} skipped (unclear or not judged; -rs shows why)" if skipped else ""
            words = f"{format_count(passed, 'example')} passed, {failed:,} failed{skips}"
            terminalreporter.write_line(f"run {name} ({run_id}): {words}")
            terminalreporter.write_line(f"  {format_command('report', run_id, '-o', 'report.html')}")


def _build_inputs(
    config: pytest.Config, folders: tuple[Path, ...], sources: tuple[Any, ...], options: Mapping[str, Any]
) -> RegressionInputs:
    """What a marker or a call of ragauge_evaluate asks for."""
    from ragauge.core.errors import UnknownName
    from ragauge.evaluation.regression.verb import RegressionInputs
    from ragauge.verbs.sources import parse_names

    valid_names = ("system", "metrics", "judge", "name", "filter", "columns", "segments", "settings", "concurrency")
    for name in options:
        if name not in valid_names:
            raise UnknownName("argument of ragauge", name, valid_names)
    arguments = dict(options)
    judge = config.getoption("--ragauge-judge") or arguments.get("judge") or "local"
    paths = tuple(_resolve_path(source, folders) for source in sources)
    return RegressionInputs(
        paths,
        arguments.get("system"),
        parse_names(arguments.get("metrics", ())),
        judge,
        arguments.get("name", ""),
        arguments.get("filter") or {},
        arguments.get("columns") or {},
        parse_names(arguments.get("segments", ())),
        arguments.get("settings"),
        arguments.get("concurrency", 4),
    )


def _resolve_path(source: Any, folders: tuple[Path, ...]) -> Any:
    """A path as an absolute one: beside the test, or below the project's root; anything else as it is."""
    if not isinstance(source, str | Path):
        return source
    candidates = [folder / source for folder in folders]
    for file in candidates:
        if file.exists():
            return str(file)
    from ragauge.core.errors import UsageError

    raise UsageError(f"{source}: no such file; looked for {' and '.join(dict.fromkeys(map(str, candidates)))}.")


def _fail_test(text: str) -> NoReturn:
    """Fails with a text; what is being handled is not shown with it, since the text says it already."""
    failed = pytest.fail.Exception(text, pytrace=False)
    raise failed from None
