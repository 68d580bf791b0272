"""Groups of identical wrong answers: what one is, its file, and what a label does."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symattn.classroom.groups import MOST, Groups, Label, group_of, labelled, read_labels
from symattn.errors import ReadError
from tests.classroom.handed_in import but, handed_in, mistaken, record, right

COLUMNS = handed_in(mistaken("softmax-over-columns"))
SLIP = handed_in(but({"scores[1,1]": "-7"}))


def counted(*records: object) -> Groups:
    groups = Groups()
    for one in records:
        groups.add(one)  # type: ignore[arg-type]
    return groups


def test_a_group_is_the_first_step_with_a_mistake_and_its_answers() -> None:
    group = group_of(SLIP)
    assert group is not None
    assert (group.step, group.answers[0], len(group.answers)) == ("scores", "-7", 9)
    assert group_of(handed_in(right())) is None
    assert group_of(handed_in([])) is None
    spelled = group_of(handed_in(but({"scores[1,1]": "−7"})))
    assert spelled is not None
    assert spelled.id == group.id
    later = group_of(handed_in(but({"scores[1,1]": "-7", "output[1,1]": "9"})))
    assert later is not None
    assert later.id == group.id
    other = group_of(handed_in(but({"scores[1,2]": "-7"})))
    assert other is not None
    assert other.id != group.id


def test_the_largest_come_first_and_many_are_counted_without_being_kept() -> None:
    many = (record(answer=str(k)) for k in range(3 * MOST))
    groups = counted(*many, COLUMNS, SLIP, COLUMNS)
    assert len(groups._kept) == MOST + 1
    assert [n for _, n in groups.largest(3)] == [2, 1, 1]
    assert groups.largest(1)[0][0] == group_of(COLUMNS)
    assert len(groups.largest()) == MOST


def test_the_file_of_groups() -> None:
    text = counted(SLIP, COLUMNS, COLUMNS).text()
    assert text == (
        "# Identical wrong answers, the most frequent first. Give a group a label, which feedback "
        "then tells\n# as what explains the mistake, and in worth the share of their points that "
        "these answers have.\n\n"
        "[e10dd7980f7f]\n#: weights, 2 times: 0.882, 0, 0, 0.013, 0.107, 0, 0.106, 0.893, 1\n"
        '#: the softmax is taken over each column\nlabel = ""\nworth = 0\n\n'
        f"[{group_of(SLIP).id}]\n#: scores, once: -7, 4, -2, -1, 1, 1, 2, 4, 0\n"  # type: ignore[union-attr]
        'label = ""\nworth = 0\n\n'
    )
    assert {*read_labels(text).values()} == {Label()}


def test_what_a_teacher_wrote_stays() -> None:
    before = counted(SLIP, COLUMNS).text()
    first, second = re.findall(r"^\[(.*)\]$", before, re.MULTILINE)
    mine = "# my class\n\n" + before.replace(
        f"[{second}]", f"[{second}]  # discuss\n# an idea\n"
    ).replace('label = ""', 'label = "by hand"   # sure', 2)
    after = counted(COLUMNS).text(mine)
    assert after.startswith("# my class\n\n# Identical")
    for kept in (f"[{second}]  # discuss", "# an idea", 'label = "by hand"   # sure'):
        assert kept in after
    assert after.count("#: no longer among the largest") == 1
    assert read_labels(after) == {key: Label("by hand") for key in sorted((first, second))} or (
        {*read_labels(after)} == {first, second}
    )
    assert counted(COLUMNS).text(after) == after
    again = counted(SLIP, COLUMNS, COLUMNS).text(after)
    assert "no longer" not in again
    assert read_labels(again)[second] == Label("by hand")
    without = counted(COLUMNS).text(before)
    assert [*read_labels(without)] == [group_of(COLUMNS).id]  # type: ignore[union-attr]


LABELS = st.text(st.sampled_from('a"\\\n[]#:=é\u2028\x0b '), max_size=12)


@given(LABELS, st.integers(0, 100), st.sampled_from(["\n", "\r\n"]))
def test_any_label_survives_or_is_refused_in_a_line(label: str, share: int, end: str) -> None:
    group = group_of(SLIP)
    assert group is not None
    escaped = label.replace("\\", "\\\\").replace('"', '\\"').replace("\x0b", "\\u000b")
    lines = f'[{group.id}]\nlabel = """{escaped}"""\nworth = {share / 100}\n'
    text = lines.replace("\n", end)
    try:
        assert read_labels(counted(SLIP).text(text)) == read_labels(text)
    except ReadError as error:
        assert len(label.splitlines()) > 1 or label.startswith("\n"), str(error)


def test_a_label_explains_and_gives_points() -> None:
    group = group_of(COLUMNS)
    assert group is not None
    labels = {group.id: Label("axis exchanged", Fraction(1, 2))}
    found = labelled(COLUMNS, labels)
    assert found.mistakes == (("axis exchanged", "axis exchanged", ""),)
    assert found.points - COLUMNS.points == Fraction(6, 2)
    assert [one.verdict for one in found.marks] == [one.verdict for one in COLUMNS.marks]
    assert labelled(SLIP, labels) is SLIP
    assert labelled(COLUMNS, {group.id: Label()}) is COLUMNS
    assert labelled(COLUMNS, {group.id: Label("", Fraction(1))}).mistakes == COLUMNS.mistakes
    assert group_of(found) == replace(group, reason="axis exchanged")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[a", "groups.toml: not valid TOML"),
        ("label = 1", "groups.toml: label: is no group"),
        ("[2f61c09a4b7e]\nworth = 2", "2f61c09a4b7e: worth = 2: give a share from 0 to 1"),
        ("[2f61c09a4b7e]\nworth = true", "worth = true: give a share"),
        ("[2f61c09a4b7e]\nlabel = 3", "label = 3: write words in quotes"),
        ("[2f61c09a4b7e]\nwort = 1", '"wort" is no key of a group'),
        ("[2f61c09a4b7e.x]\nworth = 1", '"x" is no key of a group'),
        ('["2f61c09a4b7e"]\nworth = 1', "write each group as"),
        ("[2f61c09a4b7e]\n[2f61c09a4b7e]\n", "groups.toml:2:14: not valid TOML"),
    ],
)
def test_a_bad_file_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(ReadError) as refused:
        read_labels(text)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
