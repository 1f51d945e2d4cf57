"""How probable a verdict was, by the log-probabilities of the tokens of the text that it stands in."""

import math
from collections.abc import Mapping
from typing import Any


def tokens_of(given: Any) -> list[Mapping[str, Any]]:
    """Return the tokens of a text with their log-probabilities, as OpenAI logs them; none if they are not logged."""
    content = given.get("content") if isinstance(given, dict) else None
    tokens = content if isinstance(content, list) else []
    sound = all(isinstance(one, dict) and isinstance(one.get("token"), str) and _is_number(one) for one in tokens)
    return tokens if sound else []


def probability_of(verdict: str, text: str, tokens: list[Mapping[str, Any]]) -> float | None:
    """Return how probable it was that a text says this verdict where it says it last; None if tokens do not tell.

    It is the product over the tokens of the verdict. Tokens that are the same but for case and spaces count together.

    >>> said = {"token": " yes", "logprob": math.log(0.5), "top_logprobs": [{"token": "Yes", "logprob": math.log(0.3)}]}
    >>> round(probability_of("yes", "Verdict: yes", [{"token": "Verdict:", "logprob": 0.0}, said]), 3)
    0.8
    """
    start = text.rfind(verdict)
    if start < 0 or "".join(one["token"] for one in tokens) != text:
        return None
    found, end, at = 1.0, start + len(verdict), 0
    for one in tokens:
        token, at = one["token"], at + len(one["token"])
        if at > start and at - len(token) < end and token.strip():
            others = one.get("top_logprobs") if isinstance(one.get("top_logprobs"), list) else []
            spelled = {other["token"]: other["logprob"] for other in others or [] if _is_token(other)} | {
                token: one["logprob"]
            }
            same = [math.exp(chance) for name, chance in spelled.items() if _plain(name) == _plain(token)]
            found *= min(sum(same), 1.0)
    return found


def _plain(token: str) -> str:
    return token.strip().casefold()


def _is_token(given: Any) -> bool:
    return isinstance(given, dict) and isinstance(given.get("token"), str) and _is_number(given)


def _is_number(token: Mapping[str, Any]) -> bool:
    value = token.get("logprob")
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= 0
