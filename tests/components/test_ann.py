"""Indexes of vectors against exact search, and exact search against faiss."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragauge as rg
from ragauge.cli.main import main
from ragauge.core.errors import DataError, UnknownName, UsageError
from ragauge.core.example import Example
from ragauge.core.ranking import FoundNeighbors
from ragauge.core.response import Response
from ragauge.diagnosis.explain.causes import ExampleCase
from ragauge.diagnosis.explain.ranks import NEIGHBOR_SYMBOLS
from ragauge.metrics.ann.ann_recall import AnnRecall
from ragauge.metrics.facts import Facts
from ragauge.store.store_access import open_store
from ragauge.studies.ann.index import make_index, parse_grid
from ragauge.studies.ann.vectors import read_vectors

RNG = np.random.default_rng(0)
VECTORS = RNG.standard_normal((5_000, 24), dtype=np.float32)
QUERIES = RNG.standard_normal((40, 24), dtype=np.float32)


@pytest.mark.parametrize("k", [1, 10, 100])
@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_exact_neighbours_are_those_of_faiss(metric: Any, k: int) -> None:
    """Ids and distances equal IndexFlat's."""
    import faiss

    base, asked = VECTORS, QUERIES
    if metric == "cosine":
        base, asked = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in (base, asked))
    flat = faiss.IndexFlatL2(24) if metric == "l2" else faiss.IndexFlatIP(24)
    flat.add(base)
    theirs, ids = flat.search(asked, k)
    wanted = {"l2": np.sqrt(theirs), "ip": -theirs, "cosine": 1 - theirs}[metric]
    found, distances = rg.exact_neighbours(VECTORS, QUERIES, k, metric)
    assert (found == ids).all()
    assert np.allclose(distances, wanted, atol=2e-5)


def test_equal_distances_go_by_id_and_far_from_the_origin_nothing_is_lost() -> None:
    """Copies of one vector come in the order of their ids; an offset of 1,000 changes no neighbour."""
    copies = np.tile(VECTORS[:3], (2_000, 1))
    found, _ = rg.exact_neighbours(copies, VECTORS[:1], 50, "l2")
    assert found[0].tolist() == list(range(0, 150, 3))
    wide = VECTORS.astype(np.float64)
    near = rg.exact_neighbours(wide, QUERIES, 10, "l2")[0]
    assert (rg.exact_neighbours(wide + 1_000, QUERIES.astype(np.float64) + 1_000, 10, "l2")[0] == near).all()


def test_few_vectors_and_zeros() -> None:
    """Of fewer than k vectors all are returned; zeros have no neighbours by cosine; NaN is an error with its row."""
    few = np.vstack([VECTORS[:3], np.zeros((1, 24), dtype=np.float32)])
    found, distances = rg.exact_neighbours(few, np.vstack([QUERIES[:1], few[3:]]), 10)
    assert found.shape == (2, 4)
    assert sorted(found[0].tolist()) == [-1, 0, 1, 2]
    assert (found[1] == -1).all()
    assert np.isnan(distances[1]).all()
    with pytest.raises(DataError, match="row 2: a NaN"):
        rg.exact_neighbours(np.array([[1.0], [2.0], [np.nan]]), np.ones((1, 1)), 1)
    with pytest.raises(DataError, match="2 dimensions, but the indexed vectors have 24"):
        rg.exact_neighbours(VECTORS, np.ones((1, 2)), 1)


def mean_of(found: rg.StudyResult, trial: str) -> float:
    """A trial's mean recall, which it must have."""
    mean = found.figures.mean(trial)
    assert mean is not None
    assert mean.mean is not None
    return mean.mean


def skip_uncompiled(spec: str) -> None:
    """Skips hnswlib where it is missing: it has no wheels, so that no group of dependencies has it."""
    if spec.startswith("hnswlib"):
        pytest.importorskip("hnswlib", reason="compiled where it is installed: pip install hnswlib")


SPECS = (
    "faiss-hnsw:M=4:ef_construction=10:ef_search=4,200",
    "usearch:M=4:ef_search=4,200",
    "faiss-ivf:nlist=20:nprobe=1,20",
    "faiss-sq",
    "faiss-pq:m=8:nbits=4",
    "hnswlib:ef_search=9",
)


@pytest.mark.parametrize("spec", SPECS)
def test_recall_is_that_of_the_library(spec: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial's mean recall is that of the ids found, and of a direct call where builds repeat; none is made anew."""
    skip_uncompiled(spec)
    store = f"sqlite:///{tmp_path / 'store.db'}"
    kind, found = type(make_index(spec.partition(":")[0])), dict[tuple[Any, ...], Any]()
    tune, search = kind.set_search_params, kind.search

    def tuned(self: Any, **parameters: Any) -> None:
        self.now = tuple(parameters.values())
        tune(self, **parameters)

    def searched(self: Any, query: Any, k: int, *mask: Any) -> Any:
        found[(*self.now, query.tobytes())] = ids = search(self, query, k, *mask)
        return ids

    with monkeypatch.context() as patch:
        patch.setattr(kind, "set_search_params", tuned)
        patch.setattr(kind, "search", searched)
        result = rg.ann(VECTORS, spec, queries=QUERIES, metric="l2", store=store, rounds=2)
    truth = rg.exact_neighbours(VECTORS, QUERIES, 10, "l2")[0]

    def recall(lists: Any) -> float:
        pairs = zip(lists, truth.tolist(), strict=True)
        return float(np.mean([len(set(map(int, ids)) & set(exact)) / 10 for ids, exact in pairs]))

    for parameters in parse_grid(spec):
        index = make_index(str(parameters.pop("index")))
        row = next(one for one in result.study.trials if parameters.items() <= one.parameters.items())
        mean = result.figures.mean(row.name)
        assert mean is not None
        now = tuple(parameters[key] for key in index.searched)
        assert mean.mean == pytest.approx(recall(found[(*now, q.tobytes())] for q in QUERIES), abs=1e-9)
        if not ("usearch" in spec or "hnsw" in spec):
            index.build(VECTORS, "l2", **{key: one for key, one in parameters.items() if key not in index.searched})
            index.set_search_params(**{key: parameters[key] for key in index.searched})
            assert mean.mean == pytest.approx(recall(index.search(q, 10) for q in QUERIES), abs=1e-9)
        assert row.find_measurement_value("latency_p50_ms")
        assert row.find_measurement_value("latency_p99_ms") is None
        assert row.find_measurement_value("index_bytes")
    said: list[str] = []
    rg.ann(VECTORS, spec, queries=QUERIES, metric="l2", store=store, rounds=2, say=said.append)
    assert len(said) == 1
    assert "already done" in said[0]


def test_files_are_read_and_bad_ones_told(tmp_path: Path) -> None:
    """.npy and .fvecs give the same vectors; mixed dimensions and unknown names are errors with the place."""
    np.save(tmp_path / "v.npy", VECTORS)
    rows = np.hstack([np.full((5_000, 1), 24, dtype="<i4"), VECTORS.view("<i4")])
    rows.tofile(tmp_path / "v.fvecs")
    assert (read_vectors(tmp_path / "v.npy").vectors == read_vectors(tmp_path / "v.fvecs").vectors).all()
    rows[7, 0] = 23
    rows.tofile(tmp_path / "v.fvecs")
    with pytest.raises(DataError, match="row 7: it has 23 dimensions, but the rows before it have 24"):
        read_vectors(tmp_path / "v.fvecs")
    with pytest.raises(UnknownName, match="nearest: hnswlib"):
        parse_grid("hnswlb")
    with pytest.raises(UsageError, match="--holdout"):
        rg.ann(VECTORS, "null", store=f"sqlite:///{tmp_path / 'store.db'}")


@pytest.mark.parametrize("name", ["hnswlib", "faiss-hnsw", "faiss-ivf", "faiss-sq"])
def test_a_filter_inside_the_index_finds_only_what_passes(name: str) -> None:
    """With a mask, every id found passes; where few or none pass, at most these are found, by hnswlib all of them."""
    skip_uncompiled(name)
    index = make_index(name)
    assert index.filters
    index.build(VECTORS, "cosine")
    index.set_search_params(**{key: index.defaults[key] for key in index.searched})
    few = [np.isin(np.arange(5_000), some) for some in ((8, 9), (5, 600, 700, 800, 900, 1_000, 4_000), ())]
    for passing in (np.arange(5_000) % 7 == 0, *few):
        found = index.search(QUERIES[0], 10, passing)
        assert passing[np.asarray(found, dtype=int)].all()
        assert len(found) <= passing.sum()
        if name == "hnswlib":
            assert len(found) == min(10, passing.sum())


def test_a_search_of_faiss_leaves_its_threads_as_they_were() -> None:
    """One thread is for the search alone; a query of zeros is no error."""
    import faiss

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(3)
    try:
        index = make_index("faiss-sq")
        index.build(VECTORS, "cosine")
        assert len(index.search(np.zeros(24, dtype=np.float32), 10)) == 10
        assert faiss.omp_get_max_threads() == 3
    finally:
        faiss.omp_set_num_threads(before)


def test_symbols_of_recall_have_their_own_values() -> None:
    """A[k] is what was found, once each; d[i] its distances; d_k the k-th nearest; n how many there are."""
    metric = AnnRecall(k=3)
    case = ExampleCase(Facts(Example("v0", "?"), Response("v0")))
    case._known["labels.neighbours"] = FoundNeighbors((4, 4, 7), (0.1, 0.1, 0.25), (0.1, 0.2))
    shown = {name: value(case.read_fact("labels.neighbours"), case, metric) for name, value in NEIGHBOR_SYMBOLS.items()}
    assert shown == {"A[k]": "4, 7", "d[i]": "d[4] = 0.1, d[7] = 0.25", "d_k": "0.2", "n": "2"}
    case._known["labels.neighbours"] = FoundNeighbors((), (), (), "a zero vector has no direction")
    shown = {name: value(case.read_fact("labels.neighbours"), case, metric) for name, value in NEIGHBOR_SYMBOLS.items()}
    assert (shown["A[k]"], shown["d_k"], shown["n"]) == ("none", "none: a zero vector has no direction", "0")


def test_recall_at_parts_is_that_of_indexes_over_them_and_at_more_is_predicted(tmp_path: Path) -> None:
    """Each size holds the smaller ones; exact search stays at 1; a graph's recall falls, and within its interval."""
    store = f"sqlite:///{tmp_path / 'store.db'}"
    indexes = ["faiss-sq:bits=float16", "faiss-hnsw:M=4:ef_construction=10:ef_search=4"]
    half = rg.ann(VECTORS[:2_500], indexes, queries=QUERIES, metric="l2", store=store, rounds=1, growth=True, name="h")
    whole = rg.ann(VECTORS, indexes, queries=QUERIES, metric="l2", store=store, rounds=1, growth=True, name="w")
    graph = next(one for one in half.study.trials if one.parameters["index"] == "faiss-hnsw")
    sizes = [156, 312, 625, 1_250, 2_500]
    recalls = [graph.find_measurement_value(f"recall_at_{size}") or 0 for size in sizes]
    assert recalls[-1] == pytest.approx(mean_of(half, graph.name))
    assert recalls == sorted(recalls, reverse=True)
    predicted = next(one for one in graph.measurements if one.name == "predicted_at_5000")
    assert predicted.low is not None
    assert predicted.high is not None
    assert predicted.low <= mean_of(whole, graph.name) <= predicted.high
    exact = next(one for one in half.study.trials if one.parameters["index"] == "faiss-sq")
    assert (exact.find_measurement_value("recall_at_156") or 0) > 0.99
    assert "Growth" in half.to_markdown()
    lists = rg.ann(
        VECTORS[:2_500], "faiss-ivf:nlist=400:nprobe=9", queries=QUERIES, store=store, rounds=1, growth=True, name="i"
    ).study.trials[0]
    assert lists.state == "complete"
    assert lists.find_measurement_value("recall_at_312") is None  # fewer vectors than lists
    assert lists.find_measurement_value("predicted_at_5000") is not None
    assert "not built" in rg.open_study("i", store=store).to_markdown()
    with pytest.raises(UsageError, match="at least 80 vectors, got 60"):
        rg.ann(VECTORS[:60], "null", queries=QUERIES, store=store, growth=True)


def test_a_check_holds_an_index_to_a_floor_or_to_an_earlier_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over the file as it is now: 0 where recall is kept, 3 where it fell, 4 where queries are too few to tell."""
    store, file, asked = f"sqlite:///{tmp_path / 'store.db'}", tmp_path / "v.npy", tmp_path / "q.npy"
    monkeypatch.setenv("RAGAUGE_STORE", store)
    np.save(file, VECTORS[:1_000])
    np.save(asked, QUERIES)
    found = rg.ann(file, "faiss-ivf:nlist=20:nprobe=1,4", queries=QUERIES, metric="l2", store=store, rounds=1)
    fast, good = (one.name for one in found.study.trials)
    mean = mean_of(found, good)

    def code(*more: str) -> int:
        words = ["ragauge", "component", "ann", "check", "ann-v", "--queries", str(asked), *more]
        monkeypatch.setattr("sys.argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    assert code("--min", str(mean - 0.2), "--name", "first") == 0
    assert code("--min", str(mean + 0.2)) == 3
    assert code("--min", str(round(mean, 3))) == 4
    assert code("--baseline", "first") == 0
    assert code("--baseline", "first", "--trial", fast) == 3
    for words, told in (
        ((), "give either --min"),
        (("--min", "95"), "a recall from 0 to 1, got 95"),
        (("--baseline", "first", "--max-drop", "0.01"), "such as '1 points' or 1%, got '0.01'"),
    ):
        asked_before = len(rg.runs(store=store))
        assert code(*words) == 2
        assert told in capsys.readouterr().err
        assert len(rg.runs(store=store)) == asked_before  # nothing was asked
    np.save(file, VECTORS[:1_500])
    assert code("--min", "0.1", "--name", "grown") == 0
    assert rg.open_run("grown", store=store).run.config["n"] == 1_500
    np.save(asked, QUERIES[:-1])
    assert code("--baseline", "first") == 2
    assert "used different queries" in capsys.readouterr().err


def test_a_portfolio_stops_at_the_first_setting_that_surely_meets_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest are not built, and said not to be needed; a higher target goes on where it stopped, none builds all."""
    built: list[tuple[int, int]] = []
    kind = type(make_index("faiss-hnsw"))
    build = kind.build

    def counted(self: Any, vectors: Any, metric: Any, **parameters: Any) -> None:
        built.append((parameters["M"], parameters["ef_construction"]))
        build(self, vectors, metric, **parameters)

    monkeypatch.setattr(kind, "build", counted)
    store, said = f"sqlite:///{tmp_path / 'store.db'}", list[str]()

    def asked(**more: Any) -> rg.StudyResult:
        built.clear()
        return rg.ann(VECTORS, "faiss-hnsw", queries=QUERIES, rounds=1, portfolio=True, store=store, name="p", **more)

    few = asked(target="ann_recall@10=0.96", say=said.append)
    first, met, *rest = few.study.trials
    lows = [mean.interval.low for one in (first, met) if (mean := few.figures.mean(one.name)) and mean.interval]
    assert lows[0] < 0.96 <= lows[1]
    assert built == [(16, 128), (32, 128)]
    assert [(one.state, one.run_id) for one in rest] == [("pruned", "")] * 3
    reason = f"skipped: the whole interval of {met.name} meets ann_recall@10 ≥ 0.96"
    assert {one.reason for one in rest} == {reason}
    assert f"{reason[1:]}: {rest[0].name}" in few.to_markdown().replace("\\_", "_").replace("\n", " ")
    assert sum(reason in line for line in said) == 3
    assert few.recommendation.trial == met.name

    lower = asked(target=0.85)
    assert built == []
    assert {one.reason.split(" of ")[1].split()[0] for one in lower.study.trials if one.reason} == {first.name}
    more = asked(target="ann_recall@10=0.98")
    assert built == [(16, 128), (64, 128), (128, 256)]
    assert {trial.state for trial in more.study.trials} == {"complete"}
    with pytest.raises(UnknownName, match="metric of this study"):
        asked(target="recall@10=0.9")


def test_each_filter_has_its_own_way_through_a_portfolio(tmp_path: Path) -> None:
    """What meets the target unfiltered says nothing of a filter: there further settings are tried."""
    found = rg.ann(
        VECTORS,
        "faiss-hnsw",
        queries=QUERIES,
        rounds=1,
        portfolio=True,
        store=f"sqlite:///{tmp_path / 'store.db'}",
        target=0.6,
        selectivity=(1, 0.1),
        labels="random",
        oversample=1,
    )
    made = {
        way: [one.state for one in found.study.trials if one.parameters.get("filter_by") == way]
        for way in (None, "post", "inside")
    }
    assert made[None].count("complete") < made["post"].count("complete") == 5
    assert made[None].count("pruned") == 5 - made[None].count("complete") > 0


KILLED = """
import sys, time
import numpy as np
import ragauge as rg
from ragauge.studies.ann.library_indexes import FaissIvf
url, log, lists = sys.argv[1:]
build = FaissIvf.build
def noted(self, vectors, metric, **parameters):
    with open(log, "a") as file:
        file.write(f"{parameters['nlist']}\\n")
    time.sleep(0.05)
    build(self, vectors, metric, **parameters)
FaissIvf.build = noted
vectors = np.random.default_rng(0).standard_normal((2_000, 8), dtype=np.float32)
rg.ann(vectors[20:], f"faiss-ivf:nlist={lists}:nprobe=1,2", queries=vectors[:20], store=url, rounds=1, name="killed")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("builds", "kills"), [(8, 2), pytest.param(42, 20, marks=pytest.mark.prove)])
def test_a_killed_study_makes_no_complete_trial_again(tmp_path: Path, builds: int, kills: int) -> None:
    """After kill -9 what is complete stays as it is, and the results are those of an undisturbed study."""
    url, log, draw = f"sqlite:///{tmp_path / 'killed.db'}", tmp_path / "log", random.Random(21)
    lists = list(range(2, 2 + builds))
    words = [sys.executable, "-c", KILLED]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def begun(store: str, note: Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*words, store, str(note), ",".join(map(str, lists))], env=environment)

    def complete() -> dict[str, Any]:
        with open_store(url) as store:
            known = store.studies.read("killed").trials if store.studies.has_study("killed") else ()
            for one in known:
                assert (store.runs.count_responses(one.run_id) == 20) if one.state == "complete" else not one.run_id
        return {one.name: one for one in known if one.state == "complete"}

    kept: dict[str, Any] = {}
    for _ in range(kills):
        log.unlink(missing_ok=True)
        child, wanted = begun(url, log), draw.randint(1, 2)
        while child.poll() is None and not (log.exists() and len(log.read_text().split()) >= wanted):
            time.sleep(0.005)
        time.sleep(draw.uniform(0, 0.15))
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
        whole = {n for n in lists if sum(f"nlist={n}:" in name for name in kept) == 2}
        assert not whole & set(map(int, log.read_text().split()))
        now = complete()
        assert {name: now.get(name) for name in kept} == kept
        kept = now
    assert 0 < len(kept) < 2 * builds
    other = f"sqlite:///{tmp_path / 'whole.db'}"
    for store in (url, other):
        assert begun(store, log).wait() == 0
    found = complete()
    assert {name: found[name] for name in kept} == kept
    assert len(found) == 2 * builds

    def results(store_url: str) -> dict[str, Any]:
        with open_store(store_url) as store:
            assert len(store.runs.list(study="killed")) == 2 * builds
            found = {}
            for one in store.studies.read("killed").trials:
                scores = store.scores.load_frame(one.run_id, None).sort("metric", "query_id")
                values = scores.select("metric", "query_id", "status", "value").rows()
                found[one.name] = (
                    one.find_measurement_value("index_bytes"),
                    one.find_measurement_value("list_imbalance"),
                    values,
                )
            return found

    assert results(url) == results(other)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("hnswlib:M=0", "M must be a whole number from 2 to 1,024, got 0"),
        ("faiss-hnsw:M=16,1", "M must be a whole number from 2 to 1,024, got 1"),
        ("faiss-hnsw:M=abc", "got 'abc'"),
        ("usearch:M=2.5", "got 2.5"),
        ("faiss-hnsw:ef_search=-3", "ef_search must be a whole number from 1 to 100,000, got -3"),
        ("faiss-ivf:nprobe=0", "nprobe must be .* got 0"),
        ("faiss-ivf:nlist=0", "nlist must be .* got 0"),
        ("faiss-ivf:nlist=5001", "nlist=5001 is more than the 5000 vectors"),
        ("faiss-pq:m=7", "m=7 does not divide the 24 dimensions"),
        ("faiss-pq:m=8:nbits=13", "needs 8192 vectors to train on, got 5000"),
        ("faiss-sq:bits=int9", "no value of faiss-sq: bits 'int9'; nearest: int8"),
        ("usearch:dtype=f31", "nearest: f32"),
        ("faiss-hnsw:ef_serch=3", "nearest: ef_search"),
    ],
)
def test_a_parameter_that_a_library_cannot_take_is_told_before_anything_is_built(
    spec: str, told: str, tmp_path: Path
) -> None:
    """What would end the process, or be taken silently, is an error with what was expected; no study is kept."""
    skip_uncompiled(spec)
    store = f"sqlite:///{tmp_path / 'store.db'}"
    with pytest.raises(UsageError, match=told):
        rg.ann(VECTORS, [*(["null"] if "hnsw" in spec else []), spec], queries=QUERIES, store=store)
    with open_store(store) as opened:
        assert not opened.runs.list()


@pytest.mark.parametrize("spec", ["hnswlib:ef_search=4", "faiss-hnsw:ef_search=4", "usearch:ef_search=4", "faiss-sq"])
def test_of_fewer_than_k_vectors_all_are_found(spec: str, tmp_path: Path) -> None:
    """Five vectors and k = 10: every library gives the five."""
    skip_uncompiled(spec)
    found = rg.ann(VECTORS[:5], spec, queries=QUERIES, store=f"sqlite:///{tmp_path / 'store.db'}", rounds=1)
    assert mean_of(found, found.figures.complete[0].name) == 1


@pytest.mark.parametrize(("metric", "times"), [("ip", 1e20), ("l2", 1e30), ("cosine", 1e-30), ("l2", 1e-30)])
def test_lengths_whose_squares_float32_does_not_hold_are_refused(metric: Any, times: float, tmp_path: Path) -> None:
    """Libraries would give infinite or no distances: vectors and queries alike are told, with what to do."""
    wide = VECTORS[:50].astype(np.float64)
    store = f"sqlite:///{tmp_path / 'store.db'}"
    for vectors, queries in ((wide * times, QUERIES), (wide, QUERIES * np.float64(times))):
        with pytest.raises(DataError, match=r"for float32.* Rescale"):
            rg.ann(vectors, "null", queries=queries, metric=metric, store=store)
        with pytest.raises(DataError, match=r"for float32.* Rescale"):
            rg.exact_neighbours(vectors, queries, 3, metric)
    some = np.vstack([wide, wide[:1] * 1e-30])  # under l2 a short one among longer ones is as good as zeros
    assert rg.exact_neighbours(some, QUERIES, 51, "l2")[0].shape == (40, 51)


@pytest.mark.parametrize("k", [2.5, True, 0, "3"])
def test_k_is_a_whole_number(k: Any) -> None:
    """Anything else is an error that shows it."""
    with pytest.raises(UsageError, match=f"k must be an integer of at least 1, got {k!r}"):
        rg.exact_neighbours(VECTORS, QUERIES, k)
