from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit.decoder.grammar import Grammar, Matcher
from agentkit.decoder.tokenizer import Tokenizer, load_tokenizer
from agentkit.errors import GrammarError
from tests.support.smollm import smollm_path
from tests.support.tiny import EOS_ID

HOME = """
start: "calls " call ("; " call)* | "ask " name | "refuse"
call: tool "(" name ")" | "set_brightness(" name ", " NUMBER ")"
tool: "turn_on" | "turn_off"
name: "kitchen light" | "kitchen lamp" | "living room lamp" | "客厅的灯" | "客厅的空调"
NUMBER: /[0-9]{1,3}/
"""
ANSWERS = (
    "refuse",
    "ask 客厅的空调",
    "calls turn_on(kitchen light)",
    "calls turn_off(客厅的灯); set_brightness(kitchen lamp, 40); turn_on(living room lamp)",
)


def allowed(matcher: Matcher, tokenizer: Tokenizer) -> list[int]:
    logits = np.zeros(tokenizer.vocab_size, np.float32)
    matcher.mask(logits)
    return [int(i) for i in np.flatnonzero(logits == 0)]


def walk(grammar: Grammar, tokenizer: Tokenizer, answer: str, *, longest: bool) -> tuple[Matcher, int]:
    """Write the answer as a model would that always takes the longest, or the shortest, fitting token."""
    matcher, wanted, n_sampled = grammar.start(), answer.encode(), 0
    matcher.settle()
    while (have := b"".join(map(tokenizer.token_bytes, matcher.ids))) != wanted:
        options = [i for i in allowed(matcher, tokenizer) if i not in tokenizer.eos_ids]
        fitting = [i for i in options if wanted[len(have) :].startswith(tokenizer.token_bytes(i))]
        matcher.consume(sorted(fitting, key=lambda i: len(tokenizer.token_bytes(i)))[-1 if longest else 0])
        matcher.settle()
        n_sampled += 1
    return matcher, n_sampled


@pytest.mark.parametrize("answer", ANSWERS)
def test_answers_written_with_the_longest_tokens_are_canonical(tiny_tokenizer: Tokenizer, answer: str) -> None:
    matcher, n_sampled = walk(Grammar.compile(HOME, tiny_tokenizer), tiny_tokenizer, answer, longest=True)
    assert matcher.ids == tiny_tokenizer.encode(answer)
    assert n_sampled < len(matcher.ids)


@pytest.mark.model
@pytest.mark.parametrize("longest", [True, False])
@pytest.mark.parametrize("answer", ANSWERS)
def test_forced_runs_merge_with_the_tokens_before_them(answer: str, longest: bool) -> None:
    tokenizer = load_tokenizer(smollm_path())
    matcher, n_sampled = walk(Grammar.compile(HOME, tokenizer), tokenizer, answer, longest=longest)
    assert matcher.ids == tokenizer.encode(answer)
    assert n_sampled < len(answer.encode()) - 4


def test_the_mask_sets_everything_else_to_minus_infinity_in_place(tiny_tokenizer: Tokenizer) -> None:
    matcher = Grammar.compile('start: "a" | "b"', tiny_tokenizer).start()
    logits = np.arange(tiny_tokenizer.vocab_size + 5, dtype=np.float32)  # a head padded past the vocabulary
    matcher.mask(logits)
    kept = {int(i) for i in np.flatnonzero(logits > -np.inf)}
    assert kept == {*tiny_tokenizer.encode("a"), *tiny_tokenizer.encode("b")}
    assert all(logits[i] == i for i in kept)


def test_forced_tokens_are_told_without_being_consumed(tiny_tokenizer: Tokenizer) -> None:
    matcher = Grammar.compile('start: "kitchen light"', tiny_tokenizer).start()
    assert matcher.forced() == matcher.forced() == tiny_tokenizer.encode("kitchen light")
    assert matcher.ids == []
    assert not matcher.is_finished


def test_a_grammar_of_one_answer_needs_no_model(tiny_tokenizer: Tokenizer) -> None:
    matcher = Grammar.compile('start: "打开" "客厅的灯"', tiny_tokenizer).start()
    matcher.settle()
    assert matcher.is_finished
    assert tiny_tokenizer.decode(matcher.ids) == "打开客厅的灯"


def test_an_answer_that_may_go_on_is_not_finished(tiny_tokenizer: Tokenizer) -> None:
    matcher, _ = walk(Grammar.compile(HOME, tiny_tokenizer), tiny_tokenizer, ANSWERS[2], longest=True)
    assert not matcher.is_finished
    assert EOS_ID in allowed(matcher, tiny_tokenizer)


def test_a_token_that_is_not_allowed_is_refused(tiny_tokenizer: Tokenizer) -> None:
    matcher = Grammar.compile('start: "a"', tiny_tokenizer).start()
    with pytest.raises(GrammarError, match="not allowed"):
        matcher.consume(tiny_tokenizer.encode("b")[0])


@given(st.text(alphabet="ab", min_size=0, max_size=5))
def test_special_tokens_never_pass_the_mask(tiny_tokenizer: Tokenizer, text: str) -> None:
    matcher = Grammar.compile("start: /(.|\\n){1,8}/", tiny_tokenizer).start()
    for token_id in tiny_tokenizer.encode(text):
        matcher.consume(token_id)
    assert {i for i in allowed(matcher, tiny_tokenizer) if tiny_tokenizer.is_special(i)} <= {EOS_ID}


@pytest.mark.parametrize(
    ("lark", "what"),
    [
        ("start: missing", "unknown name"),
        ('start: "a" "', "lexer error"),
        ("start: /[/", "unclosed character class"),
        ("", "does not compile"),
        ('start: start "x"', "no text at all|cannot be started|does not compile"),
        ('start: "a"' + ' | "a"' * 200_000, "1200010 characters, at most 1000000"),
        ('start: "a" /\\s*/ "b"', "endless white space"),
        ('start: "a" " "* "b"', "endless white space"),
        ("start: /[ \\t]+x/", "endless white space"),
        ("start: /x *y/", "endless white space"),
        ('start: "a"\n%ignore /x/', "endless white space"),
    ],
)
def test_a_bad_grammar_is_one_clear_line(tiny_tokenizer: Tokenizer, lark: str, what: str) -> None:
    with pytest.raises(GrammarError, match=what) as caught:
        Grammar.compile(lark, tiny_tokenizer)
    assert "\n" not in str(caught.value)


def test_names_with_odd_characters_are_no_white_space_rule(tiny_tokenizer: Tokenizer) -> None:
    Grammar.compile(r'start: "a/b *c" | "%ignore" | "\\s*" | "say \"hi\" +"', tiny_tokenizer)


def test_a_tokenizer_without_an_end_token_cannot_have_a_grammar(tiny_tokenizer: Tokenizer) -> None:
    from dataclasses import replace

    endless = Tokenizer(replace(tiny_tokenizer.vocabulary, eos_ids=()), lambda text: [])
    with pytest.raises(GrammarError, match="no end token"):
        Grammar.compile('start: "a"', endless)


def test_threads_share_one_compiled_grammar(tiny_tokenizer: Tokenizer) -> None:
    grammar = Grammar.compile(HOME, tiny_tokenizer)
    results: list[bool] = []

    def work(answer: str) -> None:
        for _ in range(10):
            matcher, _ = walk(grammar, tiny_tokenizer, answer, longest=True)
            results.append(matcher.ids == tiny_tokenizer.encode(answer))

    threads = [threading.Thread(target=work, args=(answer,)) for answer in ANSWERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 40
