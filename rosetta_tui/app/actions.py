"""Every action of the screen in the command palette, from the same bindings as the keys, then those of the app."""

from __future__ import annotations

from functools import partial

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits
from textual.content import Content
from textual.system_commands import SystemCommandsProvider

from rosetta_tui.show.key_names import FOREIGN, key_name


class ActionProvider(SystemCommandsProvider):
    """Offers each binding that works now, a greyed one left out, and after them what works everywhere.

    Both come from one provider, because the palette shows several in whichever order they answer.
    """

    def _actions(self) -> list[ActiveBinding]:
        seen: dict[str, ActiveBinding] = {}
        for active in self.screen.active_bindings.values():
            binding = active.binding
            known = binding.description and not binding.system and binding.action not in FOREIGN
            # of a table its acts, which have names, and not the ways of its cursor
            act = binding.id and not binding.id.startswith("table.")
            if active.enabled and known and (binding.show or active.node is self.screen or act):
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
        async for hit in super().discover():
            yield hit

    async def search(self, query: str) -> Hits:
        """Offer what matches."""
        matcher = self.matcher(query)
        for active in self._actions():
            binding = active.binding
            score = matcher.match(binding.description) or matcher.match(binding.tooltip)
            if score > 0:
                yield Hit(
                    score,
                    matcher.highlight(binding.description),
                    partial(self.app.run_action, binding.action, active.node),
                    text=binding.description,
                    help=_key(active),
                )
        async for hit in super().search(query):
            yield hit


def _key(active: ActiveBinding) -> str:
    return f"key {key_name(active.binding.key)}"
