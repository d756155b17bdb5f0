"""Comments of a kibitzer on one world each, by rule. See ``cohabit.protocols.kibitz.comments``."""
