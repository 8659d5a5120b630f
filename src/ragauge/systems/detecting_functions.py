"""Functions and classes of a project that take a question: how likely each is its system, and how it is asked."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragauge.data.readers.aliases import names_of
from ragauge.systems.detecting_values import Function, Inside, Modules, asks

VERBS = (
    "answer", "answer_question", "ask", "ask_question", "query", "rag", "respond", "chat", "qa", "run_query",
    "generate_answer", "get_answer", "rag_query", "rag_answer",
)  # fmt: skip
ASKED = ("question", "query", "q", "prompt", "message", "user_input", "text", "user_query", "input")
QUESTIONS = ("question", "query", "q", "user_query", "user_question", "user_input")     # what is a question, surely
METHODS = ("query", "answer", "ask", "run", "invoke", "respond", "chat")
CALLED = ("query", "__call__", "retrieve")     # what `ragauge run` calls on an object by itself
STEPS = frozenset({     # words of the name of a step of a system, that is not one
    "embed", "embedding", "embeddings", "encode", "tokenize", "split", "chunk", "load", "index", "ingest", "normalize",
    "clean", "format", "rewrite", "expand", "rerank", "rank", "score", "classify", "detect", "log", "save", "print",
    "parse", "validate", "is", "has", "build", "count", "translate", "hash", "vector", "vectorize",
})  # fmt: skip
NUMBERS = frozenset({"float", "ndarray", "Tensor", "bool", "int", "None", "Embedding", "Vector"})     # are no answer
CLIENTS = frozenset({"create", "generate_content", "complete", "completion", "generate"})     # of a model's client


@dataclass(frozen=True, slots=True)
class CallForm:
    """How something of a project is asked.

    Attributes:
        kind: function, class, object or factory.
        score: how likely it is the system; 0 = it is none.
        method: that takes the question; "" where it is called, or asked as its framework asks it.
    """

    kind: str
    score: int
    method: str = ""


def function_asked(inside: Inside, modules: Modules) -> CallForm | None:
    """How a function is asked; None where it takes no question, or gives no answer."""
    node = inside.node
    if not isinstance(node, Function) or node.name.startswith("_") or not _gives(node):
        return None
    if needs(node.args, 0) == 0 and isinstance(node, ast.FunctionDef) and not _asks_by(node.args, 0):
        made = modules.returned(inside)
        return CallForm("factory", made.score - 1) if made.score > 1 else None
    if not takes_one(node.args, 0):
        return None
    if node.name not in VERBS and STEPS.intersection(node.name.split("_")):
        return None
    named, question = verb(node.name), 2 if _asks_by(node.args, 0) else 0
    evidence = _evidence(inside, modules)
    if named:
        return CallForm("function", named + question + evidence)
    if evidence and (question or evidence > 1):
        return CallForm("function", 2 + question + evidence)
    return CallForm("function", 3) if _asks_by(node.args, 0, QUESTIONS) else None


def class_asked(node: ast.ClassDef, *, made: bool) -> CallForm | None:
    """How a class is asked; None where it is not, or where it cannot be made without arguments and is not made."""
    methods = {one.name: one for one in node.body if isinstance(one, Function)}
    begun = methods.get("__init__")
    if not made and begun is not None and needs(begun.args, 1):
        return None
    known = [*METHODS, "__call__", "retrieve"]
    more = [name for name, one in methods.items() if not name.startswith("_") and _asks_by(one.args, 1, QUESTIONS)]
    for name in dict.fromkeys([*known, *more]):
        one = methods.get(name)
        if one is None or not takes_one(one.args, 1) or STEPS.intersection(name.split("_")) or not _gives(one):
            continue
        kind, score = ("object", 6) if made else ("class", 2)
        least = 2 if name == "retrieve" and "generate" not in methods else 0
        return CallForm(kind, score + _question(one.args) - least, "" if name in CALLED else name)
    return None


def _question(arguments: ast.arguments) -> int:
    return 2 if _asks_by(arguments, 1) else 0


def verb(name: str) -> int:
    """How much the name of a function says that it answers."""
    if name in VERBS:
        return 4
    words = name.split("_")
    return 2 if any(word in words for word in ("answer", "ask", "query", "rag", "qa", "chat")) else 0


def needs(arguments: ast.arguments, skipped: int) -> int:
    """Arguments without a default, less self."""
    positional = [*arguments.posonlyargs, *arguments.args][skipped:]
    required = max(0, len(positional) - len(arguments.defaults))
    return required + sum(default is None for default in arguments.kw_defaults)


def takes_one(arguments: ast.arguments, skipped: int) -> bool:
    """Whether it can be called with one argument by place, less self."""
    positional = [*arguments.posonlyargs, *arguments.args][skipped:]
    return bool(positional) and needs(arguments, skipped) <= 1 and not any(
        default is None for default in arguments.kw_defaults
    )  # fmt: skip


def _asks_by(arguments: ast.arguments, skipped: int, names: tuple[str, ...] = ASKED) -> bool:
    """Whether the first argument is called as a question is."""
    positional = [*arguments.posonlyargs, *arguments.args][skipped:]
    return bool(positional) and positional[0].arg in names


def _gives(node: Function) -> bool:
    """Whether what a function is said to return may be an answer or passages."""
    if node.returns is None:
        return True
    words = set(re.findall(r"\w+", ast.unparse(node.returns)))
    return bool(words & {"str", "dict"}) or not words & NUMBERS


def _evidence(inside: Inside, modules: Modules) -> int:
    """How much the body of a function says that it answers: what it asks, and what it returns."""
    asked = asks(inside, modules)
    found = 2 if asked.generates > 1 else 1 if asked.retrieves else 0
    keys = set(_keys(inside.node))
    found += 2 if keys & set(names_of("answer")) else 0
    found += 3 if keys & set(names_of("answer")) and keys & set(names_of("passages")) else 0
    called = [one.func for one in ast.walk(inside.node) if isinstance(one, ast.Call)]
    models = [one for one in called if isinstance(one, ast.Attribute) and one.attr in CLIENTS]
    return max(found, 2 if any("embed" not in ast.unparse(one) for one in models) else 0)


def _keys(node: ast.AST) -> Iterator[str]:
    """Keys of the dictionaries that a function returns."""
    for one in ast.walk(node):
        if isinstance(one, ast.Return) and isinstance(one.value, ast.Dict):
            yield from (str(key.value) for key in one.value.keys if isinstance(key, ast.Constant))
