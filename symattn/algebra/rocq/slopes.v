(* Derivatives, for the theorems that are about them: they stand on MathComp-Analysis. *)
From mathcomp.classical Require boolp.
From mathcomp.analysis Require Import reals topology normedtype derive realfun.
Import numFieldTopology.Exports numFieldNormedType.Exports.

(* D is the matrix of the derivatives of f by the entries of a matrix, at X *)
Definition slope (R : realType) n m (f : 'M[R]_(n, m) -> R) (X D : 'M[R]_(n, m)) :=
  forall i j, is_derive (0 : R) 1 (fun t : R => f (X + t *: delta_mx i j)) (D i j).
(* the derivatives of e^x and ln x *)
Definition slope_e (R : realType) (e : exponential R) := forall x : R, is_derive x 1 (exf e : R -> R) (e x).
Definition slope_ln (R : realType) (e : exponential R) (ln : logarithm e) :=
  forall x : R, 0 < x -> is_derive x 1 (lg ln : R -> R) x^-1.

Section Slopes.
Variables (R : realType) (n m : nat) (X : 'M[R]_(n, m)) (i j : nat).
Implicit Types (f g : 'M[R]_(n, m) -> R) (c d : R).
Definition moved (t : R) : 'M[R]_(n, m) :=
  \matrix_(a, b) (X a b + t * ((a == i :> nat)%:R * (b == j :> nat)%:R)).
Definition slope_at f d := is_derive (0 : R) 1 (fun t : R => f (moved t)) d.
Lemma moved0 : moved 0 = X.
Proof. by apply/matrixP => a b; rewrite mxE mul0r addr0. Qed.
Lemma slope_eq f d c : slope_at f d -> d = c -> slope_at f c.
Proof. by move=> H <-. Qed.
Lemma slope_ext f g d : (forall Z, f Z = g Z) -> slope_at g d -> slope_at f d.
Proof. by move=> /boolp.funext ->. Qed.
Lemma slope_const c : slope_at (fun _ => c) 0.
Proof. exact: is_derive_cst. Qed.
Lemma slope_add f g c d : slope_at f c -> slope_at g d -> slope_at (fun Z => f Z + g Z) (c + d).
Proof. by move=> F G; apply: (@is_deriveD _ _ _ (fun t => f (moved t)) (fun t => g (moved t))). Qed.
Lemma slope_mul f g c d : slope_at f c -> slope_at g d ->
  slope_at (fun Z => f Z * g Z) (f X * d + c * g X).
Proof.
move=> F G; have H := is_deriveM F G; rewrite /GRing.scale /= moved0 in H.
by rewrite [c * _]mulrC; exact: H.
Qed.
Lemma slope_opp f d : slope_at f d -> slope_at (fun Z => - f Z) (- d).
Proof.
move=> F; apply: slope_eq (slope_ext _ (slope_mul (slope_const (-1)) F)) _.
  by move=> Z; rewrite mulN1r.
by rewrite mul0r addr0 mulN1r.
Qed.
Lemma slope_power f d k : slope_at f d -> slope_at (fun Z => f Z ^+ k) (k%:R * f X ^+ k.-1 * d).
Proof.
move=> F; elim: k => [|k IH].
  by rewrite mul0r mul0r; apply: slope_ext (slope_const 1) => Z; rewrite expr0.
apply: slope_eq (slope_ext _ (slope_mul F IH)) _ => [Z|]; first by rewrite exprS.
case: k {IH} => [|k] /=; first by rewrite !expr0; ring.
by rewrite exprS -[k.+2]addn1 natrD; ring.
Qed.
Lemma slope_inv f d : slope_at f d -> f X != 0 -> slope_at (fun Z => (f Z)^-1) (- (f X)^-1 ^+ 2 * d).
Proof.
move=> F p; have q : f (moved 0) != 0 by rewrite moved0.
by have := @is_deriveV R (fun t => f (moved t)) 0 d 1 q F; rewrite moved0 exprVn.
Qed.
Lemma slope_comp (h : R -> R) f c d : is_derive (f X) 1 h c -> slope_at f d ->
  slope_at (fun Z => h (f Z)) (c * d).
Proof.
move=> H F; rewrite -moved0 in H.
exact: (@is_derive1_comp R h (fun t => f (moved t)) 0 c d H F).
Qed.
Lemma slope_entry a b : (a < n)%N -> (b < m)%N ->
  slope_at (fun Z => ent Z a b) (((a == i)%N)%:R * ((b == j)%N)%:R).
Proof.
move=> p q; pose d : R := ((a == i)%N)%:R * ((b == j)%N)%:R.
have E t : ent (moved t) a b = ent X a b + t * d.
  by rewrite -[a]/(val (Ordinal p)) -[b]/(val (Ordinal q)) -!entE mxE.
rewrite /slope_at; have -> : (fun t => ent (moved t) a b) = (fun t => ent X a b + t * d).
  exact: boolp.funext E.
have := @is_deriveD _ _ _ _ _ _ 1 _ _ (is_derive_cst (ent X a b) (0 : R) 1)
  (is_deriveM (is_derive_id (0 : R) 1) (is_derive_cst d (0 : R) 1)).
by rewrite /GRing.scale /= mul0r add0r add0r mulr1.
Qed.
Lemma slope_sumto k (f : nat -> 'M[R]_(n, m) -> R) (d : nat -> R) :
  (forall l, (l < k)%N -> slope_at (f l) (d l)) ->
  slope_at (fun Z => sumto k (fun l => f l Z)) (sumto k d).
Proof.
rewrite /sumto; elim: k => [|k IH] F.
  by rewrite big_ord0; apply: slope_ext (slope_const 0) => Z; rewrite big_ord0.
rewrite big_ord_recr /=; apply: slope_ext (slope_add (IH _) (F k _)) => // [Z|l p].
  by rewrite big_ord_recr.
by apply: F; rewrite ltnW.
Qed.
End Slopes.
Lemma by_slopes (R : realType) n m (f : 'M[R]_(n, m) -> R) (X : 'M[R]_(n, m))
  (D : 'M[R : realFieldType]_(n, m)) g : opens D g ->
  (forall i, (i < n)%N -> forall j, (j < m)%N -> slope_at X i j f (g i j)) -> slope f X D.
Proof.
move=> E H i j; rewrite E; have := H i (ltn_ord i) j (ltn_ord j); rewrite /slope_at.
have -> : (fun t => f (moved X i j t)) = (fun t => f (X + t *: delta_mx i j)) => //.
apply: boolp.funext => t; congr f; apply/matrixP => a b; rewrite !mxE -natrM mulnb.
by rewrite !val_eqE.
Qed.
Lemma entry_at (R : realFieldType) (A : 'M[R]_1) f c : opens A f -> f 0%N 0%N = c -> A 0 0 = c.
Proof. by move=> E <-; rewrite E. Qed.
(* the derivative of what is made of functions with known ones *)
Ltac slopes := first
  [ eassumption | exact: slope_const | eapply slope_add; slopes | eapply slope_opp; slopes
  | eapply slope_mul; slopes | eapply slope_power; slopes | eapply slope_inv; [slopes | nz] ].
(* the derivative of a polynomial in what hypotheses say the derivatives of *)
Ltac by_chain := eapply slope_eq; [slopes | rewrite /= ?expr0; field; nz].
