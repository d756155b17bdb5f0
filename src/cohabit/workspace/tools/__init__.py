"""What an agent can ask for, each tool declared once. The order of these files is the order in every list."""

# isort: off
import cohabit.workspace.tools.setup
import cohabit.workspace.tools.git
import cohabit.workspace.tools.files
import cohabit.workspace.tools.protocol
import cohabit.workspace.tools.news
import cohabit.workspace.tools.board
import cohabit.workspace.tools.sharing  # noqa: F401
