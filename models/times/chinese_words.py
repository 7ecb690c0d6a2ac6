"""The word patterns of Chinese time expressions, in order of precedence: longer and surer ones first.

Input is simplified and half-width (``models.text``), so one spelling does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from models.times import chinese_builders as b
from models.times import chinese_distance as d
from models.times.chinese_tables import DAY_WORDS, ERAS, PART_WORDS, SHORT_DAYS, UNIT_WORDS, VAGUE_WORDS, YEAR_WORDS
from models.times.frame import Frame
from models.times.holidays import holiday_names
from models.times.scan import Pattern
from models.times.zones import NAMES_ZH, ZONES

N = r"(?:\d{1,4}|[零〇一二两三四五六七八九十廿卅百]{1,5})"
N12 = r"(?:1[0-2]|0?[1-9]|十[一二]?|[一二两三四五六七八九])"
N31 = r"(?:3[01]|[12]\d|0?[1-9]|三十一?|[二廿]十?[一二三四五六七八九]|廿|[二两]?十[一二三四五六七八九]?|[一二三四五六七八九])"
HOUR = r"(?:2[0-4]|1\d|0?\d|二十[一二三四]?|十[一二三四五六七八九]?|[零〇一二两三四五六七八九])"
SIXTY = r"(?:[0-5]?\d|[二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九]|[一二三四五六七八九])"
FULL_SIXTY = r"(?:[0-5]\d|[二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九])"
_UNIT = "|".join(sorted(UNIT_WORDS, key=len, reverse=True)).replace("月", "(?<=[个半])月")
AMOUNT = (
    r"(?:[二两]?十[一二三四五六七八九]?(?=[个天年周月小分秒日])|廿[一二三四五六七八九]?|\d{1,5}(?:\.\d{1,2})?"
    r"|[半几数]|[一两]两|[零〇一二两三四五六七八九十百]{1,5}|好几)"
)
NO_MINUTES = r"(?![\d.:%个点时月年分小天周块元万岁人次度级号日一二三四五六七八九十])"
"""What a bare number may not be followed by if it is to be a day or an hour."""
_WEEK = "(?:周|星期|礼拜)"
_WHICH = "(?:上{1,9}|下{1,9}|这|本|今|当)"
_NOT_DIGIT = r"(?<![\d.:/-])"
_NOT_A_DAY = "(?:之(?![前后间内])|[出入]?口|窗|闸|[楼线院馆桌码店库仓机车房文令台室门厅球游三元常程志本子产均薪期报])"
_SINGLE = "(?:(?<![零〇一二两三四五六七八九十百\\d.第])|(?<=[周期拜][一二三四五六日天]))"
_TOWARD = (
    r"过去的?|未来的?|上(?=(?:\d+|[二两三四五六七八九十几])个?(?:天|周|星期|礼拜|月|年|小时))"
    r"|[嗰呢](?=[\d一二两三四五六七八九十])|接下来的?|今后的?|往后|最近这?|近|之前的?|之后的?"
    r"|(?:(?<![\u4e00-\u9fff])|(?<=[年月周度]))(?:前|后|下(?!半))"
)
_TAIL = "(之前|以前|前|之后|以后|过后|后|之内|以内|内|里|以来|来)"


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=lambda w: (-len(w), w)))


@lru_cache(maxsize=1)
def chinese_patterns() -> tuple[Pattern, ...]:
    """All patterns in order of precedence."""
    return (
        *_digit_patterns(),
        *_opening_patterns(),
        *_distance_patterns(),
        *_year_patterns(),
        *_calendar_patterns(),
        *_week_patterns(),
        *_day_patterns(),
        *_linking_patterns(),
    )


def _digit_patterns() -> tuple[Pattern, ...]:
    """Dates and hours in digits."""
    return (
        (
            r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?([Zz]\b|[+-]\d\d:?\d\d)?",
            b.iso_instant,
        ),
        (
            rf"{_NOT_DIGIT}((?:1[89]|20)\d\d)\s?[-/.]\s?(\d{{1,2}})\s?[-/.]\s?(\d\d(?=\d\d:\d\d)|\d{{1,2}}(?!\d))T?",
            b.ymd,
        ),
        (rf"{_NOT_DIGIT}(\d{{1,2}})[-/.](\d{{1,2}})[-/.]((?:1[89]|20)\d\d)(?!\d)", b.mdy),
        (r"(?<![\dA-Za-z.])((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d)", b.ymd),
        (
            r"(?<![\dA-Za-z.:/-])((?:19|20)\d\d)(?=\s?[-~—～到至]{1,2}\s?(?:19|20)\d\d(?!\d))"
            r"|^\s*((?:19|20)\d\d)(?=\s*$)|(?<=[-~—～到至])\s?((?:19|20)\d\d)(?![\d:/.-]|\s?年)",
            lambda g, c: Frame(year=int(g[0] or g[1] or g[2] or 0)),
        ),
        (
            r"(?<![\d.:/])((?:19|20)\d\d)[-/.](0[1-9]|1[0-2])(?![\d元块万亿%])(?![-/.]\d{1,2}(?!\d))",
            lambda g, c: Frame(year=int(g[0] or 0), month=int(g[1] or 0)),
        ),
        (
            rf"{_NOT_DIGIT}(?:(?<!\d\s)(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])|(0?[1-9]|1[0-2])/(0?[1-9]|[12]\d|3[01]))"
            r"(?![\d/%.]|-\d|\s?[的个人天小时年])",
            lambda g, c: b.any_date(None, int(g[0] or g[2] or 0), int(g[1] or g[3] or 0)),
        ),
        (
            r"(?:(?<![\d:.])|(?<=\d\d\d\d-\d\d-\d\d))([01]?\d|2[0-4]):([0-5]\d)(?::([0-5]\d))?(?![\d:])"
            r"(?:\s?([ap]m?)(?![A-Za-z]))?(?:时|分)?",
            b.clock_digits,
        ),
        (r"(?<![\d:.A-Za-z])(1[0-2]|0?[1-9])\s?([ap]\.?m)(?![A-Za-z])", b.am_pm),
    )


def _opening_patterns() -> tuple[Pattern, ...]:
    """Halves, recurrences, and words that name no time."""
    return (
        (r"(上半年|下半年|前半年|后半年|上半月|下半月)", b.half),
        (r"(下|上)一?个?工作日(?!内|之内|以内)", b.next_workday),
        (
            rf"{_SINGLE}(?:一两|[二两]三|三四|四五|五六|六七|七八|八九|九十)点(?:钟|多|左右)?(?![半零\d一二三四五六七八九十])",
            b.kind("vague"),
        ),
        (r"(每逢?|逐|逢)(?=[年月日周天晚星礼])|(天天|日日)|(?:每|隔)(?=\S)", b.every),
        (
            rf"({_alternatives(VAGUE_WORDS)})(?!这?(?:{AMOUNT})个?(?:天|周|星期|礼拜|年|月|小时|季度|日))",
            b.kind("vague"),
        ),
        (rf"{_SINGLE}({N31})日(?=(?:之|以)?前(?:把|将|给|完成|提交|交|回复|付|发|办|寄|送|到|搞定|结束|上线))", b.day),
    )


def _distance_patterns() -> tuple[Pattern, ...]:
    """Distances from now, and stretches up to or from it."""
    return (
        (
            rf"{_SINGLE}({AMOUNT})个?(半)?(年|月|周|星期|天|小时|钟头|分钟|分)(?:零|又|加|过)?"
            rf"({AMOUNT})个?(半)?(月|周|星期|天|小时|分钟|分|秒钟|秒){_TAIL}",
            d.compound,
        ),
        (r"(?<![年度])前([一二两三])个?季度", d.first_quarters),
        (
            rf"{_SINGLE}(?!(?:1[5-9]|20)\d\d年)({AMOUNT})(多|来)?个?(半)?({_UNIT})(半)?(?:的?时间)?{_TAIL}(?![面方边])",
            d.shift,
        ),
        (
            rf"({_TOWARD})(?:这)?(?!(?:1[5-9]|20)\d\d年)({AMOUNT})个?(半)?({_UNIT})(半)?(?![一二三四五六七八九十了])",
            d.toward,
        ),
        (
            rf"(?:再过|再等|(?:(?<![\u4e00-\u9fff])|(?<=[再要先就能会得想请等我你他她们]))过)({AMOUNT})个?(半)?({_UNIT})(半)?(?!的)",
            d.wait,
        ),
    )


def _year_patterns() -> tuple[Pattern, ...]:
    """Years, decades, centuries, eras."""
    return (
        (rf"({_alternatives(ERAS)})({N}|元)年", b.era),
        (
            rf"(?:(上|本|\d{{1,2}}|{N})个?世纪)?()((?:[1-9]0)|[一二三四五六七八九]十)年代",
            b.decade,
        ),
        (rf"(上|本|\d{{1,2}}|{N})个?世纪", b.century),
        (r"(前去|去今|今明|明后)两?年", b.years_together),
        (r"(昨今|今明|明后)两?[天日]", b.days_together),
        (r"(?<![\d.])(\d{4}|[一二][零〇一二三四五六七八九]{3})\s?年(?!代|级)(?:度|份)?", b.year),
        (
            r"(?<![\d.近第满了过每去])(0\d|[1-9]\d|[零〇一二三四五六七八九]{2})\s?年(?!代|级|[前后来间内里多了以之历经])(?:份)?",
            b.year,
        ),
        (rf"({_alternatives(YEAR_WORDS)})(?![夜夕会级轻])", b.year_word),
    )


def _calendar_patterns() -> tuple[Pattern, ...]:
    """Lunar dates, holidays, months and days of the month."""
    holidays = _alternatives(holiday_names("zh"))
    return (
        (r"(?:农历|阴历|旧历|夏历)的?", b.kind("lunar")),
        (
            r"(?:大年|正月)(初[一二三四五六七八九十]|十[一二三四五六七八九]?|二十[一二三四五六七八九]?)(?!点)",
            b.lunar_new_year,
        ),
        (
            rf"(?<!不)(下一?个|上一?个|今年的?)?({holidays})"
            rf"(前夜|前夕|翌日|次日|(?:的?)[前后]第?{AMOUNT}个?(?:天|周|星期|礼拜)(?!内))?",
            b.holiday,
        ),
        (rf"([冬腊]月)(初[一二三四五六七八九十]|{N31})(?![日号点])", b.lunar_month),
        (rf"((?:[正冬腊]|{N12})月)(初[一二三四五六七八九十]|廿[一二三四五六七八九]?)", b.lunar_month),
        (r"([正腊]月)()", b.lunar_month),
        (
            r"(初[一二三四五六七八九十])(?![一二三四五六七八九十中高级])",
            lambda g, c: Frame(day=b.lunar_day(g[0] or ""), lunar=True),
        ),
        (
            rf"{_SINGLE}(?:1[3-9]|[2-9]\d|十[三四五六七八九]|[二三四五六七八九]十[一二三四五六七八九]?)月(?:{N31})[日号](?!{_NOT_A_DAY})",
            lambda g, c: Frame(impossible=True),
        ),
        (rf"({_WHICH})一?个?月(?:份)?", b.month_words),
        (
            rf"{_SINGLE}(?<![\d一二三四五六七八九十几两]个)({N12})\s?月(?:份)?"
            rf"(?:的?\s?({N31})(?:[日号](?!{_NOT_A_DAY})|{NO_MINUTES}(?!\s?[点月])))?(?![饼球亮])",
            b.month,
        ),
        (rf"{_SINGLE}(?<![如朝终整每某近改女男头])({N31})\s?[日号](?!{_NOT_A_DAY})", b.day),
    )


def _week_patterns() -> tuple[Pattern, ...]:
    """Counted weeks and days, quarters, weekdays, beginnings and ends."""
    return (
        (
            rf"(最后一?个?|首个?|头一?个?|倒数第{N}个?|第{N}个?)({_WEEK}[一二三四五六日天]|周末|工作日|{_WEEK}|月|季度|[天日])(?![前后内])",
            lambda g, c: b.nth_of(((g[0] or "").rstrip("个"), g[1]), c),
        ),
        (
            rf"(第{N}|首|末|头|[一二三四]|最后一)个?季度?(?![节])|([Qq][1-4])季?度?",
            lambda g, c: b.quarter((g[0] or g[1],), c),
        ),
        (rf"({_WHICH})一?个?季度", b.quarter_word),
        (rf"(?:({_WHICH})一?个?)?(?:周末|双休日)", b.weekend),
        (
            rf"(?:({_WHICH})一?个?的?)?{_WEEK}([一二三四五六日天末]|[1-7](?!\d))(?![点时分家年月号个次遍]|[一二三四五六七八九]?[年度])",
            b.weekday,
        ),
        (rf"({_WHICH})一?个?{_WEEK}", b.week),
        (
            r"(?:[上中下]旬|月[底末初中]|(?<![一二三四五六七八九十两几多])年[底末初中]|岁末|季度?[末初]"
            r"|(?<=季度)[底末初]|(?<=[Qq][1-4])[底末初]|(?<=[周月年度期拜末1-4])结束(?=[之以]?前)|(?<=世纪)[末初中]|(?<=年代)[末初中](?!期)|(?<=年)[底末初]|(?<=月)[底末初])",
            b.edge,
        ),
    )


def _day_patterns() -> tuple[Pattern, ...]:
    """Named days, parts of the day, clock times."""
    return (
        (rf"({_alternatives(SHORT_DAYS)})", b.short_day),
        (rf"({_alternatives(DAY_WORDS)})(?![候])", b.day_word),
        (
            rf"(?<!整)(?<![^周期拜]一)(?<![一整]个)({_alternatives(PART_WORDS)})(?![安餐饭会报]|好(?:$|[\W呀啊吗哦您你]|各位|大家))",
            b.part,
        ),
        (rf"(?:差|还差)(一刻|1刻|{SIXTY}分)(?:到)?({HOUR})[点时]", b.to_clock),
        (rf"{_SINGLE}({HOUR})点差(一刻|1刻|{SIXTY}分)", lambda g, c: b.to_clock((g[1], g[0]), c)),
        (
            rf"{_SINGLE}(?<!:)({HOUR})(?:点钟?|时(?![间候期代而常刻尚装节差段]))"
            rf"(?:过|搭(?=半))?(?:(半|[一三13]刻钟?)|[踏搭]([一二三四五六七八九半1369]+|十一?)|({SIXTY})分钟?(?:({SIXTY})秒钟?)?"
            rf"|({FULL_SIXTY})(?![\d度%倍万亿.个年月天块元])|([一二三四五六七八九])个字)?(?:整|踏?正)?(?![\d一二三四五六七八九零〇])",
            b.clock,
        ),
        (rf"{_SINGLE}({N})\s?(?:到|至|[-~—～]{{1,3}})(?=\s?{N}\s?(?:点|时|月|日|号|年|[:]))", b.half_number),
        (r"(?:全天|一整天|整天)", b.all_day),
        (r"正午", lambda g, c: Frame(hour=12, meridiem="24")),
        (r"(?:这个?时候|这会儿)", b.this_hour),
        (r"([今去明]?[春夏秋冬][天季]|[今去明][春夏秋冬])", b.season),
        (r"(?:现在|此刻|此时|当前|目前|眼下|如今|而家|依家|马上|立刻|立即|即刻)", b.now),
        (
            rf"\(?(?:({_alternatives(NAMES_ZH)})(?:(?:当地|标准|夏令)?时间|(?<=世界)时)|({_alternatives(ZONES)})(?![A-Za-z]))\)?",
            b.zone,
        ),
    )


def _linking_patterns() -> tuple[Pattern, ...]:
    """Words that stand between expressions or bound them."""
    return (
        (r"(?:工作日|平日)", b.kind("pattern", "every_workday")),
        (r"(?:至今|迄今|到现在|到目前)(?:为止)?(?![天年晚日早])", b.kind("after")),
        (r"(?:到|至|[-~—～]+|直到)", b.kind("range")),
        (r"(?:从|自从|自|由)", b.kind("from")),
        (r"(?:截至|截止到?|直到|赶在|最晚|最迟)", b.kind("until")),
        (r"(?:之前|以前|前(?![面台端天年后])|止|为止)", b.kind("before")),
        (
            r"(?:之后|以后|以来|起(?![来床码伏诉因点初飞名草身]|不)|开始|后(?![面台端天年悔果来续期勤备排代者辈背盾援半]))",
            b.kind("after"),
        ),
        (r"(?:大约|大概|约莫|约|差不多)", b.kind("around", "left")),
        (r"(?:左右|前后|许|期间)", b.kind("around", "right")),
        (r"(?:和|与|跟|及|、)", b.kind("link")),
        (
            r"(早|晚)(?:上|(?![就已点些日晚春夏秋冬年期饭餐会安班自退到熟恋婚]))",
            lambda g, c: ("weak", Frame(part="morning" if g[0] == "早" else "evening"), None),
        ),
    )
