"""Certificates as files of Rocq: the statement about MathComp's matrices, and its proof."""

from __future__ import annotations

import re

from symattn.algebra.bounds import INEQUALITY
from symattn.algebra.kinds import Data
from symattn.algebra.rocq.export import equation
from symattn.algebra.rocq.inequalities import inequality
from symattn.algebra.rocq.terms import identifier, slopes

_HEAD = """\
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From mathcomp Require Import ring zify.
From Symattn Require Import symattn.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.
"""


def exported(certificate: Data, name: str = "statement") -> str:
    """The file of Rocq. Raises `Refused` for what has no lemma or no term there yet.

    A chain of inequalities has a theorem for each of its links.
    """
    plain, known = identifier(name.replace("-", "_")), dict[str, str]()
    if certificate["certificate"] != INEQUALITY:
        theorems = [(certificate, equation(certificate, plain, known), "=")]
    else:
        links = certificate["links"]
        names = [plain] if len(links) == 1 else [f"{plain}_{k + 1}" for k in range(len(links))]
        named = zip(links, names, strict=True)
        theorems = [(link, inequality(link, own, known), "≤") for link, own in named]
    said = [
        line
        for data, theorem, sign in theorems
        for line in (*theorem.goal.lines(data["statement"], sign), *theorem.said())
    ]
    # the comment ends with what it stands in
    comment = re.sub(r'\(\*|\*\)|"', "", "\n   ".join(said))
    proofs = "\n".join(line for _, theorem, _ in theorems for line in theorem.lines())
    field = "rcfType" if "Num.sqrt" in proofs else "realFieldType"
    field, more = ("realType", slopes()) if "slope_at" in proofs else (field, "")
    variables = f"Variables (R : {field}) (e : exponential R)"
    variables += " (ln : logarithm e)" if re.search(r"\bln\b", proofs) else ""
    variables += " (t : circle R)" if re.search(r"\b(cosine|sine) t\b", proofs) else ""
    printed = "\n".join(f"Print Assumptions {theorem.name}." for _, theorem, _ in theorems)
    return (
        f"(* {comment} *)\n{_HEAD}{more}\nSection Statement.\n{variables}.\n{proofs}\n"
        f"End Statement.\n{printed}\n"
    )
