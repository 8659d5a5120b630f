"""Test sets: made from a corpus, held against it, curated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.api.inputs.sources import named
from ragauge.api.inputs.typed import keywords
from ragauge.api.results.shown import PageResult, ShownResult
from ragauge.api.set_options import (
    CheckSetOptions,
    ExportSetOptions,
    FreezeSetOptions,
    GenerateSetOptions,
    MarkSetOptions,
)
from ragauge.errors import UsageError

if TYPE_CHECKING:
    from ragauge.data.set_file import SetFile
    from ragauge.reporting.sections import ReportSection
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.curate import SetDifference
    from ragauge.testsets.freshness import SetFreshness
    from ragauge.testsets.generating import GeneratedSet
    from ragauge.testsets.rounds import Wanted, Writers

ALONE = ("judge", "types", "plan", "documents", "existing", "rejected")     # options that need a model
STALE = 3     # exit code
FEWER = 4



class SetCheck(PageResult):
    """A set held against its corpus, in every form.

    Attributes:
        found: the state of every example as plain frozen values.
        fixed: the file that was written; None = none.
    """

    _what = "set"

    def __init__(self, found: SetFreshness, fixed: Path | None = None) -> None:
        self.found, self.fixed = found, fixed

    @property
    def exit_code(self) -> int:
        """0; 3 where fewer than 90 % of the gold documents are alive."""
        return 0 if self.found.passed else STALE

    @property
    def counts(self) -> Mapping[str, int]:
        """State -> how many examples."""
        return {str(state): n for state, n in self.found.counts.items()}

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.reporting.sets import freshness_value

        return freshness_value(self.found)

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.reporting.sets import freshness_sections

        return freshness_sections(self.found, fixed=str(self.fixed or ""))


class SetDiff(ShownResult):
    """What differs between two versions of a set, in every form.

    Attributes:
        found: added, removed and changed examples.
    """

    def __init__(self, found: SetDifference) -> None:
        self.found = found

    @property
    def _value(self) -> SetDifference:
        return self.found

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.reporting.sets import difference_sections

        return difference_sections(self.found)


class GeneratedSetResult(ShownResult):
    """A set that was made, in every form.

    Attributes:
        found: its lines, what the corpus holds, and what was rejected.
        path: the file.
    """

    def __init__(self, found: GeneratedSet, path: Path) -> None:
        self.found, self.path = found, path

    @property
    def exit_code(self) -> int:
        """0; 4 where fewer questions could be made than were wanted."""
        return 0 if len(self.found.lines) >= self.found.wanted else FEWER

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.reporting.sets import generated_value

        return generated_value(self.found, str(self.path))

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.reporting.sets import generated_sections

        return generated_sections(self.found, str(self.path))


@keywords(CheckSetOptions)
def check_set(wanted: CheckSetOptions) -> SetCheck:
    """Whether the evidence of each example is still in the corpus: intact, moved, changed, gone, or unwinnable.

    A lock beside the set (SET.lock.json, by `freeze_set`) tells of documents and spans without a quote what they were.

    Options:
        set: the set, JSON lines.
        corpus: its documents as they are now: a folder of text files, a BEIR folder, a file or table, a mapping.
        fix: put moved labels where their evidence stands now; examples whose evidence changed or is gone become drafts.
        output: where the mended set is written.
        columns: our field -> the set's column.

    Raises:
        UsageError: fix without output, or output without fix.
        DataError: a set, lock or corpus that cannot be read.
    """
    from ragauge.api.results.files import make_folder
    from ragauge.testsets.freshness import freshness, mended
    from ragauge.testsets.lock import lock_path, read_lock

    if wanted.fix is (wanted.output is None):
        raise UsageError("testset check: --fix needs -o NEW.jsonl, the mended set, and -o needs --fix.")
    lines = _read(wanted.set, wanted.columns)
    beside = lock_path(Path(wanted.set))
    found = freshness(lines, _texts(wanted.corpus, lines), read_lock(beside) if beside.exists() else None)
    output = None if wanted.output is None else Path(wanted.output)
    if output is not None:
        make_folder(output)
        mended(lines, found).write(output)
    return SetCheck(found, output)


@keywords(FreezeSetOptions)
def freeze_set(wanted: FreezeSetOptions) -> Path:
    """Writes SET.lock.json beside the set: hashes of its version, of the corpus and of all evidence.

    Options:
        set: the set, JSON lines.
        corpus: its documents, as `check_set` takes them.
        columns: our field -> the set's column.

    Returns:
        The lock's file.

    Raises:
        DataError: a gold document that is not in the corpus, or a span outside its document.
    """
    from ragauge.testsets.lock import corpus_hash, frozen, lock_path

    lines = _read(wanted.set, wanted.columns)
    texts, path = _texts(wanted.corpus, lines), lock_path(Path(wanted.set))
    frozen(lines, texts, corpus_hash(texts)).write(path)
    return path


@keywords(MarkSetOptions)
def mark_set(wanted: MarkSetOptions) -> int:
    """Marks examples of a set as draft, reviewed, golden or rejected. Lines that this does not change keep their bytes.

    Options:
        set: the set, JSON lines; it is written anew, whole or not at all.
        to: draft, reviewed, golden or rejected.
        by: who looked; needed but for draft.
        ids: which, by query_id.
        all: every example.
        note: why.

    Returns:
        How many examples changed.

    Raises:
        UsageError: an unknown state, nobody who looked, or neither ids nor all.
        UnknownName: a query_id that the set does not have.
    """
    from ragauge.testsets.curate import ReviewMark, marked

    ids = named(wanted.ids)
    if bool(ids) is wanted.all:
        raise UsageError("testset mark: say which examples: --ids ID,ID or --all.")
    lines = _read(wanted.set, None)
    changed, n = marked(lines, ReviewMark(wanted.to, wanted.by, wanted.note), None if wanted.all else ids)
    if n:
        changed.write(wanted.set)
    return n


def diff_sets(old: str | Path, new: str | Path) -> SetDiff:
    """What was added, removed and changed between two versions of a set, by field.

    Args:
        old: the older file, JSON lines.
        new: the newer one.

    Raises:
        DataError: a file that cannot be read, with its line.
    """
    from ragauge.testsets.curate import difference

    return SetDiff(difference(_read(old, None), _read(new, None)))


@keywords(GenerateSetOptions)
def generate_set(wanted: GenerateSetOptions) -> GeneratedSetResult:
    """Makes a set of questions with labels from a corpus, as drafts.

    Without a model: known-item queries, terms drawn from documents, each with its document as label. With one: it
    writes questions with answers and gold spans, which are filtered and checked by a judge. What models say is kept in
    the store: the same call again pays nothing, and after a stop goes on where it was.

    Options:
        corpus: a folder of text files, a BEIR folder, a file or table with ids and texts, a mapping.
        output: the file to write, JSON lines.
        n: how many questions.
        model: who writes, such as openai:gpt-5-mini; "" = nobody.
        judge: who checks the answers, as `evaluate` takes it; "" = the same model.
        types: shares of single, boundary, multi_hop, comparison, temporal, unanswerable, false_premise, ambiguous, as a
            mapping or "single=40,multi_hop=15"; empty = a mix of all that the corpus allows.
        plan: how questions are put: a YAML file, or {"personas": {…}, "styles": {…}, "lengths": {…}, "languages": {…}},
            each wording with its share, drawn independently.
        documents: how many questions are about the newest tenth of the documents, and about the smallest topics:
            "recent=10,niche=20" or a mapping; the rest is about any.
        existing: a set whose questions are not asked again.
        rejected: a file for what was not kept, each with the filter and the reason.
        seed: of the drawing; equal seeds and replies make equal sets.
        store: URL of the store that keeps replies; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        progress: called with what is done of each round.
        concurrency: calls to a model in flight to begin with; with max_concurrency, max_cost and timeout as in
            `ModelCallOptions`.

    Raises:
        UsageError: an output that is not JSON lines, fewer than one question, what needs a model without one.
        DataError: a corpus that cannot be read, or holds no document of use.
        JudgeError: the model cannot be asked at all.
    """
    from ragauge.api.results.files import make_folder
    from ragauge.api.verbs import finish
    from ragauge.data.readers.corpus import read_corpus
    from ragauge.data.set_file import SetFile
    from ragauge.testsets.generating import generated

    path = _checked_generation(wanted)
    if wanted.model:
        found = finish(lambda: _written(wanted))
        if wanted.rejected is not None and found.written is not None:
            make_folder(Path(wanted.rejected))
            SetFile(path.stem, found.written.rejected).write(wanted.rejected)
    else:
        found = generated(read_corpus(wanted.corpus), wanted.n, wanted.seed)
    make_folder(path)
    SetFile(path.stem, found.lines).write(path)
    return GeneratedSetResult(found, path)


def expect_set(wanted: GenerateSetOptions) -> dict[str, Any]:
    """What generating would ask and cost at least, as JSON types; nothing is asked or written."""
    from ragauge.api.inputs.sources import store_url
    from ragauge.store.open import open_store
    from ragauge.testsets.rounds import SetWriting

    _checked_generation(wanted)
    if not wanted.model:
        return {"questions": wanted.n, "calls": 0, "cost": 0.0, "input_tokens": 0, "output_tokens": 0}
    corpus, asked, by = _writing(wanted)
    writing = SetWriting(corpus, asked, by)
    types = {one.name: one.wanted for one in writing.strata}
    with open_store(store_url(wanted.store)) as opened:
        return {"questions": wanted.n, "types": types, **writing.expected(opened).plain()}


def _checked_generation(wanted: GenerateSetOptions) -> Path:
    """The file to write.

    Raises:
        UsageError: what cannot be made.
    """
    from ragauge.data.set_file import ENDINGS

    path = Path(wanted.output)
    for option, file in (("-o", path), ("--rejected", wanted.rejected)):
        if file is not None and Path(file).suffix not in ENDINGS:
            raise UsageError(f"testset generate: {option} {file}: expected a file that ends in .jsonl.")
    if wanted.n < 1:
        raise UsageError(f"testset generate: -n must be at least 1, got {wanted.n}.")
    if not wanted.model:
        named_alone = {
            name: getattr(wanted, name) for name in ALONE if getattr(wanted, name)
        }
        if named_alone:
            told = f"{', '.join(named_alone)} without a model, which writes no questions but known-item queries"
            raise UsageError(f"testset generate: got {told}. Add --model openai:MODEL.")
    return path


def _writing(wanted: GenerateSetOptions) -> tuple[CorpusView, Wanted, Writers]:
    """What is written, from what, and by whom."""
    from ragauge.data.document import Document
    from ragauge.data.readers.corpus import read_corpus
    from ragauge.data.readers.source import read_set
    from ragauge.engine.judges import build_judge
    from ragauge.engine.set_writing import build_writer
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.rounds import Wanted, Writers
    from ragauge.testsets.writing.draft import shares_of
    from ragauge.testsets.writing.plan import read_plan

    writer = build_writer(wanted.model)
    judge = build_judge(wanted.judge or wanted.model)
    existing = () if wanted.existing is None else read_set(wanted.existing).examples
    documents: list[Document] = list(read_corpus(wanted.corpus))
    plan = {} if not wanted.plan else read_plan(Path(wanted.plan) if isinstance(wanted.plan, str) else wanted.plan)
    asked = Wanted(wanted.n, shares_of(wanted.types), wanted.seed, existing, plan, wanted.documents)
    return CorpusView(documents), asked, Writers(writer, judge)


async def _written(wanted: GenerateSetOptions) -> GeneratedSet:
    from ragauge.api.inputs.sources import store_url
    from ragauge.engine.set_writing import Session
    from ragauge.store.open import open_store
    from ragauge.testsets.generating import written_set

    corpus, asked, by = _writing(wanted)
    calling = wanted.of(by.writer, by.judge)
    with open_store(store_url(wanted.store)) as opened:
        async with Session(opened, calling, wanted.progress) as session:
            return await written_set(corpus, asked, by, session)


@keywords(ExportSetOptions)
def export_set(wanted: ExportSetOptions) -> int:
    """Writes a set in the form of another tool: a BEIR folder, ragas' JSON lines or deepeval's JSON of goldens.

    What the form has no place for stands beside it under our names: `read_set` reads equal examples again.

    Options:
        set: the set, in any form that `read_set` reads.
        to: beir, ragas or deepeval.
        output: the folder (beir) or file (.jsonl for ragas, .json for deepeval).
        corpus: the documents; with it a BEIR folder has its corpus, the others the texts of gold documents.

    Returns:
        How many examples.

    Raises:
        UsageError: an unknown form, another ending, or a folder that is there.
        DataError: labels that BEIR has no place for, with the example.
    """
    from ragauge.api.results.files import make_folder
    from ragauge.data.readers.chroma import plain_texts
    from ragauge.data.readers.source import read_set
    from ragauge.data.writers.sets import export

    path = Path(wanted.output)
    make_folder(path)
    texts = None if wanted.corpus is None else plain_texts(wanted.corpus)
    return export(wanted.to, path, read_set(wanted.set).examples, texts)


def _read(source: Any, columns: Mapping[str, str] | None) -> SetFile:
    from ragauge.data.set_file import read_set_file

    return read_set_file(source, columns=columns)


def _texts(corpus: Any, lines: SetFile) -> dict[str, str]:
    """doc_id -> text, every character of text files counted, as gold spans count them."""
    from ragauge.data.readers.chroma import plain_texts
    from ragauge.data.readers.corpus import named_as_labels
    from ragauge.testsets.lock import gold_ids

    texts = plain_texts(corpus)
    names = named_as_labels(texts, (doc_id for line in lines.lines for doc_id in gold_ids(line)))
    return {names.get(doc_id, doc_id): text for doc_id, text in texts.items()}
