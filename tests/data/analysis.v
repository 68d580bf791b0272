(* What `symattn.v` takes for e^x, ln, cos and sin is there: MathComp-Analysis has them, for the real
   numbers. Whatever a theorem says of any such functions it says of these. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp.analysis Require Import reals exp sequences trigo.
From Symattn Require Import symattn.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Analysis.
Variable R : realType.
Definition real_exponential : exponential R := Exponential (@expRD R) (@expR_gt0 R).
Lemma real_lgK (x : R) : 0 < x -> expR (ln x) = x.
Proof. by move=> p; apply: lnK; rewrite posrE. Qed.
Definition real_logarithm : logarithm real_exponential :=
  @Logarithm R real_exponential (@ln R) real_lgK (@expK R).
Lemma real_sine_sqr (x : R) : sin x ^+ 2 = 1 - cos x ^+ 2.
Proof. by rewrite -(cos2Dsin2 x) addrAC subrr add0r. Qed.
Definition real_circle : circle R :=
  Circle real_sine_sqr (@cosD R) (@sinD R) (@cosN R) (@sinN R).
End Analysis.
Print Assumptions real_exponential.
Print Assumptions real_logarithm.
Print Assumptions real_circle.
