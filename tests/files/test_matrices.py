"""Matrices from files: what they hold is put in as it is, and nothing in them is run or trusted."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from symattn import SymattnError
from symattn.reports.check import exercise_of
from symattn.sheets.worksheet import Worksheet, read_worksheet, worksheet_of
from tests.extras import package
from tests.processes import python

Q, K, V = (np.array(rows) for rows in ([[1.0, 0.1]], [[1, 0], [0.5, 2]], [[1, 2], [3, 4.25]]))


def sheet(folder: Path, q: str, rest: str = "K = [[1, 0], [0.5, 2]]") -> Worksheet:
    path = folder / "sheet.toml"
    path.write_text(f"[given]\nQ = {q}\n{rest}\nV = [[1, 2], [3, 4.25]]\n", "utf-8")
    return read_worksheet(path)


def npz(path: Path) -> None:
    np.savez(path, Q=Q, K=K)


def safetensors(path: Path) -> None:
    save_file = package("safetensors.numpy").save_file
    save_file({"Q": Q, "K": K}, path)


@pytest.mark.parametrize(("name", "save"), [("all.npz", npz), ("all.safetensors", safetensors)])
def test_arrays_by_name(name: str, save: Callable[[Path], None], tmp_path: Path) -> None:
    save(tmp_path / name)
    read = sheet(tmp_path, f'"{name}:Q"', f'K = "{name}:K"').evaluate()
    assert np.array_equal(read.array("Q"), Q)
    assert np.array_equal(read.array("K"), K)
    with pytest.raises(SymattnError, match=r'Q: .*there is no "q".*did you mean "Q"'):
        sheet(tmp_path, f'"{name}:q"')
    with pytest.raises(SymattnError, match="say which matrix"):
        sheet(tmp_path, f'"{name}"')


def test_bfloat16_is_read_without_a_library_for_it(tmp_path: Path) -> None:
    torch = package("torch")
    save_tensors = package("safetensors.torch").save_file
    given = torch.tensor([[1.0, -0.375], [3.0, 2.0**-130]], dtype=torch.bfloat16)
    save_tensors({"before": torch.zeros(3), "Q": given}, tmp_path / "q.safetensors")
    code = (
        "from pathlib import Path; from symattn.files.matrices import named_matrix; "
        "import sys; read = named_matrix('q.safetensors:Q', Path()).read(); "
        "print(read.dtype, read.tolist(), 'ml_dtypes' in sys.modules)"
    )
    ran = python("-c", code, cwd=tmp_path, check=True)
    assert ran.stdout == f"float32 {given.tolist()} False\n"


def test_a_number_is_the_decimal_that_it_prints_as(tmp_path: Path) -> None:
    np.save(tmp_path / "q.npy", Q.astype(np.float32))
    (tmp_path / "q.csv").write_text("1, 0.1\n", "utf-8")
    from_npy = sheet(tmp_path, '"q.npy"').evaluate()["Q"].exact
    from_csv = sheet(tmp_path, '"q.csv"').evaluate()["Q"].exact
    assert str(from_npy[0, 1]) == "1/10"  # the shortest decimal that is this float32
    assert str(from_csv[0, 1]) == "1/10"


class Explodes:
    """Unpickling it would write a file."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.touch, (Path("unpickled"),))


def pickled(path: Path) -> None:
    np.save(path, np.array([[Explodes()]], dtype=object), allow_pickle=True)


def plain_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(Explodes()))


@pytest.mark.parametrize(
    ("name", "save", "complaint"),
    [
        ("q.npy", pickled, "Python objects|pickle"),
        ("q.npy", plain_pickle, "cannot be read"),
        ("q.npz", plain_pickle, "cannot be read"),
        ("q.npy", lambda p: p.write_bytes(b""), "cannot be read"),
        ("q.npy", lambda p: np.save(p, np.array([[1j]])), "complex numbers"),
        ("q.npy", lambda p: np.save(p, np.array([["a"]])), "dtype <U1"),
        ("q.safetensors", lambda p: p.write_bytes(b"{}"), "cannot be read"),
        ("q.csv", lambda p: p.write_text("\n\n"), "is empty"),
        ("q.csv", lambda p: p.write_text("1,__import__('os')\n"), "Q"),
        ("q.csv", lambda p: p.write_bytes(b"1,\xff\n"), "not UTF-8 text; save the file as UTF-8"),
        ("q.txt", lambda p: p.write_text("1"), "not a known|number|cannot|not a file"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    name: str,
    save: Callable[[Path], object],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path / name)
    with pytest.raises(SymattnError, match=complaint) as refused:
        read = sheet(tmp_path, f'"{name}"')
        with read.in_file():
            read.evaluate()
    assert "\n" not in str(refused.value)
    assert "sheet.toml" in str(refused.value)
    assert not Path("unpickled").exists()


def test_forms_with_large_matrices_from_files_are_told_apart(tmp_path: Path) -> None:
    forms = []
    for rows in (300, 301):
        np.save(tmp_path / f"{rows}.npy", np.zeros((rows, 300)))
        text = f'[given]\nQ = "{rows}.npy"\nK = "{rows}.npy"\n'
        forms.append(exercise_of(worksheet_of(text, str(tmp_path / "sheet.toml"))))
    assert forms[0] is not forms[1]
