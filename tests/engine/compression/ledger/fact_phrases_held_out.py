"""Phrasings written apart from the extractor, and measured before they were looked at.

Since then rules and cue words were added after reading what they missed: no longer unseen.
"""

from __future__ import annotations

from tests.engine.compression.fact_phrases import Phrases

HELD_OUT = Phrases(
    constraint=(
        "For legal reasons we {rule}, end of story.",
        "Above all else: {rule}.",
        "I was asked to see to it that we {rule}.",
        "Nobody will sign this off unless we {rule}.",
        "Our policy says to {rule}.",
        "Be so kind and {rule}.",
        "It goes without saying that we {rule}.",
        "I beg you to {rule} this time.",
    ),
    user_value=(
        "The {name}? That's {new}.",
        "They insist on {new} as {name}.",
        "My notes have {new} down as the {name}.",
        "We are stuck with a {name} of {new}.",
        "Our {name} happens to be {new}.",
        "Think of {new} when I say {name}.",
        "Work with a {name} of {new} until further notice.",
        "Put {new} in for the {name}.",
    ),
    decision=(
        "All things considered the {thing} should sit on {choice}.",
        "I'd say we are best served by {choice} for the {thing}.",
        "From here on {choice} does the job of the {thing}.",
        "{choice} was the obvious candidate for the {thing}, hence I took it.",
        "Let {choice} be our {thing}.",
        "Between {choice} and {other}, the former won the {thing} question.",
        "The {thing} question is answered with {choice}.",
        "As agreed, {choice} serves as the {thing}.",
    ),
    todo=(
        "Nobody has found the time to {task} so far.",
        "I would like to {task} next week.",
        "Unfinished business: {task}.",
        "We mustn't forget to {task}.",
        "Before we part, one of us ought to {task}.",
        "Not started: {task}.",
        "On my list for Monday: {task}.",
        "That brings me to the last open matter, to {task}.",
    ),
    dead_end=(
        "If you wonder why I did not {attempt}: it made everything worse.",
        "We burnt two days on an effort to {attempt}, all in vain.",
        "Been there, done that: to {attempt} ends in tears.",
        "I backed out of the change meant to {attempt}.",
        "There was an idea to {attempt}, which I rejected after a short test.",
        "Whenever we {attempt}, the numbers get worse, so no.",
        "Please don't ask me to {attempt} again; it never worked.",
        "The branch to {attempt} was thrown away.",
    ),
    error=(
        "Here is what came back: {error}",
        "It died on me. {error}",
        "Look at this one: {error}",
        "The console is full of {error}",
        "Half way through I ran into {error}",
        "All I ever get is {error}",
        "What does this mean? {error}",
        "The night run reported {error}",
    ),
    value=(
        "A {name} of {new} is where I would stop.",
        "In the end I read off {new} for the {name}.",
        "Our {name} hovers near {new}.",
        "You can count on a {name} of {new}.",
        "If the {name} is {new}, we are fine.",
        "Note the {name}, {new}, in the corner.",
        "Everything was computed for a {name} of {new}.",
        "They quote {new} as their {name}.",
    ),
    path=(
        "Drop it into {path} and you are done.",
        "What you want is {path}.",
        "I took {path} as a starting point.",
        "There is a copy at {path}.",
        "My edits are limited to {path}.",
        "Nothing but {path} had to be changed.",
        "Take {path} with a grain of salt.",
        "I printed {path} for you.",
    ),
    identifier=(
        "Keep {name} in mind.",
        "Without {name} none of this would run.",
        "All of it started with {name}.",
        "I left a remark at {name}.",
        "Mention {name} if they ask.",
        "There it is again, {name}.",
        "The label on it says {name}.",
        "Everyone refers to {name} these days.",
    ),
    change=(
        ("Our {name} happens to be {old}.", "Our {name} is {new} these days."),
        ("I would go for a {name} of {old}.", "Better make the {name} {new}."),
        ("The {name} stands at {old}.", "The {name} stands at {new} by now."),
        (
            "Everything was computed for a {name} of {old}.",
            "I recomputed everything for a {name} of {new}.",
        ),
        (
            "We agreed on a {name} of {old}.",
            "As of today we work with a {name} of {new} and not {old}.",
        ),
        (
            "The {name} is {old} for the time being.",
            "That {name} of {old} is history, {new} is the number.",
        ),
        ("Put {old} in for the {name}.", "Put {new} in for the {name} instead."),
        ("I see a {name} of {old}.", "Since the last change I see a {name} of {new}."),
    ),
    choice_change=(
        (
            "{other} serves as the {thing}.",
            "{choice} serves as the {thing} these days, {other} does not any more.",
        ),
        ("Let {other} be our {thing}.", "Let {choice} be our {thing} instead."),
        (
            "The {thing} question is answered with {other}.",
            "The {thing} question has a new answer: {choice}.",
        ),
        (
            "I took {other} for the {thing}.",
            "I threw {other} out and took {choice} for the {thing}.",
        ),
        ("Our {thing} is built around {other}.", "Our {thing} is built around {choice} now."),
        (
            "We are best served by {other} for the {thing}.",
            "We are better served by {choice} than {other} for the {thing}.",
        ),
        (
            "For the {thing} I had {other} in mind.",
            "For the {thing} I no longer have {other} in mind but {choice}.",
        ),
        ("{other} does the job of the {thing}.", "{choice} has replaced {other} as the {thing}."),
    ),
    done=(
        ("Unfinished business: {task}.", "Finished: {task}."),
        ("Not started: {task}.", "- [x] {task}"),
        ("One of us ought to {task}.", "Somebody did {task}, it is done."),
        ("On my list for Monday: {task}.", "{task}. Done and dusted."),
        ("We mustn't forget to {task}.", "Solved and closed: {task}."),
        ("I would like to {task} next week.", "I completed this one: {task}."),
        ("The last open matter is to {task}.", "The matter is resolved ({task})."),
        ("We have to {task}.", "Meanwhile I was asked to {task}, and it is finished."),
    ),
)

ELSEWHERE = HELD_OUT._replace(
    change=(
        ("We run with a {name} of {old}.", "We run with a {name} of {new} after the review."),
        ("The sheet lists {old} under {name}.", "The corrected sheet lists {new} under {name}."),
        ("{old} is our {name}.", "{new} is our {name} since yesterday."),
        ("The {name} got {old}.", "The {name} got {new} in the end, {old} was too little."),
        ("Take {old} for the {name}.", "On the {name} I was wrong: take {new}."),
        ("I left the {name} at {old}.", "I couldn't leave the {name} at {old} and went to {new}."),
        (
            "So the {name} comes out at {old}.",
            "The {name} comes out at {new} once the outliers go.",
        ),
        ("A {name} of {old} will do.", "A {name} of {old} will not do, it takes {new}."),
    ),
    choice_change=(
        ("{other} powers the {thing}.", "{choice} powers the {thing} as of this week."),
        (
            "We ship the {thing} with {other}.",
            "We ship the {thing} with {choice}, having dropped {other}.",
        ),
        (
            "I like {other} for the {thing}.",
            "I like {choice} more than {other} for the {thing}, so it goes in.",
        ),
        ("The {thing} means {other} to us.", "By the {thing} we mean {choice} from today."),
        ("{other} handles the {thing}.", "{choice} handles the {thing} where {other} used to."),
        ("Make {other} the {thing}.", "Make {choice} the {thing}, I take back what I said."),
        ("The {thing}: {other}.", "The {thing}: {choice}."),
        ("I see {other} as the {thing}.", "The {thing} went to {choice} after all."),
    ),
    done=(
        ("I still have to {task}.", "Did it: {task}. That one is finished."),
        ("{task}: not yet.", "{task}: finished."),
        ("Somebody should {task}.", "We got to {task} at last, all done."),
        ("Open: {task}.", "Closed: {task}."),
        ("- [ ] {task}", "Check: {task} has been completed."),
        ("We need to {task}.", "No need to wait, {task} has been handled."),
        ("Remaining: {task}.", "Nothing remaining there, I finished it ({task})."),
        ("Next up: {task}.", "Just finished: {task}."),
    ),
)
