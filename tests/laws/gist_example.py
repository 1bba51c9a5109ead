"""The example of rule 21: 10 messages, view 0+4 4+4 8+1 9+1, three lines wanted, everything built."""

from eukhe.model.part import Part
from laws.words import Due, merged, most_due

T = 10
LINES_MAX = 3
VIEW = [Part(2, 0), Part(2, 1), Part(0, 8), Part(0, 9)]
SIZES = dict.fromkeys((*VIEW, Part(1, 4), Part(3, 0)), 1)


def by_hand(order: Due) -> list[Part]:
    """The view merged to three lines, the most due pair first, as `order` has it."""
    view = list(VIEW)
    while len(view) > LINES_MAX:
        parent = most_due(view, SIZES, T, order)
        assert parent is not None
        view = merged(view, parent) or []
    return view
