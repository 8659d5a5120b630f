"""Functions and classes of a project that take a question: how likely each is its system, and how it is asked.

Functions behind the routes of a web application (FastAPI, Flask), as something that can be asked.

Where answer and passages stand in what a function of a project returns, read from its return statement.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ragauge.data.readers.aliases import names_of
from ragauge.data.readers.passages import DOC_KEYS, SCORE_KEYS, TEXT_KEYS
from ragauge.systems.detecting_values import Function, Inside, Modules, asks, returns

VERBS = (
    "answer",
    "answer_question",
    "ask",
    "ask_question",
    "query",
    "rag",
    "respond",
    "chat",
    "qa",
    "run_query",
    "generate_answer",
    "get_answer",
    "rag_query",
    "rag_answer",
)
ASKED = ("question", "query", "q", "prompt", "message", "user_input", "text", "user_query", "input")
QUESTIONS = ("question", "query", "q", "user_query", "user_question", "user_input")  # what is a question, surely
METHODS = ("query", "answer", "ask", "run", "invoke", "respond", "chat")
CALLED = ("query", "__call__", "retrieve")  # what `ragauge run` calls on an object by itself
STEPS = frozenset(
    {  # words of the name of a step of a system, that is not one
        "embed",
        "embedding",
        "embeddings",
        "encode",
        "tokenize",
        "split",
        "chunk",
        "load",
        "index",
        "ingest",
        "normalize",
        "clean",
        "format",
        "rewrite",
        "expand",
        "rerank",
        "rank",
        "score",
        "classify",
        "detect",
        "log",
        "save",
        "print",
        "parse",
        "validate",
        "is",
        "has",
        "build",
        "count",
        "translate",
        "hash",
        "vector",
        "vectorize",
    }
)
NUMBERS = frozenset({"float", "ndarray", "Tensor", "bool", "int", "None", "Embedding", "Vector"})  # are no answer
CLIENTS = frozenset({"create", "generate_content", "complete", "completion", "generate"})  # of a model's client


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
    return (
        bool(positional)
        and needs(arguments, skipped) <= 1
        and not any(default is None for default in arguments.kw_defaults)
    )


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
    return max(found, 2 if any("embed" not in ast.unparse(model) for model in models) else 0)


def _keys(node: ast.AST) -> Iterator[str]:
    """Keys of the dictionaries that a function returns."""
    for one in ast.walk(node):
        if isinstance(one, ast.Return) and isinstance(one.value, ast.Dict):
            yield from (str(key.value) for key in one.value.keys if isinstance(key, ast.Constant))


ROUTES = frozenset({"post", "get", "put", "route", "api_route"})
FIRST = 6  # how likely a route is the system: less than a function that answers, more than a class


def path_of(node: ast.stmt) -> str | None:
    """The path of a route; None of what is none."""
    found = _route(node)
    return None if found is None else found[1]


def call_of(
    node: Function, classes: Mapping[str, ast.ClassDef], asked: Collection[str], module: str, apps: Collection[str] = ()
) -> str | None:
    """The expression that asks a route's function `query`; None where it takes more, such as a session or a login.

    Args:
        node: the function.
        classes: those of its file, by name: the body of a request is one of them.
        asked: what a field or an argument for the question is called.
        module: of the file.
        apps: names of applications (Flask) that have a client for tests: by it a function is asked that reads the
            request itself.
    """
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    injected = any(isinstance(one, ast.Call) for one in [*node.args.defaults, *node.args.kw_defaults])
    if not arguments:
        return _by_client(node, asked, module, apps)
    if len(arguments) != 1 or injected:
        return None
    (argument,) = arguments
    if not any(isinstance(one, ast.Name) and one.id == argument.arg for part in node.body for one in ast.walk(part)):
        return None  # it does not look at what it is asked
    called = f"{module}.{node.name}({argument.arg}="
    kind = argument.annotation
    if isinstance(kind, ast.Name) and kind.id in classes:
        field = _field(classes[kind.id], asked)
        return f"{called}{module}.{kind.id}({field}=query))" if field else None
    return f"{called}query)" if argument.arg in asked and (kind is None or _is_text(kind)) else None


def _route(node: ast.stmt) -> tuple[ast.Attribute, str] | None:
    """The decorator of a route, and its path."""
    if not isinstance(node, Function):
        return None
    for one in node.decorator_list:
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr in ROUTES and one.args:
            path = one.args[0]
            if isinstance(path, ast.Constant) and isinstance(path.value, str):
                return one.func, path.value
    return None


def _by_client(node: Function, asked: Collection[str], module: str, apps: Collection[str]) -> str | None:
    """The call by the client of a Flask application, with the field that the function reads from the request."""
    found = _route(node)
    if found is None or not isinstance(found[0].value, ast.Name) or found[0].value.id not in apps:
        return None
    read = {one.value for part in node.body for one in ast.walk(part) if isinstance(one, ast.Constant)}
    field = next((name for name in asked if name in read), "")
    used = {one.attr for part in node.body for one in ast.walk(part) if isinstance(one, ast.Attribute)}
    app = f"{module}.{found[0].value.id}.test_client()"
    if not field:
        return None
    if used & {"json", "get_json"}:
        return f'{app}.post("{found[1]}", json={{"{field}": query}}).get_json()'
    return f'{app}.get("{found[1]}", query_string={{"{field}": query}}).get_json()' if "args" in used else None


def _is_text(kind: ast.expr) -> bool:
    return isinstance(kind, ast.Name) and kind.id == "str"


def _field(body: ast.ClassDef, asked: Collection[str]) -> str:
    """The field of a request's body that takes the question, where no other is needed."""
    fields = {
        one.target.id: one for one in body.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
    }
    needed = [name for name, one in fields.items() if one.value is None]
    found = next((name for name in asked if name in fields), needed[0] if len(needed) == 1 else "")
    return found if set(needed) <= {found} else ""


WRAPPERS = ("jsonify", "JSONResponse", "ORJSONResponse", "UJSONResponse")  # they send what they are given
ANSWERS = ("text", "reply", "content", "message", "output_text", "completion", "generated_text", "final", "body")
PASSAGES = (
    "contexts",
    "hits",
    "evidence",
    "chunks",
    "snippets",
    "sources",
    "matches",
    "results",
    "excerpts",
    "texts",
    "docs",
    "documents",
    "citations",
    "references",
    "grounding",
)
TEXTS = (*TEXT_KEYS, "snippet", "excerpt", "body", "chunk", "passage", "quote", "page_content")
SCORES = (*SCORE_KEYS, "relevance", "similarity", "weight", "confidence", "rank_score", "match")
DOCUMENTS = (*DOC_KEYS, "ref", "source", "url", "uri", "file", "document", "doc", "path", "title")
MANY_SCORES = ("scores", "similarities", "relevance", "relevances", "relevance_scores", "weights", "confidences")
MANY_DOCUMENTS = ("ids", "doc_ids", "document_ids", "refs", "source_ids", "urls", "files")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value in a reply.

    Attributes:
        place: how it is reached from the reply, as Python: ["data"]["text"].
        keys: on the way, the last its own.
        node: what stands there.
    """

    place: str
    keys: tuple[str, ...]
    node: ast.expr


def reading(node: Function, classes: Mapping[str, ast.ClassDef]) -> str:
    """The expression that makes answer and passages of what a function returned, in `reply`; "" where none is needed.

    Args:
        node: the function.
        classes: those of its file, by name: a model of a reply is one of them.
    """
    local = {
        target.id: one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Assign)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    for returned in returns(node):
        leaves = list(_leaves(_unwrapped(returned, local), classes, local))
        answer = _best(leaves, names_of("answer"), ANSWERS, but=())
        if answer is not None:
            return _read(leaves, answer)
    return ""


def _read(leaves: list[Leaf], answer: Leaf) -> str:
    passages = _best(leaves, names_of("passages"), PASSAGES, but=(answer,))
    if passages is None:
        plain = len(answer.keys) == 1 and answer.keys[0] in names_of("answer")
        return "" if plain else f'{{"answer": reply{answer.place}}}'
    found = _passages(passages, leaves)
    known = len(answer.keys) == len(passages.keys) == 1 and answer.keys[0] in names_of("answer")
    if known and passages.keys[0] in names_of("passages") and found == f"reply{passages.place}":
        return ""
    return f'{{"answer": reply{answer.place}, "passages": {found}}}'


def _unwrapped(node: ast.expr, local: Mapping[str, ast.expr]) -> ast.expr:
    """What is returned, without what only sends it; of a name what it was assigned."""
    if isinstance(node, ast.Call) and _called(node) in WRAPPERS:
        given = [*node.args, *(one.value for one in node.keywords if one.arg == "content")]
        if given:
            return _unwrapped(given[0], local)
        return ast.Dict([ast.Constant(keyword.arg) for keyword in node.keywords], [one.value for one in node.keywords])
    if isinstance(node, ast.Name) and isinstance(local.get(node.id), ast.Dict | ast.Call):
        return local[node.id]
    return node


def _leaves(
    node: ast.expr,
    classes: Mapping[str, ast.ClassDef],
    local: Mapping[str, ast.expr],
    place: str = "",
    keys: tuple[str, ...] = (),
) -> Iterator[Leaf]:
    if isinstance(node, ast.Name) and isinstance(local.get(node.id), ast.Dict | ast.ListComp):
        node = local[node.id]
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from _leaves(value, classes, local, f"{place}[{json.dumps(key.value)}]", (*keys, key.value))
    elif isinstance(node, ast.Call) and _called(node) in classes and node.keywords:
        for keyword in node.keywords:
            if keyword.arg:
                yield from _leaves(keyword.value, classes, local, f"{place}.{keyword.arg}", (*keys, keyword.arg))
    elif keys:
        yield Leaf(place, keys, node)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _best(leaves: list[Leaf], sure: Collection[str], perhaps: Collection[str], but: Collection[Leaf]) -> Leaf | None:
    """The leaf whose own key says most that it is what is looked for; of several the first."""

    def likely(leaf: Leaf) -> int:
        inner = any(key in sure for key in leaf.keys[:-1])
        return 4 * (leaf.keys[-1] in sure) + 2 * (leaf.keys[-1] in perhaps) + inner

    fits = [leaf for leaf in leaves if leaf not in but and not isinstance(leaf.node, ast.Constant)]
    return max((leaf for leaf in fits if likely(leaf) > 1), key=likely, default=None)


def _passages(passages: Leaf, leaves: list[Leaf]) -> str:
    """The expression of the passages: as they are, with scores and ids that stand in lists of their own, or renamed."""
    beside = {
        name: next((leaf for leaf in leaves if leaf.keys[-1] in names and leaf is not passages), None)
        for name, names in (("score", MANY_SCORES), ("doc_id", MANY_DOCUMENTS))
    }
    element = passages.node.elt if isinstance(passages.node, ast.ListComp) else None
    if isinstance(passages.node, ast.List) and passages.node.elts:
        element = passages.node.elts[0]
    if isinstance(element, ast.Dict):
        keys = [key.value for key in element.keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]
        parts = {
            ours: next((key for key in names if key in keys), "")
            for ours, names in (("text", TEXTS), ("score", SCORES), ("doc_id", DOCUMENTS))
        }
        known = all(not key or key in (*TEXT_KEYS, *SCORE_KEYS, *DOC_KEYS) for key in parts.values())
        if not known and parts["text"]:
            named = ", ".join(f'"{ours}": one[{json.dumps(key)}]' for ours, key in parts.items() if key)
            return f"[{{{named}}} for one in reply{passages.place}]"
        return f"reply{passages.place}"
    there = {name: leaf for name, leaf in beside.items() if leaf is not None}
    if not there:
        return f"reply{passages.place}"
    named = ", ".join(f'"{name}": {name}' for name in ("text", *there))
    lists = ", ".join(f"reply{leaf.place}" for leaf in (passages, *there.values()))
    return f"[{{{named}}} for {', '.join(('text', *there))} in zip({lists}, strict=True)]"
