"""Colours of the page, each pair of text and ground chosen by computed contrast.

Contrast is that of WCAG 2.2: (L₁ + 0.05)/(L₂ + 0.05) of relative luminances. The ramp is one hue
from light to dark (dark to light in the dark scheme), so that it reads without colour vision: that
of the weights, as tokens have hues that no matrix has.
"""

from __future__ import annotations

from collections.abc import Mapping

#: How many shades a weight may have, 0 to 1.
SHADES = 11

_INKS = ("#000000", "#ffffff")  # of which one always has more than 4.5 to 1

_RAMPS: Mapping[str, tuple[str, str]] = {
    "light": ("#f8f4fb", "#53237a"),
    "dark": ("#231c2e", "#d9b8f2"),
}

#: The lines across a cell whose key is masked, by scheme.
HATCH: Mapping[str, str] = {"light": "#8b949e", "dark": "#75808d"}

#: The grounds and inks that are not shades, by scheme: name, colour.
SCHEMES: Mapping[str, Mapping[str, str]] = {
    "light": {
        "ground": "#fdfdfb",
        "card": "#ffffff",
        "ink": "#1a1d21",
        "soft": "#565d66",
        "rule": "#d9dce0",
        "accent": "#0b5394",
        "chosen": "#fff04d",
        "chosen-edge": "#1a1d21",
        "live": "#9c2f00",
        "quiet": "#f2f3f1",
    },
    "dark": {
        "ground": "#12161c",
        "card": "#191f27",
        "ink": "#e8eaed",
        "soft": "#a8b0ba",
        "rule": "#363e49",
        "accent": "#8ec5ff",
        "chosen": "#6a6200",
        "chosen-edge": "#fff27a",
        "live": "#ffab85",
        "quiet": "#1f2630",
    },
}

#: The colours that a matrix keeps, by scheme: of queries, keys, values, weights and two of others.
#: The ground of its cells, and its edge, in which numbers and letters are written too.
ROLES: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "light": {
        "q": ("#d3e4ff", "#0a4aa0"),
        "k": ("#ffe3b8", "#8a4b00"),
        "v": ("#c9efe2", "#00694f"),
        "a": ("#ecdcf7", "#6f3c96"),
        "x": ("#dfe4ea", "#46515e"),
        "y": ("#fbdbe8", "#96205c"),
    },
    "dark": {
        "q": ("#17396b", "#9cc4ff"),
        "k": ("#573a0a", "#f3b562"),
        "v": ("#0f4a3b", "#67d3b0"),
        "a": ("#46305a", "#cda3ec"),
        "x": ("#343d49", "#bcc6d2"),
        "y": ("#5c2440", "#f7a3c7"),
    },
}

#: What stands behind a number that is judged, by scheme, and the edges of a verdict in words. The
#: contrast with the ink of the scheme is above 7 to 1; a sign says the verdict too.
TINTS: Mapping[str, Mapping[str, str]] = {
    "light": {
        "rounded": "#fff3c4",
        "open": "#e5e5e5",
        "follows": "#ffe0b3",
        "wrong": "#ffc9c9",
        "good-edge": "#1b6e3c",
        "bad-edge": "#b00020",
    },
    "dark": {
        "rounded": "#4a4000",
        "open": "#40464e",
        "follows": "#573500",
        "wrong": "#6b1f24",
        "good-edge": "#6fd39a",
        "bad-edge": "#ff8f98",
    },
}


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, 0 for black and 1 for white.

    >>> luminance("#ffffff")
    1.0
    """
    channels = []
    for start in (1, 3, 5):
        part = int(colour[start : start + 2], 16) / 255
        channels.append(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)
    red, green, blue = channels
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, 1 to 21.

    >>> round(contrast("#000000", "#ffffff"))
    21
    """
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def shade(scheme: str, level: int) -> tuple[str, str]:
    """Ground and ink of a shade: the ramp at level/(SHADES − 1), and the ink that reads better."""
    ends = [[int(end[at : at + 2], 16) for at in (1, 3, 5)] for end in _RAMPS[scheme]]
    share = level / (SHADES - 1)
    mixed = [round(low + (high - low) * share) for low, high in zip(*ends, strict=True)]
    ground = "#" + "".join(f"{part:02x}" for part in mixed)
    return ground, max(_INKS, key=lambda ink: contrast(ink, ground))


def shade_of(value: float, largest: float = 1.0) -> int:
    """round((SHADES − 1) · |value| / largest), at most SHADES − 1; 0 for NaN."""
    share = abs(value) / largest if largest else 0.0
    return round(min(share, 1.0) * (SHADES - 1)) if share == share else 0  # noqa: PLR0124  NaN


def stylesheet() -> str:
    """The colours as CSS custom properties and the classes of the shades, in both schemes."""

    def rules(scheme: str) -> str:
        properties = "".join(f"--{name}:{colour};" for name, colour in SCHEMES[scheme].items())
        properties += "".join(
            f"--{role}:{ground};--{role}-edge:{edge};"
            for role, (ground, edge) in ROLES[scheme].items()
        )
        shaded = [shade(scheme, level) for level in range(SHADES)]
        shades = "".join(f".w{level}{{background:{one}}}" for level, (one, _) in enumerate(shaded))
        for ink in _INKS:
            inked = [f".w{level}" for level, (_, own) in enumerate(shaded) if own == ink]
            shades += f"{','.join(inked)}{{color:{ink}}}"
        return f":root{{color-scheme:{scheme};{properties}--hatch:{HATCH[scheme]}}}{shades}"

    return f"{rules('light')}\n@media screen and (prefers-color-scheme:dark){{{rules('dark')}}}\n"


def palette(selector: str) -> str:
    """The colours of words and the tints as CSS custom properties of a selector."""

    def rule(scheme: str) -> str:
        colours = {**SCHEMES[scheme], **TINTS[scheme]}
        properties = "".join(f"--{name}:{colour};" for name, colour in colours.items())
        return f"{selector}{{color-scheme:{scheme};{properties}}}"

    return f"{rule('light')}\n@media screen and (prefers-color-scheme:dark){{{rule('dark')}}}\n"
