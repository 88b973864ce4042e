"""Writes all-MiniLM-L6-v2 as a GGUF file, from an ONNX file and the vocabulary beside it.

The weights stay the whole numbers they are in the ONNX file: eight bits, with a scale for each row
of embeddings and for each column of a matrix.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

ALIGNMENT = 32
LAYERS, WIDTH, INNER, WINDOW, HEADS = 6, 384, 1536, 512, 12
_F32, _Q8_0 = 0, 8
_BLOCK = 32
"""Numbers of a block of Q8_0, which share a scale."""
_U32, _F32_VALUE, _I32, _STRING, _ARRAY = 4, 6, 5, 8, 9
_CONTROL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_MATRICES = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down")
"""The matrices of a layer in the order in which the ONNX file uses them."""
_LAYER_FLOATS = {
    "attention.self.query.bias": "attn_q.bias",
    "attention.self.key.bias": "attn_k.bias",
    "attention.self.value.bias": "attn_v.bias",
    "attention.output.dense.bias": "attn_output.bias",
    "attention.output.LayerNorm.weight": "attn_output_norm.weight",
    "attention.output.LayerNorm.bias": "attn_output_norm.bias",
    "intermediate.dense.bias": "ffn_up.bias",
    "output.dense.bias": "ffn_down.bias",
    "output.LayerNorm.weight": "layer_output_norm.weight",
    "output.LayerNorm.bias": "layer_output_norm.bias",
}
_EMBEDDINGS = "inner.embeddings."


class _Tensor(NamedTuple):
    """A tensor of the GGUF file; its dimensions are in reverse order."""

    name: str
    dimensions: tuple[int, ...]
    kind: int
    data: bytes


class _Tokenizer(msgspec.Struct):
    model: _TokenizerModel


class _TokenizerModel(msgspec.Struct):
    vocab: dict[str, int]


def gguf_of(onnx: bytes, tokenizer: bytes) -> bytes:
    """Return the model file. ValueError if one of the files is not the expected one."""
    try:
        raw = dict(_initializers(onnx))
        tensors = [*_embedding_tensors(raw), *_layer_tensors(raw)]
        vocabulary = msgspec.json.decode(tokenizer, type=_Tokenizer).model.vocab
    except (KeyError, IndexError, struct.error, msgspec.DecodeError) as error:
        raise ValueError("these are not the files of MiniLM") from error
    values = _values(sorted(vocabulary, key=lambda token: vocabulary[token]))
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values)) + b"".join(values)
    offset, infos, data = 0, bytearray(), bytearray()
    for tensor in tensors:
        count = len(tensor.dimensions)
        infos += _text(tensor.name)
        infos += struct.pack(f"<I{count}QIQ", count, *tensor.dimensions, tensor.kind, offset)
        data += tensor.data + b"\0" * (-len(tensor.data) % ALIGNMENT)
        offset = len(data)
    head += bytes(infos)
    return head + b"\0" * (-len(head) % ALIGNMENT) + bytes(data)


def _values(tokens: Sequence[str]) -> list[bytes]:
    # What describes the model comes first: readers stop where the vocabulary begins.
    numbers = {
        "context_length": WINDOW,
        "embedding_length": WIDTH,
        "feed_forward_length": INNER,
        "block_count": LAYERS,
        "attention.head_count": HEADS,
        "pooling_type": 1,
    }
    kinds = [3 if token in _CONTROL else 1 for token in tokens]
    return [
        _value("general.architecture", _STRING, _text("bert")),
        *(_value(f"bert.{name}", _U32, struct.pack("<I", each)) for name, each in numbers.items()),
        _value("bert.attention.layer_norm_epsilon", _F32_VALUE, struct.pack("<f", 1e-12)),
        _value("tokenizer.ggml.model", _STRING, _text("bert")),
        _value("tokenizer.ggml.token_type_count", _U32, struct.pack("<I", 2)),
        _array("tokenizer.ggml.tokens", _STRING, [_text(_shown(token)) for token in tokens]),
        _array("tokenizer.ggml.token_type", _I32, [struct.pack("<i", kind) for kind in kinds]),
    ]


def _shown(token: str) -> str:
    """Return a token as llama.cpp wants it: marked where a word begins, not where it goes on."""
    if token.startswith("[") and token.endswith("]") and len(token) > 2:
        return token
    return token[2:] if token.startswith("##") else f"\u2581{token}"


def _embedding_tensors(raw: dict[str, bytes]) -> Iterator[_Tensor]:
    words = raw[f"{_EMBEDDINGS}word_embeddings.weight_q"]
    rows = [words[at : at + WIDTH] for at in range(0, len(words), WIDTH)]
    scales = _floats(raw[f"{_EMBEDDINGS}word_embeddings.weight_scale"])
    yield _Tensor("token_embd.weight", (WIDTH, len(rows)), _Q8_0, _blocks(rows, scales))
    places = raw[f"{_EMBEDDINGS}position_embeddings.weight_q"]
    scales = _floats(raw[f"{_EMBEDDINGS}position_embeddings.weight_scale"])
    numbers = struct.unpack(f"{len(places)}b", places)
    exact = [number * scales[at // WIDTH] for at, number in enumerate(numbers)]
    data = struct.pack(f"<{len(exact)}f", *exact)
    yield _Tensor("position_embd.weight", (WIDTH, WINDOW), _F32, data)
    kinds = raw[f"{_EMBEDDINGS}token_type_embeddings.weight"]
    yield _Tensor("token_types.weight", (WIDTH, 2), _F32, kinds)
    for part in ("weight", "bias"):
        data = raw[f"{_EMBEDDINGS}LayerNorm.{part}"]
        yield _Tensor(f"token_embd_norm.{part}", (WIDTH,), _F32, data)


def _layer_tensors(raw: dict[str, bytes]) -> Iterator[_Tensor]:
    used = [name for name in raw if name.startswith("val_") and name.endswith("_q")]
    used.sort(key=lambda name: int(name.split("_")[1]))
    for number, name in enumerate(used):
        layer, part = divmod(number, len(_MATRICES))
        scales = _floats(raw[f"{name.removesuffix('_q')}_scale"])
        data, out = raw[name], len(scales)
        rows = [data[column::out] for column in range(out)]
        title = f"blk.{layer}.{_MATRICES[part]}.weight"
        yield _Tensor(title, (len(rows[0]), out), _Q8_0, _blocks(rows, scales))
    for layer in range(LAYERS):
        for name, ours in _LAYER_FLOATS.items():
            data = raw[f"inner.encoder.layer.{layer}.{name}"]
            yield _Tensor(f"blk.{layer}.{ours}", (len(data) // 4,), _F32, data)


def _blocks(rows: Sequence[bytes], scales: Sequence[float]) -> bytes:
    """Return rows in blocks of Q8_0, each with the scale of its row."""
    return b"".join(
        half + row[at : at + _BLOCK]
        for row, scale in zip(rows, scales, strict=True)
        for half in (struct.pack("<e", scale),)
        for at in range(0, len(row), _BLOCK)
    )


def _floats(data: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(data) // 4}f", data)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _value(key: str, kind: int, data: bytes) -> bytes:
    return _text(key) + struct.pack("<I", kind) + data


def _array(key: str, kind: int, items: Sequence[bytes]) -> bytes:
    head = _text(key) + struct.pack("<IIQ", _ARRAY, kind, len(items))
    return head + b"".join(items)


def _initializers(onnx: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of the weights of an ONNX model."""
    graph = next(value for field, value in _fields(onnx) if field == 7)
    for field, tensor in _fields(graph):
        if field == 5:
            parts = dict(_fields(tensor))
            yield parts[8].decode(), parts.get(9, b"")


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a message of protobuf that hold bytes."""
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        match tag & 7:
            case 0:
                _, at = _number(data, at)
            case 1:
                at += 8
            case 5:
                at += 4
            case 2:
                length, at = _number(data, at)
                yield tag >> 3, data[at : at + length]
                at += length
            case _:
                raise IndexError("this is no protobuf")


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of any length, and where it ends."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at
