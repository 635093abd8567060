"""What is checked of a YAML document before it becomes values: that its aliases do not unfold into a flood."""

from __future__ import annotations

from pathlib import Path

import yaml

from agentkit.errors import ConfigError

MAX_NODES = 200_000
"""Most values of a file, each alias counted as all that it stands for: the largest homes have a third of it."""


def check_size(root: yaml.Node, path: Path) -> None:
    """Raise ConfigError if the values, written out, are too many; nine lines of aliases can stand for billions."""
    _size(root, path, {})


def _size(node: yaml.Node, path: Path, known: dict[int, int]) -> int:
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) not in known:
        known[id(node)] = 0  # a node inside itself ends here; building the values complains about it
        pairs = isinstance(node, yaml.MappingNode)
        children = [child for item in node.value for child in (item if pairs else (item,))]
        known[id(node)] = 1 + sum(_size(child, path, known) for child in children)
        if known[id(node)] > MAX_NODES:
            message = f"{known[id(node)]} values once its aliases are written out, at most {MAX_NODES} fit; use fewer"
            raise ConfigError(message, path=path, line=node.start_mark.line + 1)
    return known[id(node)]
