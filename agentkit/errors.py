"""Everything agentkit raises on purpose.

    AgentKitError
    ├── ConfigError            app.yaml, home.yaml: file, line, key
    ├── AppError               the app folder is missing, or a tool is declared wrongly
    ├── ManifestError          models/manifest.yaml
    │   ├── PullError          a source cannot be reached or does not hold the file
    │   └── ArtifactError      a file on disk is missing, truncated or not what the manifest says
    ├── CheckpointError        a GGUF or safetensors file that cannot be read
    │   └── UnknownArchitecture
    ├── DecoderError
    │   ├── PromptTooLong      more tokens than the largest bucket or the cache holds
    │   ├── GrammarError       a grammar that does not compile
    │   ├── PoolError          allocation after seal, or past the computed size
    │   ├── StepFailed         one core step raised
    │   │   └── UnhealthyLogits
    │   └── BackendUnavailable the target cannot run here
    ├── NoTarget               the planner found nothing that can run
    ├── DeviceError            a device did not take or answer a command
    │   ├── DeviceUnavailable
    │   ├── DeviceSilent       it was sent a command and did not answer: it may have acted
    │   │   └── DeviceFaulty   it answered with an error of its own: it may have acted
    │   └── DeviceUnknown
    ├── UtteranceError         a text or a room that cannot be taken
    │   └── TextTooLong
    ├── Abandoned              whoever wanted a turn has gone before it began
    ├── StateInUse             another process owns the app's state folder
    └── ServerError
        ├── AddressInUse
        ├── NotReady           start-up is not over yet, or it failed
        └── Busy               the queue is full

A message says what, got, wanted and the next step, on one line.
"""

from __future__ import annotations

from pathlib import Path


class AgentKitError(Exception):
    """Base of every error that agentkit raises on purpose; str() is one line for people."""


class ConfigError(AgentKitError):
    """A configuration file that cannot be used."""

    def __init__(self, message: str, *, path: Path | str, line: int | None = None, key: str | None = None):
        self.path, self.line, self.key = str(path), line, key
        where = f"{self.path}:{line}" if line is not None else self.path
        super().__init__(f"{where}: {message}")


class AppError(AgentKitError):
    """The app cannot be loaded."""


class ManifestError(AgentKitError):
    """The model manifest, or what it points to, cannot be used."""


class PullError(ManifestError):
    """A model file cannot be fetched."""


class ArtifactError(ManifestError):
    """A model file on disk is not what the manifest promises."""


class CheckpointError(AgentKitError):
    """A checkpoint file that cannot be read."""


class UnknownArchitecture(CheckpointError):
    """The checkpoint is of a model family that the compiler does not know."""


class DecoderError(AgentKitError):
    """Base of what can go wrong between prompt and answer."""


class PromptTooLong(DecoderError):
    """More tokens than fit; nothing is ever cut silently."""

    def __init__(self, *, n_tokens: int, max_tokens: int, what: str = "prompt", unit: str = "tokens"):
        self.n_tokens, self.max_tokens = n_tokens, max_tokens
        super().__init__(f"{what} has {n_tokens} {unit}, at most {max_tokens} fit; shorten the text or the tool list")


class GrammarError(DecoderError):
    """A grammar that does not compile; the app must not start with it."""


class PoolError(DecoderError):
    """An allocation after seal, or more than the computed size."""


class StepFailed(DecoderError):
    """One core step failed; nothing readable has changed."""


class StepCancelled(DecoderError):
    """A core step was ended from outside; nothing readable has changed, and it may be run again."""


class UnhealthyLogits(StepFailed):
    """The target answered, but with numbers that cannot be right."""


class BackendUnavailable(DecoderError):
    """The target cannot run on this machine; the message says what is missing."""


class NoTarget(AgentKitError):
    """No planned target can run the model; the message lists every rejection."""


class DeviceError(AgentKitError):
    """A device did not take or answer a command."""


class DeviceUnavailable(DeviceError):
    """The device is offline."""


class DeviceSilent(DeviceError):
    """The command went out and no answer came; the device may have acted, or may yet."""


class DeviceFaulty(DeviceSilent):
    """The command went out and the answer neither obeys nor refuses; the device may have acted, or may yet."""


class DeviceUnknown(DeviceError):
    """No device of that id is registered."""


class ScheduleError(AgentKitError):
    """A timer, alarm or plan cannot be kept."""


class ScheduleUnknown(ScheduleError):
    """Nothing of that id is planned."""


class UtteranceError(AgentKitError):
    """What was said, or where, cannot be taken as it is."""


class TextTooLong(UtteranceError):
    """More characters than an utterance may have."""

    def __init__(self, *, n_chars: int, max_chars: int):
        self.n_chars, self.max_chars = n_chars, max_chars
        super().__init__(f"text has {n_chars} characters, at most {max_chars} are taken; say less at once")


class StateInUse(AgentKitError):
    """Another process owns the app's state folder."""


class ServerError(AgentKitError):
    """The HTTP server cannot do what was asked."""


class AddressInUse(ServerError):
    """Another process listens on the address."""


class NotReady(ServerError):
    """Start-up is not over yet, or it failed; the message says which."""


class Busy(ServerError):
    """Too many requests wait already; try again later."""


class Abandoned(AgentKitError):
    """Whoever wanted a turn has gone before it began; nothing was run."""
