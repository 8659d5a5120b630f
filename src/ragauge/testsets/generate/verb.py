"""`ragauge testset generate`: a set made from a corpus, with or without a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.testsets.options import GenerateSetOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import ShownResult
from ragauge.verbs.sources import spoken

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.generate.corpus_source import CorpusSource
    from ragauge.testsets.generate.rounds import Wanted, Writers
    from ragauge.testsets.generate.set_generation import GeneratedSet
    from ragauge.testsets.set_file import SetFile

ALONE = ("judge", "types", "plan", "documents", "existing", "rejected")  # options that need a model
FEWER = 4  # exit code
CORPUS = "CORPUS"  # in commands, of a corpus that has no path


class GeneratedSetResult(ShownResult):
    """A set that was made, in every form.

    Attributes:
        found: its lines, what the corpus holds, and what was rejected.
        path: the file; where no question was made, it was not written.
        corpus: what the set was made from, as a command names it.
    """

    def __init__(self, found: GeneratedSet, path: Path, corpus: str = CORPUS) -> None:
        self.found, self.path, self.corpus = found, path, corpus

    @property
    def exit_code(self) -> int:
        """0; 4 where fewer questions could be made than were wanted."""
        return 0 if len(self.found.lines) >= self.found.wanted else FEWER

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.tables import generated_value

        return generated_value(self.found, str(self.path))

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.tables import generated_sections

        return generated_sections(self.found, str(self.path), self.corpus)


@keywords(GenerateSetOptions)
def generate_set(wanted: GenerateSetOptions) -> GeneratedSetResult:
    """Makes a set of questions with labels from a corpus, as drafts.

    Without a model: known-item queries, terms drawn from documents, each with its document as label. With one: it
    writes questions with answers and gold spans, which are filtered and checked by a judge. What models say is kept in
    the store: the same call again pays nothing, and after a stop goes on where it was.

    Options:
        corpus: a folder of text files, a BEIR folder, a file or table with ids and texts, a mapping.
        output: the file to write, JSON lines. One that holds anything but drafts of the same making is refused.
        n: how many questions.
        model: who writes, such as openai:gpt-5-mini, or a function or object, as `evaluate` takes a judge; "" = nobody.
        model_name: what identifies such an object, or a function without a name, in stored replies.
        judge: who checks the answers, as `evaluate` takes it; "" = the same model.
        judge_name: as model_name, of the judge.
        types: shares of single, boundary, multi_hop, comparison, temporal, unanswerable, false_premise, ambiguous, as a
            mapping or "single=40,multi_hop=15"; empty = a mix of all that the corpus allows.
        plan: a YAML file or {"personas": {…}, "styles": {…}, "lengths": {…}, "languages": {…}}: wordings with shares.
        documents: how many are about the newest tenth and about the smallest topics: "recent=10,niche=20" or a mapping.
        existing: a set whose questions are not asked again.
        rejected: a file for what was not kept, each with the filter and the reason.
        seed: of the drawing; equal seeds make equal sets. ids: of text files, stem (no endings) or path (with them).
        store: URL of the store that keeps replies; RAGAUGE_STORE or sqlite:///.ragauge/ragauge.db by default.
        progress: called with what is done of each round.
        concurrency: calls to a model in flight to begin with; with max_concurrency, max_cost and timeout as in
            `ModelCallOptions`.

    Raises:
        UsageError: an output that does not fit, fewer than one question, what needs a model without one.
        DataError: a corpus that cannot be read, holds no document of use, or changes while the set is made.
        JudgeError: the model cannot be asked at all.
    """
    from ragauge.testsets.overwrite_rules import all_kept
    from ragauge.testsets.set_file import SetFile
    from ragauge.verbs.coroutines import finish
    from ragauge.verbs.files import make_folder

    path, before = _checked_generation(wanted)
    if wanted.model:
        found = finish(lambda: _written(wanted))
        if wanted.rejected is not None and found.written is not None:
            make_folder(Path(wanted.rejected))
            SetFile(path.stem, found.written.rejected).write(wanted.rejected)
    else:
        found = _known_items(wanted)
    if found.lines:
        all_kept("generate", path, before, found.lines, _method(wanted))
        make_folder(path)
        SetFile(path.stem, found.lines).write(path)
    return GeneratedSetResult(found, path, spoken(wanted.corpus, CORPUS))


def expect_set(wanted: GenerateSetOptions) -> dict[str, Any]:
    """What generating would ask and cost at least, as JSON types; nothing is asked or written."""
    from ragauge.store.store_access import open_store
    from ragauge.testsets.generate.corpus_source import CorpusSource
    from ragauge.testsets.generate.rounds import SetWriting
    from ragauge.verbs.sources import store_url

    _checked_generation(wanted)
    if not wanted.model:
        return {"questions": wanted.n, "calls": 0, "cost": 0.0, "input_tokens": 0, "output_tokens": 0}
    corpus, asked, by = _writing(wanted, CorpusSource(wanted.corpus, wanted.ids))
    writing = SetWriting(corpus, asked, by)
    types = {one.name: one.wanted for one in writing.strata}
    with open_store(store_url(wanted.store)) as opened:
        return {"questions": wanted.n, "types": types, **writing.expected(opened).plain()}


def _method(wanted: GenerateSetOptions) -> str:
    """How the examples come to be, as their origin says."""
    from ragauge.testsets.generate import draft, known_item

    return draft.METHOD if wanted.model else known_item.METHOD


def _checked_generation(wanted: GenerateSetOptions) -> tuple[Path, SetFile | None]:
    """The file to write, and the drafts that stand in it.

    Raises:
        UsageError: what cannot be made, or a file that holds something else.
    """
    from ragauge.testsets.overwrite_rules import drafts_there, rejections_there
    from ragauge.testsets.set_file import ENDINGS

    path = Path(wanted.output)
    if wanted.rejected is not None and Path(wanted.rejected).suffix not in ENDINGS:
        raise UsageError(f"testset generate: --rejected {wanted.rejected}: expected a file that ends in .jsonl.")
    if wanted.n < 1:
        raise UsageError(f"testset generate: -n must be at least 1, got {wanted.n}.")
    if not wanted.model:
        named_alone = {name: getattr(wanted, name) for name in ALONE if getattr(wanted, name)}
        if named_alone:
            told = f"{', '.join(named_alone)} without a model, which writes no questions but known-item queries"
            raise UsageError(f"testset generate: got {told}. Add --model openai:MODEL.")
    if wanted.rejected is not None:
        if Path(wanted.rejected).absolute() == path.absolute():
            raise UsageError(f"testset generate: --rejected {wanted.rejected}: that is -o. Name another file.")
        rejections_there(Path(wanted.rejected))
    return path, drafts_there(path, _method(wanted), wanted.seed)


def _writing(wanted: GenerateSetOptions, source: CorpusSource) -> tuple[CorpusView, Wanted, Writers]:
    """What is written, from what, and by whom."""
    from ragauge.engine.judges import build_judge, given_judge
    from ragauge.readers.source import read_set
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.generate.draft import shares_of
    from ragauge.testsets.generate.plan import read_plan
    from ragauge.testsets.generate.question_writer import build_writer
    from ragauge.testsets.generate.rounds import Wanted, Writers

    model = given_judge(wanted.model, wanted.model_name)
    writer = build_writer(model)
    judge = build_judge(given_judge(wanted.judge, wanted.judge_name) if wanted.judge else model)
    existing = () if wanted.existing is None else read_set(wanted.existing).examples
    plan = {} if not wanted.plan else read_plan(Path(wanted.plan) if isinstance(wanted.plan, str) else wanted.plan)
    asked = Wanted(wanted.n, shares_of(wanted.types), wanted.seed, existing, plan, wanted.documents)
    return CorpusView(source.documents, source.undecoded), asked, Writers(writer, judge)


def _known_items(wanted: GenerateSetOptions) -> GeneratedSet:
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.generate.corpus_source import CorpusSource
    from ragauge.testsets.generate.set_generation import generated

    source = CorpusSource(wanted.corpus, wanted.ids)
    found = generated(CorpusView(source.documents, source.undecoded), wanted.n, wanted.seed)
    source.unchanged()
    return found


async def _written(wanted: GenerateSetOptions) -> GeneratedSet:
    from ragauge.store.store_access import open_store
    from ragauge.testsets.generate.corpus_source import CorpusSource
    from ragauge.testsets.generate.question_writer import Session
    from ragauge.testsets.generate.set_generation import written_set
    from ragauge.verbs.sources import store_url

    source = CorpusSource(wanted.corpus, wanted.ids)
    corpus, asked, by = _writing(wanted, source)
    calling = wanted.of(by.writer, by.judge)
    with open_store(store_url(wanted.store)) as opened:
        async with Session(opened, calling, wanted.progress) as session:
            found = await written_set(corpus, asked, by, session, source.unchanged)
    source.unchanged()
    written = found.written and replace(found.written, rejected=source.placed(found.written.rejected))
    return replace(found, lines=source.placed(found.lines), written=written)
