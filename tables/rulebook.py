"""The rules of every tenant as they are known: derived from the compacted rules topic, held in memory (V3)."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from models import privacy
from models.records import Rule


class RuleBook:
    """Rules by tenant and id; a later record of the same id replaces the earlier one, as in the compacted topic."""

    def __init__(self) -> None:
        self._tenants: dict[str, dict[str, Rule]] = {}

    def put(self, rule: Rule) -> None:
        """Takes a rule in, masked like what a person says, but for addresses: a shop's own is no personal matter."""
        found = [item for item in privacy.find_never(rule.text, None) if item.type != "address"]
        if found:
            rule = replace(rule, text=privacy.mask(rule.text, found))
        self._tenants.setdefault(rule.tenant, {})[rule.rule_id] = rule

    def remove(self, tenant: str, rule_id: str) -> None:
        """Forgets a rule (a tombstone on its topic)."""
        self._tenants.get(tenant, {}).pop(rule_id, None)

    def of(self, tenant: str) -> Mapping[str, Rule]:
        """The tenant's rules by id."""
        return self._tenants.get(tenant, {})

    def __len__(self) -> int:
        return sum(len(rules) for rules in self._tenants.values())
