"""The fields of one record, and what the tools that people come from call them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from ragauge.core.errors import UnknownName

EXAMPLE_FIELDS: Mapping[str, str] = {
    "query_id": "unique id within the set; derived from the query if absent",
    "query": "the question",
    "history": "earlier turns: [{role, text}]",
    "reference_answer": "an accepted answer",
    "references": "all accepted answers, the main one first",
    "reference_claims": "facts of the reference, one statement each",
    "aspects": "what a complete answer must address",
    "criteria": "pass or fail statements about a good answer",
    "relevant": "judged documents: {doc_id: grade}, [doc_id], [{doc_ids, grade}], or [[doc_id, doc_id]] for groups",
    "relevant_chunks": "judged chunks by passage_id, in the same forms; read in addition to relevant, for unit=chunk",
    "relevant_texts": "texts of the relevant passages, if they have no ids",
    "gold_spans": "where the evidence is: [{doc_id, start, end}]",
    "answerable": "whether the corpus has the answer; by default no if all references decline, yes if any does not",
    "segments": "column -> value, for reports per segment",
    "tags": "such as golden or regression",
    "cluster": "examples that share a value are not independent",
}
RESPONSE_FIELDS: Mapping[str, str] = {
    "repeat": "which of the system's answers to the question this is, from 0",
    "passages": "what the generator saw, in order: texts, or [{doc_id, passage_id, text, score, ...}]",
    "retrieved_ids": "doc_ids of the passages, in the same order",
    "candidates": "the longer ranking before rerank, filter or truncation; same form as passages",
    "answer": "the system's answer",
    "citations": "[{start, end, doc_id}] by character of the answer, or [doc_id] for the whole answer",
    "latency_ms": "milliseconds: {stage: number}, or one number for the total",
    "latency_s": "the total in seconds",
    "tokens": "{kind: number}, such as input and output, or one number for the total",
    "cost": "in US dollars",
    "outcome": "the outcome in production: {solved: true}",
    "weight": "how many real requests a sampled one represents",
    "missing": "field -> why it was not recorded",
    "origin": "how it was made: {model, prompt, embedder, index, k, version}",
    "error": "why the system failed",
}
FIELDS: Mapping[str, str] = {**EXAMPLE_FIELDS, **RESPONSE_FIELDS}


@dataclass(frozen=True, slots=True)
class Alias:
    """A tool's name for one of our fields; it is read so only beside one of some columns, and without any of others."""

    tool: str
    theirs: str
    ours: str
    beside: frozenset[str] = frozenset()
    without: frozenset[str] = frozenset()


DEEPEVAL = frozenset({"actual_output", "expected_output", "retrieval_context", "turns"})
TOOLS: Mapping[str, Mapping[str, str]] = {
    "ragas (before 0.2)": {
        "question": "query",
        "contexts": "passages",
        "answer": "answer",
        "ground_truth": "reference_answer",
        "ground_truths": "references",
    },
    "ragas": {
        "user_input": "query",
        "retrieved_contexts": "passages",
        "retrieved_context_ids": "retrieved_ids",
        "response": "answer",
        "reference": "reference_answer",
        "reference_contexts": "relevant_texts",
        "reference_context_ids": "relevant",
    },
    "deepeval": {
        "input": "query",
        "actual_output": "answer",
        "expected_output": "reference_answer",
        "retrieval_context": "passages",
        "context": "relevant_texts",
        "completion_time": "latency_s",
        "token_cost": "cost",
    },
    "RAGChecker": {
        "query_id": "query_id",
        "query": "query",
        "gt_answer": "reference_answer",
        "response": "answer",
        "retrieved_context": "passages",
        "gt_answer_claims": "reference_claims",
    },
    "MLflow": {
        "request_id": "query_id",
        "request": "query",
        "response": "answer",
        "expected_response": "reference_answer",
        "retrieved_context": "passages",
        "expected_retrieved_context": "relevant",
        "expected_facts": "reference_claims",
        "guidelines": "criteria",
    },
    "AutoRAG": {
        "qid": "query_id",
        "query": "query",
        "generation_gt": "references",
        "retrieval_gt": "relevant",
        "retrieved_contents": "passages",
        "generated_texts": "answer",
    },
    "other names": {
        "id": "query_id",
        "_id": "query_id",
        "custom_id": "query_id",
        "question_id": "query_id",
        "uid": "query_id",
        "example_id": "query_id",
        "user_query": "query",
        "user_question": "query",
        "prompt": "query",
        "output": "answer",
        "passage": "passages",
        "documents": "passages",
        "retrieved_documents": "passages",
        "context": "passages",
        "expected_answer": "reference_answer",
        "ideal": "reference_answer",
        "ideal_answer": "reference_answer",
        "gold_answer": "reference_answer",
        "golden_answer": "reference_answer",
        "correct_answer": "reference_answer",
        "chat_history": "history",
        "conversation_id": "cluster",
        "session_id": "cluster",
        "thread_id": "cluster",
        "chat_id": "cluster",
        "qrels": "relevant",
        "relevant_doc_ids": "relevant",
        "relevant_ids": "relevant",
        "relevant_documents": "relevant",
        "gold_doc_ids": "relevant",
        "expected_doc_ids": "relevant",
        "ground_truth_doc_ids": "relevant",
        "relevant_chunk_ids": "relevant_chunks",
        "gold_chunk_ids": "relevant_chunks",
        "expected_chunk_ids": "relevant_chunks",
        "retrieved_doc_ids": "retrieved_ids",
        "retrieved_chunks": "passages",
        "retrieved_chunk_ids": "retrieved_ids",
        "source_documents": "passages",
        "source_nodes": "passages",
        "result": "answer",
        "generated_answer": "answer",
        "llm_answer": "answer",
        "llm_response": "answer",
        "model_response": "answer",
        "model_output": "answer",
        "predicted_answer": "answer",
        "prediction": "answer",
        "model_answer": "answer",
    },
}
CHAT = "messages"
AMBIGUOUS_ANSWER = "model_answer"  # the system's answer in one file, the ideal one in another
SYSTEM_ANSWER_NAMES = frozenset(
    {  # nothing but what the system wrote, whatever a column called answer holds
        "generated_answer",
        "llm_answer",
        "llm_response",
        "model_response",
        "model_output",
        "predicted_answer",
        "prediction",
    }
)
DOCUMENTS = frozenset({"documents", "context"})  # which a set may call its own
REFERENCES = ("reference_answer", "references")
REQUIRED_COLUMNS = {
    ("deepeval", "context"): DEEPEVAL,  # everywhere else a column called context holds what was retrieved
    ("other names", "result"): frozenset({"source_documents", "source_nodes"}),
    ("other names", AMBIGUOUS_ANSWER): frozenset(
        {*REFERENCES, *(theirs for names in TOOLS.values() for theirs, ours in names.items() if ours in REFERENCES)}
    ),
}
# deepeval's golden, which no system has answered yet
GOLDEN = Alias(
    "deepeval",
    "context",
    "relevant_texts",
    frozenset({"input"}),
    frozenset(
        {
            "answer",
            "passages",
            *(theirs for names in TOOLS.values() for theirs, ours in names.items() if ours in ("answer", "passages")),
        }
    )
    - {"context"},
)
ALIASES: tuple[Alias, ...] = (
    GOLDEN,
    *(
        Alias(tool, theirs, ours, REQUIRED_COLUMNS.get((tool, theirs), frozenset()))
        for tool, names in TOOLS.items()
        for theirs, ours in names.items()
    ),
)


class ColumnGroup(str):
    """Several columns that are read as one field, in this order; as a text their names with commas.

    >>> ColumnGroup(["Part A", "Part B"]), ColumnGroup(["Part A", "Part B"]).names
    ('Part A, Part B', ('Part A', 'Part B'))
    """

    __slots__ = ("names",)
    names: tuple[str, ...]

    def __new__(cls, names: Iterable[str]) -> ColumnGroup:
        """From the names of the columns, in order."""
        column_names = tuple(names)
        out = super().__new__(cls, ", ".join(column_names))
        out.names = column_names
        return out


def list_columns(mapped: str) -> tuple[str, ...]:
    """The columns that a field is mapped to, and the name of their list."""
    return (mapped, *mapped.names) if isinstance(mapped, ColumnGroup) else (mapped,)


@lru_cache(maxsize=4096)
def to_snake_case(column: str) -> str:
    """A column's name as the tables here spell it: "Ground Truth" and "groundTruth" -> ground_truth."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column.strip())
    return re.sub(r"[\s\-]+", "_", spaced).lower()


@dataclass(frozen=True, slots=True)
class RowPlan:
    """How the columns of one row are read."""

    columns: Mapping[str, str]  #: our field -> their column.
    unread: tuple[str, ...]  #: columns that nothing reads.
    reference: str = ""  #: of a set beside its responses, the column of answers that is read as the reference answer.
    left: tuple[str, ...] = ()  #: of such a set, columns that would be read of a response.


def plan_columns(column_names: Iterable[str], mapped: Mapping[str, str]) -> RowPlan:
    """Which column is read as which field: what the user mapped, then our names, then the tools' names."""
    return _build_plan(tuple(column_names), tuple(mapped.items()))


@lru_cache(maxsize=256)  # most rows have the columns of those before them; what is returned is only read
def _build_plan(column_names: tuple[str, ...], pairs: tuple[tuple[str, str], ...]) -> RowPlan:
    mapped = dict(pairs)
    columns = {ours: theirs for ours, theirs in mapped.items() if theirs in column_names}
    used = {name for column in mapped.values() for name in list_columns(column)}
    spelled: dict[str, str] = {}
    for column in column_names:
        if column not in used:
            spelled.setdefault(to_snake_case(column), column)
    for field in FIELDS:
        if field not in mapped and field in spelled:
            columns[field] = spelled[field]
    used |= set(columns.values())
    names = set(spelled)
    for alias in ALIASES:
        column = spelled.get(alias.theirs, "")
        takes = column and column not in used and alias.ours not in columns and alias.ours not in mapped
        is_accompanied = not alias.beside or alias.beside & (names | columns.keys())
        if takes and is_accompanied and alias.without.isdisjoint(names):
            columns[alias.ours] = column
            used.add(column)
    return RowPlan(columns, tuple(column for column in column_names if column not in used))


def plan_set_columns(plan: RowPlan) -> RowPlan:
    """How a row of an eval set is read whose responses stand in another source: nothing of it is a response.

    An answer is the reference where the row has none, unless the row is a recorded one, with what the system retrieved
    or took beside its answer.
    """
    columns = {field: column for field, column in plan.columns.items() if field in EXAMPLE_FIELDS}
    responded = {field: column for field, column in plan.columns.items() if field in RESPONSE_FIELDS}
    answer = responded.pop("answer", "")
    recorded = any(field != "passages" or to_snake_case(column) not in DOCUMENTS for field, column in responded.items())
    taken = (
        answer
        if to_snake_case(answer) not in SYSTEM_ANSWER_NAMES and not recorded and columns.keys().isdisjoint(REFERENCES)
        else ""
    )
    if taken:
        columns["reference_answer"] = taken
    unused = [column for column in (answer, *responded.values()) if column and column != taken]
    return RowPlan(columns, plan.unread, taken, tuple(unused))


def list_set_notices(plans: Collection[RowPlan]) -> Iterator[str]:
    """What `plan_set_columns` took as the reference, and what it left."""
    for reference in dict.fromkeys(plan.reference for plan in plans if plan.reference):
        yield (
            f"{reference} is read as the reference answer, because the responses are in the other file. To use "
            "another column: --map reference_answer=COLUMN."
        )
    if unused := dict.fromkeys(column for plan in plans for column in plan.left):
        yield (
            f"not read, because the responses are in the other file: {', '.join(unused)}. If one of them has "
            "the gold documents or their texts, use --map relevant=COLUMN or --map relevant_texts=COLUMN."
        )


def check_mapping(mapped: Mapping[str, str]) -> None:
    """Refuses a mapping onto a field that does not exist."""
    for field in mapped:
        if field not in FIELDS:
            raise UnknownName("field", field, FIELDS, "Write FIELD=COLUMN, such as query=question.")


def list_field_names(field: str) -> list[str]:
    """Every name that is read as the field, ours first."""
    return [field, *dict.fromkeys(alias.theirs for alias in ALIASES if alias.ours == field)]


def list_unconditional_names(field: str) -> list[str]:
    """Every name that is read as the field whatever stands beside it."""
    return [field, *(alias.theirs for alias in ALIASES if alias.ours == field and not alias.beside)]


def compute_similarity(column: str, names: Iterable[str]) -> float:
    """How alike a column and the nearest of some names look: 0 to 1; 0 where there are none."""
    return max((SequenceMatcher(None, to_snake_case(column), name).ratio() for name in names), default=0.0)


def find_nearest_column(field: str, columns: Iterable[str], min_similarity: float = 0.65) -> str:
    """The found column whose name looks most like the field's; "" where none does."""
    names = list_field_names(field)
    best = max(((compute_similarity(column, names), column) for column in columns), default=(0.0, ""))
    return best[1] if best[0] >= min_similarity else ""
