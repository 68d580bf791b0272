(* What a proof written by `symattn prove --format rocq` stands on: what the nodes mean, as matrices
   of MathComp, the entries of each, and one lemma for each rule of the checker. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From mathcomp Require Import ring zify.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(* ---- functions of one number ---- *)

(* All that is used of e^x. *)
Record exponential (R : realFieldType) := Exponential {
  exf :> R -> R;
  exD : forall x y, exf (x + y) = exf x * exf y;
  ex_gt0 : forall x, 0 < exf x }.

(* All that is used of the logarithm. *)
Record logarithm (R : realFieldType) (e : exponential R) := Logarithm {
  lg :> R -> R;
  lgK : forall x, 0 < x -> e (lg x) = x;
  exK : forall x, lg (e x) = x }.

(* All that is used of cosine and sine. *)
Record circle (R : realFieldType) := Circle {
  cosine : R -> R; sine : R -> R;
  sine_sqr : forall x, sine x ^+ 2 = 1 - cosine x ^+ 2;
  cosineD : forall x y, cosine (x + y) = cosine x * cosine y - sine x * sine y;
  sineD : forall x y, sine (x + y) = sine x * cosine y + cosine x * sine y;
  cosineN : forall x, cosine (- x) = cosine x;
  sineN : forall x, sine (- x) = - sine x }.

Section Functions.
Variables (R : realFieldType) (e : exponential R).
Lemma ex_neq0 x : e x != 0. Proof. exact: lt0r_neq0 (ex_gt0 e x). Qed.
Lemma ex0 : e 0 = 1.
Proof. by apply: (mulfI (ex_neq0 0)); rewrite -exD addr0 mulr1. Qed.
Lemma exN x : e (- x) = (e x)^-1.
Proof. by apply: (mulfI (ex_neq0 x)); rewrite -exD subrr ex0 divff ?ex_neq0. Qed.
Lemma exMn x k : e (x *+ k) = e x ^+ k.
Proof. by elim: k => [|k IH]; rewrite ?mulr0n ?ex0 // mulrS exprS exD IH. Qed.
(* e^(k x) and e^(−k x) as powers of what e^x is *)
Lemma ex_power x y z k : x = k%:R * y -> e y = z -> e x = z ^+ k.
Proof. by move=> -> <-; rewrite mulr_natl exMn. Qed.
Lemma ex_powerN x y z k : x = - (k%:R * y) -> e y = z -> e x = z^-1 ^+ k.
Proof. by move=> -> <-; rewrite exN mulr_natl exMn exprVn. Qed.
Lemma ex_add x y a b : e x = a -> e y = b -> e (x + y) = a * b.
Proof. by rewrite exD => -> ->. Qed.
(* e^([b] x) = 1 + [b] (e^x − 1) *)
Lemma ex_if (b : bool) x y z : x = b%:R * y -> e y = z -> e x = 1 + b%:R * (z - 1).
Proof.
move=> -> <-; case: b; rewrite ?mul1r ?mul0r ?ex0 ?addr0 //.
by rewrite addrC subrK.
Qed.
Lemma ln_of (ln : logarithm e) x y : e y = x -> ln x = y.
Proof. by move=> <-; rewrite exK. Qed.
Definition sigmoid (x : R) : R := e x / (1 + e x).
Definition tanh (x : R) : R := (e (2%:R * x) - 1) / (e (2%:R * x) + 1).
End Functions.

(* ---- numbers and −∞ ---- *)

Section Scores.
Variables (R : realFieldType) (e : exponential R).
(* A score is a number or −∞, which is None. *)
Definition score := option R.
(* x + y, which is −∞ where one of them is *)
Definition add_oo (x y : score) : score :=
  if x is Some a then if y is Some b then Some (a + b) else None else None.
(* e^x, and e^(−∞) = 0 *)
Definition exo (x : score) : R := if x is Some a then e a else 0.
End Scores.

(* ---- what the nodes mean ---- *)

Section Nodes.
Variables (R : realFieldType) (e : exponential R) (n m : nat).
Implicit Types (A B S : 'M[R]_(n, m)).
(* softmax(S)_ij = e^(s_ij) / Σ_l e^(s_il) *)
Definition softmax S : 'M[R]_(n, m) := \matrix_(i, j) (e (S i j) / \sum_l e (S i l)).
(* the same of scores that may be −∞ *)
Definition softmax_oo (S : 'M[score R]_(n, m)) : 'M[R]_(n, m) :=
  \matrix_(i, j) (exo e (S i j) / \sum_l exo e (S i l)).
(* softmax1(S)_ij = e^(s_ij) / (1 + Σ_l e^(s_il)) *)
Definition softmax1 S : 'M[R]_(n, m) := \matrix_(i, j) (e (S i j) / (1 + \sum_l e (S i l))).
Definition softmax1_oo (S : 'M[score R]_(n, m)) : 'M[R]_(n, m) :=
  \matrix_(i, j) (exo e (S i j) / (1 + \sum_l exo e (S i l))).
(* ratio(A)_ij = a_ij / Σ_l a_il *)
Definition rowratio A : 'M[R]_(n, m) := \matrix_(i, j) (A i j / \sum_l A i l).
Definition rowsum A : 'cV[R]_n := \col_i \sum_j A i j.
Definition colsum A : 'rV[R]_m := \row_j \sum_i A i j.
(* A ∘ B and A ⊘ B, entry by entry *)
Definition had A B : 'M[R]_(n, m) := \matrix_(i, j) (A i j * B i j).
Definition hquot A B : 'M[R]_(n, m) := \matrix_(i, j) (A i j / B i j).
(* A / c *)
Definition divmx A (c : R) : 'M[R]_(n, m) := \matrix_(i, j) (A i j / c).
(* row i of A over r_i, column j of A over c_j *)
Definition rowquot A (r : 'cV[R]_n) : 'M[R]_(n, m) := \matrix_(i, j) (A i j / r i 0).
Definition colquot A (c : 'rV[R]_m) : 'M[R]_(n, m) := \matrix_(i, j) (A i j / c 0 j).
(* c tanh(a_ij / c) *)
Definition softcap A (c : R) : 'M[R]_(n, m) := \matrix_(i, j) (c * tanh e (A i j / c)).
(* −Σ_l (q_il − k_jl)² *)
Definition minus_dist2 k (Q : 'M[R]_(n, k)) (K : 'M[R]_(m, k)) : 'M[R]_(n, m) :=
  \matrix_(i, j) (-1 * \sum_l (Q i l + -1 * K j l) ^+ 2).
(* S + M, where M may be −∞ *)
Definition masked S (M : 'M[score R]_(n, m)) : 'M[score R]_(n, m) :=
  \matrix_(i, j) add_oo (Some (S i j)) (M i j).
(* 0 where key j is not behind query i, which is the token at place start + i; else −∞ *)
Definition causal (start : nat) : 'M[score R]_(n, m) :=
  \matrix_(i, j) (if (j <= i + start)%N then Some 0 else None).
(* 0 for the first k keys, else −∞ *)
Definition padding (k : nat) : 'M[score R]_(n, m) :=
  \matrix_(i, j) (if (j < k)%N then Some 0 else None).
End Nodes.
(* the length of each row *)
Definition lengths (R : rcfType) n m (A : 'M[R : realFieldType]_(n, m)) : 'cV[R]_n :=
  \col_i Num.sqrt (\sum_l A i l ^+ 2).
(* each row over its length *)
Definition unit_rows (R : rcfType) n m (A : 'M[R : realFieldType]_(n, m)) : 'M[R]_(n, m) :=
  \matrix_(i, j) (A i j / Num.sqrt (\sum_l A i l ^+ 2)).

(* ---- the same in MathComp's own words ---- *)

Section Bridges.
Variables (R : realFieldType) (e : exponential R) (n m : nat).
Implicit Types (A B S : 'M[R]_(n, m)).
Lemma rowsumE A : rowsum A = A *m const_mx 1.
Proof. by apply/matrixP => i j; rewrite !mxE; apply: eq_bigr => l _; rewrite mxE mulr1. Qed.
Lemma colsumE A : colsum A = const_mx 1 *m A.
Proof. by apply/matrixP => i j; rewrite !mxE; apply: eq_bigr => l _; rewrite mxE mul1r. Qed.
Lemma rowratioE A : rowratio A = rowquot A (rowsum A).
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.
Lemma softmaxE S : softmax e S = rowratio (map_mx e S).
Proof. by apply/matrixP => i j; rewrite !mxE; congr (_ / _); apply: eq_bigr => l _; rewrite mxE. Qed.
Lemma softmax_ooE S : softmax_oo e (map_mx Some S) = softmax e S.
Proof. by apply/matrixP => i j; rewrite !mxE; congr (_ / _); apply: eq_bigr => l _; rewrite mxE. Qed.
Lemma divmxE A c : divmx A c = c^-1 *: A.
Proof. by apply/matrixP => i j; rewrite !mxE mulrC. Qed.
Lemma rowquotE A r : rowquot A r = diag_mx (map_mx (@GRing.inv R) r)^T *m A.
Proof. by apply/matrixP => i j; rewrite mul_diag_mx !mxE mulrC. Qed.
Lemma colquotE A c : colquot A c = A *m diag_mx (map_mx (@GRing.inv R) c).
Proof. by apply/matrixP => i j; rewrite mul_mx_diag !mxE. Qed.
Lemma hquotE A B : hquot A B = had A (map_mx (@GRing.inv R) B).
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.
Lemma softcapE A c : softcap e A c = c *: map_mx (tanh e) (divmx A c).
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.
Lemma tanhE x : tanh e x = 2%:R * sigmoid e (2%:R * x) - 1.
Proof.
have p : 1 + e (2%:R * x) != 0 by apply/lt0r_neq0/addr_gt0; rewrite ?ltr01 ?ex_gt0.
by rewrite /tanh /sigmoid addrC; field.
Qed.
Lemma causalE : causal R n m m = const_mx (Some 0).
Proof. by apply/matrixP => i j; rewrite !mxE ltnW // ltn_addl. Qed.
Lemma paddingE : padding R n m m = const_mx (Some 0).
Proof. by apply/matrixP => i j; rewrite !mxE ltn_ord. Qed.
End Bridges.
Lemma lengthsE (R : rcfType) n m (A : 'M[R : realFieldType]_(n, m)) i :
  lengths A i 0 ^+ 2 = (A *m A^T) i i.
Proof.
have p : 0 <= \sum_l A i l ^+ 2 by apply: sumr_ge0 => l _; exact: sqr_ge0.
by rewrite !mxE sqr_sqrtr //; apply: eq_bigr => l _; rewrite mxE expr2.
Qed.
Lemma unit_rowsE (R : rcfType) n m (A : 'M[R : realFieldType]_(n, m)) :
  unit_rows A = rowquot A (lengths A).
Proof. by apply/matrixP => i j; rewrite !mxE. Qed.

(* ---- entries at natural numbers ---- *)

(* Σ_(l < n) f(l) *)
Definition sumto (R : realFieldType) n (f : nat -> R) : R := \sum_(l < n) f l.

(* entry (i, j) of a matrix, 0 outside *)
Definition ent (R : realFieldType) n m (A : 'M[R]_(n, m)) (i j : nat) : R :=
  if insub i is Some i then if insub j is Some j then A i j else 0 else 0.

(* the largest of f(0), …, f(n − 1); 0 of none *)
Definition largest (R : realFieldType) n (f : nat -> R) : R :=
  if n is n'.+1 then \big[Num.max/f 0%N]_(l < n'.+1) f l else 0.
(* the largest of each row *)
Definition rowmax (R : realFieldType) n m (A : 'M[R]_(n, m)) : 'cV[R]_n :=
  \col_i largest m (fun l => ent A i l).

(* where a permutation takes a number *)
Definition permn n (s : 'S_n) (i : nat) : nat := if insub i is Some i then s i : nat else i.

(* Matrices of heads, one for each number from 0 on: beside one another, one below the other, their
   sum; and the rows of a matrix that one head has. *)
Section Heads.
Variable R : realFieldType.
Implicit Types (n d h N : nat).
Definition beside n d N (O : nat -> 'M[R]_(n, d)) : 'M[R]_(n, N) :=
  \matrix_(i, j) ent (O (j %/ d)%N) i (j %% d)%N.
Definition stacked n d N (O : nat -> 'M[R]_(n, d)) : 'M[R]_(N, d) :=
  \matrix_(i, j) ent (O (i %/ n)%N) (i %% n)%N j.
Definition headsum n d h (O : nat -> 'M[R]_(n, d)) : 'M[R]_(n, d) := \sum_(k < h) O k.
Definition head_rows n N d (W : 'M[R]_(N, d)) (k : nat) : 'M[R]_(n, d) :=
  \matrix_(i, j) ent W (k * n + i)%N j.
End Heads.

(* Rows are tokens, from 0 on: row t of a matrix; a matrix made of a row for each token. *)
Section Tokens.
Variable R : realFieldType.
Implicit Types (n m t : nat).
Definition token n m (A : 'M[R]_(n, m)) t : 'rV[R]_m := \row_j ent A t j.
Definition tokens n m (O : nat -> 'rV[R]_m) : 'M[R]_(n, m) := \matrix_(i, j) O i 0 j.
(* S_t = f(t, S_(t-1)), and f(0, start) for the first: a state for each token *)
Definition recurs n m (S : nat -> 'M[R]_(n, m)) (start : 'M[R]_(n, m)) f :=
  forall t, S t = f t (if t is u.+1 then S u else start).
(* the column r in all columns, the row c in all rows *)
Definition all_columns n m (r : 'cV[R]_n) : 'M[R]_(n, m) := \matrix_(i, j) r i 0.
Definition all_rows n m (c : 'rV[R]_m) : 'M[R]_(n, m) := \matrix_(i, j) c 0 j.
(* the number c in all entries, and times A *)
Definition everywhere n m (c : 'M[R]_1) : 'M[R]_(n, m) := \matrix_(i, j) c 0 0.
Definition number_times n m (c : 'M[R]_1) (A : 'M[R]_(n, m)) : 'M[R]_(n, m) :=
  \matrix_(i, j) (c 0 0 * A i j).
(* entries of A where a test of row and column holds, else of B *)
Definition where_placed n m (test : nat -> nat -> bool) (A B : 'M[R]_(n, m)) : 'M[R]_(n, m) :=
  \matrix_(i, j) if test i j then A i j else B i j.
End Tokens.

Lemma entE (R : realFieldType) n m (A : 'M[R]_(n, m)) (i : 'I_n) (j : 'I_m) : A i j = ent A i j.
Proof. by rewrite /ent !valK. Qed.
Lemma sumtoE (R : realFieldType) n (f : nat -> R) : sumto n f = \sum_(0 <= l < n) f l.
Proof. by rewrite big_mkord. Qed.
Lemma permnE n (s : 'S_n) (i : 'I_n) : permn s i = s i. Proof. by rewrite /permn valK. Qed.
Lemma permn_lt n (s : 'S_n) i : (i < n)%N -> (permn s i < n)%N.
Proof. by move=> p; rewrite /permn insubT /=. Qed.
Lemma permnK n (s : 'S_n) i : permn s^-1 (permn s i) = i.
Proof.
case: (ltnP i n) => p; last by rewrite /permn !insubF // ltnNge p.
by rewrite -[i]/(val (Ordinal p)) !permnE permK.
Qed.
Lemma permnKV n (s : 'S_n) i : permn s (permn s^-1 i) = i.
Proof. by have := permnK s^-1 i; rewrite invgK. Qed.
Lemma permn_eq n (s : 'S_n) i j : (permn s i == j)%N = (i == permn s^-1 j)%N.
Proof. by apply/eqP/eqP => [<-|->]; rewrite ?permnK ?permnKV. Qed.

Section Largest.
Variable R : realFieldType.
Implicit Types (n : nat) (f g : nat -> R).
Lemma largest_ge n f l : (l < n)%N -> f l <= largest n f.
Proof.
case: n => // n p; rewrite /largest; have := mem_index_enum (Ordinal p).
elim: (index_enum _) => //= k s IH; rewrite inE big_cons le_maxr => /orP[/eqP <-|/IH ->].
  by rewrite lexx.
by rewrite orbT.
Qed.
Lemma largest_in n f : (0 < n)%N -> exists2 l, (l < n)%N & largest n f = f l.
Proof.
case: n => // n _; rewrite /largest.
apply: (@big_ind _ (fun x => exists2 l, (l < n.+1)%N & x = f l)) => [|x y [l p ->] [k q ->]|l _].
- by exists 0%N.
- by case: (leP (f l) (f k)) => _; [exists k | exists l].
by exists (l : nat); rewrite ?ltn_ord.
Qed.
Lemma largest_le n f (c : R) : (0 < n)%N -> (forall l, (l < n)%N -> f l <= c) -> largest n f <= c.
Proof. by move=> /(@largest_in n f)[l p ->]; apply. Qed.
Lemma largest_is n f l : (l < n)%N -> (forall k, (k < n)%N -> f k <= f l) -> largest n f = f l.
Proof.
move=> p le; apply/eqP; rewrite eq_le largest_ge // andbT; apply: largest_le => //.
by apply: leq_ltn_trans p.
Qed.
Lemma largest_mono n f g : (forall l, (l < n)%N -> f l <= g l) -> largest n f <= largest n g.
Proof.
case: n => // n le; apply: largest_le => // l p.
by apply: le_trans (le l p) _; exact: largest_ge.
Qed.
Lemma largest_eq n f g : (forall l, (l < n)%N -> f l = g l) -> largest n f = largest n g.
Proof. by move=> E; apply/eqP; rewrite eq_le !largest_mono // => l p; rewrite E. Qed.
Lemma largest_const n (c : R) : (0 < n)%N -> largest n (fun _ => c) = c.
Proof. by case/(@largest_in n (fun _ => c)). Qed.
Lemma largest_rising n (h : R -> R) f : (0 < n)%N -> (forall x y, x <= y -> h x <= h y) ->
  largest n (fun l => h (f l)) = h (largest n f).
Proof.
move=> p up; have [l q E] := largest_in f p; rewrite E.
by apply: (largest_is (f := fun l => h (f l))) => // k r; apply: up; rewrite -E largest_ge.
Qed.
(* max_l (c f(l) + d) = c max_l f(l) + d for c ≥ 0 *)
Lemma largest_affine n (c d : R) F f : (0 < n)%N -> 0 <= c ->
  (forall l, (l < n)%N -> F l = c * f l + d) -> largest n F = c * largest n f + d.
Proof.
move=> p q /largest_eq ->; apply: (largest_rising (h := fun x => c * x + d)) => // x y le.
by rewrite ler_add2r ler_wpmul2l.
Qed.
Lemma largest_gt0 n f : (0 < n)%N -> (forall l, (l < n)%N -> 0 < f l) -> 0 < largest n f.
Proof. by move=> /(@largest_in n f)[l p ->]; apply. Qed.
Lemma largest_ge0 n f : (forall l, (l < n)%N -> 0 <= f l) -> 0 <= largest n f.
Proof. by case: n => // n p; apply: le_trans (p 0%N _) _ => //; exact: largest_ge. Qed.
End Largest.

(* `opens A f`: f(i, j) is entry (i, j) of A *)
Class opens (T : Type) n m (A : 'M[T]_(n, m)) (f : nat -> nat -> T) : Prop :=
  opensE : forall (i : 'I_n) (j : 'I_m), A i j = f i j.

Section Opens.
Variables (R : realFieldType) (e : exponential R).
Implicit Types (n m k : nat).
Lemma by_entries n m (A B : 'M[R]_(n, m)) f g : opens A f -> opens B g ->
  (forall i, (i < n)%N -> forall j, (j < m)%N -> f i j = g i j) -> A = B.
Proof. by move=> a b E; apply/matrixP => i j; rewrite a b E. Qed.
Lemma entries_of n m (A B : 'M[R]_(n, m)) f g (a : opens A f) (b : opens B g) : A = B ->
  forall i j, (i < n)%N -> (j < m)%N -> f i j = g i j.
Proof. by move=> E i j p q; have := a (Ordinal p) (Ordinal q); rewrite E b. Qed.
Lemma all_of (P : pred R) n m (A : 'M[R]_(n, m)) f (a : opens A f) : (forall i j, P (A i j)) ->
  forall i j, (i < n)%N -> (j < m)%N -> P (f i j).
Proof. by move=> H i j p q; have := H (Ordinal p) (Ordinal q); rewrite a. Qed.
Definition neq0_of := @all_of (fun x => x != 0).
Definition positive_of := @all_of (fun x => 0 < x).
Definition nonnegative_of := @all_of (fun x => 0 <= x).
Lemma inverse_right n (A : 'M[R]_n) : A \in unitmx -> A *m invmx A = 1%:M.
Proof. exact: mulmxV. Qed.
Lemma inverse_left n (A : 'M[R]_n) : A \in unitmx -> invmx A *m A = 1%:M.
Proof. exact: mulVmx. Qed.
Lemma product_one n k (A : 'M[R]_(n, k)) (B : 'M_(k, n)) f g (a : opens A f) (b : opens B g) :
  A *m B = 1%:M ->
  forall i j, (i < n)%N -> (j < n)%N -> sumto k (fun l => f i l * g l j) = ((i == j)%N)%:R.
Proof.
move=> E i j p q; have /matrixP/(_ (Ordinal p) (Ordinal q)) := E; rewrite !mxE => <-.
by apply: eq_bigr => l _; rewrite a b.
Qed.
Lemma opens_letter n m (A : 'M[R]_(n, m)) : opens A (ent A).
Proof. exact: entE. Qed.
Local Ltac by_sums := rewrite /sumto; do ?[apply: eq_bigr => ? _; rewrite ?mxE] => //.
Lemma opens_tr T n m (A : 'M[T]_(n, m)) f : opens A f -> opens A^T (fun i j => f j i).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma opens_add n m (A B : 'M[R]_(n, m)) f g :
  opens A f -> opens B g -> opens (A + B) (fun i j => f i j + g i j).
Proof. by move=> a b i j; rewrite mxE a b. Qed.
Lemma opens_scale n m (c : R) (A : 'M[R]_(n, m)) f :
  opens A f -> opens (c *: A) (fun i j => c * f i j).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma opens_mul n k m (A : 'M[R]_(n, k)) (B : 'M_(k, m)) f g :
  opens A f -> opens B g -> opens (A *m B) (fun i j => sumto k (fun l => f i l * g l j)).
Proof. by move=> a b i j; rewrite mxE; apply: eq_bigr => l _; rewrite a b. Qed.
Lemma opens_mul1 n m (A : 'M[R]_(n, 1)) (B : 'M_(1, m)) f g :
  opens A f -> opens B g -> opens (A *m B) (fun i j => f i 0%N * g 0%N j).
Proof. by move=> a b i j; rewrite mxE big_ord1 a b. Qed.
Lemma opens_one n : opens (1%:M : 'M[R]_n) (fun i j => if (j == i)%N then 1 else 0).
Proof. by move=> i j; rewrite mxE eq_sym -val_eqE; case: (_ == _)%N. Qed.
Lemma opens_const n m (c : R) : opens (const_mx c : 'M[R]_(n, m)) (fun _ _ => c).
Proof. by move=> i j; rewrite mxE. Qed.
Lemma opens_zero n m : opens (0 : 'M[R]_(n, m)) (fun _ _ => 0).
Proof. by move=> i j; rewrite mxE. Qed.
Lemma opens_perm n (s : 'S_n) : opens (perm_mx s : 'M[R]_n) (fun i j => ((permn s i == j)%N)%:R).
Proof. by move=> i j; rewrite !mxE permnE -val_eqE. Qed.
Lemma opens_map T U n m (h : T -> U) (A : 'M[T]_(n, m)) f :
  opens A f -> opens (map_mx h A) (fun i j => h (f i j)).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma opens_row T n m k (A : 'M[T]_(n, m)) (B : 'M_(n, k)) f g : opens A f -> opens B g ->
  opens (row_mx A B) (fun i j => if (j < m)%N then f i j else g i (j - m)%N).
Proof.
by move=> a b i j; rewrite mxE; case: splitP => l E; rewrite ?a ?b E //= addKn.
Qed.
Lemma opens_col T n m k (A : 'M[T]_(n, m)) (B : 'M_(k, m)) f g : opens A f -> opens B g ->
  opens (col_mx A B) (fun i j => if (i < n)%N then f i j else g (i - n)%N j).
Proof.
by move=> a b i j; rewrite mxE; case: splitP => l E; rewrite ?a ?b E //= addKn.
Qed.
Lemma opens_softmax n m (S : 'M[R]_(n, m)) f : opens S f ->
  opens (softmax e S) (fun i j => e (f i j) / sumto m (fun l => e (f i l))).
Proof. by move=> s i j; rewrite mxE s; congr (_ / _); apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_softmax_oo n m (S : 'M[score R]_(n, m)) f : opens S f ->
  opens (softmax_oo e S) (fun i j => exo e (f i j) / sumto m (fun l => exo e (f i l))).
Proof. by move=> s i j; rewrite mxE s; congr (_ / _); apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_softmax1 n m (S : 'M[R]_(n, m)) f : opens S f ->
  opens (softmax1 e S) (fun i j => e (f i j) / (1 + sumto m (fun l => e (f i l)))).
Proof. by move=> s i j; rewrite mxE s; congr (_ / (1 + _)); apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_softmax1_oo n m (S : 'M[score R]_(n, m)) f : opens S f ->
  opens (softmax1_oo e S) (fun i j => exo e (f i j) / (1 + sumto m (fun l => exo e (f i l)))).
Proof. by move=> s i j; rewrite mxE s; congr (_ / (1 + _)); apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_rowratio n m (A : 'M[R]_(n, m)) f : opens A f ->
  opens (rowratio A) (fun i j => f i j / sumto m (fun l => f i l)).
Proof. by move=> s i j; rewrite mxE s; congr (_ / _); apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_rowsum n m (A : 'M[R]_(n, m)) f : opens A f ->
  opens (rowsum A) (fun i _ => sumto m (fun l => f i l)).
Proof. by move=> s i j; rewrite mxE; apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_colsum n m (A : 'M[R]_(n, m)) f : opens A f ->
  opens (colsum A) (fun _ j => sumto n (fun l => f l j)).
Proof. by move=> s i j; rewrite mxE; apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_rowmax n m (A : 'M[R]_(n, m)) f : opens A f ->
  opens (rowmax A) (fun i _ => largest m (fun l => f i l)).
Proof.
move=> s i j; rewrite mxE; apply: largest_eq => l p.
by rewrite -[l]/(val (Ordinal p)) -entE s.
Qed.
Lemma opens_had n m (A B : 'M[R]_(n, m)) f g :
  opens A f -> opens B g -> opens (had A B) (fun i j => f i j * g i j).
Proof. by move=> a b i j; rewrite mxE a b. Qed.
Lemma opens_hquot n m (A B : 'M[R]_(n, m)) f g :
  opens A f -> opens B g -> opens (hquot A B) (fun i j => f i j / g i j).
Proof. by move=> a b i j; rewrite mxE a b. Qed.
Lemma opens_divmx n m (A : 'M[R]_(n, m)) f c : opens A f -> opens (divmx A c) (fun i j => f i j / c).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma opens_rowquot n m (A : 'M[R]_(n, m)) (r : 'cV_n) f g :
  opens A f -> opens r g -> opens (rowquot A r) (fun i j => f i j / g i 0%N).
Proof. by move=> a b i j; rewrite mxE a b. Qed.
Lemma opens_colquot n m (A : 'M[R]_(n, m)) (c : 'rV_m) f g :
  opens A f -> opens c g -> opens (colquot A c) (fun i j => f i j / g 0%N j).
Proof. by move=> a b i j; rewrite mxE a b. Qed.
Lemma opens_softcap n m (A : 'M[R]_(n, m)) f c :
  opens A f -> opens (softcap e A c) (fun i j => c * tanh e (f i j / c)).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma opens_minus_dist2 n m k (Q : 'M[R]_(n, k)) (K : 'M[R]_(m, k)) f g :
  opens Q f -> opens K g ->
  opens (minus_dist2 Q K) (fun i j => (-1) * sumto k (fun l => (f i l + (-1) * g j l) ^+ 2)).
Proof.
move=> a b i j; rewrite mxE; congr (_ * _); apply: eq_bigr => l _.
by rewrite a b.
Qed.
Lemma opens_masked n m (S : 'M[R]_(n, m)) (M : 'M[score R]_(n, m)) f g :
  opens S f -> opens M g -> opens (masked S M) (fun i j => add_oo (Some (f i j)) (g i j)).
Proof. by move=> a b i j; rewrite mxE a b. Qed.
Lemma opens_causal n m k :
  opens (causal R n m k) (fun i j => if (j <= i + k)%N then Some 0 else None).
Proof. by move=> i j; rewrite mxE. Qed.
Lemma opens_causal0 n m : opens (causal R n m 0) (fun i j => if (j <= i)%N then Some 0 else None).
Proof. by move=> i j; rewrite mxE addn0. Qed.
Lemma opens_padding n m k :
  opens (padding R n m k) (fun i j => if (j < k)%N then Some 0 else None).
Proof. by move=> i j; rewrite mxE. Qed.
Lemma opens_diag n (v : 'rV[R]_n) f :
  opens v f -> opens (diag_mx v) (fun i j => if (j == i)%N then f 0%N j else 0).
Proof. by move=> a i j; rewrite mxE a eq_sym -val_eqE /=; case: eqP => [->|]. Qed.
Lemma opens_diag_tr n (v : 'cV[R]_n) f :
  opens v f -> opens (diag_mx v^T) (fun i j => if (j == i)%N then f i 0%N else 0).
Proof. by move=> a i j; rewrite !mxE a eq_sym -val_eqE; case: (_ == _)%N. Qed.
End Opens.
Section OpensHeads.
Variable R : realFieldType.
Implicit Types (n d h N : nat).
Lemma opens_beside n d N (O : nat -> 'M[R]_(n, d)) f : (0 < d)%N -> (forall k, opens (O k) (f k)) ->
  opens (beside N O) (fun i j => f (j %/ d)%N i (j %% d)%N).
Proof. by move=> p o i j; rewrite mxE -[(j %% d)%N]/(val (Ordinal (ltn_pmod j p))) -entE o. Qed.
Lemma opens_stacked n d N (O : nat -> 'M[R]_(n, d)) f : (0 < n)%N -> (forall k, opens (O k) (f k)) ->
  opens (stacked N O) (fun i j => f (i %/ n)%N (i %% n)%N j).
Proof. by move=> p o i j; rewrite mxE -[(i %% n)%N]/(val (Ordinal (ltn_pmod i p))) -entE o. Qed.
Lemma opens_headsum n d h (O : nat -> 'M[R]_(n, d)) f : (forall k, opens (O k) (f k)) ->
  opens (headsum h O) (fun i j => sumto h (fun k => f k i j)).
Proof. by move=> o i j; rewrite summxE; apply: eq_bigr => k _; rewrite o. Qed.
Lemma opens_head_rows n N d (W : 'M[R]_(N, d)) k :
  opens (head_rows n W k) (fun i j => ent W (k * n + i)%N j).
Proof. by move=> i j; rewrite mxE. Qed.
Lemma head_rowsE n N d (W : 'M[R]_(N, d)) k i j : (i < n)%N -> (j < d)%N ->
  ent (head_rows n W k) i j = ent W (k * n + i)%N j.
Proof.
move=> p q; rewrite -[i in LHS]/(val (Ordinal p)) -[j in LHS]/(val (Ordinal q)) -entE mxE.
by [].
Qed.
(* head k is block k *)
Lemma beside_block n d h (O : nat -> 'M[R]_(n, d)) k i j : (k < h)%N -> (i < n)%N -> (j < d)%N ->
  ent (beside (h * d) O) i (k * d + j)%N = ent (O k) i j.
Proof.
move=> kh ni dj; have p : (0 < d)%N by apply: leq_ltn_trans dj.
have q : (k * d + j < h * d)%N by rewrite -ltn_divLR // divnMDl // divn_small // addn0.
rewrite -[i]/(val (Ordinal ni)) -[(k * d + j)%N]/(val (Ordinal q)) -entE mxE /=.
by rewrite divnMDl // divn_small // addn0 modnMDl modn_small.
Qed.
End OpensHeads.
Section OpensTokens.
Variable R : realFieldType.
Implicit Types (n m t c : nat).
Lemma opens_token n m (A : 'M[R]_(n, m)) f t :
  (t < n)%N -> opens A f -> opens (token A t) (fun _ j => f t j).
Proof. by move=> p a i j; rewrite mxE -[t in LHS]/(val (Ordinal p)) -entE a. Qed.
Lemma opens_tokens n m (O : nat -> 'rV[R]_m) f : (forall t, (t < n)%N -> opens (O t) (f t)) ->
  opens (tokens n O) (fun i j => f i 0%N j).
Proof. by move=> o i j; rewrite mxE o. Qed.
Lemma opens_all_columns n m (r : 'cV[R]_n) f :
  opens r f -> opens (all_columns m r) (fun i _ => f i 0%N).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma opens_all_rows n m (c : 'rV[R]_m) f : opens c f -> opens (all_rows n c) (fun _ j => f 0%N j).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma opens_everywhere n m (c : 'M[R]_1) f :
  opens c f -> opens (everywhere n m c) (fun _ _ => f 0%N 0%N).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma opens_number_times n m (c : 'M[R]_1) (A : 'M[R]_(n, m)) f g :
  opens c f -> opens A g -> opens (number_times c A) (fun i j => f 0%N 0%N * g i j).
Proof. by move=> c' a i j; rewrite mxE c' a. Qed.
Lemma opens_where_placed n m test (A B : 'M[R]_(n, m)) f g : opens A f -> opens B g ->
  opens (where_placed test A B) (fun i j => if test i j then f i j else g i j).
Proof. by move=> a b i j; rewrite mxE a b. Qed.
(* the entries of the states of a recurrence *)
Lemma entries_recur n m (S : nat -> 'M[R]_(n, m)) start F f g c : recurs S start F ->
  (forall t, (t < c)%N -> opens (F t start) (f t)) ->
  (forall t, (t < c)%N -> opens (F t (S (t - 1)%N)) (g t)) ->
  forall t, (t < c)%N -> forall i, (i < n)%N -> forall j, (j < m)%N ->
  ent (S t) i j = if (t == 0)%N then f t i j else g t i j.
Proof.
move=> H a b t lt i p j q; rewrite -[i]/(val (Ordinal p)) -[j]/(val (Ordinal q)) -entE H.
by case: t lt => [|t] lt; [exact: a | have := b t.+1 lt; rewrite subn1 /= => ->].
Qed.
End OpensTokens.
(* what is so for a token if it is so for those before it *)
Lemma by_induction (P : nat -> Prop) c :
  (forall t, (t < c)%N -> (forall u, (u < t)%N -> P u) -> P t) -> forall t, (t < c)%N -> P t.
Proof.
move=> next t; elim/ltn_ind: t => t IH lt; apply: next => // u p.
exact: IH (ltn_trans p lt).
Qed.
Lemma opens_unit_rows (R : rcfType) n m (A : 'M[R : realFieldType]_(n, m)) f : opens A f ->
  opens (unit_rows A) (fun i j => f i j / Num.sqrt (sumto m (fun l => f i l ^+ 2))).
Proof.
move=> a i j; rewrite mxE a; congr (_ / Num.sqrt _); apply: eq_bigr => l _.
by rewrite a.
Qed.
Lemma opens_lengths (R : rcfType) n m (A : 'M[R : realFieldType]_(n, m)) f : opens A f ->
  opens (lengths A) (fun i _ => Num.sqrt (sumto m (fun l => f i l ^+ 2))).
Proof. by move=> a i j; rewrite mxE; congr Num.sqrt; apply: eq_bigr => l _; rewrite a. Qed.
Arguments entries_of {R n m A B f g a b}.
Arguments neq0_of {R n m A f}.
Arguments positive_of {R n m A f}.
Arguments nonnegative_of {R n m A f}.
Arguments product_one {R n k A B f g a b}.
#[export] Hint Opaque mulmx invmx const_mx map_mx trmx row_mx col_mx scalar_mx perm_mx GRing.add
  GRing.zero
  GRing.scale softmax softmax_oo softmax1 softmax1_oo rowratio rowsum colsum rowmax had hquot divmx rowquot colquot softcap
  masked causal padding diag_mx minus_dist2 lengths unit_rows beside stacked headsum head_rows
  token tokens all_columns all_rows everywhere number_times where_placed
  : typeclass_instances.
#[export] Hint Extern 0 (opens (?O ?k) _) => is_var O; exact (opens_letter (O k))
  : typeclass_instances.
#[export] Hint Extern 1 (opens (beside _ _) _) =>
  (eapply opens_beside; [assumption | intro; cbv beta]) : typeclass_instances.
#[export] Hint Extern 1 (opens (stacked _ _) _) =>
  (eapply opens_stacked; [assumption | intro; cbv beta]) : typeclass_instances.
#[export] Hint Extern 1 (opens (headsum _ _) _) =>
  (eapply opens_headsum; intro; cbv beta) : typeclass_instances.
#[export] Existing Instance opens_head_rows | 1.
#[export] Hint Extern 1 (opens (token _ _) _) =>
  (eapply opens_token; [lia |]) : typeclass_instances.
#[export] Hint Extern 1 (opens (tokens _ _) _) =>
  (eapply opens_tokens; intros ? ?; cbv beta) : typeclass_instances.
#[export] Hint Extern 0 (opens ?A _) => is_var A; exact (opens_letter A) : typeclass_instances.
#[export] Hint Extern 0 (opens (invmx ?A) _) => exact (opens_letter (invmx A)) : typeclass_instances.
#[export] Existing Instance opens_mul1 | 1.
#[export] Existing Instance opens_causal0 | 1.
#[export] Existing Instance opens_diag_tr | 1.
#[export] Existing Instances opens_tr opens_add opens_scale opens_one opens_const opens_zero
  opens_perm opens_map opens_row opens_col opens_softmax opens_softmax_oo opens_softmax1
  opens_softmax1_oo opens_rowratio opens_rowmax opens_rowsum opens_colsum opens_had opens_hquot opens_divmx opens_rowquot
  opens_colquot opens_softcap opens_masked opens_causal opens_padding opens_diag
  opens_minus_dist2 opens_lengths opens_unit_rows opens_all_columns opens_all_rows
  opens_everywhere opens_number_times opens_where_placed | 2.
#[export] Existing Instance opens_mul | 3.

(* ---- the rules of the checker ---- *)

Section Rules.
Variables (R : realFieldType).
Implicit Types (n m c d v : nat) (f g : nat -> R).
Lemma sumto_eq n f g : (forall l, (l < n)%N -> f l = g l) -> sumto n f = sumto n g.
Proof. by move=> E; apply: eq_bigr => l _; exact: E. Qed.
(* range *)
Lemma sumto_rest (F : nat -> R) n d (p q : nat -> nat) : n = d ->
  (forall l, (l < d)%N -> q l = p l) -> sumto n (fun l => F (p l)) = sumto d (fun l => F (q l)).
Proof. by move=> -> E; apply: sumto_eq => l /E ->. Qed.
Lemma sumto_cut (F : nat -> R) n c (p q : nat -> nat) x : (c <= n)%N ->
  (forall l, (l < c)%N -> q l = p l) -> sumto (n - c) (fun l => F (p (c + l)%N)) = x ->
  sumto n (fun l => F (p l)) = sumto c (fun l => F (q l)) + x.
Proof.
move=> p_n E <-; rewrite -{1}(subnKC p_n) /sumto big_split_ord /=; congr (_ + _).
by apply: eq_bigr => l _; rewrite E.
Qed.
Lemma sumto_one (x : R) : sumto 1 (fun _ => x) = x.
Proof. by rewrite /sumto big_ord1. Qed.
Lemma sumto_blocks n b w f (g : nat -> nat -> R) : n = (b * w)%N ->
  (forall k l, (k < b)%N -> (l < w)%N -> f (k * w + l)%N = g k l) ->
  sumto n f = sumto b (fun k => sumto w (fun l => g k l)).
Proof.
move=> -> E; transitivity (sumto b (fun k => sumto w (fun l => f (k * w + l)%N))); last first.
  by apply: sumto_eq => k p; apply: sumto_eq => l q; exact: E.
rewrite /sumto; elim: b {E} => [|b IH]; first by rewrite mul0n !big_ord0.
rewrite big_ord_recr /= -IH mulSnr big_split_ord /=; congr (_ + _).
Qed.
Lemma block_of n b w i : n = (b * w)%N -> (i < n)%N ->
  exists2 k, (k < b)%N & exists2 l, (l < w)%N & i = (k * w + l)%N.
Proof.
move=> -> p; have q : (0 < w)%N by case: w p => //; rewrite muln0.
by exists (i %/ w)%N; rewrite ?ltn_divLR //; exists (i %% w)%N; rewrite ?ltn_pmod // -divn_eq.
Qed.
Lemma block_quotient k w l : (l < w)%N -> ((k * w + l) %/ w)%N = k.
Proof. by move=> p; rewrite divnMDl ?divn_small ?addn0 // (leq_ltn_trans _ p). Qed.
Lemma block_rest k w l : (l < w)%N -> ((k * w + l) %% w)%N = l.
Proof. by move=> p; rewrite modnMDl modn_small. Qed.
Lemma below_or n c : (n < c)%N \/ (c <= n)%N.
Proof. by case: (ltnP n c) => _; [left | right]. Qed.
(* separate *)
Lemma sumto_pull n (c : R) f g : (forall l, (l < n)%N -> f l = c * g l) -> sumto n f = c * sumto n g.
Proof. by move=> E; rewrite /sumto mulr_sumr; apply: eq_bigr => l _; exact: E. Qed.
Lemma sumto_add n f g : sumto n (fun l => f l + g l) = sumto n f + sumto n g.
Proof. exact: big_split. Qed.
Lemma sumto_swap n m (f : nat -> nat -> R) :
  sumto n (fun a => sumto m (fun b => f a b)) = sumto m (fun b => sumto n (fun a => f a b)).
Proof. exact: exchange_big. Qed.
(* delta *)
Lemma sumto_delta n v f g : (v < n)%N ->
  (forall l, (l < n)%N -> f l = ((l == v)%N)%:R * g l) -> sumto n f = g v.
Proof.
move=> p E; rewrite /sumto (bigD1 (Ordinal p)) //= E // eqxx mul1r big1 ?addr0 // => l /negbTE nk.
by rewrite E // (_ : (l == v :> nat) = false) ?mul0r // -nk -val_eqE.
Qed.
Lemma sumto_zero n f : (forall l, (l < n)%N -> f l = 0) -> sumto n f = 0.
Proof. by move=> E; rewrite /sumto big1 // => l _; exact: E. Qed.
(* count *)
Lemma sumto_const n (c : R) : sumto n (fun _ => c) = n%:R * c.
Proof. by rewrite /sumto sumr_const card_ord mulr_natl. Qed.
(* permute *)
Lemma sumto_perm n (s : 'S_n) f : sumto n f = sumto n (fun l => f (permn s l)).
Proof.
rewrite /sumto (reindex_inj (@perm_inj _ s)) /=; apply: eq_bigr => l _.
by rewrite permnE.
Qed.
(* meet *)
Lemma delta_meet (b : bool) (x y : R) : (b -> x = y) -> b%:R * x = b%:R * y.
Proof. by case: b => [->|]; rewrite ?mul0r. Qed.
(* conditions *)
Lemma if_true (T : Type) (b : bool) (x y z : T) : b -> x = z -> (if b then x else y) = z.
Proof. by move=> ->. Qed.
Lemma if_false (T : Type) (b : bool) (x y z : T) : ~~ b -> y = z -> (if b then x else y) = z.
Proof. by move=> /negbTE ->. Qed.
Lemma condition_true (b : bool) : b -> b%:R = 1 :> R. Proof. by move=> ->. Qed.
Lemma condition_false (b : bool) : ~~ b -> b%:R = 0 :> R. Proof. by move=> /negbTE ->. Qed.
Lemma condition_eq (b c : bool) : b = c -> b%:R = c%:R :> R. Proof. by move=> ->. Qed.
Lemma condition_square (b : bool) : b%:R ^+ 2 = b%:R :> R.
Proof. by case: b; rewrite ?expr1n ?expr0n. Qed.
Lemma if_either (b : bool) (x y : R) : (if b then x else y) = b%:R * x + (1 - b%:R) * y.
Proof. by case: b; rewrite ?mul1r ?subrr ?mul0r ?addr0 ?subr0 ?add0r ?mul1r. Qed.
Lemma nat_eq (i j : nat) : i = j -> i%:R = j%:R :> R. Proof. by move->. Qed.
(* signs *)
Lemma sumto_gt0 n f : (0 < n)%N -> (forall l, (l < n)%N -> 0 < f l) -> 0 < sumto n f.
Proof.
case: n => // n _ p; rewrite /sumto big_ord_recl /=; apply: ltr_paddr; last exact: p.
by apply: sumr_ge0 => l _; apply/ltW/p; rewrite /bump /= add1n ltnS.
Qed.
Lemma sumto_ge0 n f : (forall l, (l < n)%N -> 0 <= f l) -> 0 <= sumto n f.
Proof. by move=> p; apply: sumr_ge0 => l _; exact: p. Qed.
(* from what is not 0 to its factors; a root that is not 0 is of a positive number *)
Lemma gt0_of (x : R) : 0 <= x -> x != 0 -> 0 < x.
Proof. by rewrite lt0r => -> ->. Qed.
Lemma nat_gt0 n : (0 < n)%N -> 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.
End Rules.

(* roots *)
Lemma sqrt_of (R : rcfType) (x y : R) : 0 <= x -> x ^+ 2 = y -> Num.sqrt y = x.
Proof. by move=> p <-; rewrite sqrtr_sqr ger0_norm. Qed.
Lemma root_gt0 (R : rcfType) (x : R) : Num.sqrt x != 0 -> 0 < x.
Proof. by apply: contraNT; rewrite -leNgt => /ler0_sqrtr ->. Qed.

(* absolute values *)
Section Absolute.
Variable R : realFieldType.
Implicit Types (x y : R).
Lemma abs_sqr x : `|x| ^+ 2 = x ^+ 2. Proof. by rewrite real_normK ?num_real. Qed.
Lemma abs_of x y : 0 <= y -> y ^+ 2 = x ^+ 2 -> `|x| = y.
Proof. by move=> p E; apply/eqP; rewrite -(@eqr_expn2 _ 2) // abs_sqr E. Qed.
Lemma max0E x : Num.max 0 x = (x + `|x|) / 2%:R.
Proof.
have two : 2%:R != 0 :> R by rewrite pnatr_eq0.
case: (lerP 0 x) => p; first by rewrite ger0_norm //; field.
by rewrite ltr0_norm // subrr mul0r.
Qed.
(* |x| + x and |x| − x, times a number, are not negative *)
Lemma abs_ge0 x : 0 <= x + `|x|.
Proof. by rewrite -[x in x + _]opprK addrC subr_ge0 -normrN ler_norm. Qed.
Lemma absN_ge0 x : 0 <= - x + `|x|. Proof. by rewrite addrC subr_ge0 ler_norm. Qed.
Lemma abs_times_ge0 c x : 0 <= c -> 0 <= c * x + c * `|x|.
Proof. by move=> p; rewrite -mulrDr mulr_ge0 ?abs_ge0. Qed.
Lemma absN_times_ge0 c x : 0 <= c -> 0 <= - (c * x) + c * `|x|.
Proof. by move=> p; rewrite -mulrN -mulrDr mulr_ge0 ?absN_ge0. Qed.
End Absolute.

(* ---- inequalities ---- *)

(* A ≤ B, and c ≤ A ≤ d, entry by entry *)
Definition le_mx (R : realFieldType) n m (A B : 'M[R]_(n, m)) := forall i j, A i j <= B i j.
Definition ge_all (R : realFieldType) n m (c : R) (A : 'M[R]_(n, m)) := forall i j, c <= A i j.
Definition le_all (R : realFieldType) n m (A : 'M[R]_(n, m)) (c : R) := forall i j, A i j <= c.
(* All that inequalities use of e^x besides: it is above its tangent at 0. *)
Definition above_tangent (R : realFieldType) (e : exponential R) := forall x, 1 + x <= e x.
(* `constant A c`: all entries of A are c *)
Class constant (R : realFieldType) n m (A : 'M[R]_(n, m)) (c : R) : Prop :=
  constantE : forall i j, A i j = c.


Lemma le_of_diff (R : realFieldType) (x y d : R) : 0 <= d -> y - x = d -> x <= y.
Proof. by move=> p E; rewrite -subr_ge0 E. Qed.

Section Above.
Variables (R : realFieldType) (e : exponential R) (grows : above_tangent e).
Implicit Types (x y : R).
Lemma ex_mono x y : x <= y -> e x <= e y.
Proof.
move=> le; rewrite -[y](subrK x) exD ler_pmull ?ex_gt0 //.
by apply: le_trans (grows _); rewrite ler_addl subr_ge0.
Qed.
Lemma largest_ex n f : (0 < n)%N -> largest n (fun l => e (f l)) = e (largest n f).
Proof. by move=> p; apply: largest_rising => // x y; exact: ex_mono. Qed.
Lemma ex_line x : x + 1 <= e x. Proof. by rewrite addrC. Qed.
Lemma ex_lineN x : -1 * x + 1 <= e (-1 * x). Proof. exact: ex_line. Qed.
Lemma ln_mono (ln : logarithm e) x y : 0 < x -> x <= y -> ln x <= ln y.
Proof.
move=> p le; case: (leP (ln x) (ln y)) => // lt.
have q : 0 < y by exact: lt_le_trans le.
have := ex_mono (ltW lt); rewrite !lgK // => ge.
by move: lt; rewrite (_ : x = y) ?ltxx //; apply/eqP; rewrite eq_le le ge.
Qed.
Lemma ln_nat_ge0 (ln : logarithm e) n : (0 < n)%N -> 0 <= ln n%:R.
Proof.
by move=> p; rewrite -[X in X <= _](exK ln) ex0; apply: ln_mono; rewrite ?ltr01 // ler1n.
Qed.
Lemma ln_below (ln : logarithm e) x : 0 < x -> ln x <= x - 1.
Proof. by move=> p; rewrite ler_subr_addl -[in X in _ <= X](lgK ln p); exact: grows. Qed.
Lemma sigmoidE x : sigmoid e x = 1 - (1 + e x)^-1.
Proof.
have p : 1 + e x != 0 by apply/lt0r_neq0/addr_gt0; rewrite ?ltr01 ?ex_gt0.
by rewrite /sigmoid; field.
Qed.
Lemma sigmoid_mono x y : x <= y -> sigmoid e x <= sigmoid e y.
Proof.
move=> le; rewrite !sigmoidE ler_add2l ler_opp2 lef_pinv ?posrE ?addr_gt0 ?ltr01 ?ex_gt0 //.
by rewrite ler_add2l ex_mono.
Qed.
Lemma tanh_mono x y : x <= y -> tanh e x <= tanh e y.
Proof.
move=> le; rewrite !tanhE ler_add2r ler_wpmul2l ?ler0n // sigmoid_mono // ler_wpmul2l ?ler0n //.
Qed.
End Above.

Section Bounds.
Variables (R : realFieldType) (e : exponential R) (t : circle R).
Implicit Types (x y : R).
Lemma sigmoid_gt0 x : 0 < sigmoid e x.
Proof. by rewrite divr_gt0 ?addr_gt0 ?ltr01 // ex_gt0. Qed.
Lemma sigmoid_ge0 x : 0 <= sigmoid e x.
Proof. by rewrite divr_ge0 ?addr_ge0 ?ler01 // ltW // ex_gt0. Qed.
Lemma sigmoid_le1 x : sigmoid e x <= 1.
Proof.
have p : 0 < 1 + e x by rewrite addr_gt0 ?ltr01 ?ex_gt0.
by rewrite ler_pdivr_mulr // mul1r ler_addr ler01.
Qed.
Lemma tanh_ge x : -1 <= tanh e x.
Proof. by rewrite tanhE -subr_ge0 opprK subrK mulr_ge0 ?ler0n ?sigmoid_ge0. Qed.
Lemma tanh_le1 x : tanh e x <= 1.
Proof.
rewrite tanhE ler_subl_addr (_ : 1 + 1 = 2%:R * 1); last by rewrite mulr1.
by rewrite ler_wpmul2l ?sigmoid_le1 ?ler0n.
Qed.
Lemma cosine_sqr_le1 x : cosine t x ^+ 2 <= 1.
Proof. by rewrite -subr_ge0 -sine_sqr sqr_ge0. Qed.
Lemma sine_sqr_le1 x : sine t x ^+ 2 <= 1.
Proof. by rewrite sine_sqr ler_subl_addl ler_addr sqr_ge0. Qed.
Lemma sqr_le1 x : x ^+ 2 <= 1 -> -1 <= x <= 1.
Proof. by rewrite -ler_norml -real_normK ?num_real // expr_le1. Qed.
Lemma cosine_ge x : -1 <= cosine t x. Proof. by have /sqr_le1/andP[] := cosine_sqr_le1 x. Qed.
Lemma cosine_le1 x : cosine t x <= 1. Proof. by have /sqr_le1/andP[] := cosine_sqr_le1 x. Qed.
Lemma sine_ge x : -1 <= sine t x. Proof. by have /sqr_le1/andP[] := sine_sqr_le1 x. Qed.
Lemma sine_le1 x : sine t x <= 1. Proof. by have /sqr_le1/andP[] := sine_sqr_le1 x. Qed.
Lemma max0_ge0 x : 0 <= Num.max 0 x. Proof. by rewrite le_maxr lexx. Qed.
Lemma max0_ge x : x <= Num.max 0 x. Proof. by rewrite le_maxr lexx orbT. Qed.
Lemma max0_mono x y : x <= y -> Num.max 0 x <= Num.max 0 y.
Proof. by move=> le; rewrite le_maxl !le_maxr lexx le orbT. Qed.
Lemma norm_ge x : x <= `|x|. Proof. exact: ler_norm. Qed.
Lemma norm_geNN x : x <= `|-1 * x|. Proof. by rewrite mulN1r normrN ler_norm. Qed.
Lemma norm_geN x : -1 * x <= `|x|. Proof. by rewrite mulN1r -normrN ler_norm. Qed.
Lemma norm_ge_over x c : -1 * x / c <= `|x / c|.
Proof. by rewrite mulN1r mulNr -normrN ler_norm. Qed.
Lemma norm_geN_over x c : x / c <= `|-1 * x / c|.
Proof. by rewrite mulN1r mulNr normrN ler_norm. Qed.
(* shares of a sum of what is ≥ 0 *)
Lemma ex_ge0 x : 0 <= e x. Proof. by rewrite ltW // ex_gt0. Qed.
Lemma exo_ge0 (z : score R) : 0 <= exo e z.
Proof. by case: z => [x|] //=; rewrite ltW // ex_gt0. Qed.
Lemma share_le1 n (f : 'I_n -> R) j : (forall l, 0 <= f l) -> f j / (\sum_l f l) <= 1.
Proof.
move=> p; have q : 0 <= \sum_l f l by apply: sumr_ge0 => l _.
have le : f j <= \sum_l f l.
  by rewrite (bigD1 j) //= ler_addl; apply: sumr_ge0 => l _.
case: (eqVneq (\sum_l f l) 0) => [->|ne]; first by rewrite invr0 mulr0 ler01.
by rewrite ler_pdivr_mulr ?mul1r // lt0r ne.
Qed.
Lemma shares_le1 n (f : 'I_n -> R) : \sum_j (f j / (\sum_l f l)) <= 1.
Proof.
rewrite -mulr_suml; case: (eqVneq (\sum_l f l) 0) => [->|ne]; first by rewrite mul0r ler01.
by rewrite mulfV.
Qed.
End Bounds.
Lemma sqrt_mono (R : rcfType) (x y : R) : x <= y -> Num.sqrt x <= Num.sqrt y.
Proof. exact: ler_wsqrtr. Qed.

(* all entries of a matrix that has one value *)
Section Constant.
Variable R : realFieldType.
Implicit Types (n m : nat) (c d : R).
Lemma constant_zero n m : constant (0 : 'M[R]_(n, m)) 0. Proof. by move=> i j; rewrite mxE. Qed.
Lemma constant_const n m c : constant (const_mx c : 'M[R]_(n, m)) c.
Proof. by move=> i j; rewrite mxE. Qed.
Lemma constant_scale n m (A : 'M[R]_(n, m)) c d : constant A d -> constant (c *: A) (c * d).
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma constant_tr n m (A : 'M[R]_(n, m)) c : constant A c -> constant A^T c.
Proof. by move=> a i j; rewrite mxE a. Qed.
Lemma constant_rowsum n m (A : 'M[R]_(n, m)) : constant A 0 -> constant (rowsum A) 0.
Proof. by move=> a i j; rewrite mxE big1 // => l _; rewrite a. Qed.
Lemma constant_colsum n m (A : 'M[R]_(n, m)) : constant A 0 -> constant (colsum A) 0.
Proof. by move=> a i j; rewrite mxE big1 // => l _; rewrite a. Qed.
Lemma ge_of n m (Z A : 'M[R]_(n, m)) c d : constant Z d -> d = c -> le_mx Z A -> ge_all c A.
Proof. by move=> z <- le i j; rewrite -(z i j). Qed.
Lemma le_of n m (A Z : 'M[R]_(n, m)) c d : constant Z d -> d = c -> le_mx A Z -> le_all A c.
Proof. by move=> z <- le i j; rewrite -(z i j). Qed.
Lemma of_ge n m (Z A : 'M[R]_(n, m)) c d : constant Z d -> ge_all c A -> d <= c -> le_mx Z A.
Proof. by move=> z ge le i j; rewrite z; apply: le_trans (ge i j). Qed.
Lemma of_le n m (A Z : 'M[R]_(n, m)) c d : constant Z d -> le_all A c -> c <= d -> le_mx A Z.
Proof. by move=> z ge le i j; rewrite z; apply: le_trans le. Qed.
Lemma constant_le n m (Z A : 'M[R]_(n, m)) c d : constant Z c -> constant A d -> c <= d -> le_mx Z A.
Proof. by move=> z a le i j; rewrite z a. Qed.
Lemma gt0_entries n m (A : 'M[R]_(n, m)) f : opens A f ->
  (forall i, (i < n)%N -> forall j, (j < m)%N -> 0 < f i j) -> forall i j, 0 < A i j.
Proof. by move=> a p i j; rewrite a p. Qed.
End Constant.
#[export] Existing Instances constant_zero constant_const constant_scale constant_tr
  constant_rowsum constant_colsum.

Section OfMatrices.
Variables (R : realFieldType) (e : exponential R).
Implicit Types (n m k : nat).
(* bounds *)
Lemma all_map T n m (f : T -> R) (A : 'M[T]_(n, m)) c : (forall x, c <= f x) -> ge_all c (map_mx f A).
Proof. by move=> p i j; rewrite mxE. Qed.
Lemma map_all T n m (f : T -> R) (A : 'M[T]_(n, m)) c : (forall x, f x <= c) -> le_all (map_mx f A) c.
Proof. by move=> p i j; rewrite mxE. Qed.
Lemma tr_ge n m (A : 'M[R]_(n, m)) c : ge_all c A -> ge_all c A^T.
Proof. by move=> p i j; rewrite mxE. Qed.
Lemma tr_le n m (A : 'M[R]_(n, m)) c : le_all A c -> le_all A^T c.
Proof. by move=> p i j; rewrite mxE. Qed.
Lemma softmax_ge0 n m (S : 'M[R]_(n, m)) : ge_all 0 (softmax e S).
Proof. by move=> i j; rewrite mxE divr_ge0 ?sumr_ge0 // => *; rewrite ltW // ex_gt0. Qed.
Lemma softmax_le1 n m (S : 'M[R]_(n, m)) : le_all (softmax e S) 1.
Proof. by move=> i j; rewrite mxE; apply: (share_le1 (f := fun l => e (S i l))) => l; rewrite ltW // ex_gt0. Qed.
Lemma softmax_oo_ge0 n m (S : 'M[score R]_(n, m)) : ge_all 0 (softmax_oo e S).
Proof. by move=> i j; rewrite mxE divr_ge0 ?sumr_ge0 // => *; rewrite exo_ge0. Qed.
Lemma softmax_oo_le1 n m (S : 'M[score R]_(n, m)) : le_all (softmax_oo e S) 1.
Proof. by move=> i j; rewrite mxE; apply: (share_le1 (f := fun l => exo e (S i l))) => l; exact: exo_ge0. Qed.
Lemma share1_le1 k (f : 'I_k -> R) j : (forall l, 0 <= f l) -> f j / (1 + \sum_l f l) <= 1.
Proof.
move=> p; rewrite ler_pdivr_mulr ?mul1r; last by rewrite ltr_paddr ?ltr01 // sumr_ge0.
by rewrite (bigD1 j) //= addrCA ler_addl addr_ge0 ?ler01 ?sumr_ge0.
Qed.
Lemma softmax1_ge0 n m (S : 'M[R]_(n, m)) : ge_all 0 (softmax1 e S).
Proof.
by move=> i j; rewrite mxE divr_ge0 ?addr_ge0 ?ler01 ?sumr_ge0 // => *; exact: ex_ge0.
Qed.
Lemma softmax1_le1 n m (S : 'M[R]_(n, m)) : le_all (softmax1 e S) 1.
Proof. by move=> i j; rewrite mxE; apply: (share1_le1 (f := fun l => e (S i l))) => l; exact: ex_ge0. Qed.
Lemma softmax1_oo_ge0 n m (S : 'M[score R]_(n, m)) : ge_all 0 (softmax1_oo e S).
Proof.
by move=> i j; rewrite mxE divr_ge0 ?addr_ge0 ?ler01 ?sumr_ge0 // => *; exact: exo_ge0.
Qed.
Lemma softmax1_oo_le1 n m (S : 'M[score R]_(n, m)) : le_all (softmax1_oo e S) 1.
Proof.
by move=> i j; rewrite mxE; apply: (share1_le1 (f := fun l => exo e (S i l))) => l; exact: exo_ge0.
Qed.
Lemma minus_dist2_le0 n m k (Q : 'M[R]_(n, k)) (K : 'M[R]_(m, k)) : le_all (minus_dist2 Q K) 0.
Proof. by move=> i j; rewrite mxE mulN1r oppr_le0 sumr_ge0 // => l _; exact: sqr_ge0. Qed.
Lemma softcap_ge n m (S : 'M[R]_(n, m)) c : 0 < c -> ge_all (- c) (softcap e S c).
Proof.
by move=> p i j; rewrite mxE; have := ler_wpmul2l (ltW p) (tanh_ge e (S i j / c)); rewrite mulrN1.
Qed.
Lemma softcap_le n m (S : 'M[R]_(n, m)) c : 0 < c -> le_all (softcap e S c) c.
Proof. by move=> p i j; rewrite mxE ger_pmulr // tanh_le1. Qed.
(* weights *)
Lemma softmax_sum n m (S : 'M[R]_(n, m)) : le_all (rowsum (softmax e S)) 1.
Proof.
move=> i j; rewrite mxE; apply: le_trans (shares_le1 (fun l => e (S i l))).
by rewrite (eq_bigr _ (fun l _ => mxE _ _ _ _)).
Qed.
Lemma softmax_oo_sum n m (S : 'M[score R]_(n, m)) : le_all (rowsum (softmax_oo e S)) 1.
Proof.
move=> i j; rewrite mxE; apply: le_trans (shares_le1 (fun l => exo e (S i l))).
by rewrite (eq_bigr _ (fun l _ => mxE _ _ _ _)).
Qed.
Lemma shares1_le1 k (f : 'I_k -> R) : (forall l, 0 <= f l) -> \sum_j (f j / (1 + \sum_l f l)) <= 1.
Proof.
move=> p; have q : 0 <= \sum_l f l by exact: sumr_ge0.
by rewrite -mulr_suml ler_pdivr_mulr ?mul1r ?ler_addr ?ler01 // ltr_paddr ?ltr01.
Qed.
Lemma softmax1_sum n m (S : 'M[R]_(n, m)) : le_all (rowsum (softmax1 e S)) 1.
Proof.
move=> i j; rewrite mxE (eq_bigr _ (fun l _ => mxE _ _ _ _)).
by apply: (shares1_le1 (f := fun l => e (S i l))) => l; exact: ex_ge0.
Qed.
Lemma softmax1_oo_sum n m (S : 'M[score R]_(n, m)) : le_all (rowsum (softmax1_oo e S)) 1.
Proof.
move=> i j; rewrite mxE (eq_bigr _ (fun l _ => mxE _ _ _ _)).
by apply: (shares1_le1 (f := fun l => exo e (S i l))) => l; exact: exo_ge0.
Qed.
Lemma sum_tr n m (A : 'M[R]_(n, m)) c : le_all (rowsum A) c -> le_all (colsum A^T) c.
Proof.
move=> le i j; apply: le_trans (le j 0); rewrite !mxE le_eqVlt; apply/orP; left.
by apply/eqP/eq_bigr => l _; rewrite mxE.
Qed.
(* signs *)
Lemma ge0_constant n m (A : 'M[R]_(n, m)) c : constant A c -> 0 <= c -> ge_all 0 A.
Proof. by move=> a p i j; rewrite a. Qed.
Lemma had_sqr n m (A : 'M[R]_(n, m)) : ge_all 0 (had A A).
Proof. by move=> i j; rewrite mxE -expr2 sqr_ge0. Qed.
Lemma add_ge0 n m (A B : 'M[R]_(n, m)) : ge_all 0 A -> ge_all 0 B -> ge_all 0 (A + B).
Proof. by move=> a b i j; rewrite mxE addr_ge0. Qed.
Lemma scale_ge0 n m (A : 'M[R]_(n, m)) c : 0 <= c -> ge_all 0 A -> ge_all 0 (c *: A).
Proof. by move=> p a i j; rewrite mxE mulr_ge0. Qed.
Lemma mul_ge0 n k m (A : 'M[R]_(n, k)) (B : 'M[R]_(k, m)) : ge_all 0 A -> ge_all 0 B -> ge_all 0 (A *m B).
Proof. by move=> a b i j; rewrite mxE sumr_ge0 // => l _; rewrite mulr_ge0. Qed.
Lemma had_ge0 n m (A B : 'M[R]_(n, m)) : ge_all 0 A -> ge_all 0 B -> ge_all 0 (had A B).
Proof. by move=> a b i j; rewrite mxE mulr_ge0. Qed.
Lemma hquot_ge0 n m (A B : 'M[R]_(n, m)) : ge_all 0 A -> ge_all 0 B -> ge_all 0 (hquot A B).
Proof. by move=> a b i j; rewrite mxE divr_ge0. Qed.
Lemma divmx_ge0 n m (A : 'M[R]_(n, m)) c : ge_all 0 A -> 0 <= c -> ge_all 0 (divmx A c).
Proof. by move=> a p i j; rewrite mxE divr_ge0. Qed.
Lemma rowquot_ge0 n m (A : 'M[R]_(n, m)) r : ge_all 0 A -> ge_all 0 r -> ge_all 0 (rowquot A r).
Proof. by move=> a b i j; rewrite mxE divr_ge0. Qed.
Lemma colquot_ge0 n m (A : 'M[R]_(n, m)) r : ge_all 0 A -> ge_all 0 r -> ge_all 0 (colquot A r).
Proof. by move=> a b i j; rewrite mxE divr_ge0. Qed.
Lemma rowratio_ge0 n m (A : 'M[R]_(n, m)) : ge_all 0 A -> ge_all 0 (rowratio A).
Proof. by move=> a i j; rewrite mxE divr_ge0 ?sumr_ge0. Qed.
Lemma rowsum_ge0 n m (A : 'M[R]_(n, m)) : ge_all 0 A -> ge_all 0 (rowsum A).
Proof. by move=> a i j; rewrite mxE sumr_ge0. Qed.
Lemma colsum_ge0 n m (A : 'M[R]_(n, m)) : ge_all 0 A -> ge_all 0 (colsum A).
Proof. by move=> a i j; rewrite mxE sumr_ge0. Qed.
Lemma rowmax_ge0 n m (A : 'M[R]_(n, m)) : ge_all 0 A -> ge_all 0 (rowmax A).
Proof.
move=> a i j; rewrite mxE largest_ge0 // => l p.
by rewrite -[l]/(val (Ordinal p)) -entE.
Qed.
(* product, monotone, terms *)
Lemma le_mx_refl n m (A : 'M[R]_(n, m)) : le_mx A A. Proof. by move=> i j. Qed.
Lemma add_mono n m (A B C D : 'M[R]_(n, m)) : le_mx A B -> le_mx C D -> le_mx (A + C) (B + D).
Proof. by move=> a b i j; rewrite !mxE ler_add. Qed.
Lemma scale_mono n m (A B : 'M[R]_(n, m)) c : 0 <= c -> le_mx A B -> le_mx (c *: A) (c *: B).
Proof. by move=> p le i j; rewrite !mxE ler_wpmul2l. Qed.
Lemma mul_right n k m (A : 'M[R]_(n, k)) (B C : 'M[R]_(k, m)) :
  ge_all 0 A -> le_mx B C -> le_mx (A *m B) (A *m C).
Proof. by move=> p le i j; rewrite !mxE ler_sum // => l _; rewrite ler_wpmul2l. Qed.
Lemma mul_left n k m (A B : 'M[R]_(n, k)) (C : 'M[R]_(k, m)) :
  ge_all 0 C -> le_mx A B -> le_mx (A *m C) (B *m C).
Proof. by move=> p le i j; rewrite !mxE ler_sum // => l _; rewrite ler_wpmul2r. Qed.
Lemma had_right n m (A B C : 'M[R]_(n, m)) : ge_all 0 A -> le_mx B C -> le_mx (had A B) (had A C).
Proof. by move=> p le i j; rewrite !mxE ler_wpmul2l. Qed.
Lemma had_left n m (A B C : 'M[R]_(n, m)) : ge_all 0 C -> le_mx A B -> le_mx (had A C) (had B C).
Proof. by move=> p le i j; rewrite !mxE ler_wpmul2r. Qed.
Lemma hquot_mono n m (A B C : 'M[R]_(n, m)) : ge_all 0 C -> le_mx A B -> le_mx (hquot A C) (hquot B C).
Proof. by move=> p le i j; rewrite !mxE ler_wpmul2r // invr_ge0. Qed.
Lemma divmx_mono n m (A B : 'M[R]_(n, m)) c : 0 <= c -> le_mx A B -> le_mx (divmx A c) (divmx B c).
Proof. by move=> p le i j; rewrite !mxE ler_wpmul2r // invr_ge0. Qed.
Lemma rowquot_mono n m (A B : 'M[R]_(n, m)) r :
  ge_all 0 r -> le_mx A B -> le_mx (rowquot A r) (rowquot B r).
Proof. by move=> p le i j; rewrite !mxE ler_wpmul2r // invr_ge0. Qed.
Lemma colquot_mono n m (A B : 'M[R]_(n, m)) r :
  ge_all 0 r -> le_mx A B -> le_mx (colquot A r) (colquot B r).
Proof. by move=> p le i j; rewrite !mxE ler_wpmul2r // invr_ge0. Qed.
Lemma tr_mono n m (A B : 'M[R]_(n, m)) : le_mx A B -> le_mx A^T B^T.
Proof. by move=> le i j; rewrite !mxE. Qed.
Lemma rowsum_mono n m (A B : 'M[R]_(n, m)) : le_mx A B -> le_mx (rowsum A) (rowsum B).
Proof. by move=> le i j; rewrite !mxE ler_sum. Qed.
Lemma colsum_mono n m (A B : 'M[R]_(n, m)) : le_mx A B -> le_mx (colsum A) (colsum B).
Proof. by move=> le i j; rewrite !mxE ler_sum. Qed.
Lemma rowmax_mono n m (A B : 'M[R]_(n, m)) : le_mx A B -> le_mx (rowmax A) (rowmax B).
Proof.
move=> le i j; rewrite !mxE largest_mono // => l p.
by rewrite -[l]/(val (Ordinal p)) -!entE.
Qed.
Lemma map_mono n m (f : R -> R) (A B : 'M[R]_(n, m)) :
  (forall x y, x <= y -> f x <= f y) -> le_mx A B -> le_mx (map_mx f A) (map_mx f B).
Proof. by move=> up le i j; rewrite !mxE up. Qed.
Lemma map_mono_gt0 n m (f : R -> R) (A B : 'M[R]_(n, m)) : (forall x y, 0 < x -> x <= y -> f x <= f y) ->
  (forall i j, 0 < A i j) -> le_mx A B -> le_mx (map_mx f A) (map_mx f B).
Proof. by move=> up p le i j; rewrite !mxE up. Qed.
Lemma softcap_mono n m (A B : 'M[R]_(n, m)) c : above_tangent e -> 0 < c -> le_mx A B ->
  le_mx (softcap e A c) (softcap e B c).
Proof.
move=> grows p le i j; rewrite !mxE; apply: ler_wpmul2l; first exact: ltW.
by apply: (tanh_mono grows); rewrite ler_wpmul2r // ltW // invr_gt0.
Qed.
(* largest, sum *)
Lemma largest_row n m (A : 'M[R]_(n, m)) : le_mx A (rowmax A *m const_mx 1).
Proof.
by move=> i j; rewrite mxE big_ord1 !mxE mulr1 entE; apply: largest_ge.
Qed.
Lemma largest_column n m (A : 'M[R]_(n, m)) : le_mx A (const_mx 1 *m (rowmax A^T)^T).
Proof.
move=> i j; rewrite mxE big_ord1 !mxE mul1r.
by have := @largest_ge R n (ent A^T j) i (ltn_ord i); rewrite -entE mxE.
Qed.
Lemma sum_row n m (A : 'M[R]_(n, m)) : ge_all 0 A -> le_mx A (rowsum A *m const_mx 1).
Proof.
move=> p i j; rewrite mxE big_ord1 !mxE mulr1 (bigD1 j) //= ler_addl sumr_ge0 //.
Qed.
Lemma sum_column n m (A : 'M[R]_(n, m)) : ge_all 0 A -> le_mx A (const_mx 1 *m colsum A).
Proof. by move=> p i j; rewrite mxE big_ord1 !mxE mul1r (bigD1 i) //= ler_addl sumr_ge0. Qed.
Lemma sum_rowmax n m (A : 'M[R]_(n, m)) : ge_all 0 A -> le_mx (rowmax A) (rowsum A).
Proof.
case: m A => [|m] A p i j; rewrite !mxE; first by rewrite sumr_ge0.
apply: largest_le => // l r; rewrite -[l]/(val (Ordinal r)) -entE.
by rewrite (bigD1 (Ordinal r)) //= ler_addl sumr_ge0.
Qed.
Lemma sum_colmax n m (A : 'M[R]_(n, m)) : ge_all 0 A -> le_mx (rowmax A^T)^T (colsum A).
Proof.
move=> p i j; rewrite mxE; apply: le_trans (sum_rowmax (tr_ge p) j i) _.
by rewrite !mxE; apply: ler_sum => l _; rewrite mxE.
Qed.
(* absolute value, line *)
Lemma norm_le n m (X Y Z : 'M[R]_(n, m)) : (forall i j, Z i j = - X i j) -> le_mx X Y -> le_mx Z Y ->
  le_mx (map_mx Num.norm X) Y.
Proof. by move=> E a b i j; rewrite mxE ler_norml a andbT ler_oppl -E b. Qed.
Lemma ln_line (ln : logarithm e) n m (A : 'M[R]_(n, m)) : above_tangent e ->
  (forall i j, 0 < A i j) -> le_mx (map_mx ln A) (A + (- 1) *: const_mx 1).
Proof. by move=> grows p i j; rewrite !mxE mulr1 ln_below. Qed.
(* combination *)
Lemma combination n m (L M A B : 'M[R]_(n, m)) c : 0 <= c -> le_mx A B ->
  le_mx (L + c *: B) (M + c *: A) -> le_mx L M.
Proof.
move=> p le E i j; rewrite -(ler_add2r (c * B i j)); have := E i j; rewrite !mxE => F.
by apply: le_trans F _; rewrite ler_add2l ler_wpmul2l.
Qed.
Lemma combination1 n m (L M A B : 'M[R]_(n, m)) : le_mx A B -> le_mx (L + B) (M + A) -> le_mx L M.
Proof. by move=> le E; apply: (combination (c := 1) ler01 le); rewrite !scale1r. Qed.
Lemma equal_le n m (L M : 'M[R]_(n, m)) : L = M -> le_mx L M.
Proof. by move=> -> i j. Qed.
End OfMatrices.
Section Numbers.
Variable R : realFieldType.
Implicit Types (x y z w c : R).
Lemma number_combination c x y z w : 0 <= c -> z <= w -> x + c * w <= y + c * z -> x <= y.
Proof.
move=> p le F; rewrite -(ler_add2r (c * w)); apply: le_trans F _.
by rewrite ler_add2l ler_wpmul2l.
Qed.
Lemma number_combination1 x y z w : z <= w -> x + w <= y + z -> x <= y.
Proof. by move=> le; rewrite -[w]mul1r -[z]mul1r; apply: number_combination; rewrite ?ler01 ?mul1r. Qed.
Lemma number_equal_le x y : x = y -> x <= y. Proof. by move->. Qed.
End Numbers.
(* Cauchy–Schwarz *)
Section CauchySchwarz.
Variable R : rcfType.
Lemma cauchy_sums n (f g : 'I_n -> R) :
  \sum_l f l * g l <= Num.sqrt (\sum_l f l ^+ 2) * Num.sqrt (\sum_l g l ^+ 2).
Proof.
have p (h : 'I_n -> R) : 0 <= \sum_l h l ^+ 2 by apply: sumr_ge0 => l _; exact: sqr_ge0.
set a := Num.sqrt (\sum_l f l ^+ 2); set b := Num.sqrt (\sum_l g l ^+ 2).
have a0 : 0 <= a by exact: sqrtr_ge0.
have b0 : 0 <= b by exact: sqrtr_ge0.
have ea : a ^+ 2 = \sum_l f l ^+ 2 by rewrite sqr_sqrtr.
have eb : b ^+ 2 = \sum_l g l ^+ 2 by rewrite sqr_sqrtr.
have zero (h : 'I_n -> R) c : c ^+ 2 = \sum_l h l ^+ 2 -> c = 0 -> forall l, h l = 0.
  move=> E z l; move/eqP: E; rewrite z expr0n /= eq_sym psumr_eq0 => [|k _]; last exact: sqr_ge0.
  by move=> /allP/(_ l (mem_index_enum l)) /=; rewrite sqrf_eq0 => /eqP.
case: (eqVneq a 0) => [za|na].
  by rewrite big1 ?mulr_ge0 // => l _; rewrite (zero f a ea za) mul0r.
case: (eqVneq b 0) => [zb|nb].
  by rewrite big1 ?mulr_ge0 // => l _; rewrite (zero g b eb zb) mulr0.
have ap : 0 < a by rewrite lt0r na. have bp : 0 < b by rewrite lt0r nb.
have le l : f l * g l <= (b / a / 2%:R) * f l ^+ 2 + (a / b / 2%:R) * g l ^+ 2.
  apply: (le_of_diff (d := (b * f l - a * g l) ^+ 2 / (2%:R * a * b))).
    by rewrite divr_ge0 ?sqr_ge0 // !mulr_ge0 ?ler0n.
  by field; rewrite na nb.
apply: le_trans (ler_sum _ (fun l _ => le l)) _; rewrite big_split /= -!mulr_sumr -ea -eb.
by apply: number_equal_le; field; rewrite na nb.
Qed.
Lemma cauchy n k m (A : 'M[R : realFieldType]_(n, k)) (B : 'M[R : realFieldType]_(k, m)) :
  le_mx (A *m B) (lengths A *m (lengths B^T)^T).
Proof.
move=> i j; rewrite !mxE big_ord1 !mxE.
have -> : \sum_(l < k) B^T j l ^+ 2 = \sum_(l < k) B l j ^+ 2.
  by apply: eq_bigr => l _; rewrite mxE.
exact: (cauchy_sums (fun l => A i l) (fun l => B l j)).
Qed.
Lemma cauchyN n k m (A : 'M[R : realFieldType]_(n, k)) (B : 'M[R : realFieldType]_(k, m)) :
  le_mx ((- 1) *: (A *m B)) (lengths A *m (lengths B^T)^T).
Proof.
move=> i j; have := cauchy (- A) B i j; rewrite mulNmx mxE => le; rewrite mxE mulN1r.
apply: le_trans le _; rewrite !mxE !big_ord1 !mxE.
by rewrite (eq_bigr _ (fun l _ => congr1 (fun x => x ^+ 2) (mxE _ _ _ _))) (eq_bigr _ (fun l _ => sqrrN _)).
Qed.
Lemma lengths_ge0 n m (A : 'M[R : realFieldType]_(n, m)) : ge_all 0 (lengths A).
Proof. by move=> i j; rewrite mxE sqrtr_ge0. Qed.
Lemma unit_rows_sqr_le1 n m (A : 'M[R : realFieldType]_(n, m)) i j : unit_rows A i j ^+ 2 <= 1.
Proof.
rewrite mxE expr_div_n sqr_sqrtr ?sumr_ge0 // => [|l _]; last exact: sqr_ge0.
by apply: (share_le1 (f := fun l => A i l ^+ 2)) => l; exact: sqr_ge0.
Qed.
Lemma unit_rows_ge n m (A : 'M[R : realFieldType]_(n, m)) : ge_all (- 1) (unit_rows A).
Proof. by move=> i j; have /sqr_le1/andP[] := unit_rows_sqr_le1 A i j. Qed.
Lemma unit_rows_le1 n m (A : 'M[R : realFieldType]_(n, m)) : le_all (unit_rows A) 1.
Proof. by move=> i j; have /sqr_le1/andP[] := unit_rows_sqr_le1 A i j. Qed.
End CauchySchwarz.

(* what a hypothesis says of these places *)
Ltac given := solve [auto | match goal with H : _ |- _ => apply: H; lia end].
(* 0 < x for what is made of positive numbers, which hypotheses say *)
Ltac pos := cbv beta;
  lazymatch goal with
  | |- is_true (0 < _ + _)%R => apply: addr_gt0; pos
  | |- is_true (0 < _ * _)%R => apply: mulr_gt0; pos
  | |- is_true (0 < _^-1)%R => rewrite invr_gt0; pos
  | |- is_true (0 < _ ^+ _)%R => apply: exprn_gt0; pos
  | |- is_true (0 < sumto _ _)%R =>
    first [solve [apply: sumto_gt0 => [|? ?]; [lia | pos]] | given]
  | |- is_true (0 < largest _ _)%R =>
    first [solve [apply: largest_gt0 => [|? ?]; [lia | pos]] | given]
  | |- is_true (0 < Num.sqrt _)%R => rewrite sqrtr_gt0; pos
  | |- is_true (0 < 1)%R => exact: ltr01
  | |- is_true (0 < exf _ _)%R => exact: ex_gt0
  | |- is_true (0 < sigmoid _ _)%R => exact: sigmoid_gt0
  | |- is_true (0 < _%:R)%R => apply: nat_gt0; lia
  | _ => given
  end.
(* 0 <= x for these, and for squares *)
Ltac nn := cbv beta;
  lazymatch goal with
  | |- is_true (0 <= _ + _)%R =>
    let signs := first
      [ apply: abs_ge0 | apply: absN_ge0
      | apply: abs_times_ge0; nn | apply: absN_times_ge0; nn ] in
    first [solve [apply: addr_ge0; nn] | solve [signs] | rewrite addrC; signs]
  | |- is_true (0 <= 1)%R => exact: ler01
  | |- is_true (0 <= ?x * ?x)%R => rewrite -expr2; apply: sqr_ge0
  | |- is_true (0 <= _ * _)%R => apply: mulr_ge0; nn
  | |- is_true (0 <= _^-1)%R => rewrite invr_ge0; nn
  | |- is_true (0 <= _ ^+ 2)%R => apply: sqr_ge0
  | |- is_true (0 <= _ ^+ _)%R => apply: exprn_ge0; nn
  | |- is_true (0 <= sumto _ _)%R => apply: sumto_ge0 => ? ?; nn
  | |- is_true (0 <= Num.sqrt _)%R => apply: sqrtr_ge0
  | |- is_true (0 <= `|_|)%R => apply: normr_ge0
  | |- is_true (0 <= _%:R)%R => apply: ler0n
  | |- is_true (0 <= lg _ _%:R)%R => apply: ln_nat_ge0; [assumption | lia]
  | _ => first [given | apply: ltW; pos]
  end.
(* x ≠ 0 for these, and for what is assumed *)
Ltac nz :=
  lazymatch goal with
  | |- is_true (_ && _) => apply/andP; split; nz
  | _ => first [done | assumption | solve [apply: lt0r_neq0; pos] | given
    | match goal with H : is_true (?y != 0) |- is_true (?x != 0) => (* x = -y *)
        solve [rewrite (_ : x = - y); [by rewrite oppr_eq0 | ring]] end]
  end.
(* roots of roots *)
Ltac roots := try rewrite -[4%N]/(2 * 2)%N exprM; rewrite ?sqr_sqrtr ?sqrtr_ge0 //;
  try solve [nn].
(* block and place of k w + l *)
Ltac blocks := cbv beta; rewrite ?(block_quotient, block_rest) //.
(* equal places, and conditions on them *)
Ltac places := cbv beta; rewrite ?addnK ?addKn ?permnK ?permnKV;
  first [by [] | lia | rewrite ?permn_lt //; lia].
Ltac conditions := cbv beta; rewrite ?addnK ?addKn;
  first [by [] | lia | rewrite ?permnK ?permnKV ?permn_eq ?invgK ?permnK ?permnKV; lia
  | rewrite eq_sym ?permnK ?permnKV ?permn_eq ?invgK ?permnK ?permnKV; lia].
(* what is the same but for how a size is written *)
Ltac sizes_of E := first
  [ match type of E with context [@sumto _ ?b _] => match goal with |- context [@sumto _ ?a _] =>
      assert_fails (constr_eq a b); replace a with b by lia end end
  | match type of E with context [(?b + ?d)%N] => match goal with |- context [(?a + ?c)%N] =>
      assert_fails (constr_eq (a + c)%N (b + d)%N); replace (a + c)%N with (b + d)%N by lia
      end end ].
Ltac same_sizes E := first [exact: E | do 12 try sizes_of E; exact: E].
(* what an assumed equation says of entries *)
Ltac known_entries H name :=
  lazymatch type of H with @eq _ ?A ?B =>
    let a := constr:(ltac:(typeclasses eauto) : opens A _) in
    let b := constr:(ltac:(typeclasses eauto) : opens B _) in
    pose proof (entries_of (a := a) (b := b) H) as name; cbv beta in name
  end.
(* what a recurrence says of entries *)
Ltac recurring_entries H c name :=
  lazymatch type of H with recurs ?S ?start ?F =>
    let first := constr:(ltac:(intros ? ?; cbv beta; typeclasses eauto) :
      forall t, (t < c)%N -> opens (F t start) _) in
    let next := constr:(ltac:(intros ? ?; cbv beta; typeclasses eauto) :
      forall t, (t < c)%N -> opens (F t (S (t - 1)%N)) _) in
    pose proof (entries_recur H first next) as name; cbv beta in name
  end.
(* that something is not 0, or positive, or not negative, of its entries *)
Ltac sign_entries H name :=
  let signed of_entries A :=
    let a := constr:(ltac:(typeclasses eauto) : opens A _) in
    pose proof (of_entries _ _ _ _ _ a H) as name; cbv beta in name in
  lazymatch type of H with
  | forall i j, is_true (fun_of_matrix ?A i j != 0) => signed uconstr:(@neq0_of) A
  | forall i j, is_true (@Order.lt _ _ _ (fun_of_matrix ?A i j)) => signed uconstr:(@positive_of) A
  | forall i j, is_true (@Order.le _ _ _ (fun_of_matrix ?A i j)) =>
    signed uconstr:(@nonnegative_of) A
  end.
(* that a product is I, of its entries *)
Ltac unit_entries H name :=
  lazymatch type of H with ?A *m ?B = _ =>
    let a := constr:(ltac:(typeclasses eauto) : opens A _) in
    let b := constr:(ltac:(typeclasses eauto) : opens B _) in
    pose proof (product_one (a := a) (b := b) H) as name; cbv beta in name
  end.
(* entry by entry *)
Ltac open_entries := eapply by_entries; [typeclasses eauto | typeclasses eauto | cbv beta].

(* all entries have this number at least, at most *)
Ltac low := first
  [ exact: softmax_ge0 | exact: softmax_oo_ge0 | exact: softmax1_ge0 | exact: softmax1_oo_ge0 | exact: lengths_ge0
  | exact: unit_rows_ge | apply: softcap_ge; pos | apply: tr_ge; low
  | apply: all_map; first [ exact: ex_ge0 | exact: exo_ge0 | exact: sigmoid_ge0 | exact: tanh_ge
    | exact: cosine_ge | exact: sine_ge | exact: sqrtr_ge0 | exact: max0_ge0 | exact: normr_ge0 ] ].
Ltac high := first
  [ exact: softmax_le1 | exact: softmax_oo_le1 | exact: softmax1_le1 | exact: softmax1_oo_le1 | exact: unit_rows_le1
  | exact: minus_dist2_le0 | apply: softcap_le; pos | apply: tr_le; high
  | apply: map_all; first [exact: sigmoid_le1 | exact: tanh_le1 | exact: cosine_le1 | exact: sine_le1]
  ].
(* x ≤ y for equal numbers, for those whose difference is d *)
Ltac equal_numbers := first [by rewrite ?(mulr0, mulr1, mulN1r, mul1r, oppr0) | field].
Ltac same_number :=
  by apply: number_equal_le; rewrite ?(mulr0, mulr1, mulN1r, mul1r, oppr0, opprK).
Ltac numbers d := first [same_number | by apply: (@le_of_diff _ _ _ d); [nn | field]].
(* all entries are ≥ 0: of what is said to be, of one number, of what is made of such *)
Ltac ge0 := lazymatch goal with |- ge_all 0 ?A => first
  [ match goal with
    | H : le_mx ?Z A |- _ => by apply: (ge_of _ _ H); rewrite ?(mulr0, oppr0)
    | H : forall i j, is_true (0 < fun_of_matrix A i j) |- _ => solve [move=> ? ?; exact: ltW (H _ _)]
    end
  | low | solve [eapply ge0_constant; [typeclasses eauto | nn]]
  | lazymatch A with
    | had ?B ?B => exact: had_sqr
    | had _ _ => apply: had_ge0; ge0
    | _ + _ => apply: add_ge0; ge0
    | _ *m _ => apply: mul_ge0; ge0
    | _ *: _ => apply: scale_ge0; [nn | ge0]
    | hquot _ _ => apply: hquot_ge0; ge0
    | divmx _ _ => apply: divmx_ge0; [ge0 | nn]
    | rowquot _ _ => apply: rowquot_ge0; ge0
    | colquot _ _ => apply: colquot_ge0; ge0
    | rowratio _ => apply: rowratio_ge0; ge0
    | rowsum _ => apply: rowsum_ge0; ge0
    | colsum _ => apply: colsum_ge0; ge0
    | rowmax _ => apply: rowmax_ge0; ge0
    | _^T => apply: tr_ge; ge0
    end ] end.
Ltac zero_le := eapply (@of_ge _ _ _ _ _ 0); [typeclasses eauto | ge0 | same_number].
(* all entries are > 0 *)
Ltac gt0 := first [assumption
  | eapply gt0_entries; [typeclasses eauto | move=> ? ? ? ?; cbv beta; pos]].
(* the functions that never fall *)
Ltac never_falls := first
  [ apply: ex_mono; assumption | apply: sigmoid_mono; assumption | apply: tanh_mono; assumption
  | exact: sqrt_mono | exact: max0_mono ].
(* A ≤ B for what is said to be, and what is made of such *)
Ltac le := lazymatch goal with |- le_mx ?A ?B => first
  [ match goal with H : le_mx A B |- _ => exact H end | constr_eq A B; exact: le_mx_refl
  | lazymatch goal with
    | |- le_mx (_ + _) (_ + _) => apply: add_mono; le
    | |- le_mx (?C *m _) (?C *m _) => apply: mul_right; [ge0 | le]
    | |- le_mx (_ *m ?C) (_ *m ?C) => apply: mul_left; [ge0 | le]
    | |- le_mx (had ?C _) (had ?C _) => apply: had_right; [ge0 | le]
    | |- le_mx (had _ ?C) (had _ ?C) => apply: had_left; [ge0 | le]
    | |- le_mx (_ *: _) _ => apply: scale_mono; [nn | le]
    | |- le_mx (hquot _ _) _ => apply: hquot_mono; [ge0 | le]
    | |- le_mx (divmx _ _) _ => apply: divmx_mono; [nn | le]
    | |- le_mx (rowquot _ _) _ => apply: rowquot_mono; [ge0 | le]
    | |- le_mx (colquot _ _) _ => apply: colquot_mono; [ge0 | le]
    | |- le_mx _^T _ => apply: tr_mono; le
    | |- le_mx (rowsum _) _ => apply: rowsum_mono; le
    | |- le_mx (colsum _) _ => apply: colsum_mono; le
    | |- le_mx (rowmax _) _ => apply: rowmax_mono; le
    | |- le_mx (softcap _ _ _) _ => apply: softcap_mono; [assumption | pos | le]
    | |- le_mx (map_mx _ _) _ => first
      [ solve [apply: map_mono; [never_falls | le]]
      | apply: map_mono_gt0; [move=> ? ?; apply: ln_mono; assumption | gt0 | le] ]
    end ] end.
(* one tactic for each rule *)
Ltac by_bound d := first
  [ eapply of_ge; [typeclasses eauto | low | numbers d]
  | eapply of_le; [typeclasses eauto | high | numbers d]
  | eapply constant_le; [typeclasses eauto | typeclasses eauto | numbers d]
  | nn | exact: tanh_ge | exact: tanh_le1 | numbers d ].
Ltac by_sign := first [zero_le | nn].
Ltac by_product := first
  [ zero_le | le | nn | apply: ler_wpmul2l; first by nn | apply: ler_wpmul2r; first by nn ].
Ltac by_largest := first [exact: largest_row | exact: largest_column].
Ltac by_sum := first
  [ apply: sum_row; ge0 | apply: sum_column; ge0 | apply: sum_rowmax; ge0 | apply: sum_colmax; ge0 ].
Ltac shares := first
  [exact: softmax_sum | exact: softmax_oo_sum | exact: softmax1_sum | exact: softmax1_oo_sum].
Ltac by_weights := eapply of_le;
  [ typeclasses eauto
  | first [shares | apply: sum_tr; shares]
  | same_number ].
Ltac by_cauchy := first [exact: cauchy | exact: cauchyN].
Ltac by_norm := match goal with
  | H : is_true (?z <= ?y) |- is_true (Num.norm ?x <= ?y) => rewrite ler_norml; apply/andP; split;
    [ rewrite ler_oppl (_ : - x = z); [exact: H | by ring] | assumption ]
  | H : le_mx ?Z ?Y |- le_mx (map_mx Num.norm ?X) ?Y =>
  solve [apply: (norm_le (Z := Z)); [ move=> ? ?; first
    [ by rewrite mxE mulN1r | by rewrite mxE mulN1r opprK | by rewrite !mxE; ring ] | le | le]] end.
Ltac line_of_number := first
  [ exact: max0_ge | exact: norm_ge | exact: norm_geN | exact: norm_geNN
  | exact: norm_ge_over | exact: norm_geN_over
  | apply: ex_line; assumption | apply: ex_lineN; assumption
  | lazymatch goal with |- is_true (?l <= exf ?e ?x) =>
    rewrite (_ : l = x + 1); [apply: ex_line; assumption | by ring] end
  | lazymatch goal with |- is_true (lg ?f ?x <= ?r) =>
    rewrite (_ : r = x - 1); [apply: ln_below; [assumption | pos] | by ring] end ].
Ltac by_line := first
  [ apply: ln_line; [assumption | gt0] | move=> ? ?; rewrite !mxE; line_of_number
  | line_of_number ].
(* an inequality whose constant side is written as a number *)
Ltac as_number H := lazymatch type of H with
  | le_mx ?A ?B => first [ exact: H | lazymatch goal with
    | |- forall i j, is_true (?c <= fun_of_matrix B i j) =>
      change (ge_all c B); by apply: (ge_of _ _ H); equal_numbers
    | |- forall i j, is_true (fun_of_matrix A i j <= ?c) =>
      change (le_all A c); by apply: (le_of _ _ H); equal_numbers end ]
  | _ => exact: H end.
