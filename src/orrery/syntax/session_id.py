"""The id of a payment session in any text, and what the ids of charges and of payments begin with."""

import re

CHARGES, PAYMENTS = ("ch_", "py_"), "pi_"

SESSION_ID = re.compile(
    r"(?:(?<![A-Za-z0-9])cs_|cs_(?:test|live)_)[A-Za-z0-9_]+|(?<![A-Za-z0-9])(?:owner|imported|import)_[0-9a-f]{24}"
)
"""The processor's, or our own for free access and imports.

The processor's is also found behind a letter: in an escaped line break, or a quoted address.
"""
