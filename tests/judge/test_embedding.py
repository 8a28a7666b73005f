"""A topic judged by a sentence-embedding model on disk. The model is made here: each word has a vector of its own."""

import asyncio
import builtins
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lycosa import build, config
from lycosa.errors import ConfigError
from lycosa.judge.embedding import Embedder
from lycosa.judge.sentence import Sentence
from lycosa.store.db import CrawlDb
from lycosa.types import Link, Page, Reply, TextRelevance, Visit

pytest.importorskip(
    "onnxruntime", reason="onnxruntime is not installed: topics with a model of one's own are not tested"
)
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed: models are not tested")

VOCABULARY = "[PAD] [UNK] telescope planet galaxy star bread soup oven recipe".split()
SKY, FOOD, NEITHER = (1.0, 0.0, 0.1), (0.0, 1.0, 0.1), (0.0, 0.0, 1.0)
VECTORS = [NEITHER, NEITHER, *[SKY] * 4, *[FOOD] * 4]
FLOAT, INT64 = 1, 7


def number(field: int, value: int) -> bytes:
    """A whole number as a field of a protocol buffer."""
    return varint(field << 3) + varint(value)


def varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found, value = found + bytes([value & 127 | 128]), value >> 7
    return found + bytes([value])


def block(field: int, value: bytes | str) -> bytes:
    """A string or a message as a field of a protocol buffer."""
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def value_info(name: str, kind: int, dimensions: Sequence[str]) -> bytes:
    shape = b"".join(block(1, block(2, dimension)) for dimension in dimensions)
    return block(1, name) + block(2, block(1, number(1, kind) + block(2, shape)))


def model(
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    table: Sequence[Sequence[float]] = VECTORS,
    output: Sequence[str] = ("texts", "tokens", "dimensions"),
) -> bytes:
    """An ONNX model of one step: it looks up the vector of each token."""
    rows = np.array(table, np.float32)
    weights = b"".join(number(1, size) for size in rows.shape) + number(2, FLOAT) + block(8, "table")
    node = block(1, "table") + block(1, inputs[0]) + block(2, "vectors") + block(4, "Gather")
    graph = block(1, node) + block(2, "tiny") + block(5, weights + block(9, rows.tobytes()))
    graph += b"".join(block(11, value_info(name, INT64, ("texts", "tokens"))) for name in inputs)
    graph += block(12, value_info("vectors", FLOAT, output))
    return number(1, 8) + block(7, graph) + block(8, number(2, 13))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl folder with a model in it."""
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "model.onnx").write_bytes(model())
    words = {word: place for place, word in enumerate(VOCABULARY)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.save(str(tmp_path / "tiny" / "tokenizer.json"))
    return tmp_path


def judge_of(folder: Path, **options: Any) -> Sentence:
    judge = Sentence("Telescope and planet", model="tiny", **options)
    judge.prepare(folder, lambda path: [])
    return judge


def page(text: str, url: str = "http://a.example/") -> Page:
    return Page(url, "", text, tuple(text.lower().split()))


def test_a_text_is_the_mean_of_its_tokens_whatever_it_is_batched_with(folder: Path) -> None:
    embedder = Embedder(folder / "tiny")
    alone = embedder.embed(["galaxy soup"])
    together = embedder.embed(["galaxy soup", "star " * 50])
    assert np.allclose(alone[0], together[0])
    assert np.allclose(alone[0], np.array([0.5, 0.5, 0.1]) / np.linalg.norm([0.5, 0.5, 0.1]))
    assert np.isfinite(embedder.embed([""])).all()


async def test_a_page_is_judged_by_its_meaning(folder: Path) -> None:
    judge = judge_of(folder)
    good, bad = await judge.judge(page("Galaxy and star")), await judge.judge(page("Soup and bread"))
    assert good.on_topic
    assert not bad.on_topic
    assert good.relevance > 0.8 > 0.2 > bad.relevance
    assert good.model.startswith("model tiny ")
    assert not (await judge.judge(Page("http://a.example/"))).on_topic


async def test_of_several_sentences_one_is_enough_and_words_are_added(folder: Path) -> None:
    judge = Sentence(["Telescope", "Bread"], ["recipe"], "tiny")
    judge.prepare(folder, lambda path: [])
    assert (await judge.judge(page("Soup oven"))).on_topic


async def test_while_a_crawl_runs_pages_are_judged_in_batches_in_a_thread(folder: Path) -> None:
    judge, sizes, threads = judge_of(folder), [], set()
    judge.connect(CrawlDb(":memory:").open(), at_once=False)
    assert judge.embedded_
    embed = judge.embedded_._embedder.embed

    def watched(texts: Sequence[str]) -> Any:
        sizes.append(len(texts))
        threads.add(threading.get_ident())
        return embed(texts)

    judge.embedded_._embedder.embed = watched  # type: ignore[method-assign]
    texts = ["galaxy star" if turn % 2 else "soup bread" for turn in range(40)]
    verdicts = await asyncio.gather(*(judge.judge(page(text)) for text in texts))
    assert [verdict.on_topic for verdict in verdicts] == [bool(turn % 2) for turn in range(40)]
    assert sum(sizes) == 40
    assert len(sizes) == 3
    assert threading.get_ident() not in threads


async def test_a_failure_costs_the_pages_of_its_batch_only(folder: Path) -> None:
    judge = judge_of(folder)
    judge.connect(CrawlDb(":memory:").open(), at_once=False)
    assert judge.embedded_
    embedder = judge.embedded_._embedder
    embed, embedder.embed = embedder.embed, lambda texts: 1 / 0  # type: ignore[method-assign,assignment,return-value]
    with pytest.raises(ZeroDivisionError):
        await judge.judge(page("galaxy"))
    embedder.embed = embed  # type: ignore[method-assign]
    assert (await judge.judge(page("galaxy"))).on_topic


async def test_verdicts_do_not_depend_on_what_is_learned_for_links(folder: Path) -> None:
    judge = judge_of(folder)
    before = await judge.judge(page("Galaxy soup"))
    for turn in range(12):
        url = f"http://a.example/{turn}"
        judge.learn(Visit(Reply(Link(url), url=url), page("galaxy star planet", url)))
        assert judge.revised() == []
    assert judge.version_.number == 2
    assert await judge.judge(page("Galaxy soup")) == before
    assert isinstance(judge, TextRelevance)
    assert judge.relevance_of(["planet"]) > judge.relevance_of(["soup"])


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda tiny: (tiny / "model.onnx").unlink(), "tiny has no model.onnx"),
        (lambda tiny: (tiny / "tokenizer.json").unlink(), "tiny has no tokenizer.json"),
        (lambda tiny: tiny.rename(tiny.with_name("other")), "tiny is not a folder"),
        (lambda tiny: (tiny / "model.onnx").write_bytes(b"no model"), "model.onnx cannot be read"),
        (lambda tiny: (tiny / "tokenizer.json").write_text("{}"), "tokenizer.json cannot be read"),
        (lambda tiny: (tiny / "model.onnx").write_bytes(model(("pixels",))), "needs the input 'pixels'"),
        (lambda tiny: (tiny / "model.onnx").write_bytes(model(table=VECTORS[:1])), "model.onnx fails on a text: "),
        (
            lambda tiny: (tiny / "model.onnx").write_bytes(model(table=np.zeros((10, 2, 2)), output="abcd")),
            "its first output has the shape 2 x 3 x 2 x 2; expected texts x tokens x dimensions",
        ),
        (lambda tiny: (tiny / "model.onnx").write_bytes(model(table=[[np.nan] * 2] * 10)), "that are not numbers"),
    ],
)
def test_what_is_wrong_with_a_model_is_one_clear_line(folder: Path, spoil: Any, problem: str) -> None:
    spoil(folder / "tiny")
    with pytest.raises(ConfigError) as caught:
        judge_of(folder)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_words_with_a_minus_need_no_model(folder: Path) -> None:
    with pytest.raises(ConfigError, match="'-bread': a model does not understand words with a minus"):
        judge_of(folder, words=["-bread"])


def test_without_the_extra_it_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any) -> Any:
        if name == "onnxruntime":
            raise ImportError(name=name)
        return real(name, *given)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ConfigError, match=r"needs the package onnxruntime: pip install 'lycosa\[onnx\]'"):
        judge_of(folder)


def test_it_is_named_in_crawl_toml(folder: Path) -> None:
    (folder / "crawl.toml").write_text(
        'seeds = ["http://a.example/"]\n[topic]\nkind = "sentence"\nsentence = "A planet"\nmodel = "tiny"\n'
    )
    settings, source = config.load(folder)
    judge = build.make_judge(settings, source)
    assert asyncio.run(judge.judge(page("star"))).on_topic
