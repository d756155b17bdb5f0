"""The tests. A package, because opensimplex installs another one of this name, which would hide these files."""
