"""JSON of any kind, for property-based tests."""

from hypothesis import strategies as st

Values = st.SearchStrategy[object]


def _nested(inner: Values) -> Values:
    return inner | st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)


# Two levels, spelled out: a recursive strategy takes three times as long to draw from. Depth has tests of its own.
json_values = _nested(_nested(st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)))
