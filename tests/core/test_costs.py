"""What answers cost: known by a price, unknown where nobody told it, free on this machine."""

from __future__ import annotations

from msgspec.structs import replace

from ollm_tui.bootstrap import model_cards
from ollm_tui.core.costs import bill_of, cost_words
from ollm_tui.core.model_card import LongRates, ModelCard
from ollm_tui.core.provider import TextDelta
from ollm_tui.core.session.message import Usage
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.providers.scripted import Scripted
from ollm_tui.tui.stream.entries.message_entries import usage_words

CARD = ModelCard(input=3, output=15, cached=0.3, cache_write=3.75)
USED = Usage(
    input_tokens=1_000_000,
    output_tokens=100_000,
    cached_tokens=600_000,
    cache_written_tokens=100_000,
)


def test_cached_and_written_tokens_have_their_own_price() -> None:
    rates = CARD.rates()
    assert rates
    assert round(rates.cost(USED), 6) == 0.3 * 3 + 0.6 * 0.3 + 0.1 * 3.75 + 0.1 * 15


def test_long_prompts_may_cost_more() -> None:
    card = replace(CARD, above=LongRates(tokens=200_000, input=6))
    short, long = card.rates(200_000), card.rates(200_001)
    assert short
    assert long
    assert (short.input, long.input, long.output) == (3, 6, 15)


def choice(remote: str | None, card: ModelCard | None) -> ModelChoice:
    return ModelChoice(Scripted([[TextDelta("Hi")]]), "m", remote_host=remote, card=card)


def test_this_machine_is_free_and_an_unknown_price_is_said_to_be() -> None:
    used = Usage(input_tokens=10, output_tokens=5)
    assert choice(None, None).priced(used) == used
    away = choice("api.example.org", None).priced(used)
    assert away
    assert away.cost == "unknown"
    paid = choice("api.example.org", CARD).priced(used)
    assert paid
    assert paid.cost == 0.000105
    assert str(bill_of([used, None])) == "free"
    assert str(bill_of([used, away])) == "unknown"
    assert str(bill_of([paid, away, used])) == "$0.0001 and 1 unknown"
    assert "price unknown" in usage_words(away)
    assert cost_words(1234.5) == "$1,234.50"


def test_the_table_that_comes_along_is_dated_and_knows_names_with_dates_and_regions() -> None:
    cards = model_cards()
    assert cards.as_of.startswith("20")
    assert cards.find("anthropic", "claude-sonnet-4-5-20250929")
    assert cards.find("openai", "gpt-5.1-2099-01-01") == cards.find("openai", "gpt-5.1")
    base = cards.find("bedrock", "anthropic.claude-sonnet-4-5-20250929-v1:0")
    assert base
    assert cards.find("bedrock", "ca.anthropic.claude-sonnet-4-5-20250929-v1:0") == base
    assert cards.find("openai", "no-such-model") is None
    for models in cards.models.values():
        assert all(card.rates() for card in models.values())
