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
(* e^(k x) and e^(−k x) as powers of e^x *)
Lemma ex_power x y k : x = k%:R * y -> e x = e y ^+ k.
Proof. by move=> ->; rewrite mulr_natl exMn. Qed.
Lemma ex_powerN x y k : x = - (k%:R * y) -> e x = (e y)^-1 ^+ k.
Proof. by move=> ->; rewrite exN mulr_natl exMn exprVn. Qed.
Lemma ex_add x y a b : e x = a -> e y = b -> e (x + y) = a * b.
Proof. by rewrite exD => -> ->. Qed.
(* e^([b] x) = 1 + [b] (e^x − 1) *)
Lemma ex_if (b : bool) x y z : x = b%:R * y -> e y = z -> e x = 1 + b%:R * (z - 1).
Proof.
move=> -> <-; case: b; rewrite ?mul1r ?mul0r ?ex0 ?addr0 //.
by rewrite addrC subrK.
Qed.
Lemma ex_ln (ln : logarithm e) x y k : 0 < y -> x = k%:R * ln y -> e x = y ^+ k.
Proof. by move=> p ->; rewrite mulr_natl exMn lgK. Qed.
Lemma ex_lnN (ln : logarithm e) x y k : 0 < y -> x = - (k%:R * ln y) -> e x = y^-1 ^+ k.
Proof. by move=> p ->; rewrite exN mulr_natl exMn lgK // exprVn. Qed.
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
Lemma opens_rowratio n m (A : 'M[R]_(n, m)) f : opens A f ->
  opens (rowratio A) (fun i j => f i j / sumto m (fun l => f i l)).
Proof. by move=> s i j; rewrite mxE s; congr (_ / _); apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_rowsum n m (A : 'M[R]_(n, m)) f : opens A f ->
  opens (rowsum A) (fun i _ => sumto m (fun l => f i l)).
Proof. by move=> s i j; rewrite mxE; apply: eq_bigr => l _; rewrite s. Qed.
Lemma opens_colsum n m (A : 'M[R]_(n, m)) f : opens A f ->
  opens (colsum A) (fun _ j => sumto n (fun l => f l j)).
Proof. by move=> s i j; rewrite mxE; apply: eq_bigr => l _; rewrite s. Qed.
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
  GRing.scale softmax softmax_oo softmax1 rowratio rowsum colsum had hquot divmx rowquot colquot softcap
  masked causal padding diag_mx minus_dist2 lengths unit_rows beside stacked headsum head_rows
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
#[export] Hint Extern 0 (opens ?A _) => is_var A; exact (opens_letter A) : typeclass_instances.
#[export] Hint Extern 0 (opens (invmx ?A) _) => exact (opens_letter (invmx A)) : typeclass_instances.
#[export] Existing Instance opens_mul1 | 1.
#[export] Existing Instance opens_causal0 | 1.
#[export] Existing Instance opens_diag_tr | 1.
#[export] Existing Instances opens_tr opens_add opens_scale opens_one opens_const opens_zero
  opens_perm opens_map opens_row opens_col opens_softmax opens_softmax_oo opens_softmax1
  opens_rowratio opens_rowsum opens_colsum opens_had opens_hquot opens_divmx opens_rowquot
  opens_colquot opens_softcap opens_masked opens_causal opens_padding opens_diag
  opens_minus_dist2 opens_lengths opens_unit_rows | 2.
#[export] Existing Instance opens_mul | 3.

(* ---- the rules of the checker ---- *)

Section Rules.
Variables (R : realFieldType).
Implicit Types (n m c d v : nat) (f g : nat -> R).
Lemma sumto_eq n f g : (forall l, (l < n)%N -> f l = g l) -> sumto n f = sumto n g.
Proof. by move=> E; apply: eq_bigr => l _; exact: E. Qed.
(* range *)
Lemma sumto_cut (F : nat -> R) n c d (p q r : nat -> nat) : n = (c + d)%N ->
  (forall l, (l < c)%N -> q l = p l) -> (forall l, (l < d)%N -> r l = p (c + l)%N) ->
  sumto n (fun l => F (p l)) = sumto c (fun l => F (q l)) + sumto d (fun l => F (r l)).
Proof.
move=> -> E1 E2; rewrite /sumto big_split_ord /=; congr (_ + _); apply: eq_bigr => l _.
  by rewrite E1.
by rewrite E2.
Qed.
Lemma sumto_first f : sumto 1 f = sumto 1 (fun _ => f 0%N).
Proof. by rewrite /sumto !big_ord1. Qed.
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
Lemma ent_gt0 n m (A : 'M[R]_(n, m)) : (forall i j, 0 < A i j) ->
  forall i j, (i < n)%N -> (j < m)%N -> 0 < ent A i j.
Proof. by move=> p i j a b; have := p (Ordinal a) (Ordinal b); rewrite entE. Qed.
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
  | |- is_true (0 < Num.sqrt _)%R => rewrite sqrtr_gt0; pos
  | |- is_true (0 < 1)%R => exact: ltr01
  | |- is_true (0 < exf _ _)%R => exact: ex_gt0
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
  | |- is_true (0 <= ?x * ?x)%R => rewrite -expr2; apply: sqr_ge0
  | |- is_true (0 <= _ * _)%R => apply: mulr_ge0; nn
  | |- is_true (0 <= _^-1)%R => rewrite invr_ge0; nn
  | |- is_true (0 <= _ ^+ 2)%R => apply: sqr_ge0
  | |- is_true (0 <= _ ^+ _)%R => apply: exprn_ge0; nn
  | |- is_true (0 <= sumto _ _)%R => apply: sumto_ge0 => ? ?; nn
  | |- is_true (0 <= Num.sqrt _)%R => apply: sqrtr_ge0
  | |- is_true (0 <= `|_|)%R => apply: normr_ge0
  | |- is_true (0 <= _%:R)%R => apply: ler0n
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
