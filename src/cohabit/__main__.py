"""``python -m cohabit`` is the command line."""

import sys

from cohabit.faces.cli import main

sys.exit(main())
