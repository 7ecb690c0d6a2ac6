"""Personal data: finding it, and masking it (features I2, W1; the table in docs/privacy.md)."""

from models.privacy.finder import find_never, find_personal_data, load, mask_never
from models.privacy.spans import NEVER_STORE, PersonalData, mask, placeholder

__all__ = [
    "NEVER_STORE",
    "PersonalData",
    "find_never",
    "find_personal_data",
    "load",
    "mask",
    "mask_never",
    "placeholder",
]
