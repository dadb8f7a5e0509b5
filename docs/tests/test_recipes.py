"""Each recipe resumes exactly: the code is the very file that its page shows."""

from __future__ import annotations

import importlib
import pickle
import random
import tarfile
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import recipe_loaders
import torch
from recipe_loaders import STREAMS, indexed_loader, loader_of

from midepoch import merge_states
from midepoch.errors import ArgumentError
from midepoch_conformance import assert_resumes

pytestmark = [
    # with longer intervals, and at an epoch's beginning
    pytest.mark.filterwarnings("ignore::midepoch.errors.ReplayWarning"),
    # torch counts this machine's CPUs
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
]
PAGES = sorted(recipe_loaders.RECIPES.glob("*.md"))


@pytest.fixture(params=STREAMS)
def stream(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Return a function that makes the recipe's dataset anew, as each start of a program does."""
    for word, package in recipe_loaders.NEEDS.items():
        if word in request.param:
            pytest.importorskip(package)
    return lambda: STREAMS[request.param](tmp_path)


def _resumed(loader: Any, state: bytes) -> list[list[Any]]:
    """Return the rest of the epoch and the next one, from a process with other random streams."""
    random.seed(3), np.random.seed(3), torch.manual_seed(3)
    loader.load_state_dict(pickle.loads(state))
    return [list(loader), list(loader)]


def _same(a: Any, b: Any) -> bool:
    return repr(a) == repr(b)  # tensors have no == of one value


@pytest.mark.parametrize(("lanes", "interval"), [(3, 1), (1, 3), (2, None)])
def test_a_stream_resumes_without_workers(stream: Any, lanes: int, interval: int | None) -> None:
    assert_resumes(lambda n: loader_of(stream(), n, lanes=lanes, interval=interval))


def test_a_stream_resumes_on_other_numbers_of_workers(stream: Any) -> None:
    assert_resumes(
        lambda n: loader_of(stream(), n, lanes=3, interval=2),
        workers=2,
        resume_workers=3,
        cuts=(4,),
    )


def test_every_position_resumes_on_any_number_of_workers(stream: Any) -> None:
    whole = loader_of(stream(), 0)
    epochs = [list(whole), list(whole), list(whole)]
    saving = loader_of(stream(), 0)
    states = [pickle.dumps(saving.state_dict())]
    for _ in saving:
        states.append(pickle.dumps(saving.state_dict()))
    assert len(states) == len(epochs[0]) + 1
    for position, state in enumerate(states):
        rest = _resumed(loader_of(stream(), position % 4), state)
        # The rest of an epoch whose last batch was delivered is empty.
        assert _same(rest, [epochs[0][position:], epochs[1]]), f"position {position}"


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 4), (2, 1)])
def test_a_stream_resumes_on_another_number_of_ranks(stream: Any, before: int, after: int) -> None:
    def ranks(world: int) -> list[Any]:
        return [loader_of(stream(), 0, lanes=4, ranks=(rank, world)) for rank in range(world)]

    (alone,) = ranks(1)
    first, second = sorted(map(repr, alone)), sorted(map(repr, alone))
    saving = ranks(before)
    delivered = [repr(next(iter(loader))) for loader in saving]
    state = merge_states([pickle.loads(pickle.dumps(loader.state_dict())) for loader in saving])
    resumed = ranks(after)
    for loader in resumed:
        loader.load_state_dict(state)
    rest = [repr(batch) for loader in resumed for batch in loader]
    assert sorted(delivered + rest) == first
    assert sorted(repr(batch) for loader in resumed for batch in loader) == second


@pytest.mark.parametrize("workers", [1, 3])
def test_the_batches_do_not_depend_on_the_number_of_workers(stream: Any, workers: int) -> None:
    loaders = [loader_of(stream(), number) for number in (0, workers)]
    assert _same(*([list(loader), list(loader)] for loader in loaders))


def test_the_state_of_a_stream_is_small(stream: Any) -> None:
    loader = loader_of(stream(), 0)
    iterator = iter(loader)
    next(iterator), next(iterator)
    assert len(pickle.dumps(loader.state_dict())) < 6000


@pytest.mark.parametrize("lanes", [1, 2, 5, 8])
@pytest.mark.parametrize("name", ["text lines", "tar samples", "shuffle buffer", "JSON Lines"])
def test_the_lanes_share_out_every_sample(name: str, lanes: int, tmp_path: Path) -> None:
    batches = loader_of(STREAMS[name](tmp_path), 0, lanes=lanes)
    samples = list(map(repr, chain.from_iterable(batches)))
    wanted = map(repr, iter(STREAMS[name](tmp_path)))
    assert sorted(samples) == sorted(wanted)
    assert len(samples) == sum(recipe_loaders.LENGTHS)


def test_a_shuffle_buffer_shuffles_each_epoch_otherwise(tmp_path: Path) -> None:
    loader = loader_of(STREAMS["shuffle buffer"](tmp_path), 0)
    plain, *epochs = [list(loader_of(STREAMS["text lines"](tmp_path), 0)), *map(list, [loader] * 2)]
    assert plain != epochs[0] != epochs[1]


def test_a_shuffle_buffer_reads_little_again_however_often_it_resumes() -> None:
    buffer = importlib.import_module("shuffle_buffer")

    class Numbers(torch.utils.data.IterableDataset[int]):
        def __iter__(self) -> Any:
            return NumbersPass()

    class NumbersPass:
        at, read = 0, 0

        def __iter__(self) -> Any:
            return self

        def __next__(self) -> int:
            self.at, self.read = self.at + 1, self.read + 1
            return self.at

        def state_dict(self) -> int:
            return self.at

        def load_state_dict(self, state: int) -> None:
            self.at = state

    torch.manual_seed(0)
    whole, part = iter(buffer.ShuffleBuffer(Numbers(), 50)), None
    state, most = whole.state_dict(), 0
    for _ in range(100):
        part = iter(buffer.ShuffleBuffer(Numbers(), 50))
        part.load_state_dict(state)
        most = max(most, part.source.read)
        for _ in range(37):
            assert next(part) == next(whole)
        state = part.state_dict()
    assert most < 50 * 12 + 100


def test_a_mixture_follows_its_weights() -> None:
    mixture = importlib.import_module("mixture")
    sources = [_Endless("a"), _Endless("b")]
    torch.manual_seed(0)
    samples = iter(mixture.Mixture(sources, [3, 1]))
    drawn = [next(samples) for _ in range(2000)]
    assert 0.7 < drawn.count("a") / len(drawn) < 0.8
    with pytest.raises(ValueError, match="positive weight"):
        mixture.Mixture(sources, [1])


class _Endless(torch.utils.data.IterableDataset[str]):
    def __init__(self, word: str) -> None:
        self.word = word

    def __iter__(self) -> Any:
        return iter(lambda: self.word, None)


def test_packed_blocks_hold_every_token_in_order(tmp_path: Path) -> None:
    blocks = list(STREAMS["packing"](tmp_path))
    assert {len(block) for block in blocks} == {4}
    rows = [[*recipe_loaders._tokens(row), -1] for row in STREAMS["JSON Lines"](tmp_path)]
    tokens = list(chain.from_iterable(rows))
    assert torch.cat(blocks).tolist() == tokens[: len(tokens) // 4 * 4]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it closes no file
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_tar_samples_are_those_of_webdataset(tmp_path: Path) -> None:
    paths = recipe_loaders.tars(tmp_path)
    webdataset = pytest.importorskip("webdataset")
    theirs = webdataset.WebDataset([f"file:{p}" for p in paths], shardshuffle=False)
    keys = {"__url__", "__local_path__"}
    wanted = [{k: v for k, v in sample.items() if k not in keys} for sample in theirs]
    assert list(STREAMS["tar samples"](tmp_path)) == wanted


def _web_loader(folder: Path, rank: int, world: int, **options: Any) -> Any:
    """Return a loader of WebDataset's own pipeline."""
    webdataset = pytest.importorskip("webdataset")
    urls = [f"file:{path}" for path in recipe_loaders.tars(folder)]
    pipeline = webdataset.WebDataset(urls, shardshuffle=False, empty_check=False, **options)
    return loader_of(pipeline.map(_key), 0, lanes=4, ranks=(rank, world))


def _key(sample: dict[str, Any]) -> str:
    return f"{sample['__url__']} {sample['__key__']}"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # it closes no file
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 4), (2, 1)])
def test_a_webdataset_pipeline_resumes_on_another_number_of_ranks(
    before: int, after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loaders(world: int) -> Any:
        """Yield a loader for each rank, with the variables that WebDataset reads."""
        for rank in range(world):
            monkeypatch.setenv("RANK", str(rank))
            monkeypatch.setenv("WORLD_SIZE", str(world))
            yield _web_loader(tmp_path, rank, world, nodesplitter=None)

    whole = [batch for loader in loaders(1) for batch in loader]
    assert len(list(chain.from_iterable(whole))) == sum(recipe_loaders.LENGTHS)
    delivered, states = [], []
    for loader in loaders(before):
        delivered.append(next(iter(loader)))
        states.append(loader.state_dict())
    rest = []
    for loader in loaders(after):
        loader.load_state_dict(merge_states(states))
        rest += list(loader)
    assert sorted(delivered + rest) == sorted(whole)


def test_a_webdataset_that_splits_by_node_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    webdataset = pytest.importorskip("webdataset")
    with pytest.raises(ArgumentError, match="split by node already"):
        list(_web_loader(tmp_path, 0, 2, nodesplitter=webdataset.split_by_node))
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="explicit nodesplitter"):  # its default
        list(_web_loader(tmp_path, 0, 2))


def test_a_hugging_face_stream_that_is_split_by_node_is_refused(tmp_path: Path) -> None:
    distributed = pytest.importorskip("datasets.distributed")
    half = distributed.split_dataset_by_node(STREAMS["Hugging Face alone"](tmp_path), 0, 2)
    for stream in (half, importlib.import_module("hf_stream").HFStream(half)):
        with pytest.raises(ArgumentError, match="split by node already"):
            list(loader_of(stream, 0, lanes=4, ranks=(0, 2)))


def test_the_long_names_of_tar_files_have_headers_of_their_own(tmp_path: Path) -> None:
    for path in recipe_loaders.tars(tmp_path)[:1]:
        with tarfile.open(path) as tar:
            assert max(len(name) for name in tar.getnames()) > 100


@pytest.mark.parametrize("ranks", [(0, 1), (1, 2)])
def test_indexed_lines_resume(ranks: tuple[int, int], tmp_path: Path) -> None:
    assert_resumes(lambda n: indexed_loader(tmp_path, n, ranks=ranks))
    assert_resumes(
        lambda n: indexed_loader(tmp_path, n, ranks=ranks), workers=2, resume_workers=3, cuts=(4,)
    )


@pytest.mark.parametrize(("before", "after"), [(2, 4), (4, 1), (1, 2)])
def test_indexed_lines_resume_on_other_numbers_of_ranks(
    before: int, after: int, tmp_path: Path
) -> None:
    whole = [_global(step) for step in zip(indexed_loader(tmp_path, 0), strict=True)]
    saving = indexed_loader(tmp_path, 0, ranks=(0, before))
    states = [saving.state_dict(), *(saving.state_dict() for _ in saving)]
    for position, state in enumerate(states):
        loaders = [indexed_loader(tmp_path, 0, ranks=(r, after)) for r in range(after)]
        for loader in loaders:
            loader.load_state_dict(state)
        rest = [_global(step) for step in zip(*loaders, strict=True)]
        # Samples of the epoch's beginning fill up the last step where the ranks need more.
        assert [step[: len(w)] for step, w in zip(rest, whole[position:], strict=True)] == (
            whole[position:]
        )


def _global(shares: tuple[list[Any], ...]) -> list[Any]:
    return list(chain.from_iterable(shares))


def test_an_index_of_another_text_is_refused(tmp_path: Path) -> None:
    indexed_loader(tmp_path, 0)
    with open(tmp_path / "all.txt", "a", encoding="utf-8") as file:
        file.write("more\n")
    with pytest.raises(ValueError, match="another version"):
        indexed_loader(tmp_path, 0)


def test_every_recipe_stands_on_a_page_and_in_the_table() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    table = (recipe_loaders.RECIPES / "index.md").read_text(encoding="utf-8")
    for module in recipe_loaders.RECIPES.glob("*.py"):
        assert text.count(f'--8<-- "{module.name}"') == 1
    for page in PAGES:
        assert page.name == "index.md" or f"]({page.name}" in table
