"""Strong identifiers: order, ticket, tracking, SKU, serial and error numbers, found by pattern and by what leads to them.

The canonical id is the narrowed text in capitals with plain dashes, so ＣＮ－Ａ１０２９３ is CN-A10293; nothing else is
folded, so ids that differ in one digit stay two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from models.privacy.contacts import find_contacts
from models.privacy.documents import find_plates
from models.privacy.numbers import find_numbers, spoken_digits
from models.privacy.spans import PLACEHOLDER, Taken


class StrongId(Struct, frozen=True, order=True):
    """An identifier `[start, end)`, its canonical form and its type (`order`, `ticket`, `tracking`, `sku` …)."""

    start: int
    end: int
    id: str
    type: str


MIN_DIGITS = 3
"""Digits that a code with letters must have to count without a word before it that says what it is."""

_LEADS = (
    ("order", r"订单|單號|下单号|采购单|订购单|purchase order|order|(?<![a-z])po(?![a-z])"),
    ("refund", r"退款单|退款申请|退货单|退款|refund|rma"),
    ("ticket", r"工单|服务单|投诉单|报修单|ticket|incident|case|service request|issue"),
    ("tracking", r"运单|快递单|物流单|快递|物流|tracking|parcel|shipment|waybill|awb"),
    ("sku", r"(?<![a-z])sku(?![a-z])|货号|商品编码|商品编号|商品|产品编号|item|product code|part"),
    (
        "device",
        r"设备编号|设备号|设备|序列号|机身号|serial|(?<![a-z])s/?n(?![a-z])|device|imei|机器编号|资产编号|asset",
    ),
    ("error", r"错误码|报错|错误代码|错误|异常码|error code|error|fault code|errno|exception"),
    ("invoice", r"发票|账单号|invoice|bill"),
    ("contract", r"合同|协议|contract|agreement"),
    ("model", r"型号|model"),
    ("booking", r"预订号|预定号|订座号|确认号|票号|booking|reservation|confirmation|reference|(?<![a-z])ref(?![a-z])"),
    ("flight", r"航班|flight"),
    ("train", r"车次|列车|train"),
    ("number", r"单号|编号|流水号|批次号?|案号|申请号|受理号|号码"),
)
_LEAD = re.compile(
    "(?:"
    + "|".join(f"(?P<{name}>{words})" for name, words in _LEADS)
    + r")(?:\s*(?:编?号码?|编码|代码|numbers?|no\.?|num|id|code|#))*\s*(?:是|为|is|was|:|：|=|#|,|，)?\s*(?:#|no\.?\s?)?$",
    re.IGNORECASE,
)
_PREFIXES = {
    "OD": "order", "SO": "order", "PO": "order", "ORD": "order", "DD": "order", "RF": "refund", "RMA": "refund", "TH": "refund", "SR": "ticket",
    "INC": "ticket", "TK": "ticket", "TKT": "ticket", "GD": "ticket", "CASE": "ticket", "BUG": "ticket", "REQ": "ticket", "SF": "tracking",
    "YT": "tracking", "ZTO": "tracking", "STO": "tracking", "JD": "tracking", "JT": "tracking", "1Z": "tracking", "SKU": "sku", "SN": "device",
    "ERR": "error", "INV": "invoice", "FP": "invoice", "HT": "contract", "CT": "contract",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_\-/.@#])#?[A-Za-z0-9]+(?:[\-_/][A-Za-z0-9]+){0,5}(?![A-Za-z0-9_@]|[\-_/][A-Za-z0-9]|\.[A-Za-z0-9])"
)
_ERROR = re.compile(r"(?:E|ERR|0X)[\-_]?\d{3,}[A-Z]?$|0X[0-9A-F]{4,}$")
_PLAIN = re.compile(
    r"\d+(?:\.\d+)?(?:[A-Z]{1,4}|%)$|\d+[A-Z]{0,3}-\d+[A-Z]{0,3}$|\d{1,4}-\d{1,2}-\d{1,4}(?:T\d+)?$|\d+[/\-]\d+(?:[/\-]\d+)?$|[QHWV]\d{1,2}$|\d{1,2}[AP]M$|(?:19|20)\d\dS?$|(?:HTTP|UTF|ISO|RFC|GPT|COVID|MP|USB|IPV)-?\d+$"
)
_TRAIN = re.compile(r"[GDCZTKYLS]\d{1,4}$")
_TRAIN_AFTER = re.compile(r"\s?(?:次|号?列车|高铁|动车)")
WINDOW = 24


def find_strong_ids(view: str) -> Iterator[StrongId]:
    """Strong identifiers of a narrowed text, left to right; masked values are no identifiers."""
    if not any(ch.isdigit() for ch in view) and "@" not in view and view.isascii():
        return
    taken = Taken(match.span() for match in PLACEHOLDER.finditer(view))
    found: list[StrongId] = []
    for start, end, kind in _contacts(view):
        if taken.add(start, end):
            found.append(StrongId(start, end, _contact_id(view[start:end], kind), kind))
    for token in _TOKEN.finditer(view):
        start, end = token.span()
        start += token[0].startswith("#")
        kind_ = None if not taken.add(start, end) else _kind(view, start, view[start:end].upper())
        if kind_:
            found.append(StrongId(start, end, canonical_id(view[start:end]), kind_))
    yield from sorted(found)


def canonical_id(text: str) -> str:
    """Capitals, plain dashes, no blanks: two writings of one identifier are equal, two identifiers never are."""
    return re.sub(r"\s+", "", text).upper()


def _contacts(view: str) -> Iterator[tuple[int, int, str]]:
    for start, end, kind in find_numbers(spoken_digits(view)):
        if kind == "phone":
            yield start, end, kind
    if "@" in view:
        for start, end, kind in find_contacts(view):
            if kind == "email":
                yield start, end, kind
    if not view.isascii():
        yield from find_plates(view)


def _contact_id(text: str, kind: str) -> str:
    if kind == "email":
        return text.lower()
    if kind == "phone":
        digits = re.sub(r"\D", "", spoken_digits(text))
        return digits[2:] if len(digits) == 13 and digits.startswith("86") else digits
    return re.sub(r"[·•・. ]", "", text).upper()


def _kind(view: str, start: int, code: str) -> str | None:
    """The type of a token in capitals, or None where it is no identifier."""
    digits = sum(ch.isdigit() for ch in code)
    if not digits or len(code) < 3:
        return None
    lead = _LEAD.search(view, max(0, start - WINDOW), start)
    led = lead.lastgroup if lead else None
    if _ERROR.match(code):
        return led if led and led not in ("number",) else "error"
    if _PLAIN.match(code) and not (led and code.isdigit() and len(code) >= 4 and led not in ("model", "sku")):
        return None
    if _TRAIN.match(code) and _TRAIN_AFTER.match(view, start + len(code)):
        return "train"
    letters = any(ch.isalpha() for ch in code)
    prefix = re.match(r"1Z|[A-Z]+", code)
    if led and (letters or len(code) >= 4):
        return _PREFIXES.get(prefix[0], led) if led == "number" and prefix else led
    if not letters or digits < MIN_DIGITS or not code[0].isalnum():
        return None
    if prefix and prefix[0] in _PREFIXES and (digits >= 4 or "-" in code):
        return _PREFIXES[prefix[0]]
    if code[0].isdigit() and "-" not in code and digits < 8:
        return None
    return "sku" if _named_parts(code) else "code"


def _named_parts(code: str) -> bool:
    """Codes such as BX-200-BLUE, whose last part is a word, name a variant of a product."""
    parts = code.split("-")
    return len(parts) >= 3 and parts[-1].isalpha() and len(parts[-1]) >= 2
