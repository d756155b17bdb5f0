"""The browser and the house of the page's tests."""

from tests.faces.conftest import browser, house, people, visit

__all__ = ["browser", "house", "people", "visit"]
