"""The contract of labels and draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tests.building import example, response
from tests.conftest import OwnTime

from ragauge.core.errors import UnknownName
from ragauge.core.label import Label, build_label_key
from ragauge.core.response import Run
from ragauge.store.labels import LabelDraw
from ragauge.store.store_access import Store, open_store

KEY, OTHER = build_label_key("support", "q", ["p"], "a"), build_label_key("support", "q", ["p"], "b")
LABEL = Label(KEY, (0, 12), "support", "supported", "ann", "2026-11-01T10:00:00Z", "abc")


class LabelsContract:
    """What every store of labels does. A back end supplies `store`."""

    def test_label_survives(self, store: Store) -> None:
        """Labels of spans, passages and wholes are read back equal, in their order, by another connection."""
        labels = [
            LABEL,
            replace(LABEL, part=3),
            replace(LABEL, part=None, annotator="b\x00\x1b"),
            replace(LABEL, key=OTHER),
        ]
        assert store.labels.add(labels) == 4
        with open_store(store.url) as again:
            assert again.labels.of([KEY]) == labels[:3]
            assert again.labels.of([KEY, OTHER], "relevance") == []
            assert list(again.labels.list("abc")) == labels
            assert list(again.labels.list("other")) == []

    def test_twice_is_once(self, store: Store) -> None:
        """The same label again adds nothing; another value, hour, annotator or guideline is another label."""
        assert store.labels.add([LABEL, LABEL]) == 1
        others = [
            replace(LABEL, value="contradicted"),
            replace(LABEL, at="2026-11-02"),
            replace(LABEL, annotator="b"),
            replace(LABEL, guideline="d"),
        ]
        assert store.labels.add([LABEL, *others]) == 4
        assert store.labels.count_by_guideline() == {"abc": 4, "d": 1}

    def test_all_or_none(self, store: Store) -> None:
        """Labels that end in an error leave nothing behind."""

        def broken() -> Iterator[Label]:
            yield LABEL
            raise ValueError("line 2")

        with pytest.raises(ValueError, match="line 2"):
            store.labels.add(broken())
        assert store.labels.count_by_guideline() == {}

    def test_digest_tells_labels_apart(self, store: Store) -> None:
        """It does not depend on the order in which labels came, and changes with every new one."""
        store.labels.add([LABEL, replace(LABEL, key=OTHER)])
        first = store.labels.compute_digest("abc")
        store.labels.add([replace(LABEL, part=None)])
        assert store.labels.compute_digest("abc") != first
        with open_store(store.url.replace("store.db", "second.db")) as second:
            second.labels.add([replace(LABEL, key=OTHER)])
            second.labels.add([LABEL])
            assert second.labels.compute_digest("abc") == first

    def test_100_000_labels(self, store: Store, own_time: OwnTime) -> None:
        """100,000 labels are kept within 20 seconds, and the same again adds nothing."""
        keys = [build_label_key("support", "q", [], str(n)) for n in range(10_000)]
        labels = [replace(LABEL, key=keys[n % 10_000], annotator=str(n // 10_000)) for n in range(100_000)]
        added: list[int] = []
        own_time.within(20, lambda: added.append(store.labels.add(labels)), times=1)
        assert added == [100_000]
        assert store.labels.add(labels[:50]) == 0

    @pytest.mark.parametrize("chances", [(0.5, 0.5, 0.5), (0.25, 1.0, 0.5)], ids=["alike", "apart"])
    def test_draw_survives(self, store: Store, chances: tuple[float, ...]) -> None:
        """A draw is read back with the chance of every response, goes with its run, and needs one."""
        run = store.runs.import_run(
            Run("", "a"), [(example(query_id=f"q{n}"), response(query_id=f"q{n}")) for n in range(3)]
        )
        numbers = store.runs.load_order(run.run_id).numbers
        chance = dict(zip(sorted(numbers), chances, strict=True))
        drawn = frozenset(numbers[:1])
        draw = LabelDraw(run.run_id, "support", "abc", "random", "sentence", chance, drawn, "2026-11-24")
        kept = replace(draw, number=store.draws.add(draw))
        assert store.draws.list_for_run(run.run_id) == [kept]
        assert store.draws.list_for_run(run.run_id, "relevance") == []
        later = replace(draw, question="refuse", instructions="Read <it>.")
        later = replace(later, number=store.draws.add(later))
        assert store.draws.list(9) == [later, kept]
        assert store.draws.list(1, before_no=later.number) == [kept]
        assert store.draws.read(later.number) == later
        store.runs.delete(run.run_id)
        assert store.draws.read(later.number) is None
        with pytest.raises(UnknownName):
            store.draws.list_for_run(run.run_id)
        with pytest.raises(UnknownName):
            store.draws.add(draw)


class TestSqliteLabels(LabelsContract):
    """The contract on SQLite."""

    @pytest.fixture
    def store(self, sqlite_store: Store) -> Store:
        return sqlite_store
