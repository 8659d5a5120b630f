"""A set held against its corpus, and frozen over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, UsageError
from ragauge.core.messages import format_command, format_count
from ragauge.testsets.options import CheckSetOptions, FreezeSetOptions
from ragauge.verbs.option_specs import expand_options
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import format_source, resolve_store_url

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.check.contracts import BrokenContract
    from ragauge.testsets.check.freshness import SetFreshness
    from ragauge.testsets.check.missing_labels import LabelCopies, LabelHoles
    from ragauge.testsets.lock import SetLock
    from ragauge.testsets.set_file import SetFile

STALE_EXIT_CODE = 3  # exit code
MAX_NAMED_EXAMPLES = 10  # examples in a refusal
MAX_REASON_CHARS = 300  # characters of why one cannot be frozen


class SetCheck(PageResult):
    """A set held against its corpus, in every form.

    Attributes:
        data: the state of every example as plain frozen values.
        contracts: examples that are not what their type of question promises.
        copies: examples of which a copy of a gold document has no label.
        holes: documents without a label that state a reference; None = nobody looked.
        fixed: the file that was written; None = none.
        named: the set and the corpus as they were named, for commands.
    """

    _what = "set"

    def __init__(
        self,
        data: SetFreshness,
        contracts: tuple[BrokenContract, ...] = (),
        copies: tuple[LabelCopies, ...] = (),
        holes: LabelHoles | None = None,
        fixed: Path | None = None,
        command_names: tuple[str, str] = ("SET", "CORPUS"),
    ) -> None:
        self.data, self.contracts, self.copies, self.holes = data, contracts, copies, holes
        self.fixed, self.named = fixed, command_names

    @property
    def exit_code(self) -> int:
        """0; 3 where fewer than 90 % of the gold documents are alive."""
        return 0 if self.data.passed else STALE_EXIT_CODE

    @property
    def counts(self) -> Mapping[str, int]:
        """State -> how many examples."""
        return {str(state): n for state, n in self.data.counts.items()}

    @property
    def _value(self) -> dict[str, Any]:
        from ragauge.testsets.check.tables import encode_copies, encode_freshness, encode_holes

        return {
            **encode_freshness(self.data),
            "contracts": self.contracts,
            "label_copies": encode_copies(self.copies),
            "label_holes": None if self.holes is None else encode_holes(self.holes),
        }

    def _build_sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.check.tables import (
            build_contract_sections,
            build_copy_sections,
            build_cut_sections,
            build_freshness_sections,
            build_hole_sections,
        )

        (path, corpus), fixed = self.named, str(self.fixed or "")
        fix = format_command("testset", "check", path, "--corpus", corpus, "--fix", "-o", "NEW.jsonl")
        has_advice = fixed or self.counts.keys() - {
            "intact",
            "no labels",
        }  # then the first sections end with what to do
        yield from build_freshness_sections(self.data, fixed, path=path, corpus=corpus)
        yield from build_cut_sections(self.data, fixed, () if has_advice else (fix,))
        yield from build_contract_sections(self.contracts)
        yield from build_copy_sections(self.copies)
        if self.holes is not None:
            yield from build_hole_sections(self.holes)


@expand_options(CheckSetOptions)
def check_set(options: CheckSetOptions) -> SetCheck:
    """Whether the evidence of each example is still in the corpus: intact, moved, changed, gone, or unwinnable.

    A lock beside the set (SET.lock.json, by `freeze_set`) tells of documents and spans without a quote what they were.
    Examples that break what their type of question promises are named, and so are copies of gold documents without a
    label, and label holes: documents without a label of which a passage states the whole reference. Each comes with the
    labels that take it in. No file gets them.

    Options:
        set: the set, in any form that `read_set` reads; JSON lines where it is mended.
        corpus: its documents as they are now: a folder of text files, a BEIR folder, a file or table, a mapping.
        judge: who says whether a passage states a reference, as `evaluate` takes it; "none" = nobody, no holes.
        judge_name: what identifies a function or object in stored replies; a function that has a name needs none.
        fix: put labels where their evidence stands now, quotes in the words that stand there, and widen evidence that
            begins or ends inside a word; examples whose evidence changed or is gone become drafts, whose note keeps
            the quote that changed: marking one accepts the words of now.
        output: where the mended set is written. A file that holds lines which are not written again is refused.
        columns: our field -> the set's column.
        store: URL of the store that keeps a model's replies; nothing is opened for the local judge.
        progress: called as examples are judged.
        concurrency: calls in flight to begin with; max_concurrency, max_cost and timeout too as in `ModelCallOptions`.

    Raises:
        UsageError: fix without output, or output without fix, or one that is no new file of JSON lines.
        DataError: a set, lock or corpus that cannot be read.
        JudgeError: the model cannot be asked at all.
    """
    from ragauge.testsets.check.contracts import find_broken_contracts
    from ragauge.testsets.check.freshness import check_freshness, fix_evidence
    from ragauge.testsets.check.missing_labels import find_label_copies
    from ragauge.testsets.set_file import read_set_file, read_set_lines
    from ragauge.testsets.set_writers import check_lines_kept
    from ragauge.verbs.coroutines import run_coroutine
    from ragauge.verbs.files import make_folder

    output, existing_lines = _prepare_output(options)
    lines = (read_set_lines if output is None else read_set_file)(options.set, columns=options.columns)
    texts = _load_texts(options.corpus, lines)
    freshness_report = check_freshness(lines, texts, _load_lock(_find_lock_path(options.set)))
    contracts = tuple(find_broken_contracts(lines, texts))
    mended_set = fix_evidence(lines, freshness_report)
    if output is not None:
        check_lines_kept("check", output, existing_lines, mended_set.lines)
    copies = find_label_copies(freshness_report, texts)
    holes = run_coroutine(lambda: _find_holes(options, freshness_report, texts, copies))
    if output is not None:
        make_folder(output)
        mended_set.write(output)
    command_names = format_source(options.set, "SET"), format_source(options.corpus, "CORPUS")
    return SetCheck(freshness_report, contracts, copies, holes, output, command_names)


def _prepare_output(options: CheckSetOptions) -> tuple[Path | None, SetFile | None]:
    """The file of the mended set, and the lines that stand in it; None where nothing is mended."""
    from ragauge.testsets.set_writers import read_existing_lines

    if options.fix is (options.output is None):
        raise UsageError("testset check: use --fix and -o NEW.jsonl together.")
    output = None if options.output is None else Path(options.output)
    return output, None if output is None else read_existing_lines("check", output)


def _find_lock_path(source: Any) -> Path | None:
    """Where the lock of a set stands; None of one that is in no file."""
    from ragauge.testsets.lock import build_lock_path

    return build_lock_path(Path(source)) if isinstance(source, str | Path) else None


def _load_lock(path: Path | None) -> SetLock | None:
    from ragauge.testsets.lock import read_lock

    return read_lock(path) if path is not None and path.exists() else None


@expand_options(FreezeSetOptions)
def freeze_set(options: FreezeSetOptions) -> Path:
    """Writes SET.lock.json beside the set: hashes of its version, of the corpus and of all evidence.

    Rejected examples are passed by. Drafts whose evidence the corpus does not have are left out, with a warning.

    Options:
        set: the set, in a file or folder of any form that `read_set` reads.
        corpus: its documents, as `check_set` takes them.
        columns: our field -> the set's column.

    Returns:
        The lock's file.

    Raises:
        UsageError: a set that is in no file.
        DataError: examples that are no drafts and have a gold document that is not in the corpus, a span outside its
            document, or evidence that `check_set` finds gone: all of them, with the commands that get on.
    """
    from ragauge.readers.options import warn_user
    from ragauge.testsets.check.freshness import check_freshness, describe_gone_evidence
    from ragauge.testsets.lock import build_lock, find_lost_evidence, hash_corpus
    from ragauge.testsets.set_file import read_set_lines

    path = _find_lock_path(options.set)
    if path is None:
        raise UsageError("testset freeze: this set has no file to put the lock next to. Write it to a file first.")
    lines = read_set_lines(options.set, columns=options.columns)
    texts = _load_texts(options.corpus, lines)
    previous_lock = None
    with suppress(DataError):  # a lock that cannot be read is made anew
        previous_lock = _load_lock(path)
    missing = describe_gone_evidence(check_freshness(lines, texts, previous_lock)) | find_lost_evidence(lines, texts)
    if stale := [name for name in missing if lines.by_id[name].curation.state != "draft"]:
        reasons = [
            f"  {name}: {missing[name][:MAX_REASON_CHARS]}{' …' * bool(missing[name][MAX_REASON_CHARS:])}"
            for name in stale[:MAX_NAMED_EXAMPLES]
        ]
        if len(stale) > MAX_NAMED_EXAMPLES:
            reasons.append(f"  and {len(stale) - MAX_NAMED_EXAMPLES:,} more")
        lead = f"the evidence of {format_count(len(stale), 'example')} is not in the corpus:"
        raise DataError("\n".join([lead, *reasons, *_build_fix_hints(options, stale)]), source=str(options.set))
    if missing:
        warn_user(
            f"{options.set}: {format_count(len(missing), 'draft')} skipped because the corpus does not "
            f"have their evidence: {', '.join(missing)}."
        )
    build_lock(lines, texts, hash_corpus(texts), missing).write(path)
    return path


def _build_fix_hints(options: FreezeSetOptions, stale: Sequence[str]) -> tuple[str, str]:
    """What to do about examples whose evidence the corpus does not have."""
    ids = ",".join(stale) if len(stale) <= MAX_NAMED_EXAMPLES else "IDS"
    corpus = format_source(options.corpus, "CORPUS")
    fix = format_command("testset", "check", str(options.set), "--corpus", corpus, "--fix", "-o", "NEW.jsonl")
    mark = format_command("testset", "mark", str(options.set), "--to", "rejected", "--by", "NAME", "--ids", ids)
    return f"Turn them into drafts: {fix}", f"or exclude them: {mark}"


async def _find_holes(
    options: CheckSetOptions, freshness_report: SetFreshness, texts: Mapping[str, str], copies: Sequence[LabelCopies]
) -> LabelHoles | None:
    from contextlib import nullcontext

    from ragauge.engine.judges import build_judge, resolve_judge_spec
    from ragauge.store.store_access import open_store
    from ragauge.testsets.check.missing_labels import find_label_holes
    from ragauge.testsets.generate.question_writer import Session, can_ask_models

    if options.judge in (None, "none"):
        return None
    judge = build_judge(resolve_judge_spec(options.judge, options.judge_name))
    with open_store(resolve_store_url(options.store)) if can_ask_models(judge) else nullcontext() as store:
        async with Session(store, options.of(judge), options.progress) as session:
            return await find_label_holes(freshness_report, texts, judge, session, copies)


def _load_texts(corpus: Any, lines: SetFile) -> dict[str, str]:
    """doc_id -> text, every character of text files counted, as gold spans count them.

    Text files of a folder that are not UTF-8 are left out and named in a warning.
    """
    from ragauge.readers.chroma import read_texts
    from ragauge.readers.corpus import match_label_names
    from ragauge.readers.options import warn_user
    from ragauge.testsets.corpus_view import describe_undecoded
    from ragauge.testsets.lock import list_gold_ids

    undecoded: list[str] = []
    texts = read_texts(corpus, undecoded)
    if undecoded:
        warn_user(f"{corpus}: {describe_undecoded(undecoded)}.")
    names = match_label_names(texts, (doc_id for line in lines.lines for doc_id in list_gold_ids(line)))
    return {names.get(doc_id, doc_id): text for doc_id, text in texts.items()}
