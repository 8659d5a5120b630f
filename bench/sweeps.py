"""What a sweep costs beyond its system: 24 trials × 200 questions with a system that answers at once.

python bench/sweeps.py

Wall time of a sweep without a race beside 24 times run and evaluate, and with one; CPU time of reading the finished
study (best set, correction, effects, knee, six metrics); calls of index beside distinct index settings.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import ragauge as rg

PARAMETERS: dict[str, list[Any]] = {"model": ["a", "b", "c"], "size": [1, 2, 3, 4], "k": [1, 2]}
METRICS = ("token_f1", "answer_contains", "answer_tokens")  # beside exact_match, context_tokens and latency
QUESTIONS = 200


def questions() -> rg.EvalSet:
    """Questions whose answers stand in them."""
    return rg.EvalSet(
        "instant", tuple(rg.Example(f"q{n}", f"question {n}", references=(f"answer {n}",)) for n in range(QUESTIONS))
    )


def index(size: int) -> int:
    """An index that is its size."""
    return size


def build(held: int, model: str, k: int) -> Any:
    """A system that answers at once, model c rightly most often."""

    def answer(question: str) -> dict[str, Any]:
        right = random.Random(f"{question} {model} {held}").random() < 0.5 + 0.1 * "abc".index(model)
        text = question.replace("question", "answer") if right else "no idea"
        return {"answer": text, "passages": [{"doc_id": f"d{n}", "text": f"text {n}"} for n in range(k)]}

    return answer


def sweep(folder: str, *, race: bool) -> Any:
    """The whole sweep."""
    return rg.sweep(
        {"index": index, "build": build},
        questions(),
        parameters=PARAMETERS,
        index=["size"],
        objective="exact_match",
        metrics=METRICS,
        race=race,
        name="bench",
        store=f"sqlite:///{Path(folder) / 's.db'}",
    )


def one_by_one(folder: str) -> None:
    """Each configuration by run and evaluate."""
    store, asked = f"sqlite:///{Path(folder) / 's.db'}", questions()
    metrics = ("exact_match", *METRICS, "context_tokens", "cost", "latency")
    for model in PARAMETERS["model"]:
        for size in PARAMETERS["size"]:
            for k in PARAMETERS["k"]:
                run = rg.run(build(size, model, k), asked, name=f"{model}-{size}-{k}", store=store)
                rg.evaluate(run, metrics=metrics, store=store)


def main() -> None:
    """Prints four figures."""
    with tempfile.TemporaryDirectory() as folder:
        one_by_one(folder)  # warms up
    with tempfile.TemporaryDirectory() as folder:
        begun, cpu = perf_counter(), process_time()
        one_by_one(folder)
        print(f"24 x (run + evaluate)   {perf_counter() - begun:6.1f} s, {process_time() - cpu:6.1f} s CPU", flush=True)
    for race in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            begun, cpu = perf_counter(), process_time()
            result = sweep(folder, race=race)
            name = "sweep, raced" if race else "sweep, all asked"
            print(f"{name:23} {perf_counter() - begun:6.1f} s, {process_time() - cpu:6.1f} s CPU", flush=True)
            cpu = process_time()
            found = rg.open_study("bench", store=f"sqlite:///{Path(folder) / 's.db'}")
            shown = len(found.best_set), found.recommendation.trial, found.knee, found.figures.contents, found.to_dict()
            print(f"reading the study       {process_time() - cpu:6.2f} s CPU ({shown[0]} may be the best)", flush=True)
            settings = len(PARAMETERS["size"])
            print(f"index                   {result.log.index_calls} calls, {settings} settings", flush=True)


if __name__ == "__main__":
    main()
