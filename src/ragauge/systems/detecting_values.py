"""What the names of a project's modules stand for, read from its files: nothing is imported or run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragauge.systems.detecting_kinds import (
    OTHER,
    TYPE,
    UNKNOWN,
    ExpressionValue,
    called,
    framework_of,
    sequence,
    with_component,
)

DEEPEST = 12  # calls into calls that are followed
HOLDERS = ("RunnableParallel", "RunnablePassthrough")  # they are what they are given
LOADS = frozenset({"load", "loads", "from_dict", "from_template"})
ENGINES = ("as_query_engine", "as_chat_engine")
SAME = frozenset(
    {  # methods that give the same kind of thing again
        "bind",
        "with_config",
        "with_retry",
        "with_fallbacks",
        "with_types",
        "with_listeners",
        "configurable_fields",
        "configurable_alternatives",
        "pick",
        "map",
        "with_structured_output",
        "bind_tools",
    }
)
ASKS = frozenset(
    {
        "invoke",
        "ainvoke",
        "query",
        "aquery",
        "chat",
        "achat",
        "run",
        "run_async",
        "arun",
        "stream",
        "astream",
        "stream_chat",
        "retrieve",
        "aretrieve",
    }
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Outside:
    """A name from outside of the project."""

    origin: str


@dataclass(frozen=True, slots=True)
class Inside:
    """A function or class of the project, in its module."""

    node: Function | ast.ClassDef
    scope: Scope


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the project, by name."""

    name: str


Bound = ExpressionValue | Outside | Inside | Module


@dataclass(slots=True)
class Scope:
    """Names of a module, or of a function in it.

    Attributes:
        module: its name.
        modules: those of the project.
        bound: what a name stands for.
        outer: of a function, its module's.
    """

    module: str
    modules: Modules
    bound: dict[str, Bound] = field(default_factory=dict)
    outer: Scope | None = None

    def find(self, name: str) -> Bound:
        """What a name stands for."""
        if name in self.bound:
            return self.bound[name]
        return self.outer.find(name) if self.outer is not None else UNKNOWN


class Modules:
    """The modules of a project, each read when it is first asked for.

    Args:
        trees: name -> its parsed file.
        packages: names of modules that are packages, from which relative imports count.
    """

    def __init__(self, trees: Mapping[str, ast.Module], packages: frozenset[str] = frozenset()) -> None:
        self._trees, self._packages = trees, packages
        self._read: dict[str, Scope] = {}
        self._deep = 0

    def scope(self, name: str) -> Scope:
        """The names of a module; none of one that is not there."""
        if name not in self._read:
            self._read[name] = scope = Scope(name, self)
            if name in self._trees:
                self._fill(scope, self._trees[name].body)
        return self._read[name]

    def value(self, node: ast.expr, scope: Scope) -> ExpressionValue:
        """What an expression makes."""
        found = self.bound(node, scope)
        return found if isinstance(found, ExpressionValue) else UNKNOWN

    def returned(self, inside: Inside) -> ExpressionValue:
        """What a function of the project returns."""
        if self._deep > DEEPEST or not isinstance(inside.node, Function):
            return UNKNOWN
        self._deep += 1
        try:
            scope = self.within(inside)
            ends = [self.value(one, scope) for one in returns(inside.node)]
            best = max(ends, key=lambda one: (one.score, one.kind != "unknown"), default=UNKNOWN)
            if best.kind == "unknown" and inside.node.returns is not None:
                best = self._annotated(inside.node.returns, inside.scope)
            return replace(best, names=frozenset())
        finally:
            self._deep -= 1

    def within(self, inside: Inside) -> Scope:
        """The names inside of a function."""
        scope = Scope(inside.scope.module, self, outer=inside.scope)
        if isinstance(inside.node, Function):
            given = inside.node.args
            for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                kind = one.annotation
                scope.bound[one.arg] = UNKNOWN if kind is None else self._annotated(kind, inside.scope)
        self._fill(scope, inside.node.body)
        return scope

    def inner(self, body: Sequence[ast.stmt], scope: Scope) -> Mapping[str, Bound]:
        """The names that statements bind which no import runs."""
        inside = Scope(scope.module, self, outer=scope)
        self._fill(inside, body)
        return inside.bound

    def instance(self, inside: Inside) -> ExpressionValue:
        """What a class of the project makes: by what it inherits from, or its outputs where it is a component."""
        node = inside.node
        if not isinstance(node, ast.ClassDef):
            return UNKNOWN
        for base in node.bases:
            found = self.bound(base, inside.scope)
            made = called(found.origin) if isinstance(found, Outside) else UNKNOWN
            if isinstance(found, Inside):
                made = self.instance(found)
            if made.kind != "unknown" and made.framework:
                return made
        decorators = [self.bound(one, inside.scope) for one in node.decorator_list]
        if any(isinstance(decorator, Outside) and decorator.origin == "haystack.component" for decorator in decorators):
            words = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}
            words |= {one.arg or "" for one in ast.walk(node) if isinstance(one, ast.keyword)}
            finds = "documents" in words and "replies" not in words
            return ExpressionValue("part", "Haystack", 2 * bool(words & {"replies", "answers"}), finds, f"{node.name}")
        return UNKNOWN

    def _fill(self, scope: Scope, body: Sequence[ast.stmt]) -> None:
        for node in body:
            match node:
                case ast.Import() | ast.ImportFrom():
                    scope.bound.update(self._imported(node, scope.module))
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                    scope.bound[node.name] = Inside(node, scope)
                case ast.Assign(targets=targets, value=value):
                    self._assign(scope, targets, value, None)
                case ast.AnnAssign(target=target, value=value, annotation=kind) if value is not None:
                    self._assign(scope, [target], value, kind)
                case ast.AugAssign(target=ast.Name(id=name), op=ast.BitOr(), value=value):
                    parts = [self._part(ast.Name(name, ast.Load()), scope), self._part(value, scope)]
                    scope.bound[name] = _piped(parts)
                case ast.Expr(value=ast.Call() as call):
                    self._added(scope, call)
                case ast.If() if is_main(node):
                    continue
                case ast.If() | ast.Try() | ast.With() | ast.AsyncWith() | ast.For():
                    for part in ("body", "handlers", "orelse", "finalbody"):
                        for one in getattr(node, part, ()):
                            self._fill(scope, one.body if isinstance(one, ast.ExceptHandler) else [one])

    def _assign(self, scope: Scope, targets: Sequence[ast.expr], value: ast.expr, kind: ast.expr | None) -> None:
        found = self.bound(value, scope)
        if kind is not None and isinstance(found, ExpressionValue) and not found.score:
            said = self._annotated(kind, scope)
            found = said if said.score else found
        for target in targets:
            if isinstance(target, ast.Name):
                scope.bound[target.id] = found

    def _added(self, scope: Scope, call: ast.Call) -> None:
        """A component that is added to a Haystack pipeline."""
        match call:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="add_component")):
                given = [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg == "instance")]
                pipeline = scope.find(name)
                if given and isinstance(pipeline, ExpressionValue) and pipeline.framework == "Haystack":
                    scope.bound[name] = with_component(pipeline, self._part(given[0], scope))

    def _imported(self, node: ast.Import | ast.ImportFrom, module: str) -> Iterator[tuple[str, Bound]]:
        if isinstance(node, ast.Import):
            for one in node.names:
                name = one.name if one.asname else one.name.partition(".")[0]
                yield one.asname or name, self._outside(name)
            return
        origin = self._absolute(node, module)
        for one in node.names:
            name = one.asname or one.name
            if f"{origin}.{one.name}" in self._trees:
                yield name, Module(f"{origin}.{one.name}")
            elif origin in self._trees:
                yield name, self._member(origin, one.name)
            else:
                yield name, Outside(f"{origin}.{one.name}")

    def _absolute(self, node: ast.ImportFrom, module: str) -> str:
        if not node.level:
            return node.module or ""
        parts = module.split(".")
        kept = parts[: len(parts) - node.level + (module in self._packages)]
        return ".".join([*kept, *([node.module] if node.module else [])])

    def _outside(self, name: str) -> Bound:
        return (
            Module(name)
            if name in self._trees or any(tree.startswith(f"{name}.") for tree in self._trees)
            else (Outside(name))
        )

    def _member(self, module: str, name: str) -> Bound:
        """A name of another module; it may be half read, where modules import each other."""
        return self.scope(module).find(name)

    def _annotated(self, kind: ast.expr, scope: Scope) -> ExpressionValue:
        found = self.bound(kind, scope)
        made = called(found.origin) if isinstance(found, Outside) else UNKNOWN
        return made if made.score else UNKNOWN

    def bound(self, node: ast.expr, scope: Scope) -> Bound:
        """What an expression stands for: a value, or a name that is not called yet."""
        match node:
            case ast.Name(id=name):
                found = scope.find(name)
                return replace(found, names=found.names | {name}) if isinstance(found, ExpressionValue) else found
            case ast.Attribute(value=base, attr=name):
                return self._attribute(self.bound(base, scope), name)
            case ast.Call():
                return self._call(node, scope)
            case ast.BinOp(op=ast.BitOr()):
                return _piped([self._part(operand, scope) for operand in _operands(node)])
            case ast.Await(value=inner) | ast.NamedExpr(value=inner):
                return self.bound(inner, scope)
            case ast.IfExp(body=one, orelse=other):
                return max((self.value(one, scope), self.value(other, scope)), key=lambda found: found.score)
            case ast.Constant() | ast.List() | ast.Tuple() | ast.ListComp() | ast.JoinedStr():
                return OTHER
        return UNKNOWN

    def _attribute(self, base: Bound, name: str) -> Bound:
        if isinstance(base, Outside):
            return Outside(f"{base.origin}.{name}")
        if isinstance(base, Module):
            inner = f"{base.name}.{name}"
            return Module(inner) if isinstance(self._outside(inner), Module) else self._member(base.name, name)
        return UNKNOWN

    def _call(self, node: ast.Call, scope: Scope) -> ExpressionValue:
        if isinstance(node.func, ast.Attribute):
            base = self.bound(node.func.value, scope)
            found = self._method(base, node.func.attr, node, scope)
            if found is not None:
                return found
        made = self.bound(node.func, scope)
        if isinstance(made, Outside):
            if made.origin.endswith(".RunnableSequence"):
                return _piped([self._part(arg, scope) for arg in node.args])
            given = [self._part(one, scope) for one in _given(node)]
            return _holding(called(made.origin), given)
        if isinstance(made, Inside):
            return self.instance(made) if isinstance(made.node, ast.ClassDef) else self.returned(made)
        return UNKNOWN

    def _method(self, base: Bound, name: str, node: ast.Call, scope: Scope) -> ExpressionValue | None:
        """What a method gives; None where its name tells nothing."""
        receiver = base if isinstance(base, ExpressionValue) else UNKNOWN
        if name == "as_retriever":
            return ExpressionValue("retriever", receiver.framework, 0, True).made_of(receiver)
        if name in ENGINES:
            return ExpressionValue("system", "LlamaIndex", 2, True).made_of(receiver)
        if name == "compile" and receiver.origin.endswith("Graph"):
            return ExpressionValue("system", "LangChain", 2, True).made_of(receiver)
        if name.startswith(("add_", "set_")) and receiver.origin.endswith("Graph"):
            return receiver
        if name in LOADS and isinstance(base, Outside) and base.origin.endswith("Pipeline"):
            return ExpressionValue("system", framework_of(base.origin), 2, True)
        if name in ("pipe", "assign") and receiver.framework == "LangChain":
            return _piped([receiver, *(self._part(arg, scope) for arg in node.args)])
        if name in SAME and receiver.framework:
            return receiver.made_of(*(self._part(one, scope) for one in _given(node)))
        if isinstance(base, Outside) and framework_of(base.origin) and base.origin.rpartition(".")[2][:1].isupper():
            return _holding(called(base.origin), [self._part(one, scope) for one in _given(node)])
        if isinstance(base, ExpressionValue) and base.kind != "unknown":
            return OTHER.made_of(receiver) if name in ASKS else UNKNOWN  # what it answered
        return None

    def _part(self, node: ast.expr, scope: Scope) -> ExpressionValue:
        """An operand or argument: dictionaries hold theirs, and a function might do anything."""
        if isinstance(node, ast.Dict):
            held = [self._part(value, scope) for value in node.values]
            return _holding(ExpressionValue("part"), held)
        if isinstance(node, ast.Constant):
            return TYPE
        found = self.bound(node, scope)
        if isinstance(node, ast.Lambda) or (isinstance(found, Inside) and isinstance(found.node, Function)):
            return ExpressionValue("part", generates=1) if isinstance(node, ast.Lambda) else self._function(found)
        if isinstance(found, Outside) and found.origin.rpartition(".")[2][:1].isupper():
            return TYPE
        if isinstance(found, ExpressionValue) and found.kind == "unknown":  # perhaps a model
            return replace(found, generates=1)
        return found if isinstance(found, ExpressionValue) else ExpressionValue("part")

    def _function(self, found: Bound) -> ExpressionValue:
        """A function among operands: it finds where it asks a retriever, and might make text."""
        if not isinstance(found, Inside) or self._deep > DEEPEST:
            return ExpressionValue("part", generates=1)
        asked = asks(found, self)
        return ExpressionValue("part", generates=2 if asked.generates > 1 else 1, retrieves=asked.retrieves)


def asks(inside: Inside, modules: Modules) -> ExpressionValue:
    """The likeliest of what a function asks: a chain that it invokes, an engine that it queries; else UNKNOWN."""
    scope = modules.within(inside)
    calls = [node.func for node in ast.walk(inside.node) if isinstance(node, ast.Call)]
    asked = [call.value for call in calls if isinstance(call, ast.Attribute) and call.attr in ASKS]
    found = (modules.value(one, scope) for one in asked)
    return max(found, key=lambda one: (one.score, one.generates, one.retrieves), default=UNKNOWN)


def is_main(node: ast.If) -> bool:
    """Whether it is `if __name__ == "__main__":`, which no import runs."""
    return any(isinstance(one, ast.Name) and one.id == "__name__" for one in ast.walk(node.test))


def _holding(value: ExpressionValue, given: Sequence[ExpressionValue]) -> ExpressionValue:
    """A value that was given others: it finds where one of them does."""
    found = value.made_of(*given)
    if value.kind not in ("system", "part"):
        return found
    found = replace(found, retrieves=value.retrieves or any(one.retrieves for one in given))
    holder = value.origin.endswith(HOLDERS)
    if value.origin and not holder:
        return found
    framework = value.framework or next((one.framework for one in given if one.framework), "")
    generates = max((one.generates for one in given), default=0)
    return replace(found, framework=framework, generates=generates, kind="system" if holder and generates else "part")


def _piped(parts: list[ExpressionValue]) -> ExpressionValue:
    """What `a | b` makes: of LangChain where one of them is, else what Python makes of it."""
    if not any(part.framework == "LangChain" for part in parts) or TYPE in parts:
        return UNKNOWN
    return sequence(parts)


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_operands(node.left), *_operands(node.right)]
    return [node]


def _given(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def returns(node: Function) -> Iterator[ast.expr]:
    """What a function returns, of its own and not of functions in it."""
    left: list[ast.AST] = list(node.body)
    while left:
        one = left.pop(0)
        if isinstance(one, ast.Return) and one.value is not None:
            yield one.value
        if not isinstance(one, Function | ast.ClassDef | ast.Lambda):
            left.extend(ast.iter_child_nodes(one))
