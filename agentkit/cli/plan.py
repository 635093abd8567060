"""`agentkit plan`: constraint sheet, choice of target, and every rejection with its reason."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from agentkit.cli.common import DebugOption, JsonOption, ManifestOption, tell


def plan_command(
    device: Annotated[str | None, typer.Option(help="Plan for this board on paper; default: this machine.")] = None,
    model: Annotated[
        str | None, typer.Option(help="Model of the manifest; default: the first agent model there.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="Ask for one target by name (the only way to a simulator).")
    ] = None,
    manifest: ManifestOption = None,
    is_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    """Say where a model would run and why, and why not elsewhere; exit code 1 if nothing can run it."""
    from agentkit.fetch import agentkit_home, is_pulled
    from agentkit.manifest import find_manifest, find_model, load_manifest
    from agentkit.planner import assume_targets, choose, find_profile, load_profiles, probe_host, probe_targets

    spec = find_model(load_manifest(find_manifest(manifest)), model)
    home = agentkit_home()
    if device is None:
        profile, probes = probe_host(home, is_bandwidth_measured=True), probe_targets()
        pulled = [artifact.name for artifact in spec.artifacts if is_pulled(artifact, home)]
    else:
        profile = find_profile(device, load_profiles())
        probes, pulled = assume_targets(profile), []
    plan = choose(spec, probes, device=profile, named=target, pulled=pulled)
    tell(*(json.dumps(plan.as_dict(), ensure_ascii=False, indent=2).split("\n") if is_json else plan.lines()))
    if not plan.choices:
        raise typer.Exit(1)
