"""The error of an action that cannot be done now."""


class Failed(Exception):
    """Why an action does nothing. It is raised before anything has changed, and the body is told."""
