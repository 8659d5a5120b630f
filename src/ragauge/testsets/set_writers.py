"""Sets in the forms of other tools, and which files and lines may be overwritten."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from ragauge.core.curation import Curation, SetForm
from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import Example
from ragauge.core.jsonl_files import example_to_dict, open_text_writer
from ragauge.core.messages import format_count
from ragauge.readers.options import warn_user
from ragauge.readers.rankings import OWN_METADATA_KEY
from ragauge.testsets.generate.draft import METHOD
from ragauge.testsets.set_file import ENDINGS, SetFile, SetLine, read_set_file, read_set_lines

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


MAX_NAMED_EXAMPLES = 3  # examples that a message names


def read_existing_drafts(path: Path, method: str, seed: int) -> SetFile | None:
    """The drafts that an earlier making left in a file; None = no file, or an empty one.

    Args:
        path: the file to write.
        method: known_item or model.
        seed: of the drawing.

    Raises:
        UsageError: it holds something else: examples of another making, examples that somebody looked at, no examples.
    """
    existing = read_existing_lines("generate", path)
    if existing is not None:
        problem = f"has examples that this command did not write ({method}, seed {seed}, drafts)"
        others = [line.example.query_id for line in existing.lines if not _is_own_draft(line, method, seed)]
        _refuse_names(f"generate: -o {path}", problem, others, _build_hint(path, method))
    return existing


def check_rejections_file(path: Path) -> None:
    """Makes sure that a file holds, if anything, questions that a making rejected; some may be no questions at all.

    Raises:
        UsageError: it holds something else.
    """
    if path.is_file():
        texts = path.read_text(encoding="utf-8", errors="replace").splitlines()
        others = [f"line {n}" for n, text in enumerate(texts, 1) if text.strip() and not _is_rejected_line(text)]
        problem = "contains other data than rejected questions"
        _refuse_names(f"generate: --rejected {path}", problem, others, "Choose another file.")


def read_existing_lines(verb: str, path: Path) -> SetFile | None:
    """The lines of the file that a verb is to write; None = no file, or an empty one.

    Raises:
        UsageError: a name that does not end in .jsonl, or a file that holds no set.
    """
    if path.suffix not in ENDINGS:
        raise UsageError(f"testset {verb}: -o {path}: expected a file that ends in .jsonl.")
    if not path.is_file() or not path.read_bytes().strip():
        return None
    try:
        return read_set_file(path, warn=lambda _: None)
    except DataError as error:
        raise _build_not_a_set_error(verb, path, error) from None


def check_lines_kept(
    verb: str, path: Path, existing: SetFile | None, made: Iterable[SetLine], method: str = ""
) -> None:
    """Makes sure that every line of a file is among those that are written over it.

    Args:
        verb: who writes: generate, vary, check.
        path: the file.
        existing: what it holds.
        made: the lines that are written.
        method: of generate: known_item or model.

    Raises:
        UsageError: a line would be lost.
    """
    if existing is not None:
        texts = {line.written for line in made}
        missing = [line.example.query_id for line in existing.lines if line.text not in texts]
        _refuse_names(
            f"{verb}: -o {path}", "has examples that this run did not create", missing, _build_hint(path, method)
        )


def read_prepared_lines(path: Path, examples: Iterable[Example]) -> SetFile | None:
    """The lines of the file that `prepare` is to write; None = no file, or an empty one.

    Args:
        path: the file.
        examples: that are to be prepared.

    Raises:
        UsageError: it holds something else: no set, examples that these are not, examples that somebody marked.
    """
    if not path.is_file() or not path.read_bytes().strip():
        return None
    try:
        existing = read_set_lines(path, warn=lambda _: None)
    except DataError as error:
        raise _build_not_a_set_error("prepare", path, error) from None
    requested = {item.query_id: item for item in examples}

    def is_prepared(line: SetLine) -> bool:
        example = requested.get(line.example.query_id)
        return (
            example is not None and line.curation == Curation() and _fill_claims(example, line.example) == line.example
        )

    others = [item.example.query_id for item in existing.lines if not is_prepared(item)]
    _refuse_names(f"prepare: -o {path}", "has examples that this command did not write", others, "Choose another -o.")
    return existing


def check_claims_kept(path: Path, existing: SetFile | None, made: Iterable[Example]) -> None:
    """Makes sure that no claims and aspects that a file holds are lost to others.

    Args:
        path: the file.
        existing: what it holds.
        made: the examples that are written over it.

    Raises:
        UsageError: an example there has other claims or aspects.
    """
    examples_by_id = {item.query_id: item for item in made}
    lines = () if existing is None else existing.lines
    existing_by_id = {item.example.query_id: item.example for item in lines}
    others = [
        name
        for name, item in existing_by_id.items()
        if _fill_claims(item, examples_by_id[name]) != examples_by_id[name]
    ]
    _refuse_names(
        f"prepare: -o {path}", "has other claims or aspects", others, "Choose another -o; replies are cached."
    )


def _fill_claims(example: Example, other: Example) -> Example:
    """An example with another's claims and aspects where it has none."""
    claims, aspects = example.reference_claims, example.aspects
    return replace(
        example,
        reference_claims=other.reference_claims if claims is None else claims,
        aspects=other.aspects if aspects is None else aspects,
    )


def _build_not_a_set_error(verb: str, path: Path, error: DataError) -> UsageError:
    message = f"testset {verb}: -o {path} exists and is not an eval set ({error})."
    return UsageError(f"{message} It was not changed. Choose another file.")


def _is_own_draft(line: SetLine, method: str, seed: int) -> bool:
    """Whether this command made a line, and nobody marked it since."""
    meta = line.curation
    made = _is_made_by(line, method) and meta.origin is not None and meta.origin.seed == seed
    return made and meta.state == "draft" and not meta.note


def _is_made_by(line: SetLine, method: str) -> bool:
    meta = line.curation
    return meta.origin is not None and meta.origin.method == method and not meta.by


def _build_hint(path: Path, method: str) -> str:
    more = f" --existing {path} prevents its questions from being repeated." if method == METHOD else ""
    return f"Choose another -o.{more}"


def _is_rejected_line(text: str) -> bool:
    """Whether a line is a question that a model's making rejected."""
    try:
        meta = json.loads(text)["meta"]
        return bool(meta["state"] == "rejected" and meta["origin"]["method"] == METHOD and not meta.get("by"))
    except (ValueError, LookupError, TypeError, AttributeError):
        return False


def _refuse_names(option: str, problem: str, names: Sequence[str], hint: str) -> None:
    """Raises where there is a name."""
    if names:
        listing = ", ".join(names[:MAX_NAMED_EXAMPLES]) + (
            f" and {len(names) - MAX_NAMED_EXAMPLES:,} more" if len(names) > MAX_NAMED_EXAMPLES else ""
        )
        raise UsageError(f"testset {option} exists and {problem}: {listing}. It was not changed. {hint}")
