"""`ragauge ann`: what an index of vectors misses, and how fast it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ragauge.cli import options
from ragauge.cli.output import show, show_json


def ann(
    vectors: Annotated[str, typer.Argument(metavar="VECTORS", help="A file .npy, .fvecs, .parquet or .hdf5.")],
    index: Annotated[
        list[str], typer.Option("--index", help="Such as hnswlib:M=16,32:ef_search=32,64; give several.")
    ],
    queries: Annotated[str, typer.Option("--queries", help="A file of vectors to ask.")] = "",
    holdout: Annotated[int, typer.Option("--holdout", help="Take so many of the vectors out and ask them.")] = 0,
    metric: Annotated[Literal["cosine", "l2", "ip"], typer.Option("--metric", help="Of the vectors.")] = "cosine",
    k: Annotated[int, typer.Option("-k", help="How many neighbours.")] = 10,
    portfolio: Annotated[bool, typer.Option("--portfolio", help="OpenSearch's five settings of a graph.")] = False,
    rounds: Annotated[int, typer.Option("--rounds", help="How often every query is timed.")] = 3,
    name: Annotated[str, typer.Option("--name", help="Of the study; ann-FILE by default.")] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget a study of this name first.")] = False,
    base: Annotated[str, typer.Option("--base", help="The trial that others are held against.")] = "",
    target: Annotated[
        str, typer.Option("--target", metavar="METRIC=x", help="Take the cheapest that surely reaches it.")
    ] = "",
    cost: Annotated[str, typer.Option("--cost", help="The measurement that a trial costs.")] = "",
    log: Annotated[bool, typer.Option("--log", help="Look for the knee on the logarithm of the cost.")] = False,
    outputs: Annotated[
        list[Path] | None, typer.Option("-o", "--output", help="A file: .md, .html, .json, .csv.")
    ] = None,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Say what an approximate index of vectors misses, and how fast it is at what recall.

    Every setting is a trial of a study. The same command goes on with a study that was stopped.
    """
    from ragauge.api import ann as api

    result = api.ann(
        vectors, index, queries=queries or None, holdout=holdout, metric=metric, k=k, portfolio=portfolio,
        rounds=rounds, name=name, fresh=fresh, base=base, target=target or None, cost=cost, log=log,
        store=store or None, say=lambda line: typer.echo(line, err=True),
    )     # fmt: skip
    for path in outputs or ():
        typer.echo(f"wrote {result.save(path)}", err=True)
    show_json(result.to_dict()) if as_json else show(result.to_terminal())
    if not result.figures.complete:
        raise typer.Exit(1)
