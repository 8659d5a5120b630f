"""Where it comes from how far a judge errs, and what to do where it is not known, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragauge.analysis.judges.label_scores import TOLD
from ragauge.stats.instrument import JudgeMeanError

OWN = "own:"
LABELLED = (*TOLD, "unsupported")     # metrics that labels of claims tell of


def unchecked(spec: str = "") -> str:
    """That nothing is known, and how to know it.

    Args:
        spec: of the judge; "" where it is not known.
    """
    how = f"ragauge judge check FILE --judge {spec or 'JUDGE'}"
    if spec.startswith(OWN):
        how = f'rg.check_judge(FILE, judge=model, judge_name="{spec.removeprefix(OWN)}")'
    return (
        "How far it errs, and how often it agrees with people on your data, is not known before it is checked: "
        f"intervals are of sampling alone. To know it, label 50 or more claims yourself, then {how} holds its verdicts "
        f"against them, and intervals of {listed(LABELLED)} include its error from then on."
    )


def origins(errors: Mapping[str, JudgeMeanError], metrics: Sequence[str]) -> str:
    """Where the error comes from, of the metrics of which it is known; "" for none.

    >>> known = JudgeMeanError((), (0.0,), (0.0,), 0.0, 0.0, 0, "120 of your labels, checked 2026-11-20")
    >>> origins({"faithfulness": known, "unsupported": known}, ["faithfulness", "recall@5", "unsupported"])
    "The judge's error: of faithfulness and unsupported from 120 of your labels, checked 2026-11-20."
    """
    found: dict[str, list[str]] = {}
    for metric in metrics:
        if metric in errors:
            found.setdefault(errors[metric].origin, []).append(metric)
    if not found:
        return ""
    return f"The judge's error: {'; '.join(f'of {listed(names)} from {origin}' for origin, names in found.items())}."


def lacking(errors: Mapping[str, JudgeMeanError], metrics: Sequence[str]) -> str:
    """Of which metrics that a judge was asked for its error is not known, where it is of others; "" for none."""
    without = [metric for metric in metrics if metric not in errors]
    if not errors or not without:
        return ""
    said = f"How far it errs is not known for {', '.join(without)}: their intervals are of sampling alone."
    told = [metric for metric in without if metric in LABELLED]
    if not told:
        return said
    return f"{said} Labels that say contradicted or not_in_context tell of {listed(told)}: ragauge judge check FILE."


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])
