"""`ragauge embeddings`: which embedder finds what is relevant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from ragauge.api.inputs.calls import USUAL, ModelCallOptions
from ragauge.cli import options
from ragauge.cli.output import show, show_json
from ragauge.errors import UsageError

PREFIX = "[EMBEDDER=]TEXT"


@options.grouped
def embeddings(
    questions: Annotated[str, typer.Argument(metavar="SET", help="Questions with relevant documents; a BEIR folder.")],
    corpus: Annotated[str, typer.Option("--corpus", help="A folder of text files or BEIR's, a file with ids, texts.")],
    embedder: Annotated[
        list[str], typer.Option("--embedder", help="local, provider:model, or module:name; give several.")
    ],
    dimensions: Annotated[str, typer.Option("--dimensions", help="The first so many numbers too: 256,128.")] = "",
    quantize: Annotated[str, typer.Option("--quantize", help="Smaller numbers too: int8,binary.")] = "",
    query_prefix: Annotated[
        list[str] | None, typer.Option("--query-prefix", metavar=PREFIX, help="What stands before each question.")
    ] = None,
    document_prefix: Annotated[
        list[str] | None, typer.Option("--document-prefix", metavar=PREFIX, help="What stands before each document.")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="Of the study; embeddings-SET by default.")] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget a study of this name first.")] = False,
    metric: Annotated[str, typer.Option("--metric", help="What decides; ndcg@10 by default.")] = "",
    base: Annotated[str, typer.Option("--base", help="The trial that others are held against.")] = "",
    target: Annotated[
        str, typer.Option("--target", metavar="METRIC=x", help="Take the cheapest that surely reaches it.")
    ] = "",
    cost: Annotated[str, typer.Option("--cost", help="The measurement that a trial costs.")] = "",
    log: Annotated[bool, typer.Option("--log", help="Look for the knee on the logarithm of the cost.")] = False,
    decide: options.Decide = "interval",
    outputs: Annotated[
        list[Path] | None, typer.Option("-o", "--output", help="A file: .md, .html, .json, .csv.")
    ] = None,
    calls: ModelCallOptions = USUAL,
    store: options.Store = "",
    as_json: options.Json = False,
) -> None:
    """Say which embedder finds what is relevant, at what size and price; BM25 always runs too.

    Every embedder, number of dimensions and precision is a trial of a study. Vectors are kept: the same command goes on
    with a study that was stopped, and embeds no text twice.
    """
    from ragauge.api import embeddings as api

    result = api.embeddings(
        questions, corpus, embedder, dimensions=_numbers(dimensions), quantize=options.names(quantize),
        query_prefix=_prefixes("--query-prefix", query_prefix, embedder),
        document_prefix=_prefixes("--document-prefix", document_prefix, embedder), name=name, fresh=fresh,
        metric=metric, base=base, target=target or None, cost=cost, log=log, decide=decide, store=store or None,
        say=lambda line: typer.echo(line, err=True), **vars(calls),
    )     # fmt: skip
    for path in outputs or ():
        typer.echo(f"wrote {result.save(path)}", err=True)
    show_json(result.to_dict()) if as_json else show(result.to_terminal())
    if not result.figures.complete:
        raise typer.Exit(1)


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in options.names(text)]
    except ValueError:
        raise UsageError(f"--dimensions: expected whole numbers, comma-separated, got {text!r}.") from None


def _prefixes(option: str, given: Sequence[str] | None, embedders: Sequence[str]) -> Mapping[str, str]:
    """Embedder -> prefix; a text that names no embedder stands before the texts of all."""
    found: dict[str, str] = {}
    for text in given or ():
        named = next((one for one in embedders if text.startswith(f"{one}=")), None)
        mine = {named: text[len(named) + 1 :]} if named else dict.fromkeys(embedders, text)
        if twice := [one for one in mine if one in found]:
            raise UsageError(f"{option}: {twice[0]} has two prefixes, {found[twice[0]]!r} and {mine[twice[0]]!r}.")
        found |= mine
    return found
