"""Access: members and their grants, how they join, and what was refused."""
