"""`ragauge chunking`: which way of cutting documents serves."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ragauge.cli import options
from ragauge.cli.output import show, show_json
from ragauge.errors import UsageError


def chunking(
    questions: Annotated[str, typer.Argument(metavar="SET", help="Questions with gold spans; or Chroma's CSV.")],
    corpus: Annotated[str, typer.Option("--corpus", help="A folder of text files, or a file with ids and texts.")],
    chunker: Annotated[
        list[str], typer.Option("--chunker", help="Such as token:size=200,400:overlap=0; give several.")
    ],
    retriever: Annotated[Literal["bm25", "dense", "hybrid"], typer.Option("--retriever", help="What ranks.")] = "bm25",
    k: Annotated[str, typer.Option("-k", help="Numbers of chunks to look at.")] = "1,3,5,10,15,20",
    budget: Annotated[str, typer.Option("--budget", help="Numbers of tokens to look at.")] = "512,1024,2048,4096",
    fill: Annotated[Literal["cut", "whole"], typer.Option("--fill", help="cut shortens the last chunk.")] = "cut",
    allow_changed: Annotated[
        bool, typer.Option("--allow-changed", help="Leave out chunks whose text is not in the document.")
    ] = False,
    price_of: Annotated[
        str, typer.Option("--price-of", help="The embedding model whose price an index has.")
    ] = "openai:text-embedding-3-small",
    name: Annotated[str, typer.Option("--name", help="Of the study; chunking-SET by default.")] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget a study of this name first.")] = False,
    metric: Annotated[str, typer.Option("--metric", help="What decides, such as token_iou:budget=1024.")] = "",
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
    """Say which way of cutting documents brings most of the evidence into the context.

    Every chunker is a trial of a study. The same command goes on with a study that was stopped.
    """
    from ragauge.api import chunking as api

    result = api.chunking(
        questions, corpus, chunker, retriever=retriever, k=_numbers("-k", k), budget=_numbers("--budget", budget),
        fill=fill, allow_changed=allow_changed, price_of=price_of, name=name, fresh=fresh, metric=metric, base=base,
        target=target or None, cost=cost, log=log, store=store or None, say=lambda line: typer.echo(line, err=True),
    )     # fmt: skip
    for path in outputs or ():
        typer.echo(f"wrote {result.save(path)}", err=True)
    show_json(result.to_dict()) if as_json else show(result.to_terminal())
    if not result.figures.complete:
        raise typer.Exit(1)


def _numbers(option: str, text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise UsageError(f"{option}: expected whole numbers, comma-separated, got {text!r}.") from None
