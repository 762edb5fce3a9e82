"""What may be printed on a terminal."""


def visible(text: str) -> str:
    r"""Return a text of one line in which whatever could steer a terminal, or hide, is seen: `\x1b`, `\u202e`."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)
