"""`ragauge testset vary`: the questions of a set put otherwise, beside their originals."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.testsets.options import VarySetOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import ShownResult
from ragauge.verbs.sources import named

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.vary.variant_set import VariedSet


class SetVariation(ShownResult):
    """A set with variants of its questions, in every form.

    Attributes:
        found: its lines, and what became of each kind.
        path: the file.
    """

    def __init__(self, found: VariedSet, path: Path) -> None:
        self.found, self.path = found, path

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.vary.tables import varied_value

        return varied_value(self.found, str(self.path))

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.vary.tables import varied_sections

        return varied_sections(self.found, str(self.path))


@keywords(VarySetOptions)
def vary_set(wanted: VarySetOptions) -> SetVariation:
    """Writes a set with its questions put otherwise too, as drafts: with typos, as keywords, in another case.

    A variant keeps the labels and the cluster of its original, so that the difference of the two is what the wording
    costs: `set_stats` with a run tells it. `entity` alone asks for something else, which no document tells.

    Options:
        set: the set, in any form that `read_set` reads; it is read only.
        kinds: typos, keywords, case, entity; empty = all that keep labels, and entity where there is a corpus.
        output: the set to write: originals and variants. None = SET.varied.jsonl beside the set. One that holds lines
            which are not written again is refused.
        corpus: the documents, for entity: a folder, a BEIR folder, a file or table, a mapping.
        n: variants of each kind at most, drawn from the originals; None = of every question that has one.
        seed: of the drawing; equal seeds make equal sets.
        columns: our field -> the set's column.

    Raises:
        UnknownName: no such kind.
        UsageError: entity without a corpus, an output that is not JSON lines or holds examples that would be lost, n
            below 1.
        DataError: a set or corpus that cannot be read.
    """
    from ragauge.readers.corpus import read_corpus
    from ragauge.testsets.overwrite_rules import all_kept, lines_there
    from ragauge.testsets.set_file import set_lines
    from ragauge.testsets.vary.kinds import variations
    from ragauge.testsets.vary.variant_set import varied
    from ragauge.verbs.files import make_folder

    if wanted.n is not None and wanted.n < 1:
        raise UsageError(f"testset vary: -n must be at least 1, got {wanted.n}.")
    path = _output(wanted)
    before = lines_there("vary", path)
    lines = set_lines(wanted.set, columns=wanted.columns)
    documents = None if wanted.corpus is None else read_corpus(wanted.corpus)
    found = varied(lines, variations(named(wanted.kinds), documents), wanted.n, wanted.seed)
    all_kept("vary", path, before, found.file.lines)
    make_folder(path)
    found.file.write(path)
    return SetVariation(found, path)


def _output(wanted: VarySetOptions) -> Path:
    if wanted.output is not None:
        return Path(wanted.output)
    if not isinstance(wanted.set, str | Path):
        raise UsageError("testset vary: the set has no file that the new one could stand beside. Name one: output=.")
    return Path(wanted.set).with_suffix(".varied.jsonl")
