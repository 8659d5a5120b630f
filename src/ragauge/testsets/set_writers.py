"""Sets in the forms of other tools, each of which the reader turns into equal examples again.

What a form has no place for stands beside it under our names, which other tools pass by.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from ragauge.core.curation import SetForm
from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import Example
from ragauge.core.jsonl_files import example_to_dict, open_text_writer
from ragauge.core.messages import format_count
from ragauge.readers.beir import OWN_METADATA_KEY
from ragauge.readers.options import warn_user

MAX_NAMED_DOCUMENTS = 5  # documents that a warning names
FORMS: tuple[SetForm, ...] = get_args(SetForm)


def export_examples(
    form: SetForm, path: Path, examples: Iterable[Example], texts: Mapping[str, str] | None = None
) -> int:
    """Writes a set: beir as a folder, ragas as JSON lines, deepeval as a JSON list of goldens.

    Args:
        form: which.
        path: the folder or file.
        examples: of the set.
        texts: doc_id -> text; with it a BEIR folder has its corpus, and the others the texts of the gold documents.

    Returns:
        How many examples.

    Raises:
        UsageError: an unknown form, a file's ending that is not the form's, or a file or folder that holds something.
        DataError: groups of documents in BEIR's form, which has no place for them.
    """
    if form not in FORMS:
        raise UsageError(f"testset export: --to {form}: expected one of {', '.join(FORMS)}.")
    example_list = list(examples)
    if form == "beir":
        _write_beir(path, example_list, texts)
        return len(example_list)
    ending = {"ragas": ".jsonl", "deepeval": ".json"}[form]
    if path.suffix != ending:
        raise UsageError(f"testset export: -o {path}: {form} needs a file that ends in {ending}.")
    _check_target_free(path, "file")
    rows = [_build_row(form, example, texts or {}) for example in example_list]
    with open_text_writer(path) as file:
        if form == "deepeval":
            json.dump(rows, file, ensure_ascii=False, indent=1)
            file.write("\n")
        else:
            file.writelines(_format_line(row) for row in rows)
    return len(rows)


def _build_row(form: SetForm, example: Example, texts: Mapping[str, str]) -> dict[str, Any]:
    """A sample of ragas (user_input, reference, reference_contexts) or golden of deepeval (input, expected_output)."""
    fields = example_to_dict(example)
    query, reference = fields.pop("query"), fields.pop("reference_answer", None)
    if reference is None and example.references:  # several: the others stand under references
        reference, fields["references"] = example.references[0], list(example.references[1:])
    contexts = [texts[doc_id] for doc_id in _list_gold_documents(example) if doc_id in texts]
    names = ("input", "expected_output", "context")
    if form == "ragas":
        names = ("user_input", "reference", "reference_contexts")
    row = {**dict(zip(names, (query, reference, contexts or None), strict=True)), **fields}
    return {key: value for key, value in row.items() if value is not None}


def _list_gold_documents(example: Example) -> list[str]:
    doc_ids = [doc_id for item in example.relevant or () if item.grade > 0 for doc_id in item.doc_ids]
    return list(dict.fromkeys([*doc_ids, *(span.doc_id for span in example.gold_spans or ())]))


def _write_beir(path: Path, examples: list[Example], texts: Mapping[str, str] | None) -> None:
    for example in examples:
        if any(len(item.doc_ids) > 1 for item in example.relevant or ()):
            raise DataError("The BEIR format cannot store groups of documents.", source=f"example {example.query_id}")
    _check_target_free(path, "folder")
    (path / "qrels").mkdir(parents=True)
    if texts is not None:
        with open_text_writer(path / "corpus.jsonl") as file:
            file.writelines(_format_line({"_id": doc_id, "title": "", "text": text}) for doc_id, text in texts.items())
    with open_text_writer(path / "queries.jsonl") as file:
        file.writelines(map(_format_line, map(_build_query_row, examples)))
    with open_text_writer(path / "qrels" / "test.tsv") as file:
        file.write("query-id\tcorpus-id\tscore\n")
        file.writelines(_format_qrels(examples))
    _warn_missing_labels(path, examples, texts)


def _check_target_free(path: Path, kind: str) -> None:
    """Makes sure that nothing stands where a set is written but an empty file or folder of that kind."""
    has_content = any(path.iterdir()) if path.is_dir() else path.exists() and path.stat().st_size > 0
    if has_content or (path.exists() and path.is_dir() is not (kind == "folder")):
        raise UsageError(f"testset export: -o {path} already exists and was not changed. Choose a new {kind}.")


def _warn_missing_labels(path: Path, examples: Sequence[Example], texts: Mapping[str, str] | None) -> None:
    """Says which queries have no label, and which labels no document."""
    if without := sum(not _collect_grades(example) for example in examples):
        warn_user(
            f"{path}: {format_count(without, 'query', 'queries')} of {len(examples):,} without a label: "
            "other tools ignore queries that are not in qrels/test.tsv; ragauge reads them."
        )
    labeled_ids = {doc_id for example in examples for doc_id in _collect_grades(example)}
    if texts is not None and (missing := sorted(labeled_ids - texts.keys())):
        preview = ", ".join(map(repr, missing[:MAX_NAMED_DOCUMENTS])) + (
            " …" if len(missing) > MAX_NAMED_DOCUMENTS else ""
        )
        warn_user(f"{path}: {format_count(len(missing), 'labeled document')} not in the corpus: {preview}.")


def _build_query_row(example: Example) -> dict[str, Any]:
    if not example.relevant:  # the reader knows it by `relevant`, None too
        fields = example_to_dict(example) | {"relevant": None if example.relevant is None else {}}
        own_fields = {key: value for key, value in fields.items() if key not in ("query_id", "query")}
        return {"_id": example.query_id, "text": example.query, "metadata": {OWN_METADATA_KEY: own_fields}}
    excluded = ("query_id", "query", "relevant")
    fields = {key: value for key, value in example_to_dict(example).items() if key not in excluded}
    return {"_id": example.query_id, "text": example.query, "metadata": {OWN_METADATA_KEY: fields} if fields else {}}


def _format_qrels(examples: Iterable[Example]) -> Iterator[str]:
    for example in examples:
        for doc_id, grade in _collect_grades(example).items():
            is_whole = float(grade).is_integer()  # as other tools read them
            yield f"{example.query_id}\t{doc_id}\t{int(grade) if is_whole else float(grade)!r}\n"


def _collect_grades(example: Example) -> dict[str, float]:
    """Document -> grade: its labels, or where it has none the documents that hold its gold spans."""
    if example.relevant is None:
        return dict.fromkeys((span.doc_id for span in example.gold_spans or ()), 1.0)
    return {item.doc_ids[0]: item.grade for item in example.relevant}


def _format_line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
