"""The gallery of worlds in the documentation."""

import gallery


def test_the_gallery_shows_the_worlds_of_cohabit_as_they_are_and_the_results_of_the_survey() -> None:
    for name, made in (("cohabit", gallery.of_cohabit), ("index", gallery.index)):
        assert (gallery.FOLDER / f"{name}.md").read_text() == made(), "run python tools/gallery.py"
