"""`ragauge testset vary`: the questions of a set put otherwise, beside their originals."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.testsets.options import VarySetOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import ShownResult
from ragauge.verbs.sources import parse_names

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.vary.variant_set import VariedSet


class SetVariation(ShownResult):
    """A set with variants of its questions, in every form.

    Attributes:
        data: its lines, and what became of each kind.
        path: the file.
    """

    def __init__(self, data: VariedSet, path: Path) -> None:
        self.data, self.path = data, path

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.vary.tables import encode_varied

        return encode_varied(self.data, str(self.path))

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.vary.tables import build_varied_sections

        return build_varied_sections(self.data, str(self.path))


@expand_options(VarySetOptions)
def vary_set(options: VarySetOptions) -> SetVariation:
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
    from ragauge.testsets.set_file import read_set_lines
    from ragauge.testsets.set_writers import check_lines_kept, read_existing_lines
    from ragauge.testsets.vary.kinds import build_variations
    from ragauge.testsets.vary.variant_set import build_varied_set
    from ragauge.verbs.files import make_folder

    if options.n is not None and options.n < 1:
        raise UsageError(f"testset vary: -n must be at least 1, got {options.n}.")
    path = _resolve_output(options)
    existing_lines = read_existing_lines("vary", path)
    lines = read_set_lines(options.set, columns=options.columns)
    documents = None if options.corpus is None else read_corpus(options.corpus)
    variation = build_varied_set(
        lines, build_variations(parse_names(options.kinds), documents), options.n, options.seed
    )
    check_lines_kept("vary", path, existing_lines, variation.file.lines)
    make_folder(path)
    variation.file.write(path)
    return SetVariation(variation, path)


def _resolve_output(options: VarySetOptions) -> Path:
    if options.output is not None:
        return Path(options.output)
    if not isinstance(options.set, str | Path):
        raise UsageError("testset vary: the set has no file, so there is no default output file. Set output=FILE.")
    return Path(options.set).with_suffix(".varied.jsonl")
