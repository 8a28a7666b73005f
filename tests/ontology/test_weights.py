"""The four weights, on a map of seven topics around Toyota."""

from pathlib import Path

import msgspec
import pytest

from lycosa import ontology
from lycosa.ontology.concepts import Association, Concept, Concepts
from lycosa.ontology.weights import Weights, roles, weigh

CARS = ontology.read(Path(__file__).parent / "cars" / "cars.xtm")
ORDER = ["japanese-car", "kiichiro-toyoda", "tmm", "toyota", "avensis", "corolla", "corolla-verso"]


@pytest.mark.parametrize(
    ("focus", "expected", "total"),
    [
        (["toyota"], [0.8, 0.1, 0.5, 1.0, 0.8, 0.8, 0.1], 4.1),
        (["tmm", "corolla"], [0.1, 0.5, 1.0, 0.8, 0.1, 1.0, 0.8], 4.3),
        ([], [0.1] * 7, 0.7),
    ],
)
def test_the_published_weights(focus, expected, total):
    weights = weigh(CARS, focus)
    assert [weights[id] for id in ORDER] == expected
    assert sum(weights.values()) == pytest.approx(total)


def test_other_weights():
    weights = weigh(CARS, ["toyota"], Weights(focus=0.9, hierarchy=0.2, association=0.3, rest=0.0))
    assert [weights[id] for id in ORDER] == [0.2, 0.0, 0.3, 0.9, 0.2, 0.2, 0.0]


def test_the_highest_weight_counts_where_a_concept_is_several_things():
    both = Concepts([Concept("a"), Concept("b")], [Association("x", ("a", "b"), True), Association("y", ("a", "b"))])
    assert roles(both, ["a"]) == {"a": {"rest", "focus"}, "b": {"rest", "hierarchy", "association"}}
    assert weigh(both, ["a"])["b"] == 0.8
    assert weigh(both, ["a"], Weights(association=0.9))["b"] == 0.9
    assert weigh(both, ["a"], Weights(rest=1.0))["b"] == 1.0


def test_all_members_of_an_association_are_beside_the_focus():
    three = Concepts([Concept(id) for id in "abcd"], [Association("meet", ("a", "b", "c"))])
    assert weigh(three, ["b"]) == {"a": 0.5, "b": 1.0, "c": 0.5, "d": 0.1}
    assert weigh(three, ["a", "b"], Weights(focus=0.2)) == {"a": 0.5, "b": 0.5, "c": 0.5, "d": 0.1}


@pytest.mark.parametrize("wrong", [{"focus": 1.1}, {"rest": -0.1}, {"focal": 1.0}, {"focus": "1"}])
def test_weights_lie_between_0_and_1_and_have_four_names(wrong):
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, Weights)
