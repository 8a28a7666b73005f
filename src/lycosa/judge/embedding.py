"""The meaning of texts by a sentence-embedding model that the user has on disk; nothing is ever downloaded.

The folder holds `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, as most published models do. A text is the
mean of the vectors of its tokens. Inference takes milliseconds, so it happens in a thread: while it computes one batch,
the pages that arrive form the next.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from lycosa.errors import ConfigError
from lycosa.judge.features import Floats

KEY = "topic.model"
MODELS, TOKENIZER = ("model.onnx", "onnx/model.onnx"), "tokenizer.json"
MOST_TOKENS = 256  # of a text: what such models are usually trained on
MOST_TEXTS = 16  # per batch
INPUTS = {"input_ids", "attention_mask", "token_type_ids"}


class Embedder:
    """A model, ready to turn texts into vectors of length 1."""

    def __init__(self, folder: Path) -> None:
        ort, tokenizers = _libraries()
        file = next((folder / name for name in MODELS if (folder / name).is_file()), None)
        if file is None or not (folder / TOKENIZER).is_file():
            missing = TOKENIZER if file else MODELS[0]
            raise ConfigError(KEY, f"{folder} has no {missing}" if folder.is_dir() else f"{folder} is not a folder")
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER))
        except Exception as error:  # the library raises nothing more specific
            raise ConfigError(KEY, f"{folder / TOKENIZER} cannot be read: {_first_line(error)}") from None
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1  # leaves the other cores to the crawl, and always gives the same result
        options.log_severity_level = 4
        try:
            self._session = ort.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise ConfigError(KEY, f"{file} cannot be read: {_first_line(error)}") from None
        self._inputs = {one.name for one in self._session.get_inputs()}
        if unknown := self._inputs - INPUTS:
            raise ConfigError(KEY, f"{file} needs the input {min(unknown)!r}, which a text does not have")
        self._file = file
        self._tokenizer.enable_truncation(MOST_TOKENS)
        self._tokenizer.enable_padding()
        with file.open("rb") as opened:
            self.name = f"{folder.name} {hashlib.file_digest(opened, 'sha256').hexdigest()[:8]}"
        self._waiting: list[tuple[str, asyncio.Future[Floats]]] = []
        self._task: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None

    def check(self) -> None:
        """Try the model on a text, since its output is known only then."""
        try:
            found = self.embed(["a short text", "another"])
        except Exception as error:  # whatever a broken model makes the library raise
            raise ConfigError(KEY, f"{self._file} fails on a text: {_first_line(error)}") from None
        if not np.isfinite(found).all():
            raise ConfigError(KEY, f"{self._file} gives vectors with values that are not numbers")

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one vector of length 1 for each text."""
        encoded = self._tokenizer.encode_batch([*texts])
        given = {
            "input_ids": [one.ids for one in encoded],
            "attention_mask": [one.attention_mask for one in encoded],
            "token_type_ids": [one.type_ids for one in encoded],
        }
        arrays = {name: np.array(given[name], np.int64) for name in sorted(self._inputs)}
        mask = np.array(given["attention_mask"], np.float32)[:, :, None]
        vectors = np.asarray(self._session.run(None, arrays)[0], np.float32)
        if vectors.shape[:-1] != mask.shape[:2]:
            wanted = f"texts x tokens x dimensions, here {len(texts)} x {mask.shape[1]} x ..."
            raise ValueError(f"its first output has the shape {_by(vectors.shape)}; expected {wanted}")
        means = (vectors * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
        return unit(means)

    async def embed_soon(self, text: str) -> Floats:
        """Return the vector of a text, computed in a thread together with those that wait at the same time."""
        future: asyncio.Future[Floats] = asyncio.get_running_loop().create_future()
        self._waiting.append((text, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        loop, self._thread = asyncio.get_running_loop(), self._thread or ThreadPoolExecutor(1, "embedding")
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_TEXTS], self._waiting[MOST_TEXTS:]
            try:
                found = await loop.run_in_executor(self._thread, self.embed, [text for text, _ in batch])
            except Exception as error:  # the page fails, not the crawl
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (_, future), vector in zip(batch, found, strict=True):
                if not future.done():  # its page may have been given up
                    future.set_result(vector)


def unit(vectors: Floats) -> Floats:
    """Scale each row to length 1; a row of zeros stays as it is."""
    found: Floats = vectors / np.maximum(np.sqrt((vectors * vectors).sum(axis=-1, keepdims=True)), 1e-9)
    return found


def _libraries() -> tuple[Any, Any]:
    try:
        import onnxruntime
        import tokenizers
    except ImportError as error:
        needs = "pip install 'lycosa[onnx]'"
        raise ConfigError(KEY, f"reading a model needs the package {error.name}: {needs}") from None
    return onnxruntime, tokenizers


def _by(shape: Sequence[int]) -> str:
    return " x ".join(map(str, shape)) or "of a single number"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
