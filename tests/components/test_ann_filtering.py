"""Searching under a filter: who passes, what is true among them, how each way keeps to it, and what is read of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import ragauge as rg
from ragauge.core.errors import DataError, RagaugeError, UnknownName, UsageError
from ragauge.core.ranking import FoundNeighbors
from ragauge.metrics.ann.filled import Filled
from ragauge.metrics.base import Ratio, Undefined
from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.scores.results.chart import ReportChart
from ragauge.studies.ann.exact import ExactSearch, exact_neighbours
from ragauge.studies.ann.filter_results import find_crossover
from ragauge.studies.ann.index import LIBRARIES, AnnIndex, make_index
from ragauge.studies.ann.search_filters import ExactNeighbors, FilteredSearch, PassingVectors, build_filtered_grid
from ragauge.studies.ann.vectors import find_passing
from ragauge.studies.figures import StudyTable
from ragauge.verbs.command_options import parse_conditions

XQUAD = Path(__file__).resolve().parents[3] / "shared/data/xquad/xquad.en.json"
RNG = np.random.default_rng(0)
CENTRES = RNG.standard_normal((30, 16))
VECTORS = (CENTRES[RNG.integers(30, size=3_000)] + 0.6 * RNG.standard_normal((3_000, 16))).astype(np.float32)
QUERIES = (CENTRES[RNG.integers(30, size=40)] + 0.6 * RNG.standard_normal((40, 16))).astype(np.float32)
LINE = np.arange(10, dtype=np.float32)[:, None]  # ten points on a line; the query lies at 0


class PlainIndex:
    """A user's index that cannot filter: all vectors by distance."""

    def build(self, vectors: Any, metric: str) -> None:
        self.vectors = vectors

    def search(self, query: Any, k: int) -> Any:
        return np.argsort(np.abs(self.vectors - query).sum(axis=1), kind="stable")[:k]


class MaskedIndex(PlainIndex):
    """A user's index whose search takes a filter."""

    def search(self, query: Any, k: int, filter: Any = None) -> Any:
        found = super().search(query, len(self.vectors))
        return (found if filter is None else found[filter[found]])[:k]


HERE = __name__


def built(name: str, vectors: Any, metric: Any = "l2") -> AnnIndex:
    """An index at its defaults."""
    index = make_index(name)
    index.build(vectors, metric)
    index.set_search_params(**{key: index.defaults[key] for key in index.searched})
    return index


def test_truth_and_ways_on_a_line_are_those_counted_by_hand() -> None:
    """Of ten points the even ones pass: 0, 2, 4 are nearest; asking 3 finds 0 and 2, asking 6 finds all three."""
    even = np.arange(10) % 2 == 0
    truth = ExactNeighbors(LINE, LINE[:1], 3, "l2", even)
    assert truth.nearest.tolist() == [[0, 2, 4]]
    index = built(f"{HERE}:PlainIndex", LINE)
    once, twice = (FilteredSearch(index, even, times).search(LINE[0], 3) for times in (1, 2))
    assert (once.tolist(), twice.tolist()) == ([0, 2], [0, 2, 4])
    assert truth.compute_recalls([once]).tolist() == [2 / 3]
    assert Filled(3).value(truth.beside(0, once)) == Ratio(2, 3)
    assert FilteredSearch(built(f"{HERE}:MaskedIndex", LINE), even, 0).search(LINE[0], 3).tolist() == [0, 2, 4]
    found = truth.beside(0, [1, 2, 2])  # one that does not pass is neither found nor a place filled
    assert np.isnan(found.distances[0])
    assert Filled(3).value(found) == Ratio(1, 3)
    assert truth.compute_recalls([[1, 2, 2]]).tolist() == [1 / 3]
    none = ExactNeighbors(LINE, LINE[:1], 3, "l2", np.zeros(10, dtype=bool))
    assert Filled(3).value(none.beside(0, [])) == Undefined("no vector passes the filter")
    assert none.compute_recalls([[]]).size == 0
    two = ExactNeighbors(LINE, LINE[:1], 3, "l2", np.arange(10) > 7)  # fewer pass than are asked for
    assert Filled(3).value(two.beside(0, [8, 9])) == Ratio(2, 2)
    assert Filled(2).value(FoundNeighbors((), (), (0.1, 0.2, 0.3))) == Ratio(0, 2)


def test_labels_pass_as_many_as_asked_and_clustered_ones_lie_together() -> None:
    """round(n × selectivity) pass; fewer are a part of more; clustered ones are nearer to each other."""
    passing = PassingVectors(VECTORS, "l2")
    spread = {}
    for labels in ("random", "clustered"):
        masks = [passing.get_mask({"labels": labels, "selectivity": share}) for share in (0.3, 0.0115, 0.0001)]
        counts = [int(mask.sum()) for mask in masks if mask is not None]
        assert counts == [900, 35, 0]  # 34.5 is rounded up
        assert masks[0] is not None
        assert masks[1] is not None
        assert not (masks[1] & ~masks[0]).any()
        inside = VECTORS[masks[1]]
        spread[labels] = float(np.linalg.norm(inside - inside.mean(axis=0), axis=1).mean())
    assert spread["clustered"] < 0.6 * spread["random"]
    assert passing.get_mask({"index": "null"}) is None


@pytest.mark.parametrize("metric", ["cosine", "l2", "ip"])
def test_exact_search_of_one_query_is_that_of_all(metric: Any) -> None:
    """Ids are those of exact_neighbours, among all and among some, with a vector of zeros, and of few or none."""
    vectors = VECTORS.copy()
    vectors[7] = 0
    for ids in (np.arange(3_000), np.arange(0, 3_000, 7), np.arange(4, 9), np.arange(0)):
        search = ExactSearch(vectors, metric, ids)
        near = exact_neighbours(vectors[ids], QUERIES[:9], 10, metric)[0]
        for query, wanted in zip(QUERIES, near, strict=False):
            assert search.search(query, 10).tolist() == ids[wanted[wanted >= 0]].tolist()


@pytest.mark.parametrize("name", [one for one in LIBRARIES if not one.startswith(("null", "pgvector"))])
def test_every_way_of_every_library_returns_what_passes_alone(name: str) -> None:
    """Ids found by post-filtering and inside pass, and recall and places filled stay within 0 and 1."""
    if name == "hnswlib":
        pytest.importorskip("hnswlib", reason="compiled where it is installed: pip install hnswlib")
    index, passing = built(name, VECTORS), PassingVectors(VECTORS, "l2")
    for labels in ("random", "clustered"):
        mask = passing.get_mask({"labels": labels, "selectivity": 0.02})
        assert mask is not None
        truth = ExactNeighbors(VECTORS, QUERIES, 10, "l2", mask)
        for oversample in (1, 20, *([0] if index.filters else [])):
            search = FilteredSearch(index, mask, oversample)
            for n, query in enumerate(QUERIES[:12]):
                found = np.asarray(search.search(query, 10), dtype=int)
                assert len(found) <= 10
                assert mask[found].all()
                filled = Filled(10).value(truth.beside(n, found))
                assert isinstance(filled, Ratio)
                assert 0 <= filled.numerator <= filled.denominator


def test_a_grid_has_each_way_that_its_index_has() -> None:
    """At 1 a setting stays as it is; usearch filters nothing inside; a filter of a column needs no labels."""
    grid = [{"index": "faiss-sq"}, {"index": "usearch"}]
    found = build_filtered_grid(grid, selectivity=(1, 0.1), labels=("random",), oversample=(4,))
    drawn = {"labels": "random", "selectivity": 0.1}
    post = {**drawn, "filter_by": "post", "oversample": 4}
    assert found == [
        grid[0],
        {**grid[0], **post},
        {**grid[0], **drawn, "filter_by": "inside"},
        grid[1],
        {**grid[1], **post},
    ]
    named = build_filtered_grid(grid[1:], filters=["lang=de"], oversample=(1,))
    assert named == [{"index": "usearch", "filter": "lang=de", "filter_by": "post", "oversample": 1}]
    assert build_filtered_grid(grid) == grid


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"selectivity": 0}, "above 0 and at most 1, such as 0.1,0.01, got 0"),
        ({"selectivity": "1,2"}, "got 2"),
        ({"selectivity": "much"}, "expected numbers such as 1,0.1,0.01, got 'much'"),
        ({"selectivity": 0.1, "labels": "clusterd"}, "nearest: clustered"),
        ({"selectivity": 0.1, "labels": ""}, "--labels takes random or clustered"),
        ({"selectivity": 0.1, "oversample": 0}, "whole numbers of at least 1"),
        ({"filter": {"lang": "de"}}, "an array has no columns to filter on"),
    ],
)
def test_bad_filters_are_errors_before_anything_is_built(given: dict[str, Any], told: str, tmp_path: Path) -> None:
    """Shares outside (0, 1], other words, unknown labels and columns of what has none, with what to write."""
    with pytest.raises(RagaugeError, match=told):
        rg.ann(VECTORS, "null", queries=QUERIES, store=f"sqlite:///{tmp_path / 's.db'}", **given)


def test_columns_of_each_form_and_missing_ones(tmp_path: Path) -> None:
    """Parquet, HDF5 and an array beside .npy filter alike; a missing column names the nearest."""
    import h5py

    langs, years = ["de", "en", None, "de"], [2023, 2024, 2024, 2024]
    rows = LINE[:4]
    pl.DataFrame({"embedding": rows.tolist(), "lang": langs, "year": years}).write_parquet(tmp_path / "v.parquet")
    np.save(tmp_path / "v.npy", rows)
    np.save(tmp_path / "v.lang.npy", np.array(["de", "en", "", "de"]))
    np.save(tmp_path / "v.year.npy", np.array(years))
    with h5py.File(tmp_path / "v.hdf5", "w") as file:
        file["train"], file["year"] = rows, years
        file["lang"] = ["de", "en", "", "de"]
    for ending in ("parquet", "npy", "hdf5"):
        path = tmp_path / f"v.{ending}"
        assert find_passing(path, {"lang": "de"}).tolist() == [True, False, False, True]
        assert find_passing(path, {"lang": "de", "year": "2024"}).tolist() == [False, False, False, True]
        with pytest.raises(UnknownName, match=r"no value of year '2042'; nearest: 2024.* Known: 2023, 2024"):
            find_passing(path, {"year": "2042"})
        with pytest.raises(UnknownName, match="no value of lang 'dee'; nearest: de"):
            find_passing(path, {"lang": "dee"})
        with pytest.raises(UnknownName, match="nearest: lang"):
            find_passing(path, {"lan": "de"})
    with pytest.raises(DataError, match="an array has no columns"):
        find_passing(rows, {"lang": "de"})
    with pytest.raises(UsageError, match="no column tells which vectors have lang=de"):
        PassingVectors(rows, "l2").get_mask({"filter": "lang=de"})


def test_a_study_keeps_strata_apart_and_measures_exact_search_beside(tmp_path: Path) -> None:
    """Rivals are trials of one filter; exact search finds all; a trial made before is not made again."""
    store = f"sqlite:///{tmp_path / 's.db'}"
    asked: dict[str, Any] = {"queries": QUERIES, "metric": "l2", "rounds": 1}
    spec = "faiss-hnsw:M=8:ef_search=16,64"
    plain = rg.ann(VECTORS, spec, store=store, **asked)
    found = rg.ann(VECTORS, spec, store=store, selectivity="1,0.02", oversample=10, **asked)
    assert plain.study.trials == found.study.trials[:2]
    assert set(found.reading.trials) == {one.name for one in plain.study.trials}
    assert set(found.best_set) <= set(found.reading.trials)
    rows = found.trials
    assert rows.height == 2 + 2 * 2 * 2
    under = rows.filter(pl.col("labels").is_not_null())
    assert under["exact_recall"].to_list() == [1.0] * 8
    assert under["passing"].to_list() == [60.0] * 8
    assert (under["filled@10"] <= 1).all()
    assert (under["ann_recall@10"] <= under["filled@10"] + 1e-9).all()
    assert list(found.figures.strata) == ["", "random 2 %", "clustered 2 %"]
    assert {len(one.trials) for one in found.figures.stratum_readings.values()} == {2, 4}


def test_a_filter_that_nothing_passes_is_undefined_and_one_that_some_pass_is_checked_again(tmp_path: Path) -> None:
    """No score, a reason, a whole study; the check of a filtered trial reads its column again."""
    store, file = f"sqlite:///{tmp_path / 's.db'}", tmp_path / "v.parquet"
    langs = ["de" if n % 5 == 0 else "en" for n in range(len(VECTORS))]
    kinds = ["a" if lang == "de" else "b" for lang in langs]
    pl.DataFrame({"embedding": VECTORS.tolist(), "lang": langs, "kind": kinds}).write_parquet(file)
    asked: dict[str, Any] = {"metric": "l2", "rounds": 1, "store": store, "oversample": 10, "name": "n"}
    none = rg.ann(file, "faiss-sq", holdout=20, filter={"kind": "b", "lang": "de"}, **asked)
    assert [one.state for one in none.study.trials] == ["complete"] * 2
    assert {one.counts["undefined"] for one in none.means} == {20}
    assert "No recommendation" in none.to_markdown()
    some = rg.ann(file, "faiss-sq", holdout=20, filter={"lang": "de"}, **asked)
    ways = (one for one in some.study.trials if one.parameters.get("filter") == "lang=de")
    inside = next(one for one in ways if one.parameters["filter_by"] == "inside")
    assert inside.find_measurement_value("passing") == pytest.approx(600, abs=20)
    np.save(tmp_path / "q.npy", QUERIES)
    passed = rg.ann_check("n", tmp_path / "q.npy", trial=inside.name, minimum=0.5, store=store)
    assert passed.exit_code == 0
    shown = rg.open_run("n-check", store=store).run.config
    assert shown["filter"] == "lang=de"


def test_the_crossover_is_between_the_shares_where_the_faster_one_changes() -> None:
    """Log-log between two shares, by hand; all and none where it never changes; the first change from below counts."""
    assert find_crossover([0.001, 0.1], [1, 1], [0.1, 10]) == ("at", 0.01)
    kind, share = find_crossover([0.1, 1, 0.01], [2, 2, 2], [4, 8, 0.25])
    assert kind == "at"
    assert share == pytest.approx(0.01 * 10**0.75)
    assert find_crossover([0.1, 1], [1, 1], [0.5, 1]) == ("all", 1)
    assert find_crossover([0.1, 1], [1, 1], [1.5, 0.5]) == ("none", None)


def test_findings_under_filters_are_told_in_words_tables_and_charts(tmp_path: Path) -> None:
    """What clustered labels cost is the difference of the means shown; charts and tables hold what was measured."""
    store = f"sqlite:///{tmp_path / 's.db'}"
    found = rg.ann(
        VECTORS,
        "faiss-hnsw:ef_search=32",
        queries=QUERIES,
        metric="l2",
        rounds=1,
        store=store,
        selectivity=(1, 0.2, 0.02),
        oversample=10,
    )
    rows = found.trials.filter((pl.col("oversample") == 10) & (pl.col("selectivity") == 0.02))
    means = dict(zip(rows["labels"], rows["ann_recall@10"], strict=True))
    cost = next(one for one in found.notes if "clustered labels have lower recall" in one)
    assert f"post ×10 {round(100 * (means['random'] - means['clustered']))} points [" in cost
    under, wins = (
        next(one for one in found.figures.contents if isinstance(one, StudyTable) and one.heading == heading)
        for heading in ("With filters", "Exact search wins")
    )
    assert len(under.rows) == 1 + 2 * 2 * 2
    assert {row[1:3] for row in wins.rows} == {(way, one) for way in ("post ×10", "inside") for one in means}
    charts = [one for one in found.figures.contents if isinstance(one, ReportChart)]
    assert [one.y for one in charts] == ["ann_recall@10", "filled@10", "p50 ms"]
    assert {(point.x, point.series) for point in charts[0].points} == {
        (share, f"{way}, {labels}") for share in (0.2, 0.02) for way in ("post ×10", "inside") for labels in means
    }
    assert sum(one.startswith("For ") for one in found.notes) == 4
    assert any("take faiss-hnsw inside" in one or "use exact search" in one for one in found.notes)
    page = tmp_path / "study.html"
    found.save(page)
    assert "Latency with filters" in page.read_text()


@pytest.mark.realdata
@pytest.mark.skipif(not XQUAD.is_file(), reason="the public data is not there")
def test_on_vectors_of_real_texts_clustered_labels_hurt_post_filtering_more_than_random_ones(tmp_path: Path) -> None:
    """Windows of paragraphs and their questions: at 10 % and 5 %, ten times k, recall falls by 10 points, surely."""
    articles = json.loads(XQUAD.read_text(encoding="utf-8"))["data"]
    paragraphs = [one for article in articles for one in article["paragraphs"]]
    words = [one["context"].split() for one in paragraphs]
    windows = [" ".join(one[at : at + 40]) for one in words for at in range(0, max(1, len(one) - 40), 5)]
    questions = [one["question"] for paragraph in paragraphs for one in paragraph["qas"]][::4]
    embedder = WordLlamaEmbedder()
    vectors, queries = embedder.embed(windows), embedder.embed(questions)
    found = rg.ann(
        vectors,
        "faiss-hnsw:ef_search=64",
        queries=queries,
        rounds=1,
        oversample=10,
        selectivity=(0.1, 0.05),
        store=f"sqlite:///{tmp_path / 's.db'}",
    )
    posts = {
        (one.parameters["selectivity"], one.parameters["labels"]): one.name
        for one in found.study.trials
        if one.parameters["filter_by"] == "post"
    }
    for share in (0.1, 0.05):
        base, other = posts[share, "random"], posts[share, "clustered"]
        held = rg.open_study(found.study.name, base=base, store=found.url)
        gap = next(one for one in held.means if one.trial == other and one.metric == "ann_recall@10")
        assert gap.difference_interval is not None
        assert gap.difference_interval.high < -0.1


def test_ids_are_whole_numbers_and_none_is_left_out() -> None:
    """-1 counts as not found, also where it would point at the last row; distances, a pair and other ids are errors."""
    near = ExactNeighbors(LINE, LINE[:1], 3, "l2")
    assert near.beside(0, [0, -1, 1]).ids == (0, 1)
    assert near.beside(0, ()).ids == ()
    for wrong in ([0.0, 1.0], ([0, 1, 2], [0.0, 1.0, 4.0]), ([0, 1], [0.5]), None, [[0, 1]]):
        with pytest.raises(DataError, match="expected ids as whole numbers with shape"):
            near.beside(0, wrong, "q0")
    with pytest.raises(DataError, match="the index returned id -2, but has only 10 vectors"):
        near.beside(0, [-2, 1])

    class Padding(AnnIndex):
        def search(self, query: Any, k: int, passing: Any = None) -> Any:
            return np.array([2, -1])

    assert FilteredSearch(Padding(), LINE[:, 0] > 1, 1).search(LINE[0], 3).tolist() == [2]


def test_two_values_of_one_column_are_refused() -> None:
    """No vector has both, and neither wins silently."""
    with pytest.raises(UsageError, match="lang takes one value, got de and en"):
        parse_conditions("lang=de,year=2024,lang=en")
