"""The pages of documentation that this version came with."""

from __future__ import annotations

from pathlib import Path

from ragauge.core.errors import UnknownName

PACKAGED, CHECKOUT = Path(__file__).parents[1] / "docs", Path(__file__).parents[3] / "docs"


def titles() -> dict[str, str]:
    """Name of a page -> its title, in alphabetical order."""
    return {path.stem: _title(path) for path in sorted(_folder().glob("*.md"))}


def page(name: str) -> str:
    """A page as Markdown.

    Args:
        name: of the page; its path in a message, such as ragauge docs gates, will do.

    Raises:
        UnknownName: if there is none of this name.
    """
    stem = Path(name).name.removesuffix(".md")
    if stem not in titles():
        raise UnknownName("page", name, list(titles()), "ragauge docs lists them.")
    return (_folder() / f"{stem}.md").read_text(encoding="utf-8")


def _folder() -> Path:
    return PACKAGED if PACKAGED.is_dir() else CHECKOUT


def _title(path: Path) -> str:
    with path.open(encoding="utf-8") as lines:
        return next((line.removeprefix("# ").strip() for line in lines if line.startswith("# ")), path.stem)
