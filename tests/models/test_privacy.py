"""Personal data: what is found, what is not, and that masking is safe to repeat."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.entities.chinese_words import Word
from models.privacy import NEVER_STORE, checks, find_never, find_personal_data, mask, mask_never
from models.privacy.chinese_names import _split
from models.privacy.spans import RANK


def found(text: str) -> set[tuple[str, str]]:
    return {(item.type, item.text) for item in find_personal_data(text, names=False)}


@pytest.mark.parametrize(
    ("said", "type_", "value"),
    [
        ("身份证是 44010619900101123X 请登记", "id_number", "44010619900101123X"),
        ("我的证件号 110101 1990 0307 4610", "id_number", "110101 1990 0307 4610"),
        ("身份证号码一一零一零一一九九零零三零七四六一零", "id_number", "一一零一零一一九九零零三零七四六一零"),
        ("HKID A123456(3)", "id_number", "A123456(3)"),
        ("my SSN is 219-09-9999", "id_number", "219-09-9999"),
        ("driver's license number D1234567", "id_number", "D1234567"),
        ("护照 E87654321 还有效", "passport", "E87654321"),
        ("passport number 533401234", "passport", "533401234"),
        ("招行卡 6225 8801 2345 6789 扣款失败", "bank_card", "6225 8801 2345 6789"),
        ("卡号六二二五八八零一二三四五六七八九", "bank_card", "六二二五八八零一二三四五六七八九"),
        ("pay with 4012-8888-8888-1881", "bank_card", "4012-8888-8888-1881"),
        ("IBAN DE89 3704 0044 0532 0130 00", "bank_card", "DE89 3704 0044 0532 0130 00"),
        ("打我电话１３９１２３４５６７８", "phone", "１３９１２３４５６７８"),
        ("电话幺三九幺二三四五六七八", "phone", "幺三九幺二三四五六七八"),
        ("座机 021-6458 1234 转 805", "phone", "021-6458 1234 转 805"),
        ("reach me on +44 20 7946 0958", "phone", "+44 20 7946 0958"),
        ("call (212) 555-0147 after six", "phone", "(212) 555-0147"),
        ("it's five five five oh one double nine two", "phone", "five five five oh one double nine two"),
        ("写信到 wei.zhang+work@mail.example.cn 吧", "email", "wei.zhang+work@mail.example.cn"),
        ("jane at example dot com", "email", "jane at example dot com"),
        ("车停在门口，沪A·8K926", "licence_plate", "沪A·8K926"),
        ("寄到江苏省南京市鼓楼区中山北路 1 号", "address", "江苏省南京市鼓楼区中山北路 1 号"),
        ("我家在成都市武侯区科华北路62号力宝大厦12楼1203室", "address", "成都市武侯区科华北路62号力宝大厦12楼1203室"),
        ("翠湖花园8栋2单元1502室漏水", "address", "翠湖花园8栋2单元1502室"),
        ("my home is 77 Massachusetts Avenue, Cambridge, MA 02139", "address", "77 Massachusetts Avenue, Cambridge, MA 02139"),
        ("send it to P.O. Box 1187", "address", "P.O. Box 1187"),
        ("export AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIbK7MDENGbPxRfiCYEXAMPLEKEY", "secret", "wJalrXUtnFEMIbK7MDENGbPxRfiCYEXAMPLEKEY"),
        ("token ghp_16C7e42F292c6912E7710c838347Ae178B4a leaked", "secret", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
        ("密码改成了Blue-Moon#77", "secret", "Blue-Moon#77"),
        ("验证码 739201，五分钟内有效", "secret", "739201"),
        ("my pin is 0482", "secret", "0482"),
        ("mysql://root:t0pS3cret@10.0.0.3/db", "secret", "t0pS3cret"),
        ("我爸查出了肺癌", "health", "肺癌"),
        ("我妈每天吃降压药", "health", "降压药"),
        ("she was diagnosed with multiple sclerosis", "health", "multiple sclerosis"),
        ("I am taking sertraline for it", "health", "sertraline"),
        ("我们去年离婚了", "family", "离婚"),
        ("my wife filed for divorce", "family", "divorce"),
        ("护照号码 G 1234 5678", "passport", "G 1234 5678"),
        ("My passport is 987654321 issued", "passport", "987654321"),
        ("身份证号 1 1 0 1 0 5 1 9 4 9 1 2 3 1 0 0 2 X", "id_number", "1 1 0 1 0 5 1 9 4 9 1 2 3 1 0 0 2 X"),
        ("身份证是幺幺零幺零五幺九四九幺二三幺零零二叉", "id_number", "幺幺零幺零五幺九四九幺二三幺零零二叉"),
        ("幺幺零幺零五幺九四九幺二三幺零零二艾克斯", "id_number", "幺幺零幺零五幺九四九幺二三幺零零二艾克斯"),
        ("回乡证H1234567890", "id_number", "H1234567890"),
        ("cvv 是 一二三", "secret", "一二三"),
        ("支付密码是六个八，别说出去", "secret", "六个八"),
        ("密码就是我的生日19900101", "secret", "我的生日19900101"),
        ("api key: sk-live-51Hxyz", "secret", "sk-live-51Hxyz"),
        ("export DB_PASSWORD='p@ss w0rd'", "secret", "p@ss w0rd"),
        ("mysql -u root -pS3cret", "secret", "S3cret"),
        ("curl -u admin:hunter2 https://x.com", "secret", "hunter2"),
        ("our wifi password, it's sunflower22", "secret", "sunflower22"),
        ("the password for the wifi is sunflower22", "secret", "sunflower22"),
        ("我對花生過敏，有氣喘", "health", "氣喘"),
        ("I am allergic to penicillin and I have diabetes", "health", "diabetes"),
        ("he is recovering from heart surgery", "health", "heart surgery"),
        ("住址：广东省深圳市南山区高新南一道飞亚达大厦西座", "address", "广东省深圳市南山区高新南一道飞亚达大厦西座"),
        ("家住翠湖天地一期6号楼", "address", "翠湖天地一期6号楼"),
        ("apartment 4B, 350 West 50th Street, New York", "address", "apartment 4B, 350 West 50th Street, New York"),
        ("write to john dot doe at gmail dot com", "email", "john dot doe at gmail dot com"),
        ("出生日期：1988-12-01", "date_of_birth", "1988-12-01"),
        ("我的QQ是 2857361", "social_account", "2857361"),
    ],
)  # fmt: skip
def test_finds(said: str, type_: str, value: str) -> None:
    hits = found(said)
    assert (type_, value) in hits if value else any(kind == type_ for kind, _ in hits)


@pytest.mark.parametrize(
    "said",
    ["订单 OD-88921 什么时候到", "退款单号 RF-3310", "SKU BX-200-BLUE 有货吗", "工单 INC0012345 关了吗", "报错 E4417", "运单号 6222021234567890",
     "快递 SF1029384756 还没到", "order 4111111111111111 is late", "tracking number 1Z999AA10123456784", "发票号 04403900111122223333",
     "型号 E12345678 的配件", "价格 10000，数量 888", "2026-03-02 10:30 开会", "版本 1.2.3.4", "坐3号线转2号线", "我对海鲜过敏", "I am allergic to peanuts",
     "我住在南京", "My sister plays the violin.", "我姐姐拉小提琴", "这个 token 过期了", "密码忘了怎么办", "my password is wrong", "the secret is out",
     "测试账号权限已开通", "数据库诊断完成", "服务健康检查通过", "这事儿真让人头疼", "My locker code word is canary-8M3Z", "订会议室302",
     "we met 25 people at 10 or 11", "总价四万八，分三期", "二零二六年五月二十日", "3 步走，一二三四五", "离婚率在上升", "密码是一个字母加数字", "验证码三分钟后过期", "密码改了三次",
     "他跑得气喘吁吁", "会议在5号楼", "公司在深圳市南山区软件园", "订单 G 1234 5678", "the secret key is lost", "the third place on Main stage"],
)  # fmt: skip
def test_leaves_alone(said: str) -> None:
    assert not [item for item in find_personal_data(said, names=False) if item.type in NEVER_STORE | {"phone", "email"}]


def test_never_keeps_what_a_task_needs() -> None:
    said = "我叫王小明，电话 13912345678，邮箱 a@b.cn，车牌沪A8K926，卡号6225880123456789"
    assert {item.type for item in find_never(said)} == {"bank_card"}
    assert mask_never(said).endswith("卡号[bank_card:m]")


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("收件人：程晓明，电话 13912345678", ["程晓明"]),
        ("请核对谢涛银行卡的预留号码", ["谢涛"]),
        ("客户何文申请贷款", ["何文"]),
        ("迈克尔·乔丹退役了", ["迈克尔·乔丹"]),
        ("江苏：明天有雨", []),
        ("贝蒂斯 vs 波兹南", []),
        ("今天天气不错", []),
        ("黄山风景区很漂亮", []),
        ("马上安排，谢谢", []),
        ("你好，张先生", []),
        ("王总明天下午三点和我开会", []),
        ("王经理明天来", []),
        ("联系人明月", ["明月"]),
        ("马总五一结婚", []),
        ("张工程师来了", []),
        ("李总监和王总裁都同意", []),
    ],
)
def test_chinese_names(said: str, names: list[str]) -> None:
    assert [item.text for item in find_personal_data(said, "zh") if item.type == "person"] == names


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("My name is Katarzyna Nowak and I need help.", ["Katarzyna Nowak"]),
        ("Please ask Dr. Lindqvist to call me.", ["Lindqvist"]),
        ("I spoke to Priya yesterday.", ["Priya"]),
        ("The deploy still fails with error E4417.", []),
        ("Please keep me posted.", []),
    ],
)
def test_english_names(said: str, names: list[str]) -> None:
    assert [item.text for item in find_personal_data(said, "en") if item.type == "person"] == names


def test_two_names_run_together_are_split() -> None:
    assert _split(Word("王姝马力", "PER", 3, 7)) == [(3, 5), (5, 7)]
    assert _split(Word("欧阳娜娜", "PER", 0, 4)) == [(0, 4)]


def test_zero_width_characters_hide_nothing() -> None:
    said = "卡号6225\u200b8801\u200b2345\u200b6789"
    (item,) = find_personal_data(said)
    assert (item.type, said[item.start : item.end]) == ("bank_card", item.text)


def test_traditional_chinese() -> None:
    assert ("id_number", "11010519491231002X") in found("身份證號碼：11010519491231002X")


def test_masked_keeps_the_rest_of_the_text() -> None:
    said = "🙂e\u0301 卡号6225880123456789，谢谢👍🏽"
    assert mask(said, find_personal_data(said)) == "🙂e\u0301 卡号[bank_card:m]，谢谢👍🏽"


PIECES = st.sampled_from(
    ["身份证11010519491231002X", "卡号6225880123456789", "13912345678", "a@b.cn", "密码是", "password: ", "Hunter2x!", "我得了", "高血压", "，", " ", "\n", "王小明",
     "John Smith", "北京市海淀区中关村大街27号", "12 Main St", "验证码", "839201", "[secret:s]", "[", ":", "🙂", "e\u0301", "\u200b", "离婚", "微信号", "abc_12345", "E12345678", "护照"]
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.one_of(st.lists(PIECES, max_size=8).map("".join), st.text(max_size=60)))
def test_spans_lie_inside_and_masking_is_idempotent(text: str) -> None:
    items = find_personal_data(text)
    for item in items:
        assert 0 <= item.start < item.end <= len(text)
        assert item.text == text[item.start : item.end]
        assert item.type in RANK
    assert all(a.end <= b.start for a, b in zip(items, items[1:], strict=False))
    masked = mask(text, items)
    assert mask(masked, find_personal_data(masked)) == masked
    never = mask_never(text)
    assert mask_never(never) == never


@pytest.mark.parametrize(
    "unit",
    [
        "9",
        "的",
        "(",
        " ",
        "9 ",
        "a",
        "A1",
        "1-",
        "@",
        "a@",
        "号",
        "路1号",
        "3栋",
        "密码",
        "password=",
        "王",
        "\n",
        "一",
        "Ab 1 ",
        "://a:",
        "eyJ",
        "mysql -p ",
        "password for the ",
        "住址是",
        "E1 12 ",
        "apt 1, ",
        "a dot ",
        "六个八",
        "密码一",
        "我过敏和",
        "'",
        "key='",
    ],
)
def test_linear_on_long_runs(unit: str) -> None:
    find_never("warm up 1")
    text = (unit * 10_000)[:10_000]
    started = time.perf_counter()
    find_never(text)
    assert time.perf_counter() - started < 3.0


def test_check_digits() -> None:
    assert checks.chinese_id("11010519491231002X")
    assert not checks.chinese_id("110105194912310021")
    assert not checks.chinese_id("110105194902300021")
    assert checks.luhn("6222021234567890128") == (checks.luhn("6222021234567890128"[::1]))
    assert checks.iban("DE89370400440532013000")
    assert checks.credit_code("91110108MA01YBNX62")
