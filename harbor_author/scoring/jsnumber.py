"""Numbers and strings printed as JavaScript prints them, so that report files are equal byte for byte."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any


def js_number(value: int | float) -> str:
    """`String(value)`: no ".0", plain notation for 1e-6 <= |value| < 1e21, exponents without padding."""
    if isinstance(value, int):
        if abs(value) <= 2**53:
            return str(value)
        value = float(value)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    point = len(text) + exponent  # the decimal point stands after this many digits
    if 0 < point <= 21:
        shown = text + "0" * (point - len(text)) if point >= len(text) else f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        shown = "0." + "0" * -point + text
    else:
        mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
        shown = f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return ("-" if sign else "") + shown


def js_string(value: Any) -> str:
    """`String(value)` of a value that came from JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return js_number(value)
    if isinstance(value, list):
        return ",".join("" if one is None else js_string(one) for one in value)
    if isinstance(value, Mapping):
        return "[object Object]"
    return str(value)


def to_fixed(value: float, digits: int) -> str:
    """`value.toFixed(digits)`: the exact binary value, ties away from zero, and a negative keeps its sign."""
    rounded = Decimal(abs(value)).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    return ("-" if value < 0 else "") + format(rounded, "f")


def js_json(value: Any, indent: int = 2) -> str:
    """`JSON.stringify(value, null, 2)`."""
    return _json(value, " " * indent, "")


def _json(value: Any, step: str, margin: str) -> str:
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return js_number(value) if math.isfinite(value) else "null"
    if isinstance(value, str):
        return _json_string(value)
    inner = margin + step
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        body = [f"{inner}{_json_string(key)}: {_json(one, step, inner)}" for key, one in value.items()]
        return "{\n" + ",\n".join(body) + f"\n{margin}}}"
    if not value:
        return "[]"
    return "[\n" + ",\n".join(f"{inner}{_json(one, step, inner)}" for one in value) + f"\n{margin}]"


def _json_string(value: str) -> str:
    # JSON.stringify writes lone surrogates as escapes and everything else beyond ASCII as it is; U+007F stays.
    text = json.dumps(value, ensure_ascii=False)
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)
