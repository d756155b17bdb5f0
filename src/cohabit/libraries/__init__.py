"""Games of other libraries as worlds: one module per library, each behind an extra. See ``cohabit.library``."""
