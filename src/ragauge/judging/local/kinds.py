"""Which specifics are looked for, by what they are."""

from __future__ import annotations

from ragauge.text.specifics import Kind

NAME: tuple[Kind, ...] = ("name",)
DATE: tuple[Kind, ...] = ("date",)
NUMBER: tuple[Kind, ...] = ("number",)
PERCENT: tuple[Kind, ...] = ("percent",)
TIME: tuple[Kind, ...] = ("number", "date")     # "in 1912" is a number where no month stands beside it
EXACT: tuple[Kind, ...] = ("number", "date", "percent")
EVERY: tuple[Kind, ...] = ("number", "date", "percent", "name")     # quotations are not: their words are compared
