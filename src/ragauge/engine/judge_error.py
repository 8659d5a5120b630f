"""How far a judge's means may lie from people's, as far as anybody has measured it."""

from __future__ import annotations

from collections.abc import Mapping

from ragauge.stats.instrument import JudgeError

# metrics that are 1 less another one, on every example
MIRRORED: Mapping[str, str] = {"unsupported": "faithfulness"}


def judge_errors(judge_id: str | None) -> Mapping[str, JudgeError]:
    """Printed name of a metric -> how far the judge's mean of it errs; a metric that is not there is not known.

    The one place that says so: where labels of a user's own replace what public sets say, they do it here. Known for
    the local judge, from public labels. Of a language model nothing is known before it is checked on labels, and those
    of a check are not kept yet; nor of a hybrid, half of which is a model.

    Args:
        judge_id: None where nobody judged.
    """
    if judge_id is None or judge_id.partition(":")[0] != "local":
        return {}
    from ragauge.judging.local.error import errors

    found = dict(errors())
    return found | {name: found[other].mirrored() for name, other in MIRRORED.items() if other in found}
