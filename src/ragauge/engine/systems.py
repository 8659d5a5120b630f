"""Systems that can be asked, from what a user names, and the passages that they are handed in variants of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragauge.core.errors import DataError, UsageError
from ragauge.core.example import EvalSet, Example, Relevant
from ragauge.core.response import Passage, Variant
from ragauge.readers.aliases import EXAMPLE_FIELDS, check_mapping
from ragauge.readers.corpus import read_document_texts
from ragauge.store.store_access import Store
from ragauge.systems.base import System as System  # noqa: PLC0414 - for the layers that may not see systems
from ragauge.systems.reference import pipeline as reference
from ragauge.systems.system_lookup import find_system, is_recorded

SECTION = "system"
PassagesByQuery = Mapping[str, tuple[Passage, ...]]  # query_id -> the passages to answer from


def build_system(
    target: Any, settings: Any = None, eval_set: EvalSet | None = None, columns: Mapping[str, str] | None = None
) -> System:
    """The system that is meant; see `systems.naming.system_of`.

    Args:
        target: a System, a URL, module:name, a path of recorded responses, a function or object; or reference:FOLDER,
            the reference pipeline over the text files of a folder.
        settings: a mapping, or the path of a YAML file with a section `system`.
        eval_set: what it will be asked.
        columns: our field -> column, for recorded responses beside such a set; what only the set has is left.

    Raises:
        UsageError: nothing of that name, with the nearest; or a setting that is not known.
        DataError: a file that cannot be read.
    """
    if isinstance(settings, str | Path):
        settings = read_settings(Path(settings))
    if isinstance(target, str) and target.startswith(reference.PREFIX):
        from ragauge.models.embedders.base import WordLlamaEmbedder

        return reference.adapt(target, settings or {}, WordLlamaEmbedder().embed)
    return find_system(target, settings, eval_set, columns)


def select_set_columns(target: Any, columns: Mapping[str, str]) -> Mapping[str, str]:
    """What of mapped columns is the set's: recorded responses bring their own fields.

    Raises:
        UnknownName: a field that does not exist.
    """
    check_mapping(columns)
    if not is_recorded(target):
        return columns
    return {ours: theirs for ours, theirs in columns.items() if ours in EXAMPLE_FIELDS}


def read_settings(path: Path) -> Mapping[str, Any]:
    """The section `system` of a YAML file; of a file without one, the whole.

    Raises:
        DataError: no such file, not YAML, or no mapping.
    """
    import yaml

    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}.", source=str(path)) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DataError(f"not YAML: {str(error).splitlines()[0]}.", source=str(path)) from None
    except RecursionError:
        raise DataError("its lists or mappings are nested too deeply.", source=str(path)) from None
    if isinstance(settings, Mapping) and SECTION in settings:
        settings = settings[SECTION]
    if not isinstance(settings, Mapping):
        hint = "Write a mapping such as system: {url: https://…, answer: $.answer}."
        raise DataError("expected the settings of a system.", source=str(path), hint=hint)
    return settings


def find_variant_passages(
    variant: Variant, eval_set: EvalSet, store: Store, *, corpus: Any = None, run_id: str = ""
) -> tuple[PassagesByQuery | None, str]:
    """The passages of each question for a variant, and what the user should know of them; None for own retrieval.

    oracle: the labelled passages: its gold spans, else the whole of each labelled document (of a group that any one
    will do for, the first); none where the question is known to have no answer. Texts come from the corpus. Questions
    without labels, or without a text of theirs in the corpus, are left out.
    closed_book: none. replayed: those of a stored run's first answers.

    Args:
        variant: own, oracle, closed_book or replayed.
        eval_set: the questions.
        store: where the other run is.
        corpus: documents by id: a path, a table, or a mapping of id and text; a folder of text files, whose ids are
            the files' paths in it without their endings; for oracle.
        run_id: the run to replay.

    Raises:
        UsageError: no corpus, or nothing to hand to any question.
        DataError: a corpus that cannot be read.
    """
    if variant == "own":
        return None, ""
    if variant == "closed_book":
        return {example.query_id: () for example in eval_set.examples}, ""
    passages = (
        _find_gold_passages(eval_set, corpus)
        if variant == "oracle"
        else _load_replayed_passages(eval_set, store, run_id)
    )
    if not passages:
        message = (
            "label whose text is in the corpus" if variant == "oracle" else "question in common with the other run"
        )
        raise UsageError(f"{eval_set.name}: no {message}, so there are no passages to give to the system.")
    n_skipped = len(eval_set) - len(passages)
    message = f"{n_skipped:,} of {len(eval_set):,} questions are skipped because there are no passages for them."
    return passages, message if n_skipped else ""


def _load_replayed_passages(eval_set: EvalSet, store: Store, run_id: str) -> dict[str, tuple[Passage, ...]]:
    query_ids = {example.query_id for example in eval_set.examples}
    return {
        example.query_id: response.passages
        for example, response in store.runs.pairs(run_id)
        if response.repeat == 0
        and response.passages is not None
        and response.has_passage_texts
        and example.query_id in query_ids
    }


def _find_gold_passages(eval_set: EvalSet, corpus: Any) -> dict[str, tuple[Passage, ...]]:
    labels_by_query = {example.query_id: _select_positive_labels(example) for example in eval_set.examples}
    doc_ids = {doc_id for labels in labels_by_query.values() for label in labels or () for doc_id in label.doc_ids}
    if doc_ids and corpus is None:
        raise UsageError(
            "oracle passages need the texts of the labeled documents. Give the corpus, as a file with doc_id "
            "and text or a folder of text files (--corpus corpus.jsonl; in Python corpus=)."
        )
    texts = read_document_texts(corpus, doc_ids) if doc_ids else {}
    passages_by_query = {}
    for example in eval_set.examples:
        labels = labels_by_query[example.query_id]
        passages = None if labels is None else _build_passages(example, labels, texts)
        if passages is not None:
            passages_by_query[example.query_id] = passages
    return passages_by_query


def _select_positive_labels(example: Example) -> Sequence[Relevant] | None:
    """What is known to be relevant; nothing for what has no answer; None where it is not known."""
    if example.gold_spans:
        return [Relevant((span.doc_id,)) for span in example.gold_spans]
    if example.relevant is None:
        return () if example.answerable is False else None
    positive = [label for label in example.relevant if label.grade > 0]
    if positive or example.answerable is False or not example.relevant:
        return positive
    return None  # only what is not relevant is known


def _build_passages(
    example: Example, labels: Sequence[Relevant], texts: Mapping[str, str]
) -> tuple[Passage, ...] | None:
    """The gold passages of an example; None where a text of theirs is lacking."""
    if example.gold_spans:
        span_texts = [(span, texts.get(span.doc_id, "")[span.start : span.end]) for span in example.gold_spans]
        if not all(text.strip() for _, text in span_texts):  # not in the corpus, or beyond the document's end
            return None
        return tuple(
            Passage(f"{span.doc_id}:{span.start}-{span.end}", span.doc_id, text, span=span) for span, text in span_texts
        )
    selected = [next((doc_id for doc_id in label.doc_ids if doc_id in texts), None) for label in labels]
    if None in selected:
        return None
    ids = dict.fromkeys(doc_id for doc_id in selected if doc_id is not None)
    return tuple(Passage(doc_id, doc_id, texts[doc_id]) for doc_id in ids)
