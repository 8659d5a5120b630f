"""A set held against its corpus, and frozen over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import DataError, UsageError
from ragauge.core.messages import command, plural
from ragauge.testsets.options import CheckSetOptions, FreezeSetOptions
from ragauge.verbs.option_specs import keywords
from ragauge.verbs.result_base import PageResult
from ragauge.verbs.sources import spoken, store_url

if TYPE_CHECKING:
    from ragauge.rendering.sections import ReportSection
    from ragauge.testsets.check.contracts import BrokenContract
    from ragauge.testsets.check.copies import LabelCopies
    from ragauge.testsets.check.freshness import SetFreshness
    from ragauge.testsets.check.missing_labels import LabelHoles
    from ragauge.testsets.lock import SetLock
    from ragauge.testsets.set_file import SetFile

STALE = 3  # exit code
NAMED = 10  # examples in a refusal
REASON = 300  # characters of why one cannot be frozen


class SetCheck(PageResult):
    """A set held against its corpus, in every form.

    Attributes:
        found: the state of every example as plain frozen values.
        contracts: examples that are not what their type of question promises.
        copies: examples of which a copy of a gold document has no label.
        holes: documents without a label that state a reference; None = nobody looked.
        fixed: the file that was written; None = none.
        named: the set and the corpus as they were named, for commands.
    """

    _what = "set"

    def __init__(
        self,
        found: SetFreshness,
        contracts: tuple[BrokenContract, ...] = (),
        copies: tuple[LabelCopies, ...] = (),
        holes: LabelHoles | None = None,
        fixed: Path | None = None,
        named: tuple[str, str] = ("SET", "CORPUS"),
    ) -> None:
        self.found, self.contracts, self.copies, self.holes = found, contracts, copies, holes
        self.fixed, self.named = fixed, named

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
        from ragauge.testsets.check.tables import contracts_value, copies_value, holes_value
        from ragauge.testsets.tables import freshness_value

        return {
            **freshness_value(self.found),
            "contracts": contracts_value(self.contracts),
            "label_copies": copies_value(self.copies),
            "label_holes": None if self.holes is None else holes_value(self.holes),
        }

    def _sections(self) -> Iterable[ReportSection]:
        from ragauge.testsets.check.tables import contract_sections, copy_sections, cut_sections, hole_sections
        from ragauge.testsets.tables import freshness_sections

        (path, corpus), fixed = self.named, str(self.fixed or "")
        fix = command("testset", "check", path, "--corpus", corpus, "--fix", "-o", "NEW.jsonl")
        said = fixed or self.counts.keys() - {"intact", "no labels"}  # then the first sections end with what to do
        yield from freshness_sections(self.found, fixed, path=path, corpus=corpus)
        yield from cut_sections(self.found, fixed, () if said else (fix,))
        yield from contract_sections(self.contracts)
        yield from copy_sections(self.copies)
        if self.holes is not None:
            yield from hole_sections(self.holes)


@keywords(CheckSetOptions)
def check_set(wanted: CheckSetOptions) -> SetCheck:
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
    from ragauge.testsets.check.contracts import broken_contracts
    from ragauge.testsets.check.copies import label_copies
    from ragauge.testsets.check.freshness import freshness, mended
    from ragauge.testsets.overwrite_rules import all_kept
    from ragauge.testsets.set_file import read_set_file, set_lines
    from ragauge.verbs.coroutines import finish
    from ragauge.verbs.files import make_folder

    output, before = _mended_there(wanted)
    lines = (set_lines if output is None else read_set_file)(wanted.set, columns=wanted.columns)
    texts = _texts(wanted.corpus, lines)
    found = freshness(lines, texts, _lock_there(_lock_of(wanted.set)))
    contracts = tuple(broken_contracts(lines, texts))
    mended_set = mended(lines, found)
    if output is not None:
        all_kept("check", output, before, mended_set.lines)
    copies = label_copies(found, texts)
    holes = None if wanted.judge in (None, "none") else finish(lambda: _holes(wanted, found, texts, copies))
    if output is not None:
        make_folder(output)
        mended_set.write(output)
    named = spoken(wanted.set, "SET"), spoken(wanted.corpus, "CORPUS")
    return SetCheck(found, contracts, copies, holes, output, named)


def _mended_there(wanted: CheckSetOptions) -> tuple[Path | None, SetFile | None]:
    """The file of the mended set, and the lines that stand in it; None where nothing is mended."""
    from ragauge.testsets.overwrite_rules import lines_there

    if wanted.fix is (wanted.output is None):
        raise UsageError("testset check: --fix needs -o NEW.jsonl, the mended set, and -o needs --fix.")
    output = None if wanted.output is None else Path(wanted.output)
    return output, None if output is None else lines_there("check", output)


def _lock_of(source: Any) -> Path | None:
    """Where the lock of a set stands; None of one that is in no file."""
    from ragauge.testsets.lock import lock_path

    return lock_path(Path(source)) if isinstance(source, str | Path) else None


def _lock_there(path: Path | None) -> SetLock | None:
    from ragauge.testsets.lock import read_lock

    return read_lock(path) if path is not None and path.exists() else None


@keywords(FreezeSetOptions)
def freeze_set(wanted: FreezeSetOptions) -> Path:
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
    from ragauge.testsets.check.freshness import freshness, gone_evidence
    from ragauge.testsets.lock import corpus_hash, frozen, lost_evidence
    from ragauge.testsets.set_file import set_lines

    path = _lock_of(wanted.set)
    if path is None:
        raise UsageError("testset freeze: the lock stands beside the set, which is in no file. Write it to one first.")
    lines = set_lines(wanted.set, columns=wanted.columns)
    texts = _texts(wanted.corpus, lines)
    before = None
    with suppress(DataError):  # a lock that cannot be read is made anew
        before = _lock_there(path)
    lost = gone_evidence(freshness(lines, texts, before)) | lost_evidence(lines, texts)
    if stale := [name for name in lost if lines.by_id[name].curation.state != "draft"]:
        told = [f"  {name}: {lost[name][:REASON]}{' …' * bool(lost[name][REASON:])}" for name in stale[:NAMED]]
        if len(stale) > NAMED:
            told.append(f"  and {len(stale) - NAMED:,} more")
        lead = f"the evidence of {plural(len(stale), 'example')} is not in the corpus:"
        raise DataError("\n".join([lead, *told, *_getting_on(wanted, stale)]), source=str(wanted.set))
    if lost:
        warn_user(
            f"{wanted.set}: {plural(len(lost), 'draft')} left out, since the corpus does not have their evidence: "
            f"{', '.join(lost)}."
        )
    frozen(lines, texts, corpus_hash(texts), lost).write(path)
    return path


def _getting_on(wanted: FreezeSetOptions, stale: Sequence[str]) -> tuple[str, str]:
    """What to do about examples whose evidence the corpus does not have."""
    ids = ",".join(stale) if len(stale) <= NAMED else "IDS"
    corpus = spoken(wanted.corpus, "CORPUS")
    fix = command("testset", "check", str(wanted.set), "--corpus", corpus, "--fix", "-o", "NEW.jsonl")
    mark = command("testset", "mark", str(wanted.set), "--to", "rejected", "--by", "NAME", "--ids", ids)
    return f"Make drafts of them: {fix}", f"or leave them out: {mark}"


async def _holes(
    wanted: CheckSetOptions, found: SetFreshness, texts: Mapping[str, str], copies: Sequence[LabelCopies]
) -> LabelHoles:
    from contextlib import nullcontext

    from ragauge.engine.judges import build_judge, given_judge
    from ragauge.store.store_access import open_store
    from ragauge.testsets.check.missing_labels import label_holes
    from ragauge.testsets.generate.question_writer import Session, asks_models

    judge = build_judge(given_judge(wanted.judge, wanted.judge_name))
    with open_store(store_url(wanted.store)) if asks_models(judge) else nullcontext() as store:
        async with Session(store, wanted.of(judge), wanted.progress) as session:
            return await label_holes(found, texts, judge, session, copies)


def _texts(corpus: Any, lines: SetFile) -> dict[str, str]:
    """doc_id -> text, every character of text files counted, as gold spans count them.

    Text files of a folder that are not UTF-8 are left out and named in a warning.
    """
    from ragauge.readers.chroma import plain_texts
    from ragauge.readers.corpus import named_as_labels
    from ragauge.readers.options import warn_user
    from ragauge.testsets.corpus_view import not_decoded
    from ragauge.testsets.lock import gold_ids

    undecoded: list[str] = []
    texts = plain_texts(corpus, undecoded)
    if undecoded:
        warn_user(f"{corpus}: {not_decoded(undecoded)}.")
    names = named_as_labels(texts, (doc_id for line in lines.lines for doc_id in gold_ids(line)))
    return {names.get(doc_id, doc_id): text for doc_id, text in texts.items()}
