"""Decides where a model runs, with a reason for everything it rejects."""

from agentkit.planner.choose import choose
from agentkit.planner.constraints import Workload
from agentkit.planner.host import assume_targets, probe_host, probe_targets
from agentkit.planner.plan import Choice, Plan, Reason, Rejection
from agentkit.planner.profile import DeviceProfile, find_profile, load_profiles

__all__ = [
    "Choice",
    "DeviceProfile",
    "Plan",
    "Reason",
    "Rejection",
    "Workload",
    "assume_targets",
    "choose",
    "find_profile",
    "load_profiles",
    "probe_host",
    "probe_targets",
]
