from cohabit.workspace.merging.numbering import Renumbered, update_mentions


def renumbered(**names: str) -> list[Renumbered]:
    return [Renumbered("key", "title", old.replace("_", "-"), new) for old, new in names.items()]


def test_only_lines_that_the_others_do_not_have_are_mended() -> None:
    base = "see INB-015\nother\n"
    assert (
        update_mentions("see INB-015\nmine: INB-015\n", base, renumbered(INB_015="INB-016"))
        == "see INB-015\nmine: INB-016\n"
    )
    assert update_mentions("INB-015", None, renumbered(INB_015="INB-016")) == "INB-016"


def test_numbers_move_all_at_once() -> None:
    moves = renumbered(INB_015="INB-016", INB_016="INB-017")
    assert (
        update_mentions("INB-015 INB-016 (INB-015), INB-016's", None, moves) == "INB-016 INB-017 (INB-016), INB-017's"
    )


def test_only_whole_ids_are_mentions() -> None:
    text = "INB-0151 XINB-015 INB-15 inb-015 INB-015x"
    assert update_mentions(text, None, renumbered(INB_015="INB-016")) == text


def test_the_number_of_an_item_itself_is_left_to_the_merge() -> None:
    text = "- [ ] INB-015 @a — after INB-015  \n- [x] ~~INB-015 @a — x~~  \r\n"
    assert update_mentions(text, None, renumbered(INB_015="INB-016")) == text.replace("after INB-015", "after INB-016")
