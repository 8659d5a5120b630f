"""Which configurations a sweep tries, and what is refused before the first question."""

from __future__ import annotations

from typing import Any

import pytest

from ragauge.core.errors import RagaugeError
from ragauge.core.search_space import SearchSpace, format_parameters

K_AND_RETRIEVER: dict[str, list[Any]] = {"k": [1, 5, 10], "retriever": ["bm25", "hybrid"]}


def test_designs() -> None:
    """A grid multiplies, an ablation varies one value at a time, and the base comes first in both."""
    space = SearchSpace(K_AND_RETRIEVER, {"k": 5}, [{"k": 10, "retriever": "bm25"}])
    assert [format_parameters(one) for one in space.list_grid()] == [
        "k=5,retriever=bm25",
        "k=1,retriever=bm25",
        "k=1,retriever=hybrid",
        "k=5,retriever=hybrid",
        "k=10,retriever=hybrid",
    ]
    assert [format_parameters(one) for one in space.list_one_factor()] == [
        "k=5,retriever=bm25",
        "k=1,retriever=bm25",
        "k=5,retriever=hybrid",
    ]
    assert space.stage("k", {"k": 1, "retriever": "hybrid"})[0] == {"k": 1, "retriever": "hybrid"}


def test_random_design_is_a_seeded_part_of_the_grid() -> None:
    """The same seed draws the same configurations, without repetition and with the base; another seed draws others."""
    space = SearchSpace({"a": list(range(20)), "b": list(range(20))})
    drawn = space.sample_random(30, seed=1)
    assert drawn == space.sample_random(30, seed=1) != space.sample_random(30, seed=2)
    assert len({format_parameters(one) for one in drawn}) == 30
    assert drawn[0] == {"a": 0, "b": 0}
    huge = SearchSpace({name: list(range(100)) for name in "abcd"}).sample_random(10)
    assert len({format_parameters(one) for one in huge}) == 10


@pytest.mark.parametrize(
    ("parameters", "base", "left_out", "told"),
    [
        ({}, {}, (), "no parameter to vary"),
        ({"k": []}, {}, (), "k needs a list of values"),
        ({"k": "abc"}, {}, (), "k needs a list of values"),
        ({"k": [1, 1]}, {}, (), "k has 1 twice"),
        ({"k": [object()]}, {}, (), "JSON cannot hold"),
        ({"k": [float("nan")]}, {}, (), "JSON cannot hold"),
        ({"k": [1, 2]}, {"k": 3}, (), r"base has k: 3, not among its values \[1, 2\]"),
        ({"k": [1, 2]}, {"q": 3}, (), "no parameter of base 'q'"),
        ({"k": [1, 2]}, {}, [{"q": 1}], "no parameter of except 'q'"),
        ({"k": [1, 2]}, {}, [{"k": 1}], "except excludes the base"),
    ],
)
def test_what_is_refused(parameters: Any, base: Any, left_out: Any, told: str) -> None:
    """A space that makes no sense is refused, the parameter and what was got being named."""
    with pytest.raises(RagaugeError, match=told):
        SearchSpace(parameters, base, left_out)


def test_grid_too_large_is_refused_before_it_is_made() -> None:
    """A grid of millions says so, and how to draw from it."""
    with pytest.raises(RagaugeError, match="--design random"):
        SearchSpace({name: list(range(100)) for name in "abc"}).list_grid()
