"""Arrays that a program computed, compared with the true values: verdicts, reasons, doors.

The programs here are plain NumPy; what is right was computed in float64 or in mpmath.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from symattn import Attention
from symattn.errors import SymattnError
from symattn.pages.display import Marks
from tests.checking import verdicts
from tests.command import put, run
from tests.extras import package
from tests.oracle import softmax

Array = Any

RANDOM = np.random.default_rng(7)
Q, K, V = (RANDOM.normal(size=shape) for shape in ((3, 4), (5, 4), (5, 2)))
VALUES = Attention().derivation().evaluate(Q=Q, K=K, V=V)


def names(marks: Marks) -> list[str]:
    return [each.name for each in marks.explanations]


A = softmax(Q @ K.T / 2)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_right_arrays_of_every_dtype_pass(dtype: str) -> None:
    q, k, v = (x.astype(dtype) for x in (Q, K, V))
    weights = softmax(q @ k.T / np.sqrt(q.dtype.type(4)))
    marks = VALUES.compare(weights=weights, output=weights @ v)
    assert marks.passed
    assert f"compared in {dtype}" in marks.notes[0]
    assert weights.dtype == dtype


@pytest.mark.parametrize(("dtype", "off"), [("float64", 1e-14), ("float32", 3e-6)])
def test_an_entry_that_rounding_does_not_explain_is_wrong(dtype: str, off: float) -> None:
    wrong = A.astype(dtype)
    wrong[1, 2] += off
    marks = VALUES.compare(weights=wrong)
    assert str(marks.first_wrong) == "weights[2,3]"
    assert [entry.verdict for entry in marks.entries].count("wrong") == 1
    assert f"rounding in {dtype} explains" in str(marks)


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (0.10423, "≈ 0.1042"),
        (0.5, "0.5"),
        (0.50001, "≈ 0.5000"),
        (0.405, "0.405"),
        (0.40512345, "≈ 0.405123"),
        (1e-9, "1.0e-09"),
    ],
)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_wrong_number_is_shown_as_its_true_value_is(number: float, told: str, dtype: str) -> None:
    """To as many decimals; what is shown without a sign ≈ is all of it."""
    scores = np.array([[1.8190322, 2.0099510, 0.4578516]])
    values = Attention(scale=False).derivation().evaluate(Q=[[1]], K=scores.T, V=[[1]] * 3)
    weights = softmax(scores).astype(dtype)
    assert weights[0, 0] == pytest.approx(0.40540, abs=1e-5)
    weights[0, 0] = number
    report = " ".join(str(values.compare(weights=weights)).split())
    assert f"weights[1,1]. It is computed as {told}; the true value is 0.40" in report


def test_the_tolerance_is_the_one_that_check_has() -> None:
    (found,) = [step for step in VALUES.check().steps if step.name == "weights"]
    place = found.worst
    ball = VALUES.rounded("A")[place]
    for share, passes in ((0.9, True), (1.5, False)):
        near = A.copy()
        near[place] = float(ball.mid()) + share * float(ball.rad())
        assert VALUES.compare(explain=False, weights=near).passed is passes


def test_the_true_value_in_the_report_is_that_of_mpmath() -> None:
    with mpmath.workdps(40):
        row = [mpmath.fdot(map(mpmath.mpf, map(repr, Q[0].tolist())), k) / 2 for k in K.tolist()]
        top = sum(map(mpmath.exp, row))
        true = mpmath.exp(row[1]) / top
    wrong = A.copy()
    wrong[0, 1] += 0.25
    printed = " ".join(str(VALUES.compare(weights=wrong, explain=False)).split())
    assert f"the true value is {mpmath.nstr(true, 4)[:5]}" in printed
    assert "off by 2.5e-01" in printed


def test_what_follows_from_wrong_arrays_is_no_second_mistake() -> None:
    wrong = softmax(Q @ K.T / 4)
    marks = VALUES.compare(weights=wrong, output=wrong @ V)
    found = verdicts(marks)
    assert set(found["weights"]) == {"wrong"}
    assert set(found["output"]) == {"carried"}
    assert names(marks) == ["scaled-by-d_k"]
    assert [str(x) for x in marks.steps[1].entries[0].because] == [
        f"weights[1,{j}]" for j in range(1, 6)
    ]


PER_HEAD = (
    RANDOM.normal(size=(2, 4, 3, 4)),
    RANDOM.normal(size=(2, 2, 3, 4)),
    RANDOM.normal(size=(2, 2, 3, 2)),
)


@pytest.mark.parametrize(
    ("share", "wanted"),
    [
        (lambda x: np.repeat(x, 2, -3), []),
        (lambda x: np.tile(x, (2, 1, 1)), ["groups-tiled"]),
        (lambda x: x[:, [0] * 4], ["first-group-for-all"]),
    ],
    ids=["right", "tiled", "first"],
)
def test_heads_in_groups_batches_and_a_mask(
    share: Callable[[Array], Array], wanted: list[str]
) -> None:
    q, k, v = PER_HEAD
    spec = Attention(heads=4, kv_heads=2, mask="causal")
    values = spec.derivation(["Q", "K", "V"]).evaluate(Q=q, K=k, V=v)
    scores = q @ share(k).swapaxes(-1, -2) / 2
    masked = np.where(np.tri(3) == 1, scores, -np.inf)
    heads = softmax(masked) @ share(v)
    marks = values.compare(masked=masked, heads=heads.astype(np.float32))
    assert names(marks) == wanted
    assert marks.passed is not bool(wanted)
    if wanted:
        assert marks.first_wrong is not None
        assert marks.first_wrong.step == "masked"


@pytest.mark.parametrize(
    ("joined", "wanted"),
    [
        (lambda x: np.moveaxis(x, 0, 1).reshape(3, -1), []),
        (lambda x: np.moveaxis(x, 0, -1).reshape(3, -1), ["heads-interleaved"]),
        (lambda x: x.reshape(3, -1), ["merged-by-reshape"]),
        (lambda x: np.moveaxis(x[::-1], 0, 1).reshape(3, -1), ["heads-reversed"]),
    ],
    ids=["right", "interleaved", "reshaped", "reversed"],
)
def test_heads_joined(joined: Callable[[Array], Array], wanted: list[str]) -> None:
    q, k, v = (x[0] for x in PER_HEAD)
    k, v = np.repeat(k, 2, 0), np.repeat(v, 2, 0)
    values = Attention(heads=4).derivation(["Q", "K", "V"]).evaluate(Q=q, K=k, V=v)
    concat = joined(softmax(q @ k.swapaxes(1, 2) / 2) @ v)
    assert names(values.compare(concat=concat)) == wanted


ALLOWED = np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]], dtype=bool)
MASKED = Attention(mask="boolean").derivation().evaluate(Q=Q, K=K, V=V, allowed=ALLOWED)


def unguarded(z: Array) -> Array:
    with np.errstate(invalid="ignore"):
        e = np.exp(z - z.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize(
    ("way", "wanted"),
    [
        (lambda z: softmax(np.where(ALLOWED, z, -np.inf)), []),
        (lambda z: unguarded(np.where(ALLOWED, z, -np.inf)), ["overflows", "nothing-to-attend-to"]),
        (
            lambda z: softmax(np.where(ALLOWED, z, -1e9)),
            ["masked-to-minus-1e9", "masked-to-minus-1e4"],
        ),
        (lambda z: softmax(z - 1e9 * ~ALLOWED), ["lowered-by-1e9"]),
        (lambda z: softmax(z - 1e4 * ~ALLOWED), ["lowered-by-1e4"]),
    ],
)
def test_a_row_without_keys(way: Callable[[Array], Array], wanted: list[str]) -> None:
    marks = MASKED.compare(weights=way(Q @ K.T / 2))
    assert sorted(names(marks)) == sorted(wanted)
    assert marks.passed is not bool(wanted)


def test_a_number_too_large_for_its_dtype_is_undecided() -> None:
    values = Attention(scale=False).derivation().evaluate(Q=[[300]], K=[[300]], V=[[1]])
    with np.errstate(over="ignore"):
        scores = np.array([[300]], np.float16) @ np.array([[300]], np.float16)
    marks = values.compare(scores=scores)
    assert verdicts(marks) == {"scores": ["undecided"]}
    assert "does not fit into float16" in str(marks)


def test_tensors_of_pytorch() -> None:
    torch = package("torch")
    q, k = torch.tensor(Q), torch.tensor(K)
    weights = torch.softmax(q @ k.T / 2, -1)
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        tensor = weights.to(dtype).requires_grad_()
        marks = VALUES.compare(weights=tensor)
        assert marks.passed
        assert str(dtype).partition(".")[2] in marks.notes[0]
    assert not VALUES.compare(weights=torch.softmax(q @ k.T, -1).bfloat16()).passed


def test_arrays_of_jax() -> None:
    jnp = package("jax.numpy")
    weights = jnp.asarray(A)
    assert VALUES.compare(
        weights=weights, output=weights.astype(jnp.bfloat16) @ V.astype(jnp.bfloat16)
    ).passed
    assert names(VALUES.compare(output=jnp.asarray(softmax(Q @ K.T) @ V))) == ["not-scaled"]


def test_no_explanation_for_random_numbers() -> None:
    random = np.random.default_rng(3)
    for _ in range(4):
        wrong = softmax(random.normal(size=A.shape))
        assert not VALUES.compare(weights=wrong, output=wrong @ V).explanations


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"weight": A}, '"weight" is no step of this attention; did you mean "weights"?'),
        ({"weights": A.T}, "weights: is 5 × 3, where 3 × 5 are needed"),
        ({"weights": A[0]}, "weights: is 5, where 3 × 5 are needed"),
        ({"weights": "A"}, 'weights: "A" is not an array of numbers'),
        ({"weights": np.array([["x"]])}, "weights: an array of <U1 is not one of numbers"),
        ({"weights": A + 1j}, "complex"),
        ({"weights": A, "A": A}, "is given twice"),
        ({}, "nothing to compare"),
    ],
)
def test_what_cannot_be_compared_is_refused(arrays: dict[str, Any], words: str) -> None:
    with pytest.raises(SymattnError) as raised:
        VALUES.compare(**arrays)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


# ---- files -----------------------------------------------------------------------------------

SHEET = """[given]
Q = "given.npz:Q"
K = "given.npz:K"
V = "given.npz:V"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.savez("given.npz", Q=Q, K=K, V=V)
    np.savez("right.npz", weights=A.astype(np.float32), output=A @ V)
    np.savez("wrong.npz", weights=softmax(Q @ K.T), output=softmax(Q @ K.T) @ V)
    np.savez("other.npz", weights=A, mine=A)
    np.savez("shape.npz", weights=A.T)
    np.save("plain.npy", A)
    Path("sheet.toml").write_text(SHEET, encoding="utf-8")
    return tmp_path


def test_an_archive_is_held_against_a_worksheet(folder: Path) -> None:
    result = run("check", "sheet.toml", "--claims", "right.npz", status=0)
    assert "All 21 numbers are right" in result.output
    result = run("check", "sheet.toml", "--claims", "wrong.npz", status=1)
    assert "not-scaled: the scores are not divided by √d_k" in result.output


@pytest.mark.parametrize("form", ["sarif", "junit", "html"])
def test_every_format_of_marks_has_arrays(folder: Path, form: str) -> None:
    result = run("check", "sheet.toml", "--claims", "wrong.npz", "--format", form, status=1)
    assert "weights" in result.stdout


def test_claims_name_arrays_in_files(folder: Path) -> None:
    for name, status in (("right", 0), ("wrong", 1)):
        claims = f'[claims]\nweights = "{name}.npz:weights"\noutput = "{name}.npz:output"\n'
        Path("own.toml").write_text(SHEET + claims, encoding="utf-8")
        assert run("check", "own.toml").exit_code == status


def test_a_csv_file_claims_the_digits_that_it_has(folder: Path) -> None:
    rows = "\n".join(",".join(f"{x:.3f}" for x in row) for row in A)
    Path("a.csv").write_text(rows, encoding="utf-8")
    Path("own.toml").write_text(f'{SHEET}[claims]\nweights = "a.csv"\n', encoding="utf-8")
    result = run("check", "own.toml", status=0)
    assert "compared in" not in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("sheet.toml --claims missing.npz", "missing.npz: cannot be read: no such file"),
        ("sheet.toml --claims plain.npy", "plain.npy: does not name its arrays"),
        ("sheet.toml --claims sheet.toml", "sheet.toml: does not name its arrays"),
        ("sheet.toml --claims other.npz", 'other.npz: "mine" is not the name of a step'),
        ("sheet.toml --claims shape.npz", "weights: is 5 × 3, where 3 × 5 are needed"),
        ("sheet.toml --claims right.npz --fix", "an array cannot be corrected"),
        ("sheet.toml sheet.toml --claims right.npz", "belongs to one worksheet"),
        ("page.md --claims right.npz", "not with a page"),
        ("both.toml", "written by hand"),
        ("part.toml", "an array claims a whole step; write weights = "),
        ("absent.toml", 'there is no "X"'),
    ],
)
def test_arrays_that_cannot_be_used_are_one_line(folder: Path, words: str, said: str) -> None:
    Path("page.md").write_text("Prose.\n", encoding="utf-8")
    both = '[claims]\nweights = "right.npz:weights"\n"output[1,1]" = "0.1"\n'
    Path("both.toml").write_text(SHEET + both, encoding="utf-8")
    Path("part.toml").write_text(
        f'{SHEET}[claims]\n"weights[1,:]" = "right.npz:weights"\n', encoding="utf-8"
    )
    Path("absent.toml").write_text(f'{SHEET}[claims]\nweights = "right.npz:X"\n', encoding="utf-8")
    result = run("check", *words.split(), status=2)
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_unfolded_steps_are_compared_as_the_program_took_them(folder: Path) -> None:
    z = Q @ K.T / 2
    for shift in (0, z.max(1, keepdims=True)):
        exp = np.exp(z - shift)
        np.savez("steps.npz", exp=exp, exp_sum=exp.sum(1, keepdims=True), weights=A)
        run("check", "sheet.toml", "--claims", "steps.npz", status=0)


def test_a_mask_may_be_claimed_by_truths_as_programs_return_it() -> None:
    given = {"Q": np.eye(3), "K": np.eye(3), "V": np.eye(3)}
    values = Attention(mask="causal").derivation().evaluate(**given)
    assert values.compare(mask=np.tri(3, dtype=bool)).passed
    assert not values.compare(mask=np.tri(3, k=-1, dtype=bool)).passed
    assert not values.compare(mask=np.tri(3)).passed  # ones are no truths


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_numbers_that_were_shorter_before_are_told(dtype: str) -> None:
    q, k, v = (x.astype(dtype) for x in (Q, K, V))
    weights = softmax(q @ k.T / np.sqrt(q.dtype.type(4)))
    marks = VALUES.compare(weights=weights.astype(float), output=(weights @ v).astype(float))
    assert not marks.passed
    assert f"were these, or what they were computed from, {dtype} before?" in marks.notes[-1]
    inputs_alone = softmax(q.astype(float) @ k.astype(float).T / 2)
    assert dtype in VALUES.compare(weights=inputs_alone).notes[-1]
    wrong = VALUES.compare(weights=softmax(Q @ K.T / 4))
    assert not any("before?" in note for note in wrong.notes)


def test_what_is_no_number_is_called_by_its_name(tmp_path: Path) -> None:
    wrong = A.copy()
    wrong[0, 0] = np.nan
    assert "NaN is no value of any step" in str(VALUES.compare(weights=wrong))
    wrong[0, 0] = -np.inf
    assert "it is infinite" in str(VALUES.compare(weights=wrong))
    wrong[0, 0] = -1e-15
    assert "computed as -1.0e-15" in str(VALUES.compare(weights=wrong))
    wrong[0, 0] = -0.0
    assert "computed as 0;" in str(VALUES.compare(weights=wrong))


def test_a_fault_in_an_archive_names_the_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", weights=A[:2], capped=A)
    np.savez(tmp_path / "capped.npz", capped=A)
    for claims, options, said in (
        ("", ("mine.npz",), "mine.npz: weights: is 2 × 5, where 3 × 5 are needed"),
        ("", ("capped.npz",), 'capped.npz: capped: "capped" is no step of this attention'),
        ('weights = "mine.npz:weights"\n', (), "s.toml:6: weights: mine.npz:weights: is 2 × 5"),
    ):
        given = "".join(
            f"{name} = {x.tolist()}\n" for name, x in zip("QKV", (Q, K, V), strict=True)
        )
        sheet = put(
            tmp_path / "s.toml",
            f"[given]\n{given}[claims]\n{claims}".replace("[claims]\n", "[claims]\n"),
        )
        more = [word for name in options for word in ("--claims", str(tmp_path / name))]
        result = run("check", str(sheet), *more)
        assert said in result.output.replace(f"{tmp_path}/", "")


def _causal(dtype: type[np.floating], visible: Array, *matrices: Array) -> Array:
    """The output of causal attention computed in a dtype, as float32."""
    Q, K, V = (x.astype(dtype) for x in matrices)
    scores = np.where(visible, Q @ K.T / dtype(np.sqrt(Q.shape[1])), dtype(-np.inf))
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray((powers / powers.sum(axis=-1, keepdims=True)) @ V, dtype=np.float32)


@pytest.mark.parametrize("bits", [[(5, 4), (23, 7), (12, 9)]])
def test_a_wrong_bit_of_a_mask_is_no_shorter_dtype(bits: list[tuple[int, int]]) -> None:
    """What half precision may do to every number, it has not done to those in the other rows."""
    random = np.random.default_rng(3)
    matrices = [random.normal(size=(24, 32)).astype(np.float32) for _ in range(3)]
    values = (
        Attention(mask="causal").derivation().evaluate(**dict(zip("QKV", matrices, strict=True)))
    )
    visible = np.tri(24, dtype=bool)
    mistaken = visible.copy()
    for bit in bits:
        mistaken[bit] = False
    found = values.compare(False, output=_causal(np.float32, mistaken, *matrices))
    rows = {entry.place[0] for entry in found.entries if entry.verdict != "right"}
    assert rows == {row for row, _ in bits}
    assert not any("what rounding in" in note and "before?" in note for note in found.notes)
    halves = [x.astype(np.float16) for x in matrices]
    for honest in (
        _causal(np.float16, visible, *matrices),
        _causal(np.float32, visible, *halves),
        _causal(np.float32, visible, *matrices).astype(np.float16).astype(np.float32),
    ):
        notes = values.compare(False, output=honest).notes
        assert any("right within what rounding in float16" in note for note in notes)
