"""The file that a calibrated judge is made from: what was learned, from which labels, on top of which judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, NonNegativeInt, ValidationError, model_validator

from ragauge.core.errors import DataError
from ragauge.core.identity import hash_json
from ragauge.core.values import describe_value
from ragauge.judges.calibrated.lexical_features import FEATURE_NAMES, GENERATION
from ragauge.stats.calibration import Recalibration

FORMAT: Literal["ragauge calibrated judge"] = "ragauge calibrated judge"
VERSION: Literal[1] = 1
RECALIBRATE_HINT = "Make one with: ragauge judge calibrate latest -o judge.json"
KEY_HEX_DIGITS = 16  # hex digits of a text's key: enough to tell the texts of a file apart

Name = Annotated[str, Field(min_length=1)]


class StrictModel(BaseModel):
    """Nothing is coerced, and no key is unknown."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class CalibrationBase(StrictModel):
    """The judge that is asked: the text that it is built from, and its id when it was calibrated."""

    spec: Name
    judge_id: Name


class LearnedFrom(StrictModel):
    """The labels: how many, how many of them say supported, of how many answers, by which instructions, from where."""

    labels: NonNegativeInt
    supported: NonNegativeInt
    answers: NonNegativeInt
    guideline: str
    source: str


class Model(StrictModel):
    """A `Recalibration` whose weights have the names of their features."""

    shift: FiniteFloat
    slope: Annotated[FiniteFloat, Field(ge=0)]
    weights: dict[str, FiniteFloat]

    @model_validator(mode="after")
    def _check_features(self) -> Self:
        unknown = [name for name in self.weights if name not in FEATURE_NAMES]
        if unknown:
            raise ValueError(f"no feature {unknown[0]!r}; known: {', '.join(FEATURE_NAMES[:3])} and others")
        return self

    @classmethod
    def of(cls, recalibration: Recalibration, names: tuple[str, ...]) -> Model:
        """A model with the names of its features; without weights where none counts."""
        weights_by_name = dict(zip(names, recalibration.weights, strict=True)) if recalibration.weights else {}
        return cls(shift=recalibration.shift, slope=recalibration.slope, weights=weights_by_name)

    def to_recalibration(self) -> Recalibration:
        """The same with weights in the order of all features."""
        weights = tuple(self.weights.get(name, 0.0) for name in FEATURE_NAMES) if self.weights else ()
        return Recalibration(self.shift, self.slope, weights)


class CalibrationFile(StrictModel):
    """What a calibrated judge knows."""

    format: Literal["ragauge calibrated judge"] = FORMAT  #: says what the file is.
    version: Literal[1] = VERSION  #: of the format.
    generation: int = GENERATION  #: of the code that measures the features.
    base: CalibrationBase  #: who is asked.
    by: Literal["sentence", "answer"]  #: what one probability is of: the claims of a sentence, or the whole answer.
    learned_from: LearnedFrom  #: the labels.
    chosen: Name  #: the candidate that cross-validation chose.
    model: Model  #: of texts that trained nothing.
    folds: tuple[Model, ...]  #: of texts that trained: each was fitted without one fold.
    #: hash that tells a text that trained, or a sentence of it -> the place of its fold.
    marks: dict[str, NonNegativeInt] = {}
    #: the same of files before there were marks: how the key of a text begins -> the place of its fold.
    trained_on: dict[str, NonNegativeInt] = {}
    figures: dict[str, FiniteFloat | None]  #: Brier score and others before and after, cross-fitted.

    @model_validator(mode="after")
    def _check_folds(self) -> Self:
        for name, fold_by_mark in (("marks", self.marks), ("trained_on", self.trained_on)):
            if (highest := max(fold_by_mark.values(), default=-1)) >= len(self.folds):
                raise ValueError(f"{name} refers to fold {highest}, but there are {len(self.folds)}, numbered from 0")
        return self

    def text(self) -> str:
        """The file as JSON, the same for the same content."""
        return json.dumps(self.model_dump(mode="json"), indent=1, sort_keys=True, ensure_ascii=False) + "\n"

    def compute_hash(self) -> str:
        """A short hash of all that is in it, however it is laid out; of an older file, the same as ever."""
        return hash_json(self.model_dump(mode="json", exclude=None if self.marks else {"marks"}))[:8]


def read_calibration(path: Path) -> CalibrationFile:
    """The content of a judge file.

    Raises:
        DataError: there is none, it is another kind of file, of a later version, or broken: with the first mistake.
    """
    name = str(path)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError("there is no such file.", source=name, hint=RECALIBRATE_HINT) from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}.", source=name, hint=RECALIBRATE_HINT) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"is not valid JSON: {error}.", source=name, hint=RECALIBRATE_HINT) from None
    format_name = value.get("format") if isinstance(value, Mapping) else None
    if format_name != FORMAT:
        message = "has no field 'format'" if format_name is None else f"has the format {describe_value(format_name)}"
        raise DataError(f"{message}, expected {FORMAT!r}: it is not a judge file.", source=name, hint=RECALIBRATE_HINT)
    if value.get("version") != VERSION:
        message = f"has version {describe_value(value.get('version'))}, but this ragauge reads version {VERSION}."
        raise DataError(message, source=name, hint=f"Update ragauge, or calibrate again. {RECALIBRATE_HINT}")
    try:
        file = CalibrationFile.model_validate_json(json.dumps(value))
    except ValidationError as error:
        raise DataError(
            _describe_first_error(error), source=name, hint=f"It was edited by hand or truncated. {RECALIBRATE_HINT}"
        ) from None
    if file.generation != GENERATION:
        message = (
            f"was made with generation {file.generation} of the features, but this ragauge has generation {GENERATION}."
        )
        raise DataError(message, source=name, hint=f"Calibrate again. {RECALIBRATE_HINT}")
    return file


def _describe_first_error(error: ValidationError) -> str:
    """The first mistake: where, expected, got."""
    first: Any = error.errors(include_url=False)[0]
    location = ".".join(map(str, first["loc"]))
    if first["type"] == "missing":
        return f"{location} is missing."
    message = str(first.get("ctx", {}).get("error") or first["msg"][0].lower() + first["msg"][1:])
    got = "" if first["type"] == "value_error" else f", got {describe_value(first['input'])}"
    return f"{location}: {message}{got}." if location else f"{message}{got}."
