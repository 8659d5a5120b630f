"""What the expressions and names of a project's module stand for, as far as they can be read without running them.

Classes and functions of LangChain, LangGraph, LlamaIndex and Haystack are known by their names: what calling them makes
is the first entry of `KINDS_BY_NAME` that fits. FastAPI's routes are found in `project_scan`. A name that comes from
another module of the project is unknown.
"""

from __future__ import annotations

import ast
import json
import re
from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ragauge.readers.aliases import list_field_names

Function = ast.FunctionDef | ast.AsyncFunctionDef
Classes = Mapping[str, ast.ClassDef]
Kind = Literal["system", "retriever", "part", "maker", "writer", "type", "other", "unknown"]
FRAMEWORKS = {
    "langchain": "LangChain",
    "langgraph": "LangChain",
    "llama_index": "LlamaIndex",
    "haystack": "Haystack",
    "fastapi": "FastAPI",
}


# what calling a class or function makes, by its name: the first that fits, with how surely it makes text (0, 1, 2)
KINDS_BY_NAME: dict[str, tuple[tuple[str, Kind, int], ...]] = {
    "LangChain": (
        (r"(documents|qa|summarize)_chain$", "part", 2),  # takes documents that others find
        (r"[Cc]hain$|RetrievalQA$|[Aa]gent$|AgentExecutor$", "system", 2),
        (r"[Rr]etriever$", "retriever", 0),
        (r"Graph$", "maker", 0),
        (r"Runnable(Lambda|Generator|Branch|WithMessageHistory)$", "system", 1),
        (r"(Prompt|Template|Parser|ToolNode|RunnableParallel|RunnablePassthrough)$", "part", 0),
        (r"(Embeddings|Embedding|Splitter|Loader|Document|Message|Placeholder|Tool)$", "other", 0),
        (r"^Chat|(LLM|ChatModel|_chat_model)$", "part", 2),
        (r"^[A-Z]", "other", 1),  # perhaps a model
    ),
    "LlamaIndex": (
        (r"((Query|Chat)Engine|Agent|AgentWorkflow|AgentRunner)$", "system", 2),
        (r"Retriever$", "retriever", 0),
    ),
    "Haystack": (
        (r"Pipeline$", "maker", 0),  # its components decide what it is
        (r"Writer$", "writer", 0),
        (r"(Embedding|Hybrid)Retriever$", "part", 0),  # takes a vector
        (r"Retriever$", "retriever", 0),
        (r"Agent$", "system", 2),
        (r"(Generator|Reader)$", "part", 2),
        (r"", "part", 0),
    ),
}


RETRIEVAL_WORDS = re.compile(r"[Rr]etriev|[Aa]gent|Engine")  # in a name: it finds documents


# of methods of LangChain's that give a copy
COPY_METHOD_PREFIXES = ("with_", "bind", "add_", "set_", "configurable_", "pick", "map")


@dataclass(frozen=True, slots=True)
class ExpressionValue:
    """What an expression makes, as far as it can be read."""

    #: system (can be asked, and answers), retriever (can be asked for documents), part (of a system, cannot be asked
    #: alone), maker (of systems), writer (fills a store), type (a class or constant, as in `Path | None`), other
    #: (known, and nothing of these), unknown.
    kind: Kind = "unknown"
    framework: str = ""  #: whose it is; "" for none.
    generates: int = 0  #: how surely it makes text: 0 no, 1 perhaps, 2 yes.
    retrieves: bool = False  #: it finds documents.

    @property
    def score(self) -> int:
        """How likely it is the system of its project; 0 = it cannot be asked."""
        if self.kind == "system":
            return 10 if self.retrieves else 8 if self.generates > 1 else 5
        return 4 if self.kind == "retriever" else 0


UNKNOWN, TYPE = ExpressionValue(), ExpressionValue("type")


def find_framework(origin: str) -> str:
    """The framework that a dotted name is of; "" for none.

    >>> find_framework("langchain_openai.ChatOpenAI"), find_framework("sqlalchemy.create_engine")
    ('LangChain', '')
    """
    package = origin.partition(".")[0]
    return FRAMEWORKS.get(package) or FRAMEWORKS.get(package.partition("_")[0], "")


def classify_call(origin: str) -> ExpressionValue:
    """What calling a class, its method or a function from outside of the project makes.

    >>> classify_call("langchain.chains.RetrievalQA.from_llm").kind
    'system'
    """
    framework, words = find_framework(origin), origin.split(".")
    name = next((word for word in reversed(words) if word[:1].isupper()), words[-1])
    for pattern, kind, generates in KINDS_BY_NAME.get(framework, ()):
        if re.search(pattern, name):
            return ExpressionValue(
                kind, framework, generates, kind == "retriever" or bool(RETRIEVAL_WORDS.search(name))
            )
    return ExpressionValue("other", framework)


def call_method(owner: ExpressionValue, name: str, arguments: list[ExpressionValue]) -> ExpressionValue:
    """What a method of a value gives."""
    if name == "as_retriever":
        return ExpressionValue("retriever", owner.framework, retrieves=True)
    if name in ("as_query_engine", "as_chat_engine"):
        return ExpressionValue("system", "LlamaIndex", 2, True)
    if owner.framework != "LangChain":
        return UNKNOWN
    if name == "compile" and owner.kind == "maker":
        return ExpressionValue("system", "LangChain", 2, True)
    if name in ("pipe", "assign"):
        return join_parts([owner, *arguments])
    return owner if name.startswith(COPY_METHOD_PREFIXES) else UNKNOWN


def add_parts(value: ExpressionValue, parts: list[ExpressionValue]) -> ExpressionValue:
    """A value that was given others: it finds documents where one of them does."""
    if value.kind not in ("system", "part"):
        return value
    framework = value.framework or max((part.framework for part in parts), default="")
    return replace(value, framework=framework, retrieves=value.retrieves or any(part.retrieves for part in parts))


def join_parts(parts: list[ExpressionValue]) -> ExpressionValue:
    """What `a | b | c` of LangChain makes: a system where a part makes text, else what finds documents.

    A function behind a prompt or a dictionary is taken for a model; behind a retriever it formats what was found.
    """
    if TYPE in parts or all(part.framework != "LangChain" for part in parts):
        return UNKNOWN
    generates, retrieves, has_prompt = 0, any(part.retrieves for part in parts), False
    for part in parts:
        if part.generates > 1 or has_prompt:
            generates = max(generates, part.generates)
        has_prompt = has_prompt or (part.kind == "part" and not part.generates)
    kind: Kind = "system" if generates else "retriever" if retrieves else "part"
    return ExpressionValue(kind, "LangChain", generates, retrieves)


def add_component(pipeline: ExpressionValue, component: ExpressionValue) -> ExpressionValue:
    """A Haystack pipeline with one component more: it answers once it makes text, and finds once it retrieves."""
    if "writer" in (pipeline.kind, component.kind):
        return replace(pipeline, kind="writer")
    generates = max(pipeline.generates, component.generates)
    retrieves = pipeline.retrieves or component.retrieves
    kind: Kind = "system" if generates else "retriever" if retrieves else "maker"
    return replace(pipeline, kind=kind, generates=generates, retrieves=retrieves)


Bound = ExpressionValue | str | Function | ast.ClassDef  # a text is a dotted name from outside of the project
Names = ChainMap[str, Bound]


class ModuleReader:
    """What the names of a module stand for. What it imports from elsewhere in the project is unknown.

    Args:
        tree: the parsed module.
        own: top-level modules of the project.

    Attributes:
        names: those that an import of the module binds.
        classes: its own, by name.
    """

    def __init__(self, tree: ast.Module, own_modules: Collection[str]) -> None:
        self._own = own_modules
        self._definitions: dict[ast.stmt, ExpressionValue] = {}
        self.classes: Classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.names: Names = ChainMap()
        self._bind_names(tree.body, self.names)

    def read_definition(self, node: Function | ast.ClassDef) -> ExpressionValue:
        """What a function returns, or a class makes."""
        if node not in self._definitions:
            self._definitions[node] = UNKNOWN  # where it refers to itself
            value = self._read_class(node) if isinstance(node, ast.ClassDef) else self._read_return(node)
            self._definitions[node] = value
        return self._definitions[node]

    def _read_return(self, node: Function) -> ExpressionValue:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        names = self.names.new_child({argument.arg: UNKNOWN for argument in arguments})
        self._bind_names(node.body, names)
        values = [self._read_expression(value, names) for value in list_returns(node)]
        readable = [value for value in values if isinstance(value, ExpressionValue)]
        return max(readable, key=lambda value: (value.score, value.kind != "unknown"), default=UNKNOWN)

    def _read_class(self, node: ast.ClassDef) -> ExpressionValue:
        for base in node.bases:
            bound = self._read_expression(base, self.names)
            value = self.read_definition(bound) if isinstance(bound, ast.ClassDef) else UNKNOWN
            value = classify_call(bound) if isinstance(bound, str) else value
            if value.framework:
                return value
        if "haystack.component" not in [
            self._read_expression(decorator, self.names) for decorator in node.decorator_list
        ]:
            return UNKNOWN
        words = {child.value for child in ast.walk(node) if isinstance(child, ast.Constant)}
        words |= {child.arg or "" for child in ast.walk(node) if isinstance(child, ast.keyword)}
        generates = 2 * (not words.isdisjoint({"replies", "answers"}))
        return ExpressionValue("part", "Haystack", generates, "documents" in words and "replies" not in words)

    def _bind_names(self, body: Sequence[ast.stmt], names: Names) -> None:
        for node in list_statements(body):
            match node:
                case ast.Import() | ast.ImportFrom():
                    for alias in node.names:
                        names[alias.asname or alias.name.partition(".")[0]] = self._read_import(node, alias)
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    names[node.name] = node
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    names[name] = self._read_expression(value, names)
                case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                    names[name] = self._read_expression(value, names)
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="add_component")) as call
                ):
                    pipeline, arguments = names.get(name), self._read_arguments(call, names)
                    if isinstance(pipeline, ExpressionValue) and pipeline.framework == "Haystack" and arguments:
                        names[name] = add_component(pipeline, arguments[-1])

    def _read_import(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> Bound:
        if isinstance(node, ast.ImportFrom):
            module, path = node.module or "", f"{node.module}.{alias.name}"
        else:
            module, path = alias.name, alias.name if alias.asname else alias.name.partition(".")[0]
        is_own = module.partition(".")[0] in self._own or (isinstance(node, ast.ImportFrom) and node.level > 0)
        return UNKNOWN if is_own else path

    def _read_expression(self, node: ast.expr, names: Names) -> Bound:
        """What an expression stands for: a value, or a name that is not called yet."""
        match node:
            case ast.Name(id=name):
                return names.get(name, UNKNOWN)
            case ast.Attribute(value=owner, attr=name):
                bound = self._read_expression(owner, names)
                return f"{bound}.{name}" if isinstance(bound, str) else UNKNOWN
            case ast.Call():
                return self._read_call(node, names)
            case ast.BinOp(op=ast.BitOr()):
                return join_parts([self._read_part(part, names) for part in _split_pipe(node)])
            case ast.Await(value=inner):
                return self._read_expression(inner, names)
            case ast.Dict(values=values):
                return add_parts(ExpressionValue("part"), [self._read_part(value, names) for value in values])
        return UNKNOWN

    def _read_call(self, node: ast.Call, names: Names) -> ExpressionValue:
        method, owner = (node.func.attr, node.func.value) if isinstance(node.func, ast.Attribute) else ("", node.func)
        bound = self._read_expression(owner, names)
        arguments = self._read_arguments(node, names)
        if isinstance(bound, str):
            return add_parts(classify_call(f"{bound}.{method}".rstrip(".")), arguments)
        if method:
            return call_method(bound if isinstance(bound, ExpressionValue) else UNKNOWN, method, arguments)
        return UNKNOWN if isinstance(bound, ExpressionValue) else self.read_definition(bound)

    def _read_arguments(self, node: ast.Call, names: Names) -> list[ExpressionValue]:
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        return [self._read_part(value, names) for value in values]

    def _read_part(self, node: ast.expr, names: Names) -> ExpressionValue:
        """An operand or argument: what is unknown, such as a function, may be a model."""
        bound = self._read_expression(node, names)
        if isinstance(node, ast.Lambda) or isinstance(bound, Function) or bound == UNKNOWN:
            return TYPE if isinstance(node, ast.Constant) else ExpressionValue(generates=1)
        if isinstance(bound, ExpressionValue):
            return bound
        is_class = isinstance(bound, ast.ClassDef) or bound.rpartition(".")[2][:1].isupper()
        return TYPE if is_class else ExpressionValue("part")


def list_statements(body: Collection[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements that an import or a call runs, those in branches included, but not `if __name__ == "__main__"`."""
    for node in body:
        if isinstance(node, ast.If | ast.Try | ast.With | ast.AsyncWith | ast.For):
            if not (isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)):
                yield from list_statements([*node.body, *getattr(node, "orelse", ())])
        else:
            yield node


def _split_pipe(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_split_pipe(node.left), *_split_pipe(node.right)]
    return [node]


def list_returns(node: Function) -> Iterator[ast.expr]:
    """What a function returns, without what functions inside of it return."""
    nodes: list[ast.AST] = list(node.body)
    while nodes:
        inner = nodes.pop(0)
        if isinstance(inner, ast.Return) and inner.value is not None:
            yield inner.value
        if not isinstance(inner, Function | ast.ClassDef | ast.Lambda):
            nodes.extend(ast.iter_child_nodes(inner))


ANSWER_KEYS, PASSAGE_KEYS = list_field_names("answer"), list_field_names("passages")
POSSIBLE_ANSWER_KEYS = ("text", "reply", "content", "message", "output_text", "completion")
POSSIBLE_PASSAGE_KEYS = ("chunks", "hits", "sources", "snippets", "results", "matches", "texts", "docs")


def locate_reply(node: Function, classes: Classes) -> str:
    """The expression that picks answer and passages from what a function returned, in `reply`; "" = as it is.

    Args:
        node: the function.
        classes: those of its file, by name: a reply may be one of them.
    """
    assigned = {
        child.targets[0].id: child.value
        for child in ast.walk(node)
        if isinstance(child, ast.Assign) and len(child.targets) == 1 and isinstance(child.targets[0], ast.Name)
    }
    for value in list_returns(node):
        paths = dict(_list_paths(value, classes, assigned))
        answer = _pick_path(paths, ANSWER_KEYS, POSSIBLE_ANSWER_KEYS)
        if answer is None:
            continue
        passages = _pick_path(paths, PASSAGE_KEYS, POSSIBLE_PASSAGE_KEYS)
        selected = [paths[path] for path in (answer, passages) if path is not None]
        if all(len(keys) == 1 and keys[0] in (*ANSWER_KEYS, *PASSAGE_KEYS) for keys in selected):
            return ""  # `ragauge run` reads it without help
        end = "" if passages is None else f', "passages": reply{passages}'
        return f'{{"answer": reply{answer}{end}}}'
    return ""


def _list_paths(
    node: ast.expr, classes: Classes, assigned: Mapping[str, ast.expr], path: str = "", keys: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Values in a reply: how each is reached from it, as Python, and the keys on the way."""
    inner: list[tuple[str, str, ast.expr]] = []
    match node:
        case ast.Name(id=name) if isinstance(assigned.get(name), ast.Dict | ast.Call):
            without = {other: value for other, value in assigned.items() if other != name}  # it may contain itself
            yield from _list_paths(assigned[name], classes, without, path, keys)
            return
        case ast.Dict():
            for literal, value in zip(node.keys, node.values, strict=True):
                if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
                    inner += [(f"[{json.dumps(literal.value)}]", literal.value, value)]
        case ast.Call(func=ast.Name(id=name)) if name in classes and node.keywords:
            inner = [(f".{keyword.arg}", keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
        case ast.Constant():
            return
    for step, key, value in inner:
        yield from _list_paths(value, classes, assigned, path + step, (*keys, key))
    if keys and not inner:
        yield path, keys


def _pick_path(paths: Mapping[str, tuple[str, ...]], usual: Collection[str], possible: Collection[str]) -> str | None:
    """The path whose last key says most that it is what is looked for; of several the first."""
    matches = [path for path, keys in paths.items() if keys[-1] in {*usual, *possible}]
    return max(matches, key=lambda path: (paths[path][-1] in usual, not {*usual}.isdisjoint(paths[path])), default=None)
