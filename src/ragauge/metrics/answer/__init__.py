"""The answer against passages, question and reference."""

from ragauge.metrics.answer.answer_contains import AnswerContains
from ragauge.metrics.answer.answer_correctness import AnswerCorrectness
from ragauge.metrics.answer.answer_grade import AnswerGrade
from ragauge.metrics.answer.answer_precision import AnswerPrecision
from ragauge.metrics.answer.answer_recall import AnswerRecall
from ragauge.metrics.answer.answer_relevance import AnswerRelevance
from ragauge.metrics.answer.answer_tokens import AnswerTokens
from ragauge.metrics.answer.citation_f1 import CitationF1
from ragauge.metrics.answer.citation_precision import CitationPrecision
from ragauge.metrics.answer.citation_presence import CitationPresence
from ragauge.metrics.answer.citation_recall import CitationRecall
from ragauge.metrics.answer.completeness import Completeness
from ragauge.metrics.answer.contradicted import Contradicted
from ragauge.metrics.answer.cost import Cost
from ragauge.metrics.answer.criteria_met import CriteriaMet
from ragauge.metrics.answer.evidence_utilization import EvidenceUtilization
from ragauge.metrics.answer.exact_match import ExactMatch
from ragauge.metrics.answer.fabricated_specifics import FabricatedSpecifics
from ragauge.metrics.answer.faithfulness import Faithfulness
from ragauge.metrics.answer.format_ok import FormatOk
from ragauge.metrics.answer.hallucination import Hallucination
from ragauge.metrics.answer.ignored_top_ranked import IgnoredTopRanked
from ragauge.metrics.answer.ignored_top_relevant import IgnoredTopRelevant
from ragauge.metrics.answer.invented_citations import InventedCitations
from ragauge.metrics.answer.latency import Latency
from ragauge.metrics.answer.misalignment import Misalignment
from ragauge.metrics.answer.missed_refusal import MissedRefusal
from ragauge.metrics.answer.noise_sensitivity import NoiseSensitivity
from ragauge.metrics.answer.not_in_context import NotInContext
from ragauge.metrics.answer.over_refusal import OverRefusal
from ragauge.metrics.answer.passage_use import PassageUse
from ragauge.metrics.answer.refusal_correctness import RefusalCorrectness
from ragauge.metrics.answer.self_knowledge import SelfKnowledge
from ragauge.metrics.answer.semantic_similarity import SemanticSimilarity
from ragauge.metrics.answer.source_conflict import SourceConflict
from ragauge.metrics.answer.token_f1 import TokenF1
from ragauge.metrics.answer.tokens import Tokens
from ragauge.metrics.answer.unsupported import Unsupported
from ragauge.metrics.answer.unverified_specifics import UnverifiedSpecifics
from ragauge.metrics.base import Metric

METRICS: tuple[type[Metric], ...] = (
    Faithfulness,
    Contradicted,
    NotInContext,
    Unsupported,
    Hallucination,
    SelfKnowledge,
    SourceConflict,
    FabricatedSpecifics,
    UnverifiedSpecifics,
    EvidenceUtilization,
    NoiseSensitivity,
    CitationPrecision,
    CitationRecall,
    CitationF1,
    InventedCitations,
    IgnoredTopRanked,
    IgnoredTopRelevant,
    Misalignment,
    PassageUse,
    AnswerRelevance,
    Completeness,
    FormatOk,
    CitationPresence,
    AnswerTokens,
    CriteriaMet,
    AnswerPrecision,
    AnswerRecall,
    AnswerCorrectness,
    AnswerGrade,
    ExactMatch,
    AnswerContains,
    TokenF1,
    RefusalCorrectness,
    OverRefusal,
    MissedRefusal,
    SemanticSimilarity,
    Latency,
    Tokens,
    Cost,
)
