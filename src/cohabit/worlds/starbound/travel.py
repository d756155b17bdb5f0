"""The skills that the planets teach, their items that can leave them, and the bonuses of skills from other worlds."""

from cohabit.model.table_files import read_table
from cohabit.model.travel import Travel

TRAVEL = read_table(__file__, Travel)
