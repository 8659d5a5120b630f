"""People's labels: brought in, drawn from runs, planned."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragauge.api.inputs.sources import store_url
from ragauge.api.inputs.typed import keywords
from ragauge.api.label_options import LabelImportOptions
from ragauge.errors import DataError

NAMED = 12     # hex digits of a guideline's hash


@dataclass(frozen=True, slots=True)
class ImportedLabels:
    """What an import brought.

    Attributes:
        read: labels in the file.
        new: those that the store did not have.
        guidelines: hash of instructions -> labels that the store has by them now; "" = instructions not known.
    """

    read: int
    new: int
    guidelines: dict[str, int]


def guideline_named(given: Any) -> tuple[str, str | None]:
    """(hash, text) of instructions; the text is None where a hash was given, both are empty where nothing was.

    Raises:
        DataError: neither a file nor a hash.
    """
    from ragauge.data.label import guideline_of

    if not given:
        return "", None
    path = Path(given)
    if path.is_file():
        text = path.read_text(encoding="utf-8")
        return guideline_of(text), text
    name = str(given).lower()
    if len(name) == NAMED and set(name) <= set("0123456789abcdef"):
        return name, None
    raise DataError(f"no file of instructions {str(given)!r}.", hint="Give a text file, or the hash of known ones.")


@keywords(LabelImportOptions)
def label_import(wanted: LabelImportOptions) -> ImportedLabels:
    """Keeps people's labels, all of a file or none; the same file twice changes nothing.

    A label belongs to the texts that were seen, so it counts in every run where they recur.

    Options:
        source: labels.jsonl of the label page, a CSV of the same columns (key, part, question, value, annotator, at,
            guideline), what `check_judge` reads, or Label Studio's JSON; a path or a table.
        question: that they answer, where the file does not say: "support", "relevance", "address", "refuse",
            "score:METRIC".
        annotator: who gave them, where the file does not say.
        guideline: the instructions, where the file does not say: a text file or a hash. Labels by two are never pooled.
        columns: our field -> the source's column.
        store: URL of the store; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.

    Raises:
        DataError: a row that cannot be read, with its line; a value that is not known, with the nearest.
    """
    from ragauge.data.readers.labels import LabelSource, read_labels
    from ragauge.store.open import open_store

    hashed, _ = guideline_named(wanted.guideline)
    given = LabelSource(wanted.question, wanted.annotator, hashed, wanted.columns or {})
    read = 0

    def counted() -> Any:
        nonlocal read
        for label in read_labels(wanted.source, given):
            read += 1
            yield label

    with open_store(store_url(wanted.store)) as store:
        new = store.labels.add(counted())
        return ImportedLabels(read, new, store.labels.guidelines())
