"""Matrices from files: what they hold is put in as it is, and nothing in them is run or trusted."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from symattn import SymattnError
from symattn.files.matrices import MAX_CSV_BYTES, MAX_NUMBERS
from symattn.reports.check import exercise_of
from symattn.sheets.worksheet import Worksheet, read_worksheet, worksheet_of
from tests.extras import package
from tests.processes import python

Matrix = NDArray[np.float64]
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


@pytest.mark.parametrize("text", ["1;1/2\n", "1\t1/2\n", "\ufeff1,1/2\r\n\r\n", " 1 , 1/2 "])
def test_csv_as_it_is_written(text: str, tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_bytes(text.encode())
    assert str(sheet(tmp_path, '"q.csv"').evaluate()["Q"].exact.tolist()) == "[[1, 1/2]]"


def test_files_lie_beside_the_worksheet_not_the_reader(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    np.save(tmp_path / "data" / "q.npy", Q)
    assert np.array_equal(sheet(tmp_path, '"data/q.npy"').evaluate().array("Q"), Q)


def test_a_large_layer_is_evaluated(tmp_path: Path) -> None:
    big = np.random.default_rng(3).normal(size=(3, 64, 64))
    np.savez(tmp_path / "layer.npz", Q=big[0], K=big[1], V=big[2])
    path = tmp_path / "sheet.toml"
    path.write_text("[given]\n" + "".join(f'{x} = "layer.npz:{x}"\n' for x in "QKV"), "utf-8")
    read = read_worksheet(path).evaluate()
    scores = big[0] @ big[1].T / 8
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    assert np.allclose(read.array("O"), weights @ big[2], rtol=1e-12)


class Explodes:
    """Unpickling it would write a file."""

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        return (Path.touch, (Path("unpickled"),))


def pickled(path: Path) -> None:
    np.save(path, np.array([[Explodes()]], dtype=object), allow_pickle=True)


def plain_pickle(path: Path) -> None:
    path.write_bytes(pickle.dumps(Explodes()))


def bomb(path: Path) -> None:
    """A header that promises terabytes, and nothing behind it."""
    with zipfile.ZipFile(path, "w") as archive, archive.open("Q.npy", "w") as member:
        header = io.BytesIO()
        told = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
        np.lib.format.write_array_header_1_0(header, told)
        member.write(header.getvalue())


def zeros(path: Path) -> None:
    np.savez_compressed(path, Q=np.zeros((3000, 3000)))


def overflowing(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive, archive.open("Q.npy", "w") as member:
        header = io.BytesIO()
        told = {"descr": "<f8", "fortran_order": False, "shape": (2**32, 2**32)}
        np.lib.format.write_array_header_1_0(header, told)
        member.write(header.getvalue())


def promised(path: Path) -> None:
    header = io.BytesIO()
    told = {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
    np.lib.format.write_array_header_1_0(header, told)
    path.write_bytes(header.getvalue())


def cut_off(path: Path) -> None:
    np.savez(path, Q=Q)
    path.write_bytes(path.read_bytes()[:-40])


def spoilt(path: Path) -> None:
    np.savez_compressed(path, Q=np.arange(4000.0))
    told = bytearray(path.read_bytes())
    told[900:1400] = bytes(500)
    path.write_bytes(told)


def eight_bits(path: Path) -> None:
    told = {"Q": {"dtype": "F8_E4M3", "shape": [1, 2], "data_offsets": [0, 2]}}
    header = json.dumps(told).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\x38\x40")


def promised_tensor(path: Path) -> None:
    told = {"Q": {"dtype": "F64", "shape": [10**7, 10**7], "data_offsets": [0, 8 * 10**14]}}
    header = json.dumps(told).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header)


@pytest.mark.parametrize(
    ("name", "save", "complaint"),
    [
        ("q.npy", pickled, "Python objects|pickle"),
        ("q.npy", plain_pickle, "cannot be read"),
        ("q.npz", plain_pickle, "cannot be read"),
        ("q.npz", bomb, "too many"),
        ("q.npz", overflowing, "too many"),
        ("q.npz", zeros, "too many"),
        ("q.npy", promised, "too many"),
        ("q.npy", lambda p: p.write_bytes(b""), "cannot be read"),
        ("q.npz", lambda p: p.write_bytes(b"PK\x05\x06" + bytes(18)), "holds no matrix"),
        ("q.npy", lambda p: np.save(p, np.array([[1j]])), "complex numbers"),
        ("q.npy", lambda p: np.save(p, np.array([["a"]])), "dtype <U1"),
        ("q.npz", cut_off, "cannot be read"),
        ("q.npz", spoilt, "cannot be read"),
        ("q.safetensors", eight_bits, "dtype F8_E4M3 are not read"),
        ("q.safetensors", promised_tensor, "cannot be read|too many"),
        ("q.safetensors", lambda p: p.write_bytes(b"{}"), "cannot be read"),
        ("q.csv", lambda p: p.write_bytes(b"1,2\n" * (MAX_CSV_BYTES // 4 + 1)), "too many"),
        ("q.csv", lambda p: p.write_text("\n\n"), "is empty"),
        ("q.csv", lambda p: p.write_text("1,__import__('os')\n"), "Q"),
        ("q.csv", lambda p: p.write_bytes(b"1,\xff\n"), "not UTF-8 text; save the file as UTF-8"),
        ("q.csv", lambda p: p.write_text("1,2\n3\n"), "Q"),
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


@pytest.mark.parametrize("reference", ["../q.npy", "/etc/q.npy", "a/../../q.npy", "none.npy"])
def test_only_files_beside_the_worksheet(reference: str, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    np.save(tmp_path / "q.npy", Q)
    with pytest.raises(SymattnError, match="beside the worksheet"):
        sheet(inner, f'"{reference}"')
    assert MAX_NUMBERS < 3000 * 3000


def test_forms_with_large_matrices_from_files_are_told_apart(tmp_path: Path) -> None:
    forms = []
    for rows in (300, 301):
        np.save(tmp_path / f"{rows}.npy", np.zeros((rows, 300)))
        text = f'[given]\nQ = "{rows}.npy"\nK = "{rows}.npy"\n'
        forms.append(exercise_of(worksheet_of(text, str(tmp_path / "sheet.toml"))))
    assert forms[0] is not forms[1]
