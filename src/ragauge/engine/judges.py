"""Judges by their spec: a short text that any process can build the same judge from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragauge.core.errors import DataError, JudgeError, UnknownName, UsageError
from ragauge.core.object_lookup import (
    Group,
    find_object,
    is_importable,
    is_object_path,
    list_entry_points,
    load_entry_point,
)
from ragauge.core.providers import ALIASES, PROVIDERS, find_provider, format_judge_spec
from ragauge.engine.judge_error import find_judge_errors
from ragauge.judges.judge import Judge as Judge  # noqa: PLC0414 - for the layers that may not see judging
from ragauge.scores.gather import ClaimProfile
from ragauge.scores.judge_usage import describe_unchecked
from ragauge.scores.results.judge_usage import JudgeUse
from ragauge.scores.results.scorecard import JudgeNote
from ragauge.stats import judge_error as instrument


def _build_local_judge() -> Judge:
    from ragauge.judges.local.judge import LocalJudge

    return LocalJudge()


CALIBRATED_PREFIX = "calibrated:"
REGISTERED_GROUP: Group = "ragauge.judges"
BUILDERS: Mapping[str, Callable[[], Judge]] = {"local": _build_local_judge}
JUDGE_SPEC_HINT = (
    "A judge is local, PROVIDER:MODEL, hybrid:PROVIDER:MODEL, calibrated:FILE, jury:A+B+C, people:GUIDELINE or "
    "MODULE:NAME; for any server with an OpenAI-compatible API, use openai-chat:MODEL@https://HOST/v1."
)

# judge_id -> spec. An id names everything that changes a judge's verdicts, so a judge of the same id built elsewhere
# from the same spec is the same judge.
_SPECS: dict[str, str] = {}
_OBJECTS: dict[str, Judge] = {}  # judge_id -> a judge that Python code handed over, for this process
JUDGE_ATTRIBUTES = ("judge_id", "version", "answers", "ask")


def build_judge(spec: str) -> Judge:
    """The judge that a spec names.

    Args:
        spec: "local"; provider:model of a language model (see `judges.model.question_spec`); or MODULE:NAME of a
            callable of your own that takes no arguments and returns a Judge; or a name that an installed package
            registers as one of `ragauge.judges`, whose callable is given what follows the name and a colon.
            "calibrated:FILE" is what `ragauge judge calibrate` wrote, "jury:A+B+C" several judges.

    Raises:
        UnknownName: no such judge, provider, module or setting.
        DataError: a file that is none of a judge, or that was made for another base.
        UsageError: a model's spec that cannot be read, or a module that cannot be imported.
        JudgeError: what MODULE:NAME names does not return a judge.
    """
    if spec in _OBJECTS:
        return _OBJECTS[spec]
    if spec in BUILDERS:
        judge = BUILDERS[spec]()
    elif spec.startswith("hybrid:"):
        from ragauge.judges.hybrid import HybridJudge

        judge = HybridJudge.of(spec)
    elif spec.startswith(CALIBRATED_PREFIX):
        judge = _build_calibrated_judge(spec)
    elif spec.startswith("jury:"):
        from ragauge.judges.jury.judge import JuryJudge

        judge = JuryJudge.of(spec, build_judge)
    elif find_provider(spec) is not None:
        from ragauge.judges.model.judge import ModelJudge

        judge = ModelJudge.of(spec)
    elif ":" in spec or spec in list_entry_points(REGISTERED_GROUP):
        custom = _load_custom_judge(spec)
        if isinstance(custom, str):  # it says more than a package's name for it
            return build_judge(custom)
        judge = custom
    else:
        named = [*BUILDERS, "none", *(f"{provider}:MODEL" for provider in PROVIDERS)]
        valid_names = [*named, "hybrid:PROVIDER:MODEL", "jury:A+B+C", *list_entry_points(REGISTERED_GROUP)]
        raise UnknownName("judge", spec, valid_names, "Write your own judge as MODULE:NAME.")
    _SPECS[judge.judge_id] = spec
    return judge


def resolve_judge_spec(judge: Any, name: str = "", prompts: Any = None) -> str:
    """The spec of what was given as a judge: a text as it is, a function or a framework's model under a name.

    Args:
        judge: a spec, as a text or a mapping, None (nobody judges), or a model: a function or object, text in, text
            out, sync or async; or a client of OpenAI or litellm; or a judge: an object with judge_id, version, answers
            and ask.
        name: of a model that is handed over; the model that a client is to ask. A function that has a name needs none.
        prompts: its own wording: name of a prompt -> template, or the path of a file with them.

    Raises:
        UsageError: a model without a name, or something that takes no text; a name for what has one; wording for what
            asks no model.
    """
    spec = _resolve_base_spec(judge, name)
    if prompts is None:
        return spec
    if spec.startswith(CALIBRATED_PREFIX):
        raise UsageError(f"judge={spec!r} uses the prompts that it was calibrated with. Omit prompts.")
    if spec in (*BUILDERS, "none"):
        raise UsageError(f"prompts need a model, and judge={spec!r} uses none. Omit prompts.")
    if spec.startswith("jury:"):
        raise UsageError(f"prompts={prompts!r}: each member of a jury has its own. Write prompts=FILE after a member.")
    from ragauge.judges.model.prompt_blocks import register_templates

    source = register_templates(prompts) if isinstance(prompts, Mapping) else str(prompts)
    if "," in source or not source:
        raise UsageError(f"prompts must be a mapping or a path without a comma, got {source!r}.")
    return f"{spec},prompts={source}"


def _resolve_base_spec(judge: Any, name: str) -> str:
    try:
        judge = format_judge_spec(judge)
    except ValueError as error:
        raise UsageError(f"judge: {error}") from None
    if judge is None or isinstance(judge, str):
        if name:
            raise UsageError(f"judge_name names a model passed as judge=, got judge={judge!r}.")
        return judge or "none"
    if _is_judge(judge):
        if name:
            raise UsageError(f"judge_name names a model; {type(judge).__name__} is a judge with its own judge_id.")
        _OBJECTS[judge.judge_id] = judge
        return str(judge.judge_id)
    from ragauge.models.providers import custom as own

    return own.register_model(judge, name)


@dataclass(frozen=True, slots=True)
class JudgeProgress:
    """What a store knows of a judge and of its work on a run."""

    spec: str = ""  #: the text that it is built from; "" where it is not known.
    #: question -> the versions in which it was asked.
    versions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    use: JudgeUse | None = None  #: what was counted; None where nothing was.
    #: printed name of a metric -> how far the judge errs; None = what is known without the store.
    errors: Mapping[str, instrument.JudgeMeanError] | None = None


def build_judge_note(
    judge_id: str | None, claims: ClaimProfile | None = None, judge_progress: JudgeProgress | None = None
) -> JudgeNote:
    """What a report says about a judge.

    Args:
        judge_id: None where nobody was asked.
        claims: what kinds of claims it had before it, where known.
        judge_progress: what the store knows of it.
    """
    if judge_id is None:
        return JudgeNote("")
    if judge_id.startswith("people:"):
        from ragauge.judges import people

        return people.build_judge_note(judge_id)
    judge_progress = judge_progress or JudgeProgress()
    errors = find_judge_errors(judge_id) if judge_progress.errors is None else judge_progress.errors
    note = replace(_build_note(judge_id, claims, judge_progress), errors=errors)
    return note if errors else replace(note, limits=(*note.limits, describe_unchecked(judge_progress.spec)))


def _build_note(judge_id: str, claims: ClaimProfile | None, judge_progress: JudgeProgress) -> JudgeNote:
    if judge_id.startswith(CALIBRATED_PREFIX):
        return _build_calibrated_note(judge_id, claims, judge_progress)
    if _is_local(judge_id):
        from ragauge.judges.local.judge import build_judge_note

        return build_judge_note(judge_id, claims or ClaimProfile())
    if judge_id.startswith("hybrid:"):
        from ragauge.judges import hybrid

        return hybrid.build_judge_note(judge_id, judge_progress.spec, judge_progress.versions, judge_progress.use)
    if judge_id.startswith("jury:"):
        from ragauge.judges.jury import judge as jury

        return jury.build_judge_note(judge_id, judge_progress.spec, judge_progress.versions)
    if find_provider(judge_id) is not None:
        from ragauge.judges.model import judge as model

        made_by = (
            judge_progress.spec if find_provider(judge_progress.spec) is None else ""
        )  # a callable of a package or the user's own
        note = model.build_judge_note(judge_id, "" if made_by else judge_progress.spec, judge_progress.versions)
        return replace(note, what=f"{note.what} It is built from {made_by}.") if made_by else note
    built = f" (built from {judge_progress.spec})" if judge_progress.spec else ""
    uncertain = claims.uncertain if claims is not None else None
    return JudgeNote(judge_id, f"Judged by {judge_id}{built}.", uncertain=uncertain)


def _build_calibrated_note(judge_id: str, claims: ClaimProfile | None, judge_progress: JudgeProgress) -> JudgeNote:
    """What is said of the base, after what is said of the calibration."""
    from ragauge.judges.calibrated.file import read_calibration
    from ragauge.judges.calibrated.judge import build_judge_note

    file = None
    with suppress(DataError):  # a file that is gone, or another by now, says nothing of this judge
        file = read_calibration(Path(judge_progress.spec.removeprefix(CALIBRATED_PREFIX)))
    file = file if file is not None and judge_id.endswith(f"#{file.compute_hash()}") else None
    spec = "" if file is None else file.base.spec
    return build_judge_note(
        judge_id,
        file,
        _build_note(judge_id.removeprefix(CALIBRATED_PREFIX), claims, replace(judge_progress, spec=spec)),
    )


def _build_calibrated_judge(spec: str) -> Judge:
    """The judge of a file, on top of the base that it names."""
    from ragauge.judges.calibrated.file import read_calibration
    from ragauge.judges.calibrated.judge import build_calibrated_judge

    path = Path(spec.removeprefix(CALIBRATED_PREFIX))
    file = read_calibration(path)
    return build_calibrated_judge(file, build_judge(file.base.spec), str(path))


def find_uncertain_band(judge_id: str | None) -> tuple[float, float] | None:
    """Between which probabilities a judge cannot tell; None for a judge that says none."""
    if judge_id is None or not _is_local(judge_id):
        return None
    from ragauge.judges.local.judge import read_middle_band

    return read_middle_band()


def _is_local(judge_id: str) -> bool:
    return judge_id.removeprefix(CALIBRATED_PREFIX).partition(":")[0] == "local"


def find_spec(judge: Judge) -> str | None:
    """The spec that another process can build this judge from; None for an object that was made by hand."""
    return _SPECS.get(judge.judge_id)


def _is_judge(candidate: object) -> bool:
    return all(hasattr(candidate, name) for name in JUDGE_ATTRIBUTES)


def _load_custom_judge(spec: str) -> Judge | str:
    """The judge that a package's or the user's own callable returns, or the spec of one."""
    head, _, argument = spec.partition(":")
    if head in (*BUILDERS, "none"):
        raise UsageError(f"the judge {head} takes no options, got {spec!r}. Write --judge {head}.")
    by_name = list_entry_points(REGISTERED_GROUP)
    if head not in by_name and not (is_object_path(spec) and is_importable(head)):
        raise UnknownName("provider or module", head, [*PROVIDERS, *ALIASES, *by_name], JUDGE_SPEC_HINT)
    try:
        built = (
            load_entry_point(REGISTERED_GROUP, head)(*([argument] if argument else []))
            if head in by_name
            else find_object(spec)()
        )
    except (AttributeError, TypeError, ValueError) as error:
        raise JudgeError(
            f"the judge {spec} cannot be built: {type(error).__name__}: {error}. ragauge calls it to build the judge. "
            "Give a function without arguments that returns a judge, or a function that answers a prompt."
        ) from error
    if isinstance(built, str):
        return built
    if _is_judge(built):
        judge: Judge = built
        return judge
    try:
        model = build_judge(resolve_judge_spec(built, spec))
    except UsageError:
        raise JudgeError(
            f"{spec} must return the spec of a judge, a function or object that takes a text and returns a text, or an "
            f"object with judge_id, version, answers and ask; got {type(built).__name__}."
        ) from None
    return model
