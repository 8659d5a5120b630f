"""`ragauge testset generate`: a set made from a corpus, with or without a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.core.messages import format_count
from ragauge.testsets.options import GenerateSetOptions
from ragauge.verbs.command_output import describe_expected_calls
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import ShownResult
from ragauge.verbs.sources import format_source

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.generate.rounds import Writers, WritingOptions
    from ragauge.testsets.generate.set_generation import CorpusSource, GeneratedSet
    from ragauge.testsets.set_file import SetFile

MODEL_OPTIONS = ("judge", "types", "plan", "documents", "existing", "rejected")  # options that need a model
FEWER_EXIT_CODE = 4  # exit code
CORPUS_PLACEHOLDER = "CORPUS"  # in commands, of a corpus that has no path


class GeneratedSetResult(ShownResult):
    """A set that was made, in every form.

    Attributes:
        data: its lines, what the corpus holds, and what was rejected.
        path: the file; where no question was made, it was not written.
        corpus: what the set was made from, as a command names it.
    """

    def __init__(self, data: GeneratedSet, path: Path, corpus: str = CORPUS_PLACEHOLDER) -> None:
        self.data, self.path, self.corpus = data, path, corpus

    @property
    def exit_code(self) -> int:
        """0; 4 where fewer questions could be made than were wanted."""
        return 0 if len(self.data.lines) >= self.data.wanted else FEWER_EXIT_CODE

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.tables import encode_generated

        return encode_generated(self.data, str(self.path))

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.tables import build_generated_sections

        return build_generated_sections(self.data, str(self.path), self.corpus)


@expand_options(GenerateSetOptions)
def generate_set(options: GenerateSetOptions) -> GeneratedSetResult:
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
    from ragauge.testsets.set_file import SetFile
    from ragauge.testsets.set_writers import check_lines_kept
    from ragauge.verbs.coroutines import run_coroutine
    from ragauge.verbs.files import make_folder

    path, existing_drafts = _validate_output(options)
    if options.model:
        generated_set = run_coroutine(lambda: _write_questions(options))
        if options.rejected is not None and generated_set.written is not None:
            make_folder(Path(options.rejected))
            SetFile(path.stem, generated_set.written.rejected).write(options.rejected)
    else:
        generated_set = _generate_known_items(options)
    if generated_set.lines:
        check_lines_kept("generate", path, existing_drafts, generated_set.lines, _find_method(options))
        make_folder(path)
        SetFile(path.stem, generated_set.lines).write(path)
    return GeneratedSetResult(generated_set, path, format_source(options.corpus, CORPUS_PLACEHOLDER))


def describe_estimate(planned: dict[str, Any]) -> str:
    """What `testset generate --dry-run` prints."""
    return f"{format_count(planned['questions'], 'question')}: {describe_expected_calls(planned)}"


def estimate_set(options: GenerateSetOptions) -> dict[str, Any]:
    """What generating would ask and cost at least, as JSON types; nothing is asked or written."""
    from ragauge.store.store_access import open_store
    from ragauge.testsets.generate.rounds import SetWriter
    from ragauge.testsets.generate.set_generation import CorpusSource
    from ragauge.verbs.sources import resolve_store_url

    _validate_output(options)
    if not options.model:
        return {"questions": options.n, "calls": 0, "cost": 0.0, "input_tokens": 0, "output_tokens": 0}
    corpus, set_request, writers = _build_writing_inputs(options, CorpusSource(options.corpus, options.ids))
    writing = SetWriter(corpus, set_request, writers)
    types = {stratum.name: stratum.n_wanted for stratum in writing.strata}
    with open_store(resolve_store_url(options.store)) as opened_store:
        return {"questions": options.n, "types": types, **writing.estimate_cost(opened_store).to_json()}


def _find_method(options: GenerateSetOptions) -> str:
    """How the examples come to be, as their origin says."""
    from ragauge.testsets.generate import draft, set_generation

    return draft.METHOD if options.model else set_generation.METHOD


def _validate_output(options: GenerateSetOptions) -> tuple[Path, SetFile | None]:
    """The file to write, and the drafts that stand in it.

    Raises:
        UsageError: what cannot be made, or a file that holds something else.
    """
    from ragauge.testsets.set_file import ENDINGS
    from ragauge.testsets.set_writers import check_rejections_file, read_existing_drafts

    path = Path(options.output)
    if options.rejected is not None and Path(options.rejected).suffix not in ENDINGS:
        raise UsageError(f"testset generate: --rejected {options.rejected}: expected a file that ends in .jsonl.")
    if options.n < 1:
        raise UsageError(f"testset generate: -n must be at least 1, got {options.n}.")
    if not options.model:
        named_alone = {name: getattr(options, name) for name in MODEL_OPTIONS if getattr(options, name)}
        if named_alone:
            problem = f"{', '.join(named_alone)} without a model (without one, only known-item queries are made)"
            raise UsageError(f"testset generate: got {problem}. Add --model openai:MODEL.")
    if options.rejected is not None:
        if Path(options.rejected).absolute() == path.absolute():
            raise UsageError(f"testset generate: --rejected {options.rejected} is also -o. Choose another file.")
        check_rejections_file(Path(options.rejected))
    return path, read_existing_drafts(path, _find_method(options), options.seed)


def _build_writing_inputs(
    options: GenerateSetOptions, source: CorpusSource
) -> tuple[CorpusView, WritingOptions, Writers]:
    """What is written, from what, and by whom."""
    from ragauge.engine.judges import build_judge, resolve_judge_spec
    from ragauge.readers.source import read_set
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.generate.draft import parse_shares
    from ragauge.testsets.generate.plan import read_plan
    from ragauge.testsets.generate.question_writer import build_writer
    from ragauge.testsets.generate.rounds import Writers, WritingOptions

    model = resolve_judge_spec(options.model, options.model_name)
    writer = build_writer(model)
    judge = build_judge(resolve_judge_spec(options.judge, options.judge_name) if options.judge else model)
    existing = () if options.existing is None else read_set(options.existing).examples
    plan = {} if not options.plan else read_plan(Path(options.plan) if isinstance(options.plan, str) else options.plan)
    set_request = WritingOptions(
        options.n, parse_shares(options.types), options.seed, existing, plan, options.documents
    )
    return CorpusView(source.documents, source.undecoded), set_request, Writers(writer, judge)


def _generate_known_items(options: GenerateSetOptions) -> GeneratedSet:
    from ragauge.testsets.corpus_view import CorpusView
    from ragauge.testsets.generate.set_generation import CorpusSource, generate_known_items

    source = CorpusSource(options.corpus, options.ids)
    generated_set = generate_known_items(CorpusView(source.documents, source.undecoded), options.n, options.seed)
    source.check_unchanged()
    return generated_set


async def _write_questions(options: GenerateSetOptions) -> GeneratedSet:
    from ragauge.store.store_access import open_store
    from ragauge.testsets.generate.question_writer import Session
    from ragauge.testsets.generate.set_generation import CorpusSource, write_set
    from ragauge.verbs.sources import resolve_store_url

    source = CorpusSource(options.corpus, options.ids)
    corpus, set_request, writers = _build_writing_inputs(options, source)
    calling = options.of(writers.writer, writers.judge)
    with open_store(resolve_store_url(options.store)) as opened_store:
        async with Session(opened_store, calling, options.progress) as session:
            generated_set = await write_set(corpus, set_request, writers, session, source.check_unchanged)
    source.check_unchanged()
    written = generated_set.written and replace(
        generated_set.written, rejected=source.place_in_files(generated_set.written.rejected)
    )
    return replace(generated_set, lines=source.place_in_files(generated_set.lines), written=written)
