"""How often a day's questions are called different: when they are, and when they are not.

    python bench/drift.py [--data ../shared/data] [--trials 100] [--check] [--tests]

A trial draws a day's 500 questions of a public data set, of which none, 10 % or 20 % are replaced by another set's;
the others are the baseline, 500 to 1,400. Figures are asked of foreign topics, biomedicine and finance; Wikipedia and
quizzes, which have every topic, stand beside them. Embedded by the embedder in the wheel. Where it is exchanged, the
day is embedded by latent semantic analysis of as many dimensions, or by the same vectors turned at random.

--tests holds the test that decides against others on the days that it finds hardest: MMD with a Gaussian kernel, the
distance of means after whitening, and the shares of twenty clusters by chi-square, all with the same permutations.
"""

from __future__ import annotations

import argparse
import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ragauge.models.embedders.base import WordLlamaEmbedder
from ragauge.monitoring.drift.compute import measure_drift

Array = npt.NDArray[np.float64]
DAY, PERMUTATIONS = 500, 399
ASKED = {"none": (0.0, 0.02), "10 %": (0.70, 1.0), "20 %": (0.95, 1.0), "embedder": (1.0, 1.0)}  # bounds


def pubmedqa(data: Path) -> list[str]:
    """Questions about abstracts of biomedical papers."""
    return [one["QUESTION"] for one in json.loads((data / "pubmedqa/ori_pqal.json").read_text()).values()]


def xquad(data: Path) -> list[str]:
    """Questions about paragraphs of Wikipedia."""
    articles = json.loads((data / "xquad/xquad.en.json").read_text())["data"]
    return [qa["question"] for article in articles for part in article["paragraphs"] for qa in part["qas"]]


def trivia(data: Path) -> list[str]:
    """Questions of quizzes."""
    return [one["question"] for one in json.loads((data / "qa_eval_evouna/TQ.json").read_text())]


def tatqa(data: Path) -> list[str]:
    """Questions about financial reports."""
    lines = (data / "tatqa/questions.jsonl").read_text().splitlines()
    return [json.loads(line)["query"] for line in lines]


CORPORA = {one.__name__: one for one in (pubmedqa, xquad, trivia, tatqa)}
HOMES = ("pubmedqa", "xquad", "trivia")  # those with 1,000 questions
TOPICS = ("pubmedqa", "tatqa")


@cache
def vectors(name: str, data: Path) -> Array:
    """The embeddings of a data set's questions, each text once."""
    texts = list(dict.fromkeys(CORPORA[name](data)))
    return np.asarray(WordLlamaEmbedder().embed(texts), dtype=float)


@cache
def latent(name: str, data: Path) -> Array:
    """The same texts by another embedder: latent semantic analysis of their words."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import svds

    texts = list(dict.fromkeys(CORPORA[name](data)))
    words: dict[str, int] = {}
    cells = [(row, words.setdefault(word, len(words))) for row, text in enumerate(texts) for word in text.split()]
    rows, places = zip(*cells, strict=True)
    counts = csr_matrix((np.ones(len(cells)), (rows, places)))
    left, sizes, _ = svds(counts, k=vectors(name, data).shape[1], random_state=0)
    found = left * sizes
    return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9))


def share(home: str, foreign: str, part: float, data: Path, trials: int) -> float:
    """How many of the trials call a day different of which a part is foreign."""
    own, other = vectors(home, data), vectors(foreign, data)
    found = 0
    for trial in range(trials):
        draw = np.random.default_rng([trial, int(100 * part)])
        chosen = own[draw.permutation(len(own))]
        now, before = chosen[:DAY], chosen[DAY:]
        count = int(part * DAY)
        now[:count] = other[draw.permutation(len(other))[:count]]
        found += bool(measure_drift("queries", before, now, permutations=PERMUTATIONS, seed=trial).drifted)
    return found / trials


def exchanged(home: str, data: Path, trials: int, *, turned: bool) -> float:
    """How many of the trials call a day different that another embedder embedded."""
    own = vectors(home, data)
    random = np.random.default_rng(1).normal(size=(own.shape[1], own.shape[1]))
    other = own @ np.linalg.qr(random)[0] if turned else latent(home, data)
    found = 0
    for trial in range(trials):
        order = np.random.default_rng(trial).permutation(len(own))
        one = measure_drift("queries", own[order[DAY:]], other[order[:DAY]], permutations=PERMUTATIONS, seed=trial)
        found += bool(one.drifted)
    return found / trials


def of_means(pooled: Array, members: Array) -> Array:
    """The distance of mean embeddings, for each choice of members."""
    return np.asarray(((members @ pooled) ** 2).sum(axis=1))


def of_whitened_means(pooled: Array, members: Array) -> Array:
    """The same, where every direction has the same variance but for a tenth of the mean one."""
    left, sizes, _ = np.linalg.svd(pooled, full_matrices=False)
    variance = sizes**2 / len(pooled)
    return of_means(left * sizes / np.sqrt(variance + 0.1 * variance.mean()), members)


def of_kernel(pooled: Array, members: Array) -> Array:
    """MMD with a Gaussian kernel as wide as the median distance."""
    lengths = (pooled**2).sum(axis=1)
    apart = np.maximum(lengths[:, None] + lengths[None] - 2 * pooled @ pooled.T, 0)
    kernel = np.exp(-apart / np.median(apart))
    n = members[0].sum()
    weights = members / n - (1 - members) / (len(pooled) - n)
    return np.asarray(np.einsum("ij,ij->i", weights @ kernel, weights))


def of_clusters(pooled: Array, members: Array) -> Array:
    """The chi-square of the shares of twenty clusters."""
    from scipy.cluster.vq import kmeans2

    places = kmeans2(pooled, 20, minit="++", rng=np.random.default_rng(0))[1]
    held = np.eye(20)[places]
    expected = members[0].sum() * held.sum(axis=0) / len(pooled)
    return np.asarray(((members @ held - expected) ** 2 / np.maximum(expected, 1e-9)).sum(axis=1))


TESTS = (of_means, of_kernel, of_whitened_means, of_clusters)
HARD = (
    ("xquad", "pubmedqa", 0.1),
    ("xquad", "trivia", 0.1),
    ("trivia", "xquad", 0.1),
    ("trivia", "xquad", 0.2),
    ("xquad", "xquad", 0.0),
)


def other_tests(data: Path, trials: int, permutations: int = 199) -> None:
    """Prints how often each test calls the hardest days different."""
    for home, foreign, part in HARD:
        own, other, found = vectors(home, data), vectors(foreign, data), dict.fromkeys(TESTS, 0)
        for trial in range(trials):
            draw = np.random.default_rng([trial, int(100 * part), 7])
            chosen = own[draw.permutation(len(own))]
            chosen[: int(part * DAY)] = other[draw.permutation(len(other))[: int(part * DAY)]]
            pooled = chosen - chosen.mean(axis=0)
            members = np.zeros((permutations + 1, len(pooled)))
            for row in range(permutations + 1):
                members[row, draw.permutation(len(pooled))[:DAY] if row else slice(DAY)] = 1
            for test in TESTS:
                apart = test(pooled, members)
                found[test] += int((apart >= apart[0] * (1 - 1e-9)).mean() <= 0.01)
        told = ", ".join(f"{test.__name__} {n / trials:.0%}" for test, n in found.items())
        print(f"{part:.0%} {foreign} in {home}: {told}", flush=True)


def main() -> int:
    """Prints the tables; with --check the exit code says whether all of it keeps what is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tests", action="store_true")
    given = parser.parse_args()
    if given.tests:
        other_tests(given.data, given.trials)
        return 0
    kept = True

    def said(what: str, asked: str, found: float) -> None:
        nonlocal kept
        low, high = ASKED.get(asked, (0.0, 1.0))
        kept &= low <= found <= high
        print(f"  {what}: {found:.1%}" + (f" (asked: {low:.0%} to {high:.0%})" if asked else ""), flush=True)

    for home in HOMES:
        print(home)
        said("resampled", "none", share(home, home, 0.0, given.data, 5 * given.trials))
        for foreign in CORPORA:
            if foreign != home:
                for part, name in ((0.1, "10 %"), (0.2, "20 %")):
                    asked = name if foreign in TOPICS else ""
                    said(f"{name} {foreign}", asked, share(home, foreign, part, given.data, given.trials))
        for turned in (False, True):
            how = "turned at random" if turned else "latent semantic analysis"
            said(f"embedder: {how}", "embedder", exchanged(home, given.data, given.trials // 5, turned=turned))
    return 0 if kept or not given.check else 1


if __name__ == "__main__":
    sys.exit(main())
