"""Every action of the screen in the command palette, from the same bindings as the keys."""

from __future__ import annotations

from functools import partial

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from rosetta_tui.keys import FOREIGN, key_name


class ActionProvider(Provider):
    """Offers each binding that works now; a greyed one is left out."""

    def _actions(self) -> list[ActiveBinding]:
        seen: dict[str, ActiveBinding] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            known = binding.description and not binding.system and binding.action not in FOREIGN
            if active.enabled and known and (binding.show or active.node is self.screen):
                seen.setdefault(binding.description, active)
        return list(seen.values())

    async def discover(self) -> Hits:
        """Offer everything before anything is typed."""
        for active in self._actions():
            binding = active.binding
            yield DiscoveryHit(
                Content(binding.description),
                partial(self.app.run_action, binding.action, active.node),
                text=binding.description,
                help=_key(active),
            )

    async def search(self, query: str) -> Hits:
        """Offer what matches."""
        matcher = self.matcher(query)
        for active in self._actions():
            binding = active.binding
            score = matcher.match(binding.description)
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(binding.description),
                    partial(self.app.run_action, binding.action, active.node),
                    text=binding.description,
                    help=_key(active),
                )


def _key(active: ActiveBinding) -> str:
    return f"key {key_name(active.binding.key)}"
