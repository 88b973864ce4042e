"""What a job prints: a secret is hidden in each stream, whatever the other prints in between."""

from __future__ import annotations

from ollm_tui.core.job import Job, JobOutput, StreamPart
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.tools.job_printing import JobPrinting
from tests.cases import every

TOKEN = b"gh" + b"p_" + b"k3JfQ9sLx0" * 3 + b"Vb7nMp"
JOB = Job(
    id="job-s-1",
    session_id="s",
    sequence=1,
    code="deploy",
    language="shell",
    cwd="/",
    background=False,
    started_at="2026-01-01T00:00:00.000000Z",
    pid=1,
)


@every("cut", range(1, len(TOKEN)))
def test_a_secret_with_the_other_stream_between_its_halves_is_hidden(cut: int) -> None:
    stdout, stderr = b"", b""

    def read(out: int, err: int) -> JobOutput:
        return JobOutput(JOB, StreamPart(out, stdout[out:]), StreamPart(err, stderr[err:]))

    printing = JobPrinting(read, Redactor())
    stdout = b"it is " + TOKEN[:cut]
    shown = printing.more()
    stderr = b"a warning\n"
    shown += printing.more()
    stdout += TOKEN[cut:] + b"\n"
    shown += printing.more(ended=True)
    assert "a warning" in shown and "[REDACTED:github:" in shown
    assert TOKEN[:cut].decode() not in shown.replace("github", "") or cut < 4
    assert TOKEN[cut:].decode() not in shown or len(TOKEN) - cut < 4
