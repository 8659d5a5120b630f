"""Retrieval from labels: asks nothing."""

from ragauge.metrics.base import Metric
from ragauge.metrics.retrieval.bpref import Bpref
from ragauge.metrics.retrieval.empty_result_rate import EmptyResultRate
from ragauge.metrics.retrieval.f1 import F1
from ragauge.metrics.retrieval.hit import Hit
from ragauge.metrics.retrieval.judged import Judged
from ragauge.metrics.retrieval.map import Map
from ragauge.metrics.retrieval.mrr import Mrr
from ragauge.metrics.retrieval.ndcg import Ndcg
from ragauge.metrics.retrieval.no_retrieval_rate import NoRetrievalRate
from ragauge.metrics.retrieval.precision import Precision
from ragauge.metrics.retrieval.r_precision import RPrecision
from ragauge.metrics.retrieval.rbp import Rbp
from ragauge.metrics.retrieval.recall import Recall

METRICS: tuple[type[Metric], ...] = (
    Recall,
    Precision,
    F1,
    Hit,
    Mrr,
    Map,
    Ndcg,
    Bpref,
    RPrecision,
    Rbp,
    Judged,
    EmptyResultRate,
    NoRetrievalRate,
)
