"""Preparing an eval set: reference claims and aspects, once for all runs on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragauge.core.errors import UsageError
from ragauge.verbs.evaluate_options import PrepareOptions
from ragauge.verbs.files import make_folder
from ragauge.verbs.sources import resolve_store_url

if TYPE_CHECKING:
    from ragauge.core.example import EvalSet
    from ragauge.testsets.preparation import PreparedSet
    from ragauge.testsets.set_file import SetFile

OUTPUT_SUFFIXES = (".jsonl", ".jsonl.gz")


def load_inputs(options: PrepareOptions) -> tuple[EvalSet, SetFile | None]:
    """The eval set, and what an earlier call wrote, when everything that can be known beforehand is right.

    Raises:
        UsageError: a file's name that is not JSON lines, that of the source itself, or of a file that holds more than
            examples of the source as this command writes them.
        DataError: a set that cannot be read.
    """
    from ragauge.readers.source import read_set
    from ragauge.testsets.set_writers import read_prepared_lines

    if not options.output.name.lower().endswith(OUTPUT_SUFFIXES):
        raise UsageError(f"-o {options.output}: expected a file that ends in .jsonl or .jsonl.gz.")
    if isinstance(options.source, str | Path) and options.output.resolve() == Path(options.source).resolve():
        raise UsageError(f"-o {options.output} is the input set, whose answers would be lost. Choose another file.")
    eval_set = read_set(options.source)
    return eval_set, read_prepared_lines(options.output, eval_set.examples)


def estimate_prepare_cost(options: PrepareOptions) -> dict[str, Any]:
    """What preparing would ask and cost, as JSON types; nothing is asked or written."""
    from ragauge.engine.estimate import CostEstimate
    from ragauge.engine.judges import build_judge, resolve_judge_spec
    from ragauge.store.store_access import open_store
    from ragauge.testsets.preparation import can_prepare, estimate_preparation, iter_unprepared

    examples = load_inputs(options)[0].examples
    judge = build_judge(resolve_judge_spec(options.judge, options.judge_name))
    facts: dict[str, Any] = {"examples": len(examples), "judge": judge.judge_id}
    if not can_prepare(judge):
        return {**facts, "to_do": len(examples), **CostEstimate().to_json()}
    with open_store(resolve_store_url(options.store)) as opened_store:
        estimate = estimate_preparation(examples, judge, opened_store)
    return {**facts, "to_do": len(list(iter_unprepared(examples))), **estimate.to_json()}


async def prepare_set(options: PrepareOptions) -> PreparedSet:
    """Prepares an eval set and writes it, whole or not at all; what models said is kept in the store in any case.

    Raises:
        UsageError: an output that cannot be or holds something else, or a judge that cannot prepare.
        JudgeError: the model cannot be asked at all.
    """
    from ragauge.core.jsonl_files import write_records
    from ragauge.engine.judges import build_judge, resolve_judge_spec
    from ragauge.store.store_access import open_store
    from ragauge.testsets.preparation import can_prepare, prepare_examples, split_references
    from ragauge.testsets.set_writers import check_claims_kept

    eval_set, previous_set = load_inputs(options)
    examples = eval_set.examples
    judge = build_judge(resolve_judge_spec(options.judge, options.judge_name))
    calling = options.of(judge)
    if calling is not None and can_prepare(judge):
        with open_store(resolve_store_url(options.store)) as opened_store:
            prepared = await prepare_examples(examples, judge, opened_store, calling, options.progress)
    elif options.judge == "local":
        prepared = split_references(examples)
    else:
        raise UsageError(f"{options.judge} cannot prepare a set. Use --judge local, or a model: --judge openai:MODEL.")
    if not prepared.stopped:
        check_claims_kept(options.output, previous_set, prepared.examples)
        make_folder(options.output)
        write_records(options.output, prepared.examples)
    return prepared
