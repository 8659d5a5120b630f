"""The demo: a real RAG over a small corpus, evaluated in three configurations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ragauge.core.messages import format_command
from ragauge.evaluation.evaluate.verb import evaluate_source
from ragauge.evaluation.scorecard.result import Scorecard
from ragauge.verbs.coroutines import make_sync
from ragauge.verbs.evaluate_options import EvaluateOptions
from ragauge.verbs.option_specs import OptionSpec, with_options
from ragauge.verbs.option_specs import Store as StoreOption
from ragauge.verbs.sources import AnsweredExamples, InputSource, resolve_store_url

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ragauge.engine.execute import Progress
    from ragauge.rendering.sections import ReportSection, ReportTable, Wording

HEADLINE = ("recall@5", "context_recall", "faithfulness", "fabricated_specifics", "answer_correctness")


@dataclass(frozen=True)
class Demo:
    """The three scorecards and where their reports are."""

    cards: Mapping[str, Scorecard]  #: name of the configuration -> scorecard.
    about: Mapping[str, str]  #: name -> what was planted.
    paths: Mapping[str, Path]  #: name -> report.

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON types."""
        return {
            name: {"about": self.about[name], "report": str(self.paths[name]), **card.to_dict()}
            for name, card in self.cards.items()
        }

    def to_terminal(self) -> RenderableType:
        """One table of the three, the verdict on each, and where the reports are."""
        from ragauge.rendering.writers.terminal import render_terminal

        return render_terminal(self._build_sections())

    def _build_sections(self) -> Iterator[ReportSection]:
        from ragauge.rendering.sections import Phrase, ReportSection
        from ragauge.rendering.verdict_texts import verdict

        first = next(iter(self.cards.values()))
        yield ReportSection(
            lead=(
                "A question-answering system over the manual, policies and release notes of a backup appliance.",
                f"{first.card.n} questions, three configurations, judged offline by the embedded local judge.",
            )
        )
        yield ReportSection(table=self._build_table(first))
        for name, card in self.cards.items():
            causes = (f"  cause {cause}: {count}" for cause, count in list(card.causes.items())[:3])
            where = Phrase(f"  report {self.paths[name]}", "link")
            heading = f"{name}: ", Phrase(self.about[name], "faint")
            yield ReportSection(heading, lead=(verdict(card.card), *causes, where))
        report, example = format_command("report", "good"), format_command("show", "broken-retrieval", "q033")
        yield ReportSection(lead=("View a full report:",), commands=(report, example))

    def _build_table(self, first: Scorecard) -> ReportTable:
        from ragauge.core.messages import format_value
        from ragauge.rendering.sections import Phrase, ReportColumn, ReportTable
        from ragauge.rendering.words import ARROWS, interval, with_error

        rows: list[tuple[Wording, ...]] = []
        for name in HEADLINE:
            summaries = [card[name] for card in self.cards.values()]
            cells = (f"{format_value(summary.mean, summary.kind)} {interval(summary)}".strip() for summary in summaries)
            rows.append((name + ARROWS[first[name].direction].strip(), *cells))
            if any(summary.judged for summary in summaries):
                errors = ("  including judge error", *map(with_error, summaries))
                rows.append(tuple(Phrase(cell, "faint") for cell in errors))
        headers = (ReportColumn(name.replace("-", "-\n"), "number", whole=True) for name in self.cards)  # fits 80
        return ReportTable((ReportColumn("metric", whole=True), *headers), tuple(rows), tight=True)


@with_options(output=Annotated[Path, OptionSpec("Output file for the report.", "-o --output")], store=StoreOption)
async def demo_async(
    output: Path = Path("demo-report.html"),
    store: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Demo:
    """Answers the demo's questions with three systems, evaluates each, and writes a report for each.

    Args:
        output: the first report; the others carry the configuration's name.
        store: URL of the store.
        progress: called with what is done.
    """
    from ragauge.evaluation.demo.demo_systems import build_systems, read_eval_set

    cards: dict[str, Scorecard] = {}
    about: dict[str, str] = {}
    paths: dict[str, Path] = {}
    examples = read_eval_set().examples
    for name, system in build_systems().items():
        answers = AnsweredExamples("demo", tuple((example, system.respond(example)) for example in examples))
        source = InputSource((answers,), name=name, system="reference RAG", config=system.config)
        card = await evaluate_source(EvaluateOptions(source, store=resolve_store_url(store), progress=progress))
        path = output.with_name(f"{output.stem}-{name}{output.suffix}") if cards else output
        cards[name], about[name], paths[name] = card, system.description, card.save(path)
    return Demo(cards, about, paths)


demo = make_sync(demo_async)
