"""Preparing an eval set: reference claims and aspects, once for all runs on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.verbs.evaluate_options import PrepareOptions
from ragauge.verbs.files import make_folder
from ragauge.verbs.sources import store_url

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.testsets.prepare.prepare import PreparedSet
    from ragauge.testsets.set_file import SetFile

ENDINGS = (".jsonl", ".jsonl.gz")


def checked(wanted: PrepareOptions) -> tuple[EvalSet, SetFile | None]:
    """The eval set, and what an earlier call wrote, when everything that can be known beforehand is right.

    Raises:
        UsageError: a file's name that is not JSON lines, that of the source itself, or of a file that holds more than
            examples of the source as this command writes them.
        DataError: a set that cannot be read.
    """
    from ragauge.readers.source import read_set
    from ragauge.testsets.overwrite_rules import prepared_there

    if not wanted.output.name.lower().endswith(ENDINGS):
        raise UsageError(f"-o {wanted.output}: expected a file that ends in .jsonl or .jsonl.gz.")
    if isinstance(wanted.source, str | Path) and wanted.output.resolve() == Path(wanted.source).resolve():
        raise UsageError(f"-o {wanted.output}: is the set itself. Give another name: answers in it would be lost.")
    found = read_set(wanted.source)
    return found, prepared_there(wanted.output, found.examples)


def expect(wanted: PrepareOptions) -> dict[str, Any]:
    """What preparing would ask and cost, as JSON types; nothing is asked or written."""
    from ragauge.engine.estimate import CostEstimate
    from ragauge.engine.judges import build_judge, given_judge
    from ragauge.store.store_access import open_store
    from ragauge.testsets.prepare.prepare import expected, lacking, prepares

    examples = checked(wanted)[0].examples
    judge = build_judge(given_judge(wanted.judge, wanted.judge_name))
    known: dict[str, Any] = {"examples": len(examples), "judge": judge.judge_id}
    if not prepares(judge):
        return {**known, "to_do": len(examples), **CostEstimate().plain()}
    with open_store(store_url(wanted.store)) as opened:
        estimate = expected(examples, judge, opened)
    return {**known, "to_do": len(list(lacking(examples))), **estimate.plain()}


async def prepare(wanted: PrepareOptions) -> PreparedSet:
    """Prepares an eval set and writes it, whole or not at all; what models said is kept in the store in any case.

    Raises:
        UsageError: an output that cannot be or holds something else, or a judge that cannot prepare.
        JudgeError: the model cannot be asked at all.
    """
    from ragauge.core.jsonl_files import write_records
    from ragauge.engine.judges import build_judge, given_judge
    from ragauge.store.store_access import open_store
    from ragauge.testsets.overwrite_rules import claims_kept
    from ragauge.testsets.prepare.prepare import by_sentences, prepare_examples, prepares

    found, before = checked(wanted)
    examples = found.examples
    judge = build_judge(given_judge(wanted.judge, wanted.judge_name))
    calling = wanted.of(judge)
    if calling is not None and prepares(judge):
        with open_store(store_url(wanted.store)) as opened:
            prepared = await prepare_examples(examples, judge, opened, calling, wanted.progress)
    elif wanted.judge == "local":
        prepared = by_sentences(examples)
    else:
        raise UsageError(f"{wanted.judge} cannot prepare a set. Use --judge local, or a model: --judge openai:MODEL.")
    if not prepared.stopped:
        claims_kept(wanted.output, before, prepared.examples)
        make_folder(wanted.output)
        write_records(wanted.output, prepared.examples)
    return prepared
