"""Identities of positions and of functions of one number: rotations, waves, slopes, derivatives."""

from __future__ import annotations

from symattn.algebra.identities.identity import Identity, made

_ROPE = "Su et al., RoFormer (2021), section 3.2"
_VASWANI = "Vaswani et al., Attention Is All You Need (2017), section "


#: The shapes of positions x and y, of frequencies f, and of a shift s.
_WAVES = (("x", ("n", 1)), ("y", ("m", 1)), ("f", (1, "r")), ("s", "scalar"))


def _turned(first: str, second: str, place: str) -> str:
    """Both halves of the columns turned by position times frequency."""
    cos, sin = (f"{name}(({place}) f)" for name in ("cos", "sin"))
    return f"[{first} ∘ {cos} - {second} ∘ {sin}, {first} ∘ {sin} + {second} ∘ {cos}]"


POSITIONS: tuple[Identity, ...] = (
    Identity(
        "rotary-orthogonal",
        "a rotation preserves lengths",
        "norm2(rotary(Q)) = norm2(Q)",
        _ROPE,
        "rotary position embeddings leave norms unchanged",
    ),
    Identity(
        "rotary-relative",
        "scores of rotated queries and keys depend on the positions only through their difference",
        f"{_turned('A', 'B', 'x + s')} {_turned('C', 'D', 'y + s')}^T = "
        f"{_turned('A', 'B', 'x')} {_turned('C', 'D', 'y')}^T",
        _ROPE,
        "why rotary position embeddings are relative",
        shapes=(
            *((name, ("n", "r")) for name in "AB"),
            *((name, ("m", "r")) for name in "CD"),
            *_WAVES,
        ),
        misconception="rotary attention depends on absolute positions",
    ),
    Identity(
        "rotary-axes",
        "with positions along several axes and any frequencies, scores depend on the positions "
        "only through their differences along each axis",
        f"{_turned('A', 'B', 'x + s')} {_turned('C', 'D', 'y + s')}^T = "
        f"{_turned('A', 'B', 'x')} {_turned('C', 'D', 'y')}^T",
        "Wang et al., Qwen2-VL (2024), section 2.1",
        "why rotary position embeddings of images and videos are relative",
        shapes=(
            *((name, ("n", "r")) for name in "AB"),
            *((name, ("m", "r")) for name in "CD"),
            *(("x", ("n", "a")), ("y", ("m", "a")), ("f", ("a", "r")), ("s", (1, "a"))),
        ),
    ),
    Identity(
        "rotation-orthogonal",
        "a rotation of pairs of columns by any angles preserves lengths",
        "norm2([A ∘ cos(P) - B ∘ sin(P), A ∘ sin(P) + B ∘ cos(P)]) = norm2([A, B])",
        _ROPE,
        "scaled frequencies leave norms unchanged",
        shapes=tuple((name, ("n", "r")) for name in "ABP"),
    ),
    Identity(
        "sinusoidal-rotation",
        "the encoding of p + k is a fixed rotation of that of p",
        "[sin((x + s) f), cos((x + s) f)] = [sin(x f), cos(x f)] "
        "[diag(cos(s f)), -diag(sin(s f)); diag(sin(s f)), diag(cos(s f))]",
        f"{_VASWANI}3.5",
        "a shift by k positions is a linear map",
        shapes=_WAVES,
    ),
    Identity(
        "sinusoidal-products",
        "dot products of encodings depend on the distance only",
        "[sin(a f), cos(a f)] [sin(b f), cos(b f)]^T = rowsum(cos((a - b) f))",
        f"{_VASWANI}3.5",
        "nearby positions have similar encodings",
        shapes=(("a", "scalar"), ("b", "scalar"), ("f", (1, "r"))),
    ),
    Identity(
        "alibi-shift",
        "in ALiBi's bias a (j − i) may be replaced by a j: the query's position cancels "
        "in the softmax",
        "softmax(S + a*(ones b - c ones^T)) = softmax(S + a*ones b)",
        "Press et al., Train Short, Test Long (2021), section 3",
        "only the key's position affects the weights",
        (("distribute number", "softmax(S + a*ones b - a*c ones^T)"), ("shift", "")),
        shapes=(("b", (1, "m")), ("c", ("n", 1))),
        behind=(
            "bias",
            "biased",
        ),
    ),
    Identity(
        "recurrent-jacobians",
        "the derivative of a recurrent network's last state with respect to its first "
        "is a product of Jacobians",
        "∂h_3/∂h_0 = Π_t w (1 − h_t²)",
        "Pascanu et al., On the Difficulty of Training Recurrent Neural Networks (2013), sec. 2",
        "why gradients can vanish over many steps",
        for_all=False,
        reason="three steps of scalar states, which have no size",
        sides=made("recurrent"),
        letters="h_t = tanh(w h_(t−1)) are the states, h = h_0",
    ),
    Identity(
        "attention-one-step",
        "the derivative of an output with respect to a value is that value's weight, "
        "times the identity",
        "∂o/∂v_j = a_j",
        f"{_VASWANI}4",
        "gradients reach every value in a single step",
        sides=made("slopes", "softmax(s) v", "v", "softmax(s)^T", {"s": (1, "m"), "v": ("m", 1)}),
        letters="o = Σ_j a_j v_j, a = softmax(s)",
    ),
)
