"""A domain that the tests add to a copy of the package; CONTRIBUTING.md leads through it."""
