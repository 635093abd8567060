"""Renders a checkpoint's chat template so that what people wrote stays plain text."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn, get_args

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

from agentkit.decoder.tokenizer import Tokenizer, guard
from agentkit.errors import CheckpointError, DecoderError

Role = Literal["system", "user", "assistant", "tool"]

CHATML: Final = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""Template for checkpoints that carry none."""


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in get_args(Role):
            raise DecoderError(f"message role is '{self.role}', wanted one of {', '.join(get_args(Role))}")


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt in two parts: the static one whose cache rows are kept, and what changes per turn."""

    prefix: str
    tail: str


def render_chat(
    template: str,
    messages: Sequence[Message],
    *,
    add_generation_prompt: bool = True,
    bos_token: str = "",
    eos_token: str = "",
    now: Callable[[], datetime.datetime] = datetime.datetime.now,
) -> str:
    """Render messages through a Jinja chat template, sandboxed, with their contents guarded.

    The result is for `Tokenizer.encode(..., allow_special=True)`, which removes the guards.
    Raises CheckpointError if the template does not compile or refuses the messages.
    """
    try:
        return _environment(now).from_string(template).render(
            messages=[{"role": message.role, "content": guard(message.content)} for message in messages],
            add_generation_prompt=add_generation_prompt,
            bos_token=bos_token,
            eos_token=eos_token,
        )  # fmt: skip
    except (jinja2.TemplateError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as err:
        raise CheckpointError(f"the chat template fails ({type(err).__name__}: {err}); give another template") from err


def render_for(
    tokenizer: Tokenizer,
    messages: Sequence[Message],
    *,
    add_generation_prompt: bool = True,
    template: str | None = None,
) -> str:
    """Render with the tokenizer's begin and end tokens, and its own template unless another is given."""
    return render_chat(
        template or tokenizer.chat_template or CHATML,
        messages,
        add_generation_prompt=add_generation_prompt,
        bos_token=tokenizer.token_text(tokenizer.bos_id),
        eos_token=tokenizer.token_text(tokenizer.eos_ids[0] if tokenizer.eos_ids else None),
    )


def encode_chat(tokenizer: Tokenizer, messages: Sequence[Message], *, add_generation_prompt: bool = True) -> list[int]:
    """Tokenise a conversation; nothing in a message's content can become a special token."""
    return tokenizer.encode_prompt(render_for(tokenizer, messages, add_generation_prompt=add_generation_prompt))


def split_chat(
    tokenizer: Tokenizer, messages: Sequence[Message], *, n_static: int, template: str | None = None
) -> Prompt:
    """Render a prompt whose first n_static messages are the static prefix.

    Raises CheckpointError if the template renders those messages differently when more follow.
    """
    rendered = render_for(tokenizer, messages, template=template)
    if n_static == 0:
        return Prompt("", rendered)
    prefix = render_for(tokenizer, messages[:n_static], add_generation_prompt=False, template=template)
    if not rendered.startswith(prefix):
        raise CheckpointError("the chat template renders the static messages differently alone; use n_static=0 with it")
    return Prompt(prefix, rendered.removeprefix(prefix))


def _environment(now: Callable[[], datetime.datetime]) -> ImmutableSandboxedEnvironment:
    """Build the environment that chat templates are written for."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _raise
    environment.globals["strftime_now"] = lambda layout: now().strftime(layout)
    return environment


def _to_json(value: Any, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _raise(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)
