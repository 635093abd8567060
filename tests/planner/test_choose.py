from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentkit.artifact import ModelSpec
from agentkit.decoder.backend import Probe
from agentkit.errors import NoTarget
from agentkit.planner import DeviceProfile, Plan, Reason, Workload, choose
from tests.planner.conftest import OK, MakeModel

ALL = dict.fromkeys(("cpu_onnx", "npu_rknn", "gpu_vulkan", "tpu_edge", "reference", "npu_sim"), OK)
LAZY = Workload(is_latency_insensitive=True)
HARD = Workload(is_hard_real_time=True)


def order(plan: Plan) -> list[str]:
    return [choice.target for choice in plan.choices]


def reasons(plan: Plan) -> dict[str, Reason]:
    return {item.target: item.reason for item in plan.rejections}


def detail(plan: Plan, target: str) -> str:
    return {item.target: item.detail for item in plan.rejections}[target]


@pytest.mark.parametrize(
    ("parameters", "workload", "expected"),
    [
        (0.5e9, Workload(), ["cpu_onnx", "npu_rknn", "gpu_vulkan", "tpu_edge", "reference"]),
        (1.5e9, Workload(), ["npu_rknn", "cpu_onnx", "gpu_vulkan", "tpu_edge", "reference"]),
        (2.9e9, Workload(), ["npu_rknn", "cpu_onnx", "gpu_vulkan", "tpu_edge", "reference"]),
        (7e9, LAZY, ["gpu_vulkan", "npu_rknn", "cpu_onnx", "tpu_edge", "reference"]),
        (13e9, LAZY, ["gpu_vulkan", "npu_rknn", "cpu_onnx", "tpu_edge", "reference"]),
        (7e9, Workload(), ["npu_rknn", "gpu_vulkan", "cpu_onnx", "tpu_edge", "reference"]),
        (1.5e9, HARD, ["tpu_edge", "npu_rknn", "cpu_onnx", "gpu_vulkan", "reference"]),
    ],
)
def test_size_class_orders_the_targets(
    make_model: MakeModel, roomy: DeviceProfile, parameters: float, workload: Workload, expected: list[str]
) -> None:
    assert order(choose(make_model(parameters), ALL, device=roomy, workload=workload)) == expected


def test_measured_cpu_beats_the_npu_that_the_rule_prefers(make_model: MakeModel, roomy: DeviceProfile) -> None:
    measurements = {"cpu_onnx": 80.0, "npu_rknn": 120.0}
    plan = choose(make_model(1.5e9), ALL, device=roomy, measurements=measurements)
    assert order(plan)[:2] == ["cpu_onnx", "npu_rknn"]
    assert plan.choices[0].why == "80 ms per token measured, against npu_rknn 120 ms"


def test_measured_npu_beats_the_cpu_below_1b(make_model: MakeModel, roomy: DeviceProfile) -> None:
    measurements = {"cpu_onnx": 80.0, "npu_rknn": 40.0}
    assert order(choose(make_model(0.5e9), ALL, device=roomy, measurements=measurements))[0] == "npu_rknn"


def test_one_figure_alone_overturns_nothing(make_model: MakeModel, roomy: DeviceProfile) -> None:
    assert order(choose(make_model(1.5e9), ALL, device=roomy, measurements={"cpu_onnx": 1.0}))[0] == "npu_rknn"


def test_speed_does_not_overrule_hard_real_time(make_model: MakeModel, roomy: DeviceProfile) -> None:
    measurements = {"cpu_onnx": 1.0, "tpu_edge": 20.0}
    plan = choose(make_model(1.5e9), ALL, device=roomy, measurements=measurements, workload=HARD)
    assert order(plan)[0] == "tpu_edge"


def test_half_a_billion_on_rk3588_goes_to_the_cpu_by_the_boards_own_figures(
    make_model: MakeModel, rk3588: DeviceProfile
) -> None:
    plan = choose(make_model(0.5e9, precision="int8"), ALL, device=rk3588)
    assert plan.choices[0].target == "cpu_onnx"
    assert "80 ms" in plan.choices[0].why
    assert "npu_rknn 120 ms" in plan.choices[0].why


def test_reference_stays_last_however_fast_it_measures(make_model: MakeModel, roomy: DeviceProfile) -> None:
    plan = choose(make_model(0.5e9), ALL, device=roomy, measurements={"reference": 0.1, "cpu_onnx": 9.0})
    assert order(plan)[-1] == "reference"


def test_simulator_runs_only_when_named(smollm2: ModelSpec, roomy: DeviceProfile) -> None:
    plan = choose(smollm2, ALL, device=roomy)
    assert "npu_sim" not in order(plan)
    assert reasons(plan)["npu_sim"] is Reason.NOT_NAMED
    assert order(choose(smollm2, ALL, device=roomy, named="npu_sim"))[0] == "npu_sim"


def test_simulator_is_no_fallback_even_if_nothing_else_runs(smollm2: ModelSpec, roomy: DeviceProfile) -> None:
    plan = choose(smollm2, {"npu_sim": OK, "odd": replace(OK, facts={"kind": "sim"})}, device=roomy)
    assert plan.choices == ()
    assert {reasons(plan)["npu_sim"], reasons(plan)["odd"]} == {Reason.NOT_NAMED}


def test_named_target_comes_first_and_keeps_fallbacks(smollm2: ModelSpec, roomy: DeviceProfile) -> None:
    plan = choose(smollm2, ALL, device=roomy, named="npu_rknn", measurements={"cpu_onnx": 1, "npu_rknn": 9})
    assert order(plan)[:2] == ["npu_rknn", "cpu_onnx"]
    assert plan.choices[0].why == "asked for by name"


def test_named_target_that_cannot_run_is_not_replaced_silently(smollm2: ModelSpec, roomy: DeviceProfile) -> None:
    plan = choose(smollm2, {"cpu_onnx": OK, "reference": OK}, device=roomy, named="npu_rknn")
    assert plan.choices == ()
    assert plan.rejections[0].target == "npu_rknn"
    with pytest.raises(NoTarget, match=r"SmolLM2.*npu_rknn: not installed; on the board install"):
        plan.require()


def test_every_target_left_out_has_a_reason(smollm2: ModelSpec, rk3588: DeviceProfile) -> None:
    broken = Probe(is_available=False, detail="/dev/dri missing; load the driver")
    plan = choose(smollm2, {"cpu_onnx": OK, "reference": OK, "gpu_vulkan": broken}, device=rk3588)
    assert order(plan) == ["cpu_onnx", "reference"]
    missing = dict.fromkeys(("npu_rknn", "af_native"), Reason.NOT_INSTALLED)
    assert reasons(plan) == missing | {"gpu_vulkan": Reason.UNAVAILABLE}
    details = {item.target: item.detail for item in plan.rejections}
    assert "rknn-toolkit-lite2" in details["npu_rknn"]
    assert details["gpu_vulkan"] == "/dev/dri missing; load the driver"


def test_missing_npu_is_said_where_the_rule_prefers_one(make_model: MakeModel, roomy: DeviceProfile) -> None:
    plan = choose(make_model(1.5e9), {"cpu_onnx": OK}, device=roomy)
    assert plan.choices[0].why == "below 3 B parameters an NPU is preferred, but no npu can run it here"


def test_npu_takes_the_precision_that_it_has(make_model: MakeModel, roomy: DeviceProfile) -> None:
    plan = choose(make_model(1.5e9, precision="q4_1"), ALL, device=roomy)
    npu = next(choice for choice in plan.choices if choice.target == "npu_rknn")
    assert npu.precision == "int8"
    assert npu.needs is not None
    assert npu.needs.weight_bytes == 1_500_000_000


def test_file_made_for_a_target_must_be_in_its_precision(make_model: MakeModel, roomy: DeviceProfile) -> None:
    plan = choose(make_model(1.5e9, precision="q4_1", targets=("npu_rknn",)), ALL, device=roomy)
    assert reasons(plan)["npu_rknn"] is Reason.PRECISION
    assert reasons(plan)["cpu_onnx"] is Reason.NO_ARTIFACT


def test_file_made_for_a_target_is_preferred_to_a_portable_one(smollm2: ModelSpec, roomy: DeviceProfile) -> None:
    made = replace(smollm2.artifacts[0], name="made", targets=("npu_rknn",), precision="int8")
    model = replace(smollm2, artifacts=(*smollm2.artifacts, made))
    chosen = {choice.target: choice.artifact.name for choice in choose(model, ALL, device=roomy).choices}
    assert (chosen["npu_rknn"], chosen["cpu_onnx"]) == ("made", smollm2.artifacts[0].name)


def test_weights_and_cache_must_fit_free_memory(smollm2: ModelSpec, roomy: DeviceProfile) -> None:
    # 98.4 MB weights + 2 slots of 2048 positions (94.4 MB) + 300 MB runtime
    enough = replace(roomy, memory_free_bytes=493_000_000)
    assert order(choose(smollm2, {"cpu_onnx": OK}, device=enough)) == ["cpu_onnx"]
    short = replace(roomy, memory_free_bytes=492_000_000)
    plan = choose(smollm2, {"cpu_onnx": OK}, device=short)
    assert reasons(plan)["cpu_onnx"] is Reason.NO_MEMORY
    assert "needs 0.49 GB with its cache, 0.49 GB free" in detail(plan, "cpu_onnx")
    assert order(choose(smollm2, {"cpu_onnx": OK}, device=short, max_seq_len=1024)) == ["cpu_onnx"]


def test_reference_counts_its_unpacked_weights(smollm2: ModelSpec, roomy: DeviceProfile) -> None:
    plan = choose(smollm2, ALL, device=replace(roomy, memory_free_bytes=600_000_000))
    assert order(plan)[0] == "cpu_onnx"
    assert reasons(plan)["reference"] is Reason.NO_MEMORY


def test_file_must_fit_storage_unless_it_is_there(smollm2: ModelSpec, roomy: DeviceProfile) -> None:
    full = replace(roomy, storage_free_bytes=1000)
    plan = choose(smollm2, ALL, device=full)
    assert plan.choices == ()
    assert reasons(plan)["cpu_onnx"] is Reason.NO_STORAGE
    assert order(choose(smollm2, ALL, device=full, pulled=[smollm2.artifacts[0].name]))[0] == "cpu_onnx"


def test_model_file_above_the_boards_limit_is_refused(make_model: MakeModel, rk3588: DeviceProfile) -> None:
    plan = choose(make_model(7e9), ALL, device=rk3588)
    assert plan.choices == ()
    assert "3.5 GB file, at most 2.0 GB here" in detail(plan, "cpu_onnx")


def test_same_question_has_the_same_answer(smollm2: ModelSpec, rk3588: DeviceProfile) -> None:
    backwards = dict(reversed(ALL.items()))
    assert choose(smollm2, ALL, device=rk3588) == choose(smollm2, backwards, device=rk3588)


def test_plan_prints_in_a_dozen_lines_and_as_json(smollm2: ModelSpec, rk3588: DeviceProfile) -> None:
    probes = {"cpu_onnx": OK, "reference": OK, "npu_sim": OK}
    plan = choose(smollm2, probes, device=rk3588)
    lines = plan.lines()
    assert len(lines) <= 12
    assert all(len(line) <= 140 for line in lines)
    text = "\n".join(lines)
    for part in ("1. cpu_onnx (q4_1): below 1 B", "2. reference (f32)", "no npu_rknn (not_installed)", "tokens/s", "W"):
        assert part in text
    data = json.loads(json.dumps(plan.as_dict()))
    assert [choice["target"] for choice in data["choices"]] == ["cpu_onnx", "reference"]
    assert {
        "target": "npu_rknn",
        "reason": "not_installed",
        "detail": detail(plan, "npu_rknn"),
    } in data["rejections"]


def test_native_kernels_come_before_onnx_runtime_and_their_absence_has_a_remedy(
    smollm2: ModelSpec, roomy: DeviceProfile
) -> None:
    built = {"af_native": OK, "cpu_onnx": OK, "reference": OK}
    assert order(choose(smollm2, built, device=roomy)) == ["af_native", "cpu_onnx", "reference"]

    lacking = built | {"af_native": Probe(is_available=False, detail="no C++ compiler; install one")}
    plan = choose(smollm2, lacking, device=roomy)
    assert order(plan) == ["cpu_onnx", "reference"]
    assert "no af_native (unavailable): no C++ compiler; install one" in "\n".join(plan.lines())
