"""Full Chinese addresses: a road with a number, or a building with a unit or room; a city alone is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from models.lexicons import load_lexicon

Find = tuple[int, int, str]

REACH = 40
"""Characters to the left of a house number in which its address may begin."""

_N = "0-9A-Za-z零〇一二三四五六七八九十百"
_ROAD = re.compile(
    r"(?:(?<![频通轨渠管跑车赛知难味报])道|大道|(?<![0-9线思电网套链出后半])路|街|巷|弄|胡同|村|屯|镇|乡|社区|街道|园区|开发区|新区)"
    r"(?:[东南西北中]段|[一二三四五六七八九十]段|[内外])? ?第?[0-9零〇一二三四五六七八九十百]{1,6}(?:[-—之][0-9一二三四五六七八九十]{1,4})?"
    r" ?(?:号(?![线机店位文台选])|弄|组|巷)"
)
_BUILDING = re.compile(
    rf"[{_N}]{{1,4}}(?:栋|幢|号楼|座)(?:[{_N}]{{1,3}}单元)?(?:[{_N}]{{1,3}}[层楼])?(?:[{_N}\-]{{1,6}}(?:室|房|号|户)|[0-9]{{3,4}}(?![0-9]))?"
)
_PLACE_NAME = (
    "小区|花园|大厦|广场|公寓|家园|佳苑|雅苑|新苑|苑|城|府|园|中心|新村|大楼|商场|写字楼|宿舍|家属院|院|湾|庭|郡|墅|坊"
)
_TAIL = re.compile(
    rf"(?:号?院)?(?:(?![，。；])[\u4e00-\u9fffA-Za-z0-9]{{0,12}}?(?:{_PLACE_NAME}))?"
    rf"(?: ?[{_N}]{{1,5}} ?(?:期|区|栋|幢|号楼|座|楼|单元|层|号|室|房|户)|[\-－#· ]?[0-9零一二三四五六七八九]{{1,4}}(?:[\-][0-9]{{1,4}}){{0,3}}(?:室|号|房|栋)?){{0,7}}"
    rf"(?:[\u4e00-\u9fff]{{2,8}}?(?:东门|西门|南门|北门|正门|旁边|对面))?"
)
_LEAD = re.compile(
    r"住在|搬到了?|搬至|寄到|寄往|送到|送至|送往|发到|发往|位于|坐落于|家住|现住|居住于|居住地|户籍地址|户籍|户口|住址|地址|收货|取件|配送|派送|邮寄|联系|公司在|家在|就在|是在|推荐|建议您?去?|试试|参观一?下?|改成|改为|换成|住所地?"
)
_HOME = re.compile(
    r"(?:家住|现住|住在|居住在|家在|住址|家庭地址|收货地址|收件地址|寄到|送到|送货到)(?:我家)?[是为：: 在到]{0,3}(?P<address>[\u4e00-\u9fffA-Za-z0-9]{2,30})$"
)
_NAMED = re.compile(
    rf"(?:住址|家庭地址|收货地址|收件地址|户籍地址|地址|家住|现住|寄到|送到)[是为：: ]{{0,3}}"
    rf"(?P<address>(?=[\u4e00-\u9fff]{{0,8}}[省市区县镇])[\u4e00-\u9fffA-Za-z0-9]{{6,40}}(?:{_PLACE_NAME})"
    rf"(?:[东南西北中][座区楼]|[A-Za-z0-9一二三四五六七八九十]{{1,3}}(?:座|栋|幢|期|区|号楼))?)(?![\u4e00-\u9fff]{{0,3}}(?:店|分店|站|附近))"
)
_WEAK_LEAD = re.compile(r"[在到是为至于：:住从往去]")
_BOUNDARY = re.compile(r"[^\u4e00-\u9fffA-Za-z0-9·\- ]")
_COLONS = "是为：: 在到"


@lru_cache(maxsize=1)
def _regions() -> re.Pattern[str]:
    table = load_lexicon("regions.toml")
    names = sorted({*table["provinces"].split(), *table["cities"].split()}, key=lambda name: (-len(name), name))
    return re.compile("|".join(names))


def find_chinese_addresses(view: str) -> Iterator[Find]:
    """Full addresses in a narrowed, simplified text."""
    done = 0
    for anchor in _ROAD.finditer(view):
        if anchor.start() >= done:
            start = _begin(view, anchor.start(), done)
            tail = _TAIL.match(view, anchor.end())
            end = _trim(view, tail.end() if tail else anchor.end())
            if anchor.start() - start >= 1:
                yield start, end, "address"
                done = end
    done = 0
    for unit in _BUILDING.finditer(view):
        home = _HOME.search(view, max(done, unit.start() - REACH), unit.start())
        if unit.start() >= done and (_names_a_home(view, unit) or home):
            start = home.start("address") if home else _begin(view, unit.start(), done)
            if unit.start() - start >= 2 or ("单元" in unit[0] and unit[0][-1] in "室房户"):
                yield start, unit.end(), "address"
                done = unit.end()

    for named in _NAMED.finditer(view):
        yield *named.span("address"), "address"


def _names_a_home(view: str, unit: re.Match[str]) -> bool:
    """A building counts with a room or unit behind it, or a housing estate's name before it."""
    detailed = "单元" in unit[0] or unit[0][-1] in "室房户" or unit[0][-3:].isdecimal()
    return detailed or re.search(f"(?:{_PLACE_NAME})$", view[max(0, unit.start() - 4) : unit.start()]) is not None


def _begin(view: str, anchor: int, floor: int) -> int:
    """Where the address that holds `anchor` begins: at its region, or after the verb that leads up to it."""
    left = max(floor, anchor - REACH)
    for match in _BOUNDARY.finditer(view, left, anchor):
        left = match.end()
    lead = _last(_LEAD, view, left, anchor)
    if lead is not None:
        left = lead.end()
        while left < anchor and view[left] in _COLONS:
            left += 1
    region = _regions().search(view, left, anchor)
    if region is not None:
        return region.start()
    if lead is None:
        space = view.rfind(" ", left, anchor - 2)
        left = space + 1 if space >= 0 else left
    if lead is None:
        weak = _last(_WEAK_LEAD, view, left, anchor)
        left = weak.end() if weak is not None and weak.end() < anchor else left
    while left < anchor and view[left] in "我你他她们的了， ":
        left += 1
    return left


def _last(pattern: re.Pattern[str], view: str, start: int, end: int) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(view, start, end):
        found = match
    return found


def _trim(view: str, end: int) -> int:
    while end and view[end - 1] in "-－·# ":
        end -= 1
    return end
