"""Replies of models: what is removed around an answer, what stays, and in which time."""

import time

import pytest

from corpora.text.model_reply import answer_text
from scoring.packs.judge_replies import CONTRACTS, parse_reply

THOUGHT = "hello {is} <b> tânisi"
WRAPPED = [
    "<think>{r}</think>\n\n{a}", "<THINK>{r}</Think>{a}", "{r}\n</think>\n{a}", "<thinking>{r}</thinking>\n{a}",
    "<thought>{r}</thought>{a}", "<reasoning>{r}</reasoning>\n{a}", "<seed:think>{r}</seed:think>{a}",
    "[THINK]{r}[/THINK]{a}", "◁think▷{r}◁/think▷{a}", "<unused94>thought\n{r}<unused95>{a}", "{r}◁/think▷{a}",
    "<|channel|>analysis<|message|>{r}<|end|><|start|>assistant<|channel|>final<|message|>{a}<|return|>",
    "<|channel|>final <|constrain|>json<|message|>{a}", "analysis{r}assistantfinal{a}",
    "<|channel>thought\n{r}<channel|>{a}<turn|>", "<|START_THINKING|>{r}<|END_THINKING|><|START_RESPONSE|>{a}<|END_RESPONSE|>",
    "<|begin_of_thought|>{r}<|end_of_thought|><|begin_of_solution|>{a}<|end_of_solution|>",
    "<think>{r}</think><answer>{a}</answer>", "<answer>\n{a}", "<|begin_of_box|>{a}<|end_of_box|>",
    "{a}\n<think>{r}</think>", "{a} <think>{r}</think>", "<think>1</think>\n<think>{r}</think>{a}", "<think>\n\n</think>\n\n{a}",
    "{a}</s>", "<s>{a}", "{a}<|im_end|>", "{a}<|eot_id|>\n", "{a}<|im_end|>\n<|im_start|>user\n{r}",
    "<|im_start|>assistant\n{a}<|im_end|>", "{a}<｜end▁of▁sentence｜>", "{a}<end_of_turn>", "{a}<|endoftext|><|im_end|>",
    "```\n{a}\n```", "```text\n{a}\n```", "~~~\n{a}\n~~~", "<think>{r}</think>```\n{a}\n```", " {a} \n",
]  # fmt: skip


@pytest.mark.parametrize("wrapped", WRAPPED)
def test_answer_and_judgement_are_read_within_all_marks(wrapped: str) -> None:
    around = wrapped.replace("{r}", THOUGHT)
    assert answer_text(around.replace("{a}", "tânisi\nnitôtêm")) == "tânisi\nnitôtêm"
    around = wrapped.replace("{r}", '{"score": 1}')
    told = '{"score": 4, "explanation": "it says </think>,\nand <think>"}'
    judged = parse_reply(CONTRACTS["judge_detailed"], around.replace("{a}", told))
    assert (judged.score, judged.explanation) == (4, "it says </think>,\nand <think>")


@pytest.mark.parametrize("text", [
    "“tânisi”", '"tânisi"', "Here is the translation: tânisi", "Use ```code``` here", "`tânisi`",
    "```\na\n```\nand\n```\nb\n```", "a <think> b </think> c", "a <think> b", "Use <|im_end|> to end", "<s>tânisi</s>",
    "<p>tânisi</p>", "[pause] tânisi", "<answer>a</answer> and <answer>b</answer>", '{"a": "</think>"}', "analysis",
])  # fmt: skip
def test_what_may_belong_to_an_answer_stays(text: str) -> None:
    assert answer_text(text) == text


@pytest.mark.parametrize("reply", [
    "<think>on and on", "[THINK]on", "◁think▷on", "<|channel|>analysis<|message|>on", "<seed:think>on", "tânisi\n<think>on",
])  # fmt: skip
def test_reasoning_without_end_is_no_answer(reply: str) -> None:
    assert answer_text(reply) is None
    assert parse_reply(CONTRACTS["judge_binary"], f'{reply} {{"score": 1}}').score is None


@pytest.mark.parametrize("part", [
    "<think></think>", "a <think> ", "a <think> b </think> c ", "{", "<", "<|im_end|> ", "<answer>", "<|channel|>a", "a_", " ",
])  # fmt: skip
def test_hostile_replies_take_linear_time(part: str) -> None:
    def seconds(length: int) -> float:
        began = time.process_time()
        answer_text(f"<{part * (length // len(part))}x")
        return time.process_time() - began

    assert seconds(160_000) < 40 * max(seconds(16_000), 0.002)
