(* What `symattn.v` takes for e^x, ln, cos and sin is there: MathComp-Analysis has them, for the real
   numbers. Whatever a theorem says of any such functions it says of these. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.classical Require Import classical_sets.
From mathcomp.analysis Require Import reals topology normedtype derive realfun exp sequences trigo.
From Symattn Require Import symattn.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Import numFieldTopology.Exports numFieldNormedType.Exports.
Local Open Scope ring_scope.

Section Analysis.
Variable R : realType.
Definition real_exponential : exponential R := Exponential (@expRD R) (@expR_gt0 R).
(* it is above its tangent: by the mean value theorem where x < 0 *)
Lemma real_grows (x : R) : 1 + x <= real_exponential x.
Proof.
case: (leP 0 x) => [/expR_ge1Dx //|/ltW le].
have within : {within `[x, 0]%classic, continuous (@expR R)}.
  by apply: continuous_subspaceT => y; exact: continuous_expR.
have [c] := MVT_segment le (fun y _ => is_derive_expR y) within.
rewrite in_itv /= => /andP[_ c0]; rewrite expR0 sub0r mulrN => E.
have q : expR c <= 1 by rewrite -(@expR0 R) ler_expR.
have p : x <= expR c * x.
  by rewrite -subr_ge0 -[X in _ - X]mul1r -mulrBl; apply: mulr_le0 => //; rewrite subr_le0.
by rewrite /= -[expR x](subKr 1) E opprK ler_add2l.
Qed.
Lemma real_lgK (x : R) : 0 < x -> expR (ln x) = x.
Proof. by move=> p; apply: lnK; rewrite posrE. Qed.
Definition real_logarithm : logarithm real_exponential :=
  @Logarithm R real_exponential (@ln R) real_lgK (@expK R).
Lemma real_sine_sqr (x : R) : sin x ^+ 2 = 1 - cos x ^+ 2.
Proof. by rewrite -(cos2Dsin2 x) addrAC subrr add0r. Qed.
(* the derivatives *)
Lemma real_slope_e (x : R) : is_derive x 1 (real_exponential : R -> R) (real_exponential x).
Proof. exact: is_derive_expR. Qed.
Lemma real_slope_ln (x : R) : 0 < x -> is_derive x 1 (real_logarithm : R -> R) x^-1.
Proof. exact: is_derive1_ln. Qed.
Definition real_circle : circle R :=
  Circle real_sine_sqr (@cosD R) (@sinD R) (@cosN R) (@sinN R).
End Analysis.
Print Assumptions real_exponential.
Print Assumptions real_grows.
Print Assumptions real_logarithm.
Print Assumptions real_slope_e.
Print Assumptions real_slope_ln.
Print Assumptions real_circle.
