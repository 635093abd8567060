"""Chooses targets for a model: a pure function of manifest, device profile, probes and measurements (U5, B1)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentkit.artifact import ANY_TARGET, Artifact, ModelSpec
from agentkit.decoder.backend import Probe
from agentkit.planner.constraints import CACHE_FACTS, GB, Needs, Workload, cache_bytes, needs, warnings, weight_bytes
from agentkit.planner.plan import Choice, Plan, Reason, Rejection
from agentkit.planner.profile import DeviceProfile, Engine, Kind

REFERENCE_PRECISION = "f32"
_ONLY_NAMED = (Kind.SIMULATOR, Kind.REMOTE)


@dataclass(frozen=True)
class Request:
    """Everything about a plan besides model, probes and device."""

    measurements: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds per token of this model by target, taken on this device."""
    workload: Workload = field(default_factory=Workload)
    named: str | None = None
    """The target that the user asked for."""
    max_seq_len: int = 2048
    n_slots: int = 2
    pulled: Collection[str] = ()
    """Artifacts already on disk; they need no more storage."""


def choose(
    model: ModelSpec,
    probes: Mapping[str, Probe],
    *,
    device: DeviceProfile,
    measurements: Mapping[str, float] | None = None,
    workload: Workload | None = None,
    named: str | None = None,
    max_seq_len: int = 2048,
    n_slots: int = 2,
    pulled: Collection[str] = (),
) -> Plan:
    """Order the targets that can run the model and give a reason for every one that cannot.

    Measured targets are ordered by their figure (milliseconds per token), the rest by size class. `reference` comes
    last; simulators and remote targets only if `named`. A named target that cannot run leaves no choice at all.
    """
    known = {**device.measured_near(model.parameters), **(measurements or {})}
    request = Request(known, workload or Workload(), named, min(max_seq_len, model.context), n_slots, pulled)
    targets = sorted({*probes, *(engine.target for engine in device.engines)} | ({named} if named else set()))
    judged = [_judge(target, model, probes.get(target), device, request) for target in targets]
    usable = [item for item in judged if isinstance(item, Choice)]
    rejections = [item for item in judged if isinstance(item, Rejection)]
    if named and named not in {choice.target for choice in usable}:
        detail = f"{named} was asked for and cannot run; name another or none"
        rejections += [Rejection(choice.target, Reason.NOT_NAMED, detail) for choice in usable]
        rejections.sort(key=lambda item: item.target != named)
        usable = []
    kinds = {target: kind_of(target, device.engine(target), probes.get(target)) for target in targets}
    choices = _in_order(usable, kinds, model.parameters, request)
    first = choices[0].needs if choices else None
    found = warnings(device, request.workload, first) if first else ()
    return Plan(model=model, device=device, choices=choices, rejections=tuple(rejections), warnings=found)


def kind_of(target: str, engine: Engine | None, probe: Probe | None) -> Kind:
    """Tell what a target runs on: its probe says so, or the profile, or its name (npu_sim, cpu_onnx …)."""
    said = probe.facts.get("kind") if probe else None
    if said in list(Kind):
        return Kind(said)
    if engine is not None:
        return engine.kind
    parts = target.split("_")
    if parts[-1] == Kind.SIMULATOR:
        return Kind.SIMULATOR
    return Kind(parts[0]) if parts[0] in list(Kind) else Kind.CPU


def preference(parameters: int, workload: Workload) -> tuple[tuple[Kind, ...], str]:
    """Return the kinds in order for a size class, and why."""
    if workload.is_hard_real_time:
        return (Kind.TPU, Kind.NPU, Kind.CPU, Kind.GPU), "hard real time goes to a TPU first"
    if parameters < 1 * GB:
        return (Kind.CPU, Kind.NPU, Kind.GPU, Kind.TPU), "below 1 B parameters the CPU goes first until measured"
    if parameters < 3 * GB:
        return (Kind.NPU, Kind.CPU, Kind.GPU, Kind.TPU), "below 3 B parameters an NPU is preferred"
    if parameters >= 7 * GB and workload.is_latency_insensitive:
        return (Kind.GPU, Kind.NPU, Kind.CPU, Kind.TPU), "from 7 B on a GPU is preferred where latency does not matter"
    return (Kind.NPU, Kind.GPU, Kind.CPU, Kind.TPU), "from 3 B on accelerators come before the CPU"


def _judge(
    target: str, model: ModelSpec, probe: Probe | None, device: DeviceProfile, request: Request
) -> Choice | Rejection:
    engine = device.engine(target)
    kind = kind_of(target, engine, probe)
    if kind in _ONLY_NAMED and target != request.named:
        return Rejection(target, Reason.NOT_NAMED, f"a {kind} target runs only when named; use --target {target}")
    if probe is None:
        step = (engine.next_step if engine else "") or "install the package that brings it"
        return Rejection(target, Reason.NOT_INSTALLED, f"not installed; {step}")
    if not probe.is_available:
        return Rejection(target, Reason.UNAVAILABLE, probe.detail)
    artifact = _artifact_for(model, target)
    if artifact is None:
        return Rejection(target, Reason.NO_ARTIFACT, f"{model.name} has no file for it; list one in the manifest")
    precision = _precision(artifact, kind, engine)
    if precision is None:
        can = ", ".join(engine.precisions) if engine else ""
        detail = f"{artifact.name} is {artifact.precision}, it takes {can}; list another in the manifest"
        return Rejection(target, Reason.PRECISION, detail)
    size = artifact.size if precision == artifact.precision else weight_bytes(model.parameters, precision)
    n_cache = cache_bytes(
        model.shape, max_seq_len=request.max_seq_len, n_slots=request.n_slots, **_cache_form(probe.facts)
    )
    lack = _lack(artifact, size + n_cache + device.runtime_bytes, device, request)
    if lack is not None:
        return Rejection(target, *lack)
    need = _needs(model, size, n_cache, engine, device, request)
    return Choice(target=target, artifact=artifact, precision=precision, why="", needs=need)


def _cache_form(facts: Mapping[str, Any]) -> dict[str, int]:
    """What the target says of its cache; see decoder.kv_cache.cache_facts."""
    return {name.removeprefix("cache_"): facts[name] for name in CACHE_FACTS if name in facts}


def _artifact_for(model: ModelSpec, target: str) -> Artifact | None:
    """Prefer a file made for the target to a portable checkpoint."""
    fitting = [artifact for artifact in model.artifacts if artifact.fits(target)]
    return min(fitting, key=lambda artifact: ANY_TARGET in artifact.targets, default=None)


def _precision(artifact: Artifact, kind: Kind, engine: Engine | None) -> str | None:
    """Return what the target would hold the weights in, None if it cannot."""
    if kind is Kind.REFERENCE:
        return REFERENCE_PRECISION
    if engine is None or not engine.precisions or artifact.precision in engine.precisions:
        return artifact.precision
    return engine.precisions[0] if ANY_TARGET in artifact.targets else None


def _lack(artifact: Artifact, total: int, device: DeviceProfile, request: Request) -> tuple[Reason, str] | None:
    if artifact.size > device.max_model_bytes:
        limit = device.max_model_bytes / GB
        return Reason.NO_STORAGE, f"{artifact.size / GB:.1f} GB file, at most {limit:.1f} GB here; take a smaller model"
    free = device.storage_free_bytes
    if artifact.name not in request.pulled and artifact.size > free:
        return Reason.NO_STORAGE, f"{artifact.size / GB:.1f} GB file, {free / GB:.1f} GB storage free; free some"
    free = device.memory_free_bytes
    if total > free:
        step = "take a smaller model, fewer bits or a shorter max_seq_len"
        return Reason.NO_MEMORY, f"needs {total / GB:.2f} GB with its cache, {free / GB:.2f} GB free; {step}"
    return None


def _needs(
    model: ModelSpec, size: int, n_cache: int, engine: Engine | None, device: DeviceProfile, request: Request
) -> Needs | None:
    if engine is None:
        return None
    return needs(
        device, engine, request.workload, parameters=model.parameters, n_weight_bytes=size, n_cache_bytes=n_cache
    )


def _in_order(usable: list[Choice], kinds: Mapping[str, Kind], parameters: int, request: Request) -> tuple[Choice, ...]:
    order, rule = preference(parameters, request.workload)

    def rank(choice: Choice) -> int:
        if choice.target == request.named:
            return -1
        kind = kinds[choice.target]
        return order.index(kind) if kind in order else len(order)

    ranked = sorted(usable, key=rank)
    if not request.workload.is_hard_real_time:  # there the spread counts, and a mean says nothing about it
        ranked = _by_measurement(ranked, kinds, request)
    reasons = [_why(at, ranked, kinds, request, (order[0], rule)) for at in range(len(ranked))]
    return tuple(replace(choice, why=why) for choice, why in zip(ranked, reasons, strict=True))


def _by_measurement(ranked: list[Choice], kinds: Mapping[str, Kind], request: Request) -> list[Choice]:
    """Put measured targets in the order of their figures, into the places that they hold together."""
    places = [at for at, choice in enumerate(ranked) if _is_measured(choice, kinds, request)]
    fastest = sorted((ranked[at] for at in places), key=lambda choice: request.measurements[choice.target])
    result = list(ranked)
    for at, choice in zip(places, fastest, strict=True):
        result[at] = choice
    return result


def _is_measured(choice: Choice, kinds: Mapping[str, Kind], request: Request) -> bool:
    is_fixed = choice.target == request.named or kinds[choice.target] is Kind.REFERENCE
    return choice.target in request.measurements and not is_fixed


def _why(at: int, ranked: list[Choice], kinds: Mapping[str, Kind], request: Request, rule: tuple[Kind, str]) -> str:
    target = ranked[at].target
    figures = {item.target: request.measurements[item.target] for item in ranked if item.target in request.measurements}
    if target == request.named:
        return "asked for by name"
    if kinds[target] is Kind.REFERENCE:
        return "last resort: defines what is right, slow"
    own = f"{figures[target]:g} ms per token measured" if target in figures else ""
    if at > 0:
        return f"fallback; {own}" if own else "fallback"
    others = ", ".join(f"{name} {ms:g} ms" for name, ms in figures.items() if name != target)
    if own and others:
        return f"{own}, against {others}"
    preferred, text = rule
    if kinds[target] is not preferred:
        text += f", but no {preferred} can run it here"
    return f"{text}; {own}" if own else text
