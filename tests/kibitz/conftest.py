"""The browser and the house of the page's tests."""

from tests.faces.conftest import browser, empty_house, house, people, visit

__all__ = ["browser", "empty_house", "house", "people", "visit"]
