"""The figures of the local judge on sources left out, in Markdown, as docs/local-judge.md has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def tables(rates: Mapping[str, Any]) -> str:
    """The held-out figures in Markdown."""
    parts = []
    for name, title in TITLES.items():
        parts += [f"### {title}", "", *source_lines(rates[name]["sources"], rates[name].get("pooled")), ""]
        if "bands" in rates[name]:
            absent = rates[name]["absent"]
            parts += [*band_lines(rates[name]["bands"]), ""]
            parts += [
                f"Claims with a number in digits that is nowhere, or contradicted by a near-copy: {absent['n']}; "
                f"{absent['supported']:.0%} were supported.",
                "",
            ]
    parts += [f"### {ADDRESSED}", "", *address_lines(rates["address"])]
    return "\n".join(parts).rstrip()


ADDRESSED = "Answers that people wrote, and the same answers beside other questions"
TITLES = {
    "overlap_words": "Support of a claim, English",
    "overlap_grams": "Support of a claim, pieces of words (the same data read as if it were not English)",
    "relevance": "Relevance of a passage",
    "relevance_lexical": "Relevance of a passage, without embeddings",
}


def source_lines(rows: Mapping[str, Mapping[str, float]], pooled: Mapping[str, float] | None) -> list[str]:
    """Figures by source."""
    columns = ["n", "positive", "auroc", "balanced_accuracy", "brier", "ece"]
    heads = ["n", "positive", "AUROC", "balanced accuracy", "Brier", "ECE"]
    if any("coverage_auroc" in row for row in rows.values()):
        columns.insert(3, "coverage_auroc")
        heads.insert(3, "AUROC of token coverage")
    lines = [f"source | {' | '.join(heads)}", "---|" + "|".join(["---:"] * len(heads))]
    names = [name for name in rows if name != "mean" and "(" not in name]
    others = [name for name in rows if "(" in name]
    listed = [(name, rows[name]) for name in sorted(names)] + [("**mean**", rows["mean"])]
    listed += [("all together", pooled)] if pooled else []
    for name, row in [*listed, *((name, rows[name]) for name in others)]:
        cells = [f"{row['n']:.0f}", *(f"{row[column]:.3f}" for column in columns[1:])]
        lines.append(f"{name} | {' | '.join(cells)}")
    return lines


def band_lines(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many claims of each band of p people called supported."""
    lines = ["p | claims | supported | least to greatest by source", "---|---:|---:|---"]
    for row in rows:
        rate = "–" if row["supported"] is None else f"{row['supported']:.0%}"
        spread = "–" if row["least"] is None else f"{row['least']:.0%} to {row['greatest']:.0%}"
        lines.append(f"{row['low']:g} to {row['high']:g} | {row['n']} | {rate} | {spread}")
    return lines


def address_lines(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """What is said of answers beside their own question and beside another."""
    columns = ("own_refused", "own_no", "own_partly", "other_no", "other_partly")
    lines = [
        "source | answers | called a refusal | off the topic | partial | another question: off the topic | partial",
        "---|---:|---:|---:|---:|---:|---:",
    ]
    for name, row in sorted(rows.items()):
        lines.append(f"{name} | {row['n']:.0f} | {' | '.join(f'{row[column]:.1%}' for column in columns)}")
    return lines
