"""The tools of an agent, each declared once. The order of these modules is the order of the tools in every list."""

# isort: off
import cohabit.workspace.tools.setup
import cohabit.workspace.tools.git
import cohabit.workspace.tools.files
import cohabit.workspace.tools.protocol
import cohabit.workspace.tools.board
import cohabit.workspace.tools.sharing  # noqa: F401
