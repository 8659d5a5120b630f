"""The head of a column says the unit and the scale of the numbers under it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.judging.test_tabled import answer

from ragauge.judges.local.table_match import find_unit_in_head

Rows = Sequence[Sequence[str]]
BRIDGES = [["Bridge", "Length [km]", "Cost (EUR m)"], ["Harbour bridge", "12.4", "340"], ["Mill bridge", "3.1", "85"]]
PARTS = [["Item", "Weight, kg", "Duration in minutes"], ["Winch", "48", "25"], ["Crane", "910", "70"]]
SALES = [["Segment", "Revenue (USD m)", "Share (%)"], ["Pumps", "412", "38"], ["Valves", "230", "21"]]
LANDS = [["Land", "Fläche (km²)", "Umsatz (Mio. €)"], ["Bremen", "419.4", "685"], ["Hamburg", "755.1", "910"]]
CITIES = [["城市", "人口 (万人)", "长度（公里）"], ["上海", "2487", "831"], ["北京", "2189", "807"]]
TURNED = [["", "Winch", "Crane"], ["Weight (kg)", "48", "91.5"], ["Reach (m)", "2.5", "31"]]
CASES: list[tuple[Rows, str, Sequence[str]]] = [
    (BRIDGES, "The length of Harbour bridge is 12.4 km.", ("12.4 miles", "12.4 m", "12.4 kg", "12.4 hours")),
    (BRIDGES, "The Harbour bridge is 12,400 m long.", ("12,400 km", "12,400 ft", "1,240 m")),
    (BRIDGES, "The Harbour bridge is 7.7 miles long.", ("7.7 km", "9.7 miles")),
    (BRIDGES, "The cost of Mill bridge was €85 million.", ("$85 million", "€85 billion", "€85 thousand")),
    (PARTS, "The weight of the winch is 48 kg.", ("48 pounds", "48 g", "48 minutes")),
    (PARTS, "The duration of the crane is 70 minutes.", ("70 hours", "70 kg")),
    (SALES, "Revenue of pumps was 412 million dollars.", ("412 million euros", "412 billion dollars")),
    (SALES, "Pumps have a share of 38%.", ("38 million dollars",)),
    (LANDS, "Die Fläche von Bremen ist 419.4 km².", ("419.4 m²", "419.4 Meter")),
    (LANDS, "Umsatz Bremen: 685 Mio. €.", ("685 Mrd. €",)),
    (CITIES, "上海的人口是2487万人。", ("2487人", "2487亿人")),
    (CITIES, "上海的长度是831公里。", ("831公斤", "831分钟")),
    (TURNED, "The weight of the crane is 91.5 kg.", ("91.5 g", "91.5 km")),
]
LAYOUTS = ("bars", "tabs", "commas", "HTML", "one cell a line")
PASSED = 0.6  # below it an answer of one claim is unclear at best


def lay_out(rows: Rows, layout: str) -> str:
    """The rows as a table of a text."""
    if layout == "bars":
        return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])
    if layout == "HTML":
        cells = ["".join(f"<td>{cell}</td>" for cell in row) for row in rows]
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
    if layout == "one cell a line":
        return "\n".join(cell for row in rows for cell in row if cell)
    mark = "\t" if layout == "tabs" else ","
    return "\n".join(mark.join(f'"{cell}"' if mark in cell else cell for cell in row) for row in rows)


def weigh(claim: str, rows: Rows, layout: str) -> float:
    """P of a claim by the table."""
    return answer(claim, lay_out(rows, layout)).claims[0].p or 0.0


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("rows", "claim", "wrong"), CASES)
def test_a_column_has_the_unit_of_its_head(rows: Rows, claim: str, wrong: Sequence[str], layout: str) -> None:
    """The unit and scale of the head support a claim, also converted; another unit or scale never passes."""
    assert weigh(claim, rows, layout) >= 0.5
    start = next(n for n, char in enumerate(claim) if char.isdigit() or char in "$€")
    stop = next((n for n in range(start, len(claim)) if claim[n:] in (" long.", ".", "。")), len(claim))
    for amount in wrong:
        assert weigh(claim[:start] + amount + claim[stop:], rows, layout) < PASSED, amount


@pytest.mark.parametrize(
    ("head", "unit", "shift"),
    [
        ("Durée en heures", "hours", None),
        ("売上高（億円）", "¥", 8),
        ("거리 (km)", "km", None),
        ("Sales, $'000", "$", 3),
        ("Cost (thousands of dollars)", "$", 3),
        ("Площадь (км²)", "km2", None),
        ("面积（平方公里）", "km2", None),
        ("Capacity, thousand tonnes", "t", 3),
        ("Temperature (°C)", "°C", None),
        ("Days", "days", None),
    ],
)
def test_units_of_heads_in_many_forms(head: str, unit: str, shift: int | None) -> None:
    """A unit stands in brackets, behind a comma or a preposition, or alone, in any language with units."""
    assert find_unit_in_head(head) == (unit, shift)


@pytest.mark.parametrize(
    "head", ["Note (a)", "Six months", "(12 months)", "Less than 1 year", "Year ended 2019", "Net income", "2021"]
)
def test_heads_without_a_unit(head: str) -> None:
    """Notes, spans of time and dates are no units."""
    assert find_unit_in_head(head) == ("", None)
