"""What the planets teach, which of their items can leave them, and what skills from other worlds give here."""

from cohabit.model.travel import Travel
from cohabit.worlds.table_files import read_table

TRAVEL = read_table(__file__, Travel)
