"""Stands in for Ollama: its routes, fields, durations and errors, and how it treats prompts
that do not fit. A token is a word; every message costs four more for its template. With a
vocabulary, prompts are written by a template with tools and counted as a real one does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from ollm_tui.core.provider import Vocabulary
from ollm_tui.services.tokens.vocabulary_encoding import VocabularyEncoding
from tests.stand_ins.http_server import Handler, HttpServer, Reply, Request

TEMPLATE_TOKENS = 4
MODEL = "llama3.2:latest"
THINKER = "qwen3:8b"
EMBEDDER = "nomic-embed-text:latest"
TOO_LONG = (
    "the prompt is longer than the context length currently available to the model; shorten "
    "the prompt, adjust the context length in settings, or use a model with a longer context "
    "length"
)
SIGN_IN = "https://ollama.com/connect?name=desk"
NEEDS_SUBSCRIPTION = "this model requires a subscription, upgrade for access"
_CREATED = "2026-08-04T08:52:19.385406455-07:00"
_DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "llama",
    "families": ["llama"],
    "parameter_size": "3.2B",
    "quantization_level": "Q4_K_M",
}


class OllamaServer:
    """An Ollama with three models. `script` holds the messages of the next answers, each a
    list of message fields; without one it repeats the last user message word by word.
    """

    def __init__(
        self,
        script: Sequence[Sequence[dict[str, Any]]] = (),
        vocabulary: Vocabulary | None = None,
    ) -> None:
        self.script = list(script)
        self._vocabulary = vocabulary
        self._encoding = VocabularyEncoding.of(vocabulary) if vocabulary else None
        self.loaded: dict[str, int] = {}
        """Running models and the window each was given."""
        self._shifts: dict[str, bool] = {}
        """How running models treat a full window; another way loads them again."""
        self.loads = 0
        self.is_signed_in = True
        """Whether cloud models may be used; else the answer is 401 and where to sign in."""
        self.may_use_cloud = True
        """Whether the account may use cloud models; else the answer is 403."""
        self.version = "0.34.0"
        self.models = {
            MODEL: _tag(MODEL, ["completion", "tools"], "2026-01-02T10:00:00.123456789+02:00"),
            THINKER: _tag(THINKER, ["completion", "tools", "thinking"], "2026-01-02T09:00:00Z"),
            EMBEDDER: _tag(EMBEDDER, ["embedding"], "2026-03-01T10:00:00Z"),
        }
        self.delay_seconds = 0.0
        """How long it takes before it answers anything, as on a busy machine."""
        self.awake = asyncio.Event()
        """While it is not set, connections are accepted and nothing is answered."""
        self.awake.set()
        self.chat: Handler = self.answer
        """What happens at /api/chat; tests put faults here."""
        self.pull: Handler = self._download
        """What happens at /api/pull."""
        self._http = HttpServer(self._route)

    @property
    def url(self) -> str:
        """Where it listens."""
        return self._http.url

    @property
    def requests(self) -> list[Request]:
        """What it was asked."""
        return self._http.requests

    @property
    def connections(self) -> int:
        """How many connections were opened."""
        return self._http.connections

    async def __aenter__(self) -> OllamaServer:
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.__aexit__()

    async def answer(self, request: Request, reply: Reply) -> None:
        """A chat as Ollama does it."""
        body = request.json
        refusal = self._refusal(body)
        if refusal:
            await reply.json(refusal[1], refusal[0])
            return
        read = self._load_and_fit(body)
        if isinstance(read, str):
            await reply.json({"error": read}, 400)
            return
        messages = self.script.pop(0) if self.script else _echo(body)
        cap = body["options"].get("num_predict", len(messages))
        for message in messages[:cap]:
            await reply.chunk(line(body["model"], message))
        reason = "length" if cap < len(messages) else "stop"
        await reply.chunk(last_line(body["model"], read, min(cap, len(messages)), reason))
        await reply.end()

    def _refusal(self, body: dict[str, Any]) -> tuple[int, dict[str, str]] | None:
        name = body["model"]
        known = self._find(name)
        if known is None:
            return 404, _not_found(name)
        if "remote_host" in known and not self.is_signed_in:
            return 401, {"error": "unauthorized", "signin_url": SIGN_IN}
        if "remote_host" in known and not self.may_use_cloud:
            return 403, {"error": NEEDS_SUBSCRIPTION}
        if body.get("think") and "thinking" not in known["capabilities"]:
            return 400, {"error": f'"{name}" does not support thinking'}
        if body.get("tools") and "tools" not in known["capabilities"]:
            return 400, {"error": f"registry.ollama.ai/library/{name} does not support tools"}
        return None

    def _find(self, name: str) -> dict[str, Any] | None:
        return self.models.get(name) or self.models.get(f"{name}:latest")

    def _runner(self, name: str) -> str:
        """The name under which a model runs: that of the first one with the same weights."""
        known = self._find(name)
        weights = known and known["weights"]
        running = (each for each in self.loaded if (self._find(each) or {}).get("weights"))
        same = (each for each in running if self.models[each]["weights"] == weights)
        return next(same, known["name"] if known else name)

    def _load_and_fit(self, body: dict[str, Any]) -> int | str:
        """The prompt's tokens that are read, or how the server says that it is too long.

        With the defaults the oldest messages go first, then half of the window is cut off,
        always silently. Without `truncate` the engine behind Ollama gets the whole prompt
        and its refusal comes as JSON inside the error's text.
        """
        window = body["options"].get("num_ctx", 4096)
        name, shift = self._runner(body["model"]), body.get("shift", True)
        if (self.loaded.get(name), self._shifts.get(name, shift)) != (window, shift):
            self.loads += 1
            self.loaded[name] = window
        self._shifts[name] = shift
        messages = list(body["messages"])
        truncate = body.get("truncate", True)
        while truncate and len(messages) > 1 and self.tokens(body, messages) >= window:
            messages.pop(0)
        count = self.tokens(body, messages)
        if count < window:
            return count
        if not truncate:
            return json.dumps({"error": _engine_refusal(count, window)})
        return window // 2 + 2 if body.get("shift", True) else TOO_LONG

    def tokens(self, body: dict[str, Any], messages: Sequence[dict[str, Any]] = ()) -> int:
        """The tokens of a request's prompt, or of some of its messages with the tools."""
        said = messages or body["messages"]
        if self._encoding is None:
            return _tokens(said)
        return self._encoding.count(_written(said, body.get("tools") or []))

    def add_cloud_model(self, name: str) -> None:
        """Add a model that runs elsewhere, changed after all others."""
        about = {"remote_model": name, "remote_host": "https://ollama.com:443", "size": 384}
        tag = _tag(name, ["completion", "tools", "thinking"], "2026-12-01T10:00:00Z")
        self.models[name] = tag | about

    def add_sibling(self, name: str, of: str) -> None:
        """Add a model with the weights of another one, as a Modelfile makes it."""
        self.models[name] = self.models[of] | {"name": name, "model": name, "digest": f"of {name}"}

    async def _route(self, request: Request, reply: Reply) -> None:
        await asyncio.sleep(self.delay_seconds)
        await self.awake.wait()
        match request.path:
            case "/api/chat":
                await self.chat(request, reply)
            case "/api/version":
                await reply.json({"version": self.version})
            case "/api/tags":
                hidden = ("weights",)
                entries = [
                    {key: value for key, value in entry.items() if key not in hidden}
                    for entry in self.models.values()
                ]
                await reply.json({"models": entries})
            case "/api/ps":
                await reply.json({"models": [self._running(name) for name in self.loaded]})
            case "/api/show":
                await self._show(request, reply)
            case "/api/pull":
                await self.pull(request, reply)
            case "/api/embed":
                await self._embed(request, reply)
            case "/api/generate" | "/api/delete" | "/api/copy":
                await self._change(request, reply)
            case _:
                await reply.whole(b"404 page not found", 404)

    def _running(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "model": name,
            "size": 2_000_000_000,
            "size_vram": 0,
            "digest": self.models[name]["digest"] if name in self.models else "",
            "details": _DETAILS,
            "expires_at": _CREATED,
            "context_length": self.loaded[name],
        }

    async def _show(self, request: Request, reply: Reply) -> None:
        name = request.json["model"]
        known = self._find(name)
        if known is None:
            await reply.json(_not_found(name), 404)
            return
        words: dict[str, Any] = {}
        if self._vocabulary:
            words = {
                "tokenizer.ggml.model": "gpt2",
                "tokenizer.ggml.pre": self._vocabulary.splitting,
                "tokenizer.ggml.tokens": self._vocabulary.tokens,
                "tokenizer.ggml.token_type": self._vocabulary.kinds,
            }
        await reply.json(
            {
                "modelfile": f"# Modelfile\nFROM {known['weights']}\nTEMPLATE {{{{ .Prompt }}}}",
                "template": "{{ .Prompt }}",
                "details": _DETAILS,
                "model_info": {
                    "general.architecture": "llama",
                    "llama.block_count": 28,
                    "llama.context_length": 131072,
                    **words,
                },
                "capabilities": known["capabilities"],
                "modified_at": _CREATED,
            }
        )

    async def _embed(self, request: Request, reply: Reply) -> None:
        body = request.json
        if self._find(body["model"]) is None:
            await reply.json(_not_found(body["model"]), 404)
            return
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        vectors = [self.vector(text) for text in texts]
        await reply.json({"model": body["model"], "embeddings": vectors, "total_duration": 7_500})

    def vector(self, text: str) -> list[float]:
        """What a text means to it."""
        return [len(text) / 100, text.count(" ") / 10, *[1.0] * 6]

    async def _change(self, request: Request, reply: Reply) -> None:
        """Delete or copy a model, or unload it: for that it is asked to stay for no time."""
        body = request.json
        name = body.get("source") or body["model"]
        known = self._find(name)
        if known is None:
            await reply.json(_not_found(name), 404)
        elif request.method == "DELETE":
            self.loaded.pop(known["name"], None)
            del self.models[known["name"]]
            await reply.whole(b"")
        elif "destination" in body:
            copy = body["destination"]
            copy = copy if ":" in copy else f"{copy}:latest"
            self.models[copy] = known | {"name": copy, "model": copy}
            await reply.whole(b"")
        else:
            assert body["keep_alive"] == 0, "nothing else is asked of this route"
            self.loaded.pop(self._runner(name), None)
            done = {"model": name, "response": "", "done": True, "done_reason": "unload"}
            await reply.json({"created_at": _CREATED, **done})

    async def _download(self, request: Request, reply: Reply) -> None:
        name = request.json["model"]
        if name.startswith("no-such"):
            await reply.chunk(_json_line({"status": "pulling manifest"}))
            error = "pull model manifest: file does not exist"
            await reply.chunk(_json_line({"error": error}))
            await reply.end()
            return
        layer = {"status": "pulling dde5aa3fc5ff", "digest": "sha256:dde5", "total": 200}
        for step in [
            {"status": "pulling manifest"},
            layer,
            {**layer, "completed": 50},
            {**layer, "completed": 200},
            {"status": "verifying sha256 digest"},
            {"status": "writing manifest"},
            {"status": "success"},
        ]:
            await reply.chunk(_json_line(step))
        full = name if ":" in name else f"{name}:latest"
        self.models[full] = _tag(full, ["completion"], "2026-09-01T10:00:00Z")
        await reply.end()


def line(model: str, message: dict[str, Any]) -> bytes:
    """One line of an answer."""
    fields = {"role": "assistant", "content": "", **message}
    return _json_line({"model": model, "created_at": _CREATED, "message": fields, "done": False})


def last_line(model: str, read: int, written: int, reason: str = "stop") -> bytes:
    """The line that ends an answer, with counts and durations in nanoseconds."""
    return _json_line(
        {
            "model": model,
            "created_at": _CREATED,
            "message": {"role": "assistant", "content": ""},
            "done": True,
            "done_reason": reason,
            "total_duration": 4_000_000_000,
            "load_duration": 1_500_000_000,
            "prompt_eval_count": read,
            "prompt_eval_duration": 250_000_000,
            "eval_count": written,
            "eval_duration": 2_000_000_000,
        }
    )


def _json_line(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False).encode() + b"\n"


def _tag(name: str, capabilities: list[str], modified: str) -> dict[str, Any]:
    return {
        "name": name,
        "model": name,
        "modified_at": modified,
        "size": 2_019_393_189,
        "digest": "a80c4f17acd5",
        "details": _DETAILS,
        "capabilities": capabilities,
        "context_length": 131072,
        "weights": f"/usr/share/ollama/blobs/sha256-{name}",
    }


def _not_found(name: str) -> dict[str, str]:
    return {"error": f"model '{name}' not found"}


def _engine_refusal(count: int, window: int) -> dict[str, Any]:
    return {
        "code": 400,
        "message": f"request ({count} tokens) exceeds the available context size ({window} tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": count,
        "n_ctx": window,
    }


def _tokens(messages: Sequence[dict[str, Any]]) -> int:
    return sum(len(m.get("content", "").split()) + TEMPLATE_TOKENS for m in messages)


def _written(messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> str:
    """A prompt as the templates of models with tools write it."""
    parts = list[str]()
    if tools:
        described = "\n".join(json.dumps(tool, separators=(",", ":")) for tool in tools)
        parts.append(f"<tools>\n{described}\n</tools>\n")
    for message in messages:
        said = message.get("content", "")
        for call in message.get("tool_calls", ()):
            said += f"\n<tool_call>\n{json.dumps(call['function'])}\n</tool_call>"
        if message["role"] == "tool":
            said = f"<tool_response>\n{said}\n</tool_response>"
        parts.append(f"<|im_start|>{message['role']}\n{said}<|im_end|>\n")
    return "".join((*parts, "<|im_start|>assistant\n"))


def _echo(body: dict[str, Any]) -> list[dict[str, Any]]:
    said = [m["content"] for m in body["messages"] if m["role"] == "user"]
    words = (said[-1] if said else "").split()
    return [{"content": word if i == 0 else f" {word}"} for i, word in enumerate(words)]
