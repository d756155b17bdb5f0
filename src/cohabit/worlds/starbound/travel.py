"""What the planets teach, which of their items can leave them, and what skills from other worlds give here."""

from cohabit.model.table_files import read_table
from cohabit.model.travel import Travel

TRAVEL = read_table(__file__, Travel)
