"""Comments of a kibitzer on one world each, by rule. See ``cohabit.kibitz.comments``."""
