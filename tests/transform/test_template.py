"""Templates: the arguments of a call with holes where operands stand."""

from gradwright.transform.template import Hole, Sequence, Template, fill, holes

JOINED = Template((("arrays", Sequence(list, (Hole(0), Hole(2)))), ("axis", 1)))


def test_operands_fill_the_holes() -> None:
    filled = JOINED.filled("abc".__getitem__)
    assert filled == {"arrays": ["a", "c"], "axis": 1}
    assert type(filled["arrays"]) is list
    assert fill(Sequence(tuple, (Hole(1), 7)), "abc".__getitem__) == ("b", 7)


def test_holes_stand_in_the_order_of_the_arguments() -> None:
    assert holes(JOINED["arrays"]) == [0, 2]
    assert holes(JOINED["axis"]) == []
    assert holes(Sequence(tuple, (Sequence(list, (Hole(3),)), Hole(1)))) == [3, 1]


def test_calls_that_are_alike_are_equal() -> None:
    again = Template((("arrays", Sequence(list, (Hole(0), Hole(2)))), ("axis", 1)))
    assert again == JOINED
    assert hash(again) == hash(JOINED)
    other = Template((("arrays", Sequence(tuple, (Hole(0), Hole(2)))), ("axis", 1)))
    assert other != JOINED


def test_text() -> None:
    assert str(JOINED) == "arrays=[$0, $2], axis=1"
