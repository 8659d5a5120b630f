"""The contract of verdicts and of stored controls."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.store.test_listings import with_run

import ragauge.store.verdicts as module
from ragauge.core.response import Controls, ControlScale, ScaleKey
from ragauge.core.verdict import RULE_VERSION, VERDICTS, ExampleVerdict, VerdictCounts
from ragauge.store.store_access import Store
from ragauge.store.text_codec import escape_for_frame

PASSED = ExampleVerdict("passed", grounded="passed")
UNCLEAR = ExampleVerdict("unclear", "unclear", "passed", "the \ud800 reference", ("60 labels", "a model judge"))
FAILED = ExampleVerdict("failed", "failed", "unclear", "contradicts the reference")


class VerdictsContract:
    """What every store of verdicts does. A back end supplies `store`."""

    def test_verdicts_survive(self, store: Store) -> None:
        """Verdicts of every kind are read back equal, in the order of the responses, whole or some, framed."""
        run_id, numbers = with_run(store)
        verdicts = dict(zip(numbers, (PASSED, UNCLEAR, FAILED), strict=True))
        store.verdicts.write(run_id, "j", dict(reversed(verdicts.items())))
        read = list(
            zip(numbers, (PASSED, replace(UNCLEAR, reason=escape_for_frame(UNCLEAR.reason)), FAILED), strict=True)
        )
        assert list(store.verdicts.read(run_id, "j")) == read
        assert list(store.verdicts.read(run_id, "j", numbers=numbers[2:])) == [(numbers[2], FAILED)]

    def test_columns_are_what_is_read(self, store: Store) -> None:
        """The arrays hold the same as the rows; they are empty where nothing was judged."""
        run_id, numbers = with_run(store)
        assert len(store.verdicts.columns(run_id, "j").number) == 0
        store.verdicts.write(run_id, "j", dict(zip(numbers, (PASSED, UNCLEAR, FAILED), strict=True)))
        columns = store.verdicts.columns(run_id, "j")
        rows = [
            (number, ExampleVerdict(*(VERDICTS[code] for code in codes), *columns.reasons[reason]))
            for number, *codes, reason in zip(
                columns.number.tolist(),
                columns.verdict,
                columns.right,
                columns.grounded,
                columns.reason.tolist(),
                strict=True,
            )
        ]
        assert rows == list(store.verdicts.read(run_id, "j"))

    def test_verdicts_of_nobody_stand_where_the_judge_has_none(self, store: Store) -> None:
        """A judge's verdicts are read before nobody's; other judges and askings are apart."""
        run_id, numbers = with_run(store)
        store.verdicts.write(run_id, None, dict.fromkeys(numbers, PASSED))
        store.verdicts.write(run_id, "j", {numbers[1]: UNCLEAR})
        store.verdicts.write(run_id, "j", {numbers[0]: FAILED}, 1)
        read = {number: verdict.verdict for number, verdict in store.verdicts.read(run_id, "j")}
        assert read == dict(zip(numbers, ("passed", "unclear", "passed"), strict=True))
        assert [verdict.verdict for _, verdict in store.verdicts.read(run_id, None)] == ["passed"] * 3
        assert next(iter(store.verdicts.read(run_id, "j", 1)))[1] == FAILED

    def test_counts_survive(self, store: Store) -> None:
        """Counts of a judge are kept with the version of their rule until others are; means alone leave them."""
        run_id, _ = with_run(store)
        store.summaries.write(run_id, "j", [], counts=VerdictCounts(3, 2, 1, 0, 1))
        store.summaries.write(run_id, None, [], counts=VerdictCounts(passed=6))
        store.summaries.write(run_id, "j", [])
        kept = store.summaries.load_counts([run_id])
        assert kept == {(run_id, "j"): VerdictCounts(3, 2, 1, 0, 1), (run_id, ""): VerdictCounts(passed=6)}
        assert (kept[run_id, "j"].n, kept[run_id, "j"].is_current) == (6, False)
        store.runs.delete(run_id)
        assert store.summaries.load_counts([run_id]) == {}

    def test_outdated_verdicts(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        """What was decided by another rule or with other controls, by this judge and asking, is outdated."""
        run_id, numbers = with_run(store)
        monkeypatch.setattr(module, "RULE_VERSION", RULE_VERSION - 1)
        store.verdicts.write(run_id, "j", {numbers[0]: PASSED}, controls="a")
        monkeypatch.undo()
        store.verdicts.write(run_id, "j", {numbers[1]: PASSED}, controls="a")
        store.verdicts.write(run_id, "j", {numbers[2]: PASSED}, controls="b")
        assert store.verdicts.find_outdated(run_id, "j", "a") == {numbers[0], numbers[2]}
        assert store.verdicts.find_outdated(run_id, "j", "b") == set(numbers[:2])
        assert store.verdicts.find_outdated(run_id, "j", "a", only=numbers[1:]) == {numbers[2]}
        assert store.verdicts.find_outdated(run_id, "j") == set(numbers)
        assert store.verdicts.find_outdated(run_id, "j", "a", 1) == store.verdicts.find_outdated(run_id, None) == set()
        store.verdicts.write(run_id, "j", {numbers[0]: FAILED}, controls="a")
        assert store.verdicts.find_outdated(run_id, "j", "a") == {numbers[2]}
        assert next(iter(store.verdicts.read(run_id, "j")))[1] == FAILED

    def test_controls_survive(self, store: Store) -> None:
        """The last controls of a run, judge and asking are read back equal."""
        run_id, _ = with_run(store)
        assert store.controls.read(run_id, "j") is None
        first, second = ControlScale((0.5, 1.0), (0.1,), 2), ControlScale((), ())
        scales: dict[ScaleKey, ControlScale] = {("support", "en", "prose"): first, ("address", "ko", "table"): second}
        store.controls.write(run_id, "j", Controls({}, "old"))
        store.controls.write(run_id, "j", Controls(scales, "new", {"faithfulness": 0.25}))
        assert store.controls.read(run_id, "j") == Controls(scales, "new", {"faithfulness": 0.25})
        assert store.controls.read(run_id, "j", 1) is None

    def test_both_go_with_their_run(self, store: Store) -> None:
        """Deleting a run deletes its verdicts and controls."""
        run_id, numbers = with_run(store)
        store.verdicts.write(run_id, "j", dict.fromkeys(numbers, PASSED))
        store.controls.write(run_id, "j", Controls({}, "f"))
        store.runs.delete(run_id)
        again, _ = with_run(store)
        assert list(store.verdicts.read(again, "j")) == []
        assert store.controls.read(again, "j") is None


class TestSqliteVerdicts(VerdictsContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
