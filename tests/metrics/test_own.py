"""Metrics of the user's own: what becomes one, what it is given, what its result means, and its version."""

from __future__ import annotations

import copy
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.own_metrics import forget_own

import ragauge as rg
from ragauge.core.errors import UnknownName, UsageError
from ragauge.core.example import Example, Turn
from ragauge.core.response import Passage, Response
from ragauge.metrics.catalogue import parse_metric, register_object, register_stored, require_code, select_metrics
from ragauge.metrics.catalogue_entries import list_entries
from ragauge.metrics.facts import Facts
from ragauge.metrics.measure import measure_metric
from ragauge.metrics.own import metric
from ragauge.metrics.own_class import Value, build_declaration, read_result

EXAMPLE = Example(
    "q1", "When?", history=(Turn("user", "Hello"),), references=("In May.", "May"), segments={"type": "date"}
)
RESPONSE = Response("q1", passages=(Passage("p1", "d1", "It is in May."),), answer="In May, please.")


def value_of(function: object, facts: Facts | None = None) -> Any:
    """What a metric of a function gives for the example above."""
    return measure_metric(register_object(function), facts or Facts(EXAMPLE, RESPONSE))


def test_arguments_are_taken_by_name() -> None:
    """Every documented argument is what its name says, in plain types."""

    def everything(
        query: str,
        answer: str,
        passages: list[Passage],
        texts: list[str],
        reference: str,
        references: list[str],
        history: list[dict[str, str]],
        segments: dict[str, str],
        example: Example,
        response: Response,
    ) -> float:
        assert (query, answer, reference) == ("When?", "In May, please.", "In May.")
        assert (passages[0].doc_id, texts, list(references)) == ("d1", ["It is in May."], ["In May.", "May"])
        assert (history, segments) == ([{"role": "user", "content": "Hello"}], {"type": "date"})
        assert (example, response) == (EXAMPLE, RESPONSE)
        return 1.0

    assert value_of(everything).value == 1.0


def test_what_is_missing_does_not_apply_but_a_default_stands_for_it() -> None:
    """Without its data a score is not_applicable, as of built-in metrics; an argument with a default gets that."""

    def needs_it(answer: str) -> float:
        return len(answer)

    def may_lack_it(reference: str | None = None, strict: bool = True) -> bool:
        return reference is None and strict

    bare = Facts(Example("q1", "When?"), Response("q1"))
    lacking = value_of(needs_it, bare)
    assert (lacking.status, lacking.reason) == ("not_applicable", "answer not recorded")
    assert value_of(may_lack_it, bare).value == 1.0
    broken = value_of(needs_it, Facts(EXAMPLE, Response("q1", error="timeout")))
    assert (broken.status, broken.reason) == ("failed", "the system failed: timeout")


@pytest.mark.parametrize(
    ("result", "value"),
    [
        (1, 1.0),
        (True, 1.0),
        (0.25, 0.25),
        (np.float32(0.5), 0.5),
        (np.array(2), 2.0),
        (np.bool_(True), 1.0),
        (pl.Series([0.5]).mean(), 0.5),
        (Decimal("0.1"), 0.1),
    ],
)
def test_numbers_of_any_kind_are_scores(result: Any, value: float) -> None:
    """Numbers of Python, numpy and polars are values."""
    assert value_of(lambda_named(lambda answer: result)).value == value


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (nan, "gave nan"),
        (inf, "gave inf"),
        ("high", "gave the text 'high'"),
        (10**400, "gave inf"),
        (np.array([1, 2]), r"an array of shape \(2,\)"),
        ({"score": 1}, "a value of type dict"),
        (1j, "of type complex"),
    ],
)
def test_what_is_no_number_fails_that_score(result: Any, told: str) -> None:
    """A result that is no score fails, and the text says what came and what is expected."""
    found = value_of(lambda_named(lambda answer: result))
    assert found.status == "failed"
    assert re.search(f"{told}.*expected a number", found.reason)


def test_reason_none_and_range() -> None:
    """A Value brings its reason, None does not apply, and a value outside of the declared range fails."""
    assert value_of(lambda_named(lambda answer: Value(0.5, reason="half"))).reason == "half"
    assert value_of(lambda_named(lambda answer: None)).status == "not_applicable"

    @metric(range=(0, 1))
    def share(answer: str) -> float:
        return len(answer)

    assert "expected 0 to 1, its declared range (@rg.metric(range=…))" in value_of(share).reason

    def yes(answer: str) -> bool:
        return 0.5  # type: ignore[return-value]

    assert (register_object(yes).scale, register_object(yes).range) == ("rate", (0.0, 1.0))
    assert "expected True or False" in value_of(yes).reason


def lambda_named(function: Callable[..., Any]) -> Any:
    """A lambda with a name, whose version is given."""
    return metric(name="probe", version=1)(function)


def test_names_that_cannot_be() -> None:
    """Names of built-in metrics, unknown arguments, lambdas and what is no metric are refused, with what to do."""

    def faithfulness(answer: str) -> float:
        return len(answer)

    def speled(anser: str) -> float:
        return len(anser)

    with pytest.raises(UsageError, match=r'built-in metric. Give yours another name: @rg.metric\(name="own_faith'):
        register_object(faithfulness)
    with pytest.raises(UnknownName, match="no such argument for speled: 'anser'; nearest: answer"):
        register_object(speled)
    with pytest.raises(UsageError, match="a lambda has no name"):
        register_object(lambda answer: 1)
    with pytest.raises(UsageError, match="is not a metric"):
        register_object(3)
    with pytest.raises(UnknownName, match="no such fact for odd:"):
        register_object(metric(name="odd", needs={"claims": "verify_answer.claim"})(lambda claims: 1))


def test_subclass_with_parameters_and_judged_facts() -> None:
    """A plain subclass of Metric takes parameters in its printed name and facts of a judge, as built-in ones do."""

    class ManyClaims(rg.Metric):
        """Whether the answer makes many claims."""

        needs = {"claims": "verify_answer.claims"}  # noqa: RUF012
        least: int = 3

        def value(self, claims: tuple[object, ...]) -> bool:
            return len(claims) >= self.least

    found = register_object(ManyClaims)
    assert (str(found), found.measures) == ("many_claims", "generation")
    assert select_metrics(["many_claims:least=5"]) == [ManyClaims(least=5)]
    assert build_declaration(parse_metric("many_claims:least=5")).needs == {"claims": "verify_answer.claims"}
    assert [entry["name"] for entry in list_entries()][-1] == "many_claims"


def test_arguments_of_a_subclass_beside_its_needs_are_taken_by_name() -> None:
    """What `value` takes beyond the facts that needs names comes by its name; an unknown argument is refused."""
    judged = {"claims": "verify_answer.claims"}

    class ClaimsAWord(rg.Metric):
        needs = judged

        def value(self, claims: tuple[object, ...], answer: str, least: int = 1) -> float:
            return len(claims) / len(answer.split())

    class ClaimsAThing(rg.Metric):
        needs = judged

        def value(self, claims: tuple[object, ...], thing: str) -> float:
            return 1.0

    assert register_object(ClaimsAWord).needs == {**judged, "answer": "response.answer"}
    with pytest.raises(UnknownName, match="argument for claims_a_thing"):
        register_object(ClaimsAThing)


def test_what_a_subclass_raises_fails_wherever_it_is_computed() -> None:
    """An exception of a metric's own code is a failed score, outside of an evaluation too."""

    class Breaks(rg.Metric):
        def value(self, query: str) -> float:
            raise RuntimeError(query)

    measured = value_of(Breaks)
    assert (measured.status, measured.reason[:13]) == ("failed", "RuntimeError:")


def test_subclass_whose_parameters_are_no_fields() -> None:
    """A subclass with an __init__ is refused: its name would not show its parameters."""
    with pytest.raises(UsageError, match="the parameters of a metric are fields"):

        class Tone(rg.Metric):
            def __init__(self, tone: str) -> None:
                self.tone = tone


def test_stored_declaration_reads_but_does_not_compute() -> None:
    """A declaration makes an equal metric where the code is not there; it is refused where it is to be computed."""

    @dataclass(frozen=True)
    class Tone(rg.Metric):
        strict: bool = False

        def value(self, answer: str) -> bool:
            return self.strict or bool(answer)

    register_object(Tone)
    known = build_declaration(Tone(strict=True))
    forget_own()
    register_stored([known])
    read = parse_metric("tone:strict=true")
    assert build_declaration(read) == known
    assert (str(read), read.version, read.range) == (known.name, Tone.version, Tone.range)
    with pytest.raises(UsageError, match="the code that computes it is not loaded"):
        require_code([read])
    register_object(Tone)
    assert parse_metric("tone:strict=true") == Tone(strict=True)


CODE = """
import re
import sys
WORDS = ["please", "thanks"]
PATTERN = re.compile("a")
CACHE = {}

def count(text):
    return sum(text.count(word) for word in WORDS)

def polite(answer):
    return count(answer) / 2
"""


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("/ 2", "/ 3", True),
        ("thanks", "cheers", True),
        ("text.count(word)", "text.count(word) + 1", True),
        ("def polite(answer):", "def polite(answer: str) -> float:", False),
        ("    return count", '    """How polite."""\n    # so\n    return count', False),
        ("CACHE = {}", "CACHE = {1: 2}", False),
        ("def count(text):", "def count(text: str):", False),
        ('compile("a")', 'compile("b")', False),
    ],
)
def test_version_follows_the_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, changes: bool
) -> None:
    """What the function computes changes its version, with what it uses of its module; comments do not."""
    monkeypatch.syspath_prepend(str(tmp_path))
    versions = []
    for module, code in (("manners_a", CODE), ("manners_b", CODE.replace(old, new))):
        (tmp_path / f"{module}.py").write_text(code)
        versions.append(parse_metric(f"{module}:polite").version)
        del sys.modules[module]
    assert (versions[0] != versions[1]) is changes
    assert all(0 < version < 1 << 48 for version in versions)


class Scaled:
    """A callable object."""

    def __init__(self, by: float, words: object = None) -> None:
        self.by, self.words = by, words

    def __call__(self, answer: str) -> float:
        """So many times one."""
        return self.by


def scaled(answer: str, by: float = 1.0, code: object = None) -> float:
    """So many times one."""
    return by


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (partial(scaled, by=0.1), partial(scaled, by=0.2)),
        (partial(scaled, by=0.1, code=math.floor), partial(scaled, by=0.1, code=math.ceil)),
        (Scaled(0.1), Scaled(0.2)),
        (Scaled(0.1, Scaled(1)), Scaled(0.1, Scaled(2))),
        (Scaled(0.1, {"a": [re.compile("a")]}), Scaled(0.1, {"a": [re.compile("b")]})),
    ],
)
def test_version_follows_what_a_function_is_called_with(one: Any, other: Any) -> None:
    """Arguments that are bound to a function, and attributes of a callable object, are part of its version."""
    by_name = rg.metric(name="scaled")
    versions = [register_object(by_name(each)).version for each in (one, copy.deepcopy(one), other)]
    assert versions[0] == versions[1] != versions[2]


def test_version_follows_what_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of another module is known by its own name, whatever it is called here."""
    monkeypatch.syspath_prepend(str(tmp_path))
    code = "from math import floor as rounded\n\ndef whole(answer):\n    return rounded(1.5)\n"
    versions = []
    for module, text in (("whole_a", code), ("whole_b", code.replace("floor", "ceil"))):
        (tmp_path / f"{module}.py").write_text(text)
        versions.append(parse_metric(f"{module}:whole").version)
        del sys.modules[module]
    assert versions[0] != versions[1]


def test_stored_parameters_survive_another_metric_of_the_name() -> None:
    """Scores of a class with parameters are read by their printed name beside a function of the class's name."""

    @dataclass(frozen=True)
    class Ends(rg.Metric):
        k: float = 0.5

        def value(self, answer: str) -> float:
            return self.k

    def ends(answer: str) -> float:
        return 1.0

    known = build_declaration(register_object(Ends(0.5)))
    forget_own()
    register_stored([known])
    register_object(ends)
    register_stored([known])
    assert build_declaration(parse_metric(known.name)) == known
    assert parse_metric("ends").version != known.version


def test_a_value_may_leave_its_range_by_rounding() -> None:
    """What lies above the greatest value by less than rounding makes is the greatest value."""

    @rg.metric(range=(0, 1))
    def nearly(answer: str) -> float:
        return 0.1 + 0.2 + 0.7 + 1e-12

    @rg.metric(range=(0, 1))
    def beyond(answer: str) -> float:
        return 1.001

    assert read_result(register_object(nearly), 1 + 1e-12).value == 1.0
    assert read_result(register_object(beyond), 1.001).status == "failed"


def test_version_is_that_of_the_code_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is changed after its function was named changes nothing: the function is still the old one."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "manners_c.py").write_text(CODE)
    before = parse_metric("manners_c:polite")
    (tmp_path / "manners_c.py").write_text(CODE.replace("/ 2", "/ 3"))
    assert register_object(sys.modules["manners_c"].polite).version == before.version
    del sys.modules["manners_c"]


def test_code_without_source_needs_a_version() -> None:
    """A function whose source cannot be read is refused unless it is given a version, which counts then."""
    scope: dict[str, Any] = {}
    exec("def made(answer): return 1", scope)  # noqa: S102 - as a notebook does without its cells
    with pytest.raises(UsageError, match="source cannot be read"):
        register_object(scope["made"])
    assert register_object(metric(version=7)(scope["made"])).version == 7
