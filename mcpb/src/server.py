"""The server of the bundle. All of it is in the package that pyproject.toml names."""

import sys

from cohabit.workspace.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
