"""Two sets of phrasings for planted facts, and three domains to fill them from.

KNOWN and VARIED were at hand while the extractor was mended; others are kept apart and only
measured. In braces stands what a domain fills in.
"""

from __future__ import annotations

from typing import NamedTuple


class Phrases(NamedTuple):
    """Ways to say each kind of fact."""

    constraint: tuple[str, ...]
    user_value: tuple[str, ...]
    decision: tuple[str, ...]
    todo: tuple[str, ...]
    dead_end: tuple[str, ...]
    error: tuple[str, ...]
    value: tuple[str, ...]
    path: tuple[str, ...]
    identifier: tuple[str, ...]
    change: tuple[tuple[str, str], ...]
    """A value and what is said when it changes."""
    choice_change: tuple[tuple[str, str], ...]
    """A choice and what is said when it is taken back."""
    done: tuple[tuple[str, str], ...]
    """A task and what is said when it is done."""


class Domain(NamedTuple):
    """What a conversation may be about."""

    name: str
    choices: tuple[tuple[str, str], ...]
    """Something that can be chosen, and what for."""
    others: tuple[str, ...]
    """Choices that lose."""
    rules: tuple[tuple[str, str], ...]
    """What must or must not be, as a verb phrase with the words to look for."""
    tasks: tuple[tuple[str, str], ...]
    attempts: tuple[tuple[str, str], ...]
    quantities: tuple[tuple[str, str, str], ...]
    """A name with an earlier and a later value."""
    paths: tuple[str, ...]
    identifiers: tuple[str, ...]
    errors: tuple[str, ...]
    commands: tuple[str, ...]
    filler: tuple[str, ...]


KNOWN = Phrases(
    constraint=(
        "It must {rule}.",
        "Please make sure to {rule}, no matter what.",
        "One thing is not negotiable: {rule}.",
        "Whatever you do, always {rule}.",
        "I need you to {rule} by Friday.",
        "You should never forget to {rule}.",
        "We have to {rule}, legal insists on it.",
        "The only rule from my side: {rule}.",
        "Don't ship anything unless you {rule}.",
    ),
    user_value=(
        "The {name} is {new}.",
        "{name}: {new}.",
        "We can afford a {name} of at most {new}.",
        "Set the {name} to {new}, please.",
        "For now the {name} has to be {new}.",
        "Keep the {name} at {new}.",
        "Our {name} must not exceed {new}.",
        "I want a {name} of {new}.",
    ),
    decision=(
        "We'll use {choice} for the {thing}.",
        "I decided to go with {choice} as the {thing}.",
        "After comparing both, {choice} is the better {thing}, so I settled on it.",
        "Let's go with {choice} for the {thing} then.",
        "Decision: the {thing} will be {choice}.",
        "I chose {choice} over {other} for the {thing}.",
        "For the {thing} we are going with {choice} instead of {other}.",
        "We agreed that {choice} handles the {thing}.",
        "I'm sticking with {choice} for the {thing} because {other} adds nothing.",
    ),
    todo=(
        "TODO: {task}.",
        "We still need to {task}.",
        "Next: {task}.",
        "Still to do: {task}.",
        "- [ ] {task}",
        "I have not managed to {task} yet.",
        "Later: {task}.",
        "What remains is to {task}.",
        "We should still {task} before the release.",
    ),
    dead_end=(
        "I tried to {attempt}, but it didn't work.",
        "To {attempt} does not work because the order changes.",
        "We ruled out the idea to {attempt}.",
        "My attempt to {attempt} failed, so I rolled it back.",
        "I tried to {attempt}. That made things worse.",
        "Trying to {attempt} was a dead end.",
        "I reverted the change to {attempt}.",
        "To {attempt} turned out to be too slow.",
    ),
    error=(
        "It fails with {error}",
        "The run ended in {error}",
        "I got this error: {error}",
        "Then it crashed: {error}",
        "The log says {error}",
        "The symptom is {error}",
        "This is what we see: {error}",
        "There is a problem: {error}",
    ),
    value=(
        "The {name} is {new}.",
        "I set the {name} to {new}.",
        "With a {name} of {new} it holds.",
        "{name} = {new}",
        "We measured it again and the {name} stays at {new}.",
        "The {name} of {new} comes from the first run.",
        "- {name}: {new}",
        "That gives a {name} of about {new} in practice.",
    ),
    path=(
        "I edited {path}.",
        "The change is in {path}, nothing else was touched.",
        "See `{path}` for the details.",
        "Everything lives in {path} now.",
        "I created {path} with a first version.",
        "- {path}: first draft",
        "Have a look at {path} before you go on.",
        "The old text moved into {path}.",
    ),
    identifier=(
        "This is tracked as {name}.",
        "It all hangs on `{name}`.",
        "Please note {name} for later.",
        "The reference is {name}, as before.",
        "{name} is the one that matters.",
        "I looked at {name} first.",
        "We call it {name}.",
        "It comes from {name}.",
    ),
    change=(
        ("The {name} is {old}.", "I changed the {name} to {new}."),
        ("We set the {name} to {old}.", "The {name} is now {new}."),
        ("{name}: {old}", "Update: the {name} went from {old} to {new}."),
        ("I settled on a {name} of {old}.", "We raised the {name} to {new} after the test."),
        ("{name} = {old}", "{name} = {new}"),
        ("Let's keep the {name} at {old}.", "The {name} is {new} instead of {old}."),
        ("We agreed on {old} for the {name}.", "Make that {new} for the {name}."),
        ("The {name} will be {old}.", "Correction: the {name} will be {new}."),
    ),
    choice_change=(
        (
            "We use {other} for the {thing}.",
            "We switched from {other} to {choice} for the {thing}.",
        ),
        (
            "Decision: {other} as the {thing}.",
            "For the {thing} we now use {choice} instead of {other}.",
        ),
        ("The {thing} is {other}.", "The {thing} is now {choice}."),
        (
            "I went with {other} for the {thing}.",
            "I replaced {other} with {choice} as the {thing}.",
        ),
        (
            "Let's use {other} for the {thing}.",
            "We no longer use {other}, the {thing} is {choice}.",
        ),
        (
            "The {thing} will be {other}.",
            "We moved away from {other}: {choice} is the {thing} now.",
        ),
        (
            "I picked {other} for the {thing}.",
            "Actually, let's use {choice} for the {thing}, not {other}.",
        ),
        (
            "We settled on {other} for the {thing}.",
            "{choice} rather than {other} for the {thing} after all.",
        ),
    ),
    done=(
        ("TODO: {task}.", "- [x] {task}"),
        ("- [ ] {task}", "Done: {task}."),
        ("We still need to {task}.", "I finished what was open: {task}."),
        ("Still to do: {task}.", "Completed: {task}."),
        ("Next: {task}.", "{task} is done."),
        ("We should still {task}.", "✅ {task}"),
        ("Later: {task}.", "I took care of this: {task}."),
        ("What remains is to {task}.", "I fixed that, {task} is finished."),
    ),
)

VARIED = Phrases(
    constraint=(
        "Under no circumstances skip this: {rule}.",
        "My boss expects us to {rule}.",
        "It's essential that we {rule}.",
        "Hard requirement from the client, {rule}.",
        "If you can, {rule}; otherwise stop and ask.",
        "I'd rather wait than not {rule}.",
        "Could you {rule} from the start?",
        "Remember that we promised to {rule}.",
    ),
    user_value=(
        "Oh, and the {name} we were given is {new}.",
        "There's a hard {name} of {new}.",
        "Let me add that {new} is the {name} we agreed with them.",
        "By the way, {name} {new}.",
        "Anything above {new} for the {name} gets us into trouble.",
        "They told me {new} as the {name}.",
        "I wrote down {new} for the {name}.",
        "The contract says {name} {new}.",
    ),
    decision=(
        "{choice} it is for the {thing}.",
        "My verdict: {choice} makes the most sense as the {thing}.",
        "The {thing} is going to be {choice}, that question is closed.",
        "So {choice} wins as the {thing}.",
        "I have picked {choice} to be our {thing}.",
        "We're basing the {thing} on {choice}.",
        "The plan is to have {choice} as the {thing}.",
        "{choice} was selected for the {thing}; {other} lost on simplicity.",
    ),
    todo=(
        "Somebody has to {task} at some point.",
        "One loose end: {task}.",
        "I haven't got round to it yet: {task}.",
        "Open points: {task}.",
        "Don't forget to {task}.",
        "It is still missing that we {task}.",
        "Follow-up for tomorrow: {task}.",
        "The next step would be to {task}.",
    ),
    dead_end=(
        "We spent an hour trying to {attempt}, with no success.",
        "It looked tempting to {attempt}, however that led nowhere.",
        "I gave up on the plan to {attempt}.",
        "To {attempt} is not an option, it breaks the rest.",
        "The experiment to {attempt} backfired.",
        "We discarded the proposal to {attempt}.",
        "I attempted to {attempt} twice without any effect.",
        "Do not {attempt} again, it only hid the cause.",
    ),
    error=(
        "What I keep seeing is {error}",
        "On the second try it blew up: {error}",
        "Output of the last run: {error}",
        "Unfortunately, {error}",
        "It stopped there with {error}",
        "And again {error}",
        "The report ends like this: {error}",
        "Broken since this morning: {error}",
    ),
    value=(
        "{new} turned out to be a sensible {name}.",
        "The {name} comes to {new} in total.",
        "I get {new} as the {name}.",
        "So the {name} ends up at {new}.",
        "Right now {name} equals {new}.",
        "I noted {name} {new} in the margin.",
        "We land at {new} for the {name}.",
        "My calculation puts the {name} at {new}.",
    ),
    path=(
        "Everything I wrote went into {path}.",
        "(the file is {path})",
        "Open {path} and scroll to the end.",
        "That part now sits in {path}, by the way.",
        "You'll find it under {path}.",
        "New file: {path}",
        "I also had to touch {path} for this.",
        "Compare with {path} if in doubt.",
    ),
    identifier=(
        "For the record: {name}.",
        "Somewhere in there {name} shows up.",
        "Look for {name} when you search.",
        "It's filed under {name}.",
        "You will meet {name} again.",
        "(see {name})",
        "Everything points to {name} here.",
        "Later on {name} gets called.",
    ),
    change=(
        ("I put the {name} at {old}.", "I bumped the {name} up to {new}."),
        ("The {name} comes to {old}.", "After the recount the {name} comes to {new}."),
        ("Right now the {name} equals {old}.", "The {name} has since moved to {new}."),
        ("I noted a {name} of {old}.", "Scratch that, the {name} should be {new}."),
        ("We start with a {name} of {old}.", "New {name}: {new}."),
        ("Our {name} stays at {old}.", "On reflection {new} is the right {name}, not {old}."),
        ("Use {old} as the {name}.", "Use {new} as the {name} instead."),
        (
            "The {name} has been {old} all along.",
            "We adjusted the {name} from {old} down to {new}.",
        ),
    ),
    choice_change=(
        (
            "{other} it is for the {thing}.",
            "We dropped {other} in favour of {choice} as the {thing}.",
        ),
        ("The {thing} runs on {other}.", "We migrated the {thing} from {other} to {choice}."),
        ("Our {thing} is {other}.", "Our {thing} is {choice} from now on."),
        ("I chose {other} as the {thing}.", "I swapped {other} for {choice} as the {thing}."),
        (
            "We're going with {other} for the {thing}.",
            "Instead of {other} we take {choice} for the {thing}.",
        ),
        (
            "The plan is {other} as the {thing}.",
            "The new plan is {choice} as the {thing}, {other} is out.",
        ),
        (
            "We picked {other} to be the {thing}.",
            "On second thought {choice} should be the {thing}, not {other}.",
        ),
        ("Let's take {other} as the {thing}.", "Let's replace {other} by {choice} as the {thing}."),
    ),
    done=(
        ("Somebody has to {task}.", "- [x] {task}"),
        ("Open point: {task}.", "That point is closed now: {task}."),
        ("Don't forget to {task}.", "All done: {task}."),
        ("The next step would be to {task}.", "The step is finished ({task})."),
        ("Follow-up: {task}.", "Resolved: {task}."),
        ("We have yet to {task}.", "{task}: done."),
        ("One loose end: {task}.", "Tied up the loose end, {task} is complete."),
        ("It remains to {task}.", "Ticked off: {task}."),
    ),
)

DOMAINS = (
    Domain(
        "web backend",
        choices=(
            ("SQLite", "job store"),
            ("FastAPI", "http layer"),
            ("Redis", "session cache"),
            ("JWT", "login token"),
            ("nginx", "reverse proxy"),
            ("Stripe", "payment provider"),
            ("OpenTelemetry", "tracing"),
            ("Alembic", "schema migration"),
        ),
        others=(
            "Postgres",
            "Django",
            "Memcached",
            "cookies",
            "Caddy",
            "Paypal",
            "Zipkin",
            "Flyway",
        ),
        rules=(
            ("keep the public API backwards compatible", "backwards compatible"),
            ("log every failed login", "every failed login"),
            ("leave the billing tables untouched", "billing tables untouched"),
            ("answer in plain JSON", "plain JSON"),
            ("run without root rights", "without root rights"),
            ("encrypt tokens at rest", "encrypt tokens at rest"),
        ),
        tasks=(
            ("rotate the signing keys", "signing keys"),
            ("write a load test for checkout", "load test for checkout"),
            ("paginate the orders endpoint", "paginate the orders"),
            ("document the webhook retries", "webhook retries"),
            ("clean up the feature flags", "feature flags"),
            ("add an index on customer_email", "customer_email"),
            ("handle refunds in the ledger view", "refunds in the ledger view"),
        ),
        attempts=(
            ("cache whole responses in the proxy", "whole responses in the proxy"),
            ("share one connection between threads", "one connection between threads"),
            ("parse the dates with a regex", "dates with a regex"),
            ("retry inside the transaction", "inside the transaction"),
            ("pin the old driver", "old driver"),
        ),
        quantities=(
            ("request timeout", "30 s", "45 s"),
            ("listening port", "8080", "8443"),
            ("max_retries", "3", "5"),
            ("upload limit", "10 MB", "25 MB"),
            ("worker count", "4", "12"),
            ("session lifetime", "2 hours", "30 minutes"),
            ("rate limit", "100", "250"),
        ),
        paths=(
            "src/api/orders.py",
            "tests/api/test_orders.py",
            "migrations/0042_add_index.sql",
            "deploy/nginx.conf",
            "app/models/customer.rb",
            "frontend/src/Checkout.tsx",
            "docker-compose.yml",
            "/etc/systemd/system/orders.service",
        ),
        identifiers=(
            "SHOP-1482",
            "9f3c2e1",
            "ORDERS_DATABASE_URL",
            "OrderService",
            "apply_discount()",
            "https://status.example.com/incidents/77",
            "3e6f0a52-7c1d-4b8e-9a55-0d2f6c1b7e90",
        ),
        errors=(
            "ValueError: negative quantity for SKU 771",
            "sqlalchemy.exc.IntegrityError: duplicate key value violates unique constraint",
            "HTTP 502 Bad Gateway from the payment service",
            "error: relation orders_archive does not exist",
            "TypeError: unsupported operand type(s) for +: int and str",
        ),
        commands=(
            "pytest -q tests/api",
            "alembic upgrade head",
            "docker compose up -d db",
            "npm run build",
            "ruff check src",
        ),
        filler=(
            "That is a fair question and the answer depends on the traffic over the day.",
            "I looked at the handler and it reads well on the whole.",
            "Most of the time goes into waiting for the other side, as one would expect.",
            "The names are clear and the layers are easy to follow.",
            "Here is a short overview of how the pieces work together.",
            "A request comes in, is checked, and travels down to the part that knows about orders.",
            "It is a common pattern in programs of this size.",
            "The tests around it are readable, which helps a lot.",
            "People tend to underestimate how much of this is about good error messages.",
            "Nothing surprising so far, and the structure matches what the overview promised.",
        ),
    ),
    Domain(
        "data pipeline",
        choices=(
            ("DuckDB", "aggregation engine"),
            ("Airflow", "scheduler"),
            ("Parquet", "storage format"),
            ("Polars", "dataframe library"),
            ("Kafka", "event bus"),
            ("dbt", "transformation layer"),
            ("Iceberg", "table format"),
        ),
        others=("Spark", "Prefect", "Avro", "Pandas", "RabbitMQ", "Luigi", "Hudi"),
        rules=(
            ("drop rows without a timestamp", "rows without a timestamp"),
            ("keep personal data out of the logs", "personal data out of the logs"),
            ("process each day exactly once", "each day exactly once"),
            ("write results to the staging bucket first", "staging bucket first"),
            ("stay within the free tier", "free tier"),
            ("use UTC everywhere", "UTC everywhere"),
        ),
        tasks=(
            ("backfill the March partitions", "March partitions"),
            ("alert on late files", "late files"),
            ("deduplicate the sensor readings", "sensor readings"),
            ("measure the skew of the join", "skew of the join"),
            ("validate the currency column", "currency column"),
            ("archive the raw dumps", "raw dumps"),
            ("describe the schema in the wiki", "schema in the wiki"),
        ),
        attempts=(
            ("broadcast the large table", "broadcast the large table"),
            ("infer the types from the first rows", "types from the first rows"),
            ("merge the files in memory", "files in memory"),
            ("sort before the upload", "sort before the upload"),
            ("sample one percent of the users", "percent of the users"),
        ),
        quantities=(
            ("batch size", "512", "2048"),
            ("row count", "1,204,331", "1,198,020"),
            ("memory limit", "8 GB", "16 GB"),
            ("retention period", "30 days", "90 days"),
            ("error budget", "2 %", "5 %"),
            ("partition count", "24", "96"),
            ("lookback window", "7 days", "14 days"),
        ),
        paths=(
            "dags/daily_sales.py",
            "sql/marts/revenue.sql",
            "notebooks/explore_skew.ipynb",
            "data/raw/2026-03.parquet",
            "config/pipeline.toml",
            "~/exports/customers.csv",
            "schemas/event.avsc.json",
        ),
        identifiers=(
            "DATA-907",
            "b81c55d0",
            "WAREHOUSE_ROLE",
            "load_partition()",
            "SalesMart",
            "s3-landing-eu-1",
            "https://airflow.example.org/dags/daily_sales",
        ),
        errors=(
            "KeyError: 'currency'",
            "pyarrow.lib.ArrowInvalid: CSV parse error: Expected 14 columns, got 13",
            "MemoryError: Unable to allocate 6.2 GiB for an array",
            "fatal: partition 2026-02-30 does not exist",
            "java.lang.OutOfMemoryError: GC overhead limit exceeded",
        ),
        commands=(
            "dbt run --select revenue",
            "airflow tasks test daily_sales load 2026-03-01",
            "python -m pipeline.backfill --month 3",
            "duckdb warehouse.db < checks.sql",
            "make validate",
        ),
        filler=(
            "The shape of the data is what one would expect after the holidays.",
            "I went through the steps one by one to see how they fit together.",
            "Each stage reads what the one before wrote, which makes it easy to follow.",
            "The picture is the same in both regions.",
            "Here is what the columns mean, in the order in which they appear.",
            "It helps to think of the whole thing as a chain of small tables.",
            "The distribution has a long tail, as such things do.",
            "A short look at the sample did not show anything unusual.",
            "The documentation describes this in some detail.",
            "In general the numbers look plausible.",
        ),
    ),
    Domain(
        "garden and writing",
        choices=(
            ("oak", "raised bed"),
            ("lavender", "southern border"),
            ("Garamond", "body typeface"),
            ("first person", "narrative voice"),
            ("rainwater", "watering"),
            ("Lisbon", "opening scene"),
            ("straw", "winter mulch"),
        ),
        others=("larch", "rosemary", "Helvetica", "third person", "tap water", "Porto", "bark"),
        rules=(
            ("keep the old apple tree", "old apple tree"),
            ("leave the ending open", "ending open"),
            ("avoid anything poisonous for cats", "poisonous for cats"),
            ("write in British spelling", "British spelling"),
            ("stay away from the neighbour's fence", "neighbour's fence"),
            ("mention the letter in every chapter", "letter in every chapter"),
        ),
        tasks=(
            ("order the tulip bulbs", "tulip bulbs"),
            ("rewrite the harbour scene", "harbour scene"),
            ("sharpen the pruning shears", "pruning shears"),
            ("ask Marta about the cover", "Marta about the cover"),
            ("measure the soil acidity", "soil acidity"),
            ("give the brother a name", "brother a name"),
            ("paint the garden gate", "garden gate"),
        ),
        attempts=(
            ("grow basil on the north side", "basil on the north side"),
            ("tell the story backwards", "story backwards"),
            ("graft the pear in autumn", "graft the pear"),
            ("start with the funeral", "start with the funeral"),
            ("water at noon", "water at noon"),
        ),
        quantities=(
            ("planting distance", "40 cm", "60 cm"),
            ("word count", "82,000", "95,000"),
            ("chapter length", "2,000 words", "3,500 words"),
            ("compost share", "30 %", "20 %"),
            ("seed depth", "2 cm", "4 cm"),
            ("number of beds", "three", "five"),
            ("print run", "500", "800"),
        ),
        paths=(
            "chapters/03-harbour.md",
            "notes/characters.docx",
            "plans/garden-2026.pdf",
            "photos/bed_north.jpg",
            "manuscript.odt",
            "Budget.xlsx",
        ),
        identifiers=(
            "ISBN-97831",
            "PO-5521",
            "https://seeds.example.com/catalogue/tulips",
            "marta@example.com",
            "GardenPlan2026",
            "draft_seven",
        ),
        errors=(
            "error: font Garamond-Italic not found",
            "HTTP 404 Not Found for the seed catalogue",
            "LaTeX Error: File memoir.cls not found",
            "pandoc: chapters/04.md: openBinaryFile: does not exist (No such file or directory)",
        ),
        commands=(
            "pandoc manuscript.md -o book.epub",
            "wc -w chapters/03-harbour.md",
            "latexmk -pdf book.tex",
            "aspell check notes.txt",
        ),
        filler=(
            "The light in that corner is soft and the evenings are long.",
            "It reads well aloud, which is always a good sign.",
            "A garden of this size wants patience more than money.",
            "The mood of the passage is calm and a little sad.",
            "Here are some thoughts on how the parts could fit together.",
            "Many readers enjoy a slow beginning.",
            "The soil is heavy there, as it often is near the river.",
            "I like how the colours answer each other across the path.",
            "There is a rhythm in these sentences that carries the reader along.",
            "In spring it looks entirely different.",
        ),
    ),
)
