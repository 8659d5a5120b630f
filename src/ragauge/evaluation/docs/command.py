"""`ragauge docs`: the pages of documentation, without a network."""

from __future__ import annotations

from typing import Annotated

import typer

from ragauge.verbs.command_output import show


def docs(
    topic: Annotated[str, typer.Argument(help="The page, such as gates; lists all pages by default.")] = "",
) -> None:
    """Print a documentation page, or list all pages."""
    from ragauge.evaluation.docs import verb as manual

    if topic:
        typer.echo(manual.read_page(topic))
        return
    titles = manual.list_titles()
    width = max(map(len, titles), default=0)
    for name, title in titles.items():
        show(f"{name:<{width}}  {title}")
