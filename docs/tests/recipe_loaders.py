"""Small data for each recipe of ``docs/recipes/``, and loaders of it."""

from __future__ import annotations

import io
import json
import sys
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from midepoch import StatefulDataLoader

RECIPES = Path(__file__).resolve().parents[1] / "recipes"
sys.path.insert(0, str(RECIPES))
import filter_map  # noqa: E402 - the folder is on the path from here on
import hf_stream  # noqa: E402
import indexed_lines  # noqa: E402
import mixture  # noqa: E402
import packing  # noqa: E402
import shuffle_buffer  # noqa: E402
import tar_samples  # noqa: E402
import text_lines  # noqa: E402

LENGTHS = (7, 0, 3, 12, 1)
"""The samples of each file: lanes end at different times, and one file is empty."""


def texts(folder: Path) -> list[Path]:
    """Write text files whose lines have different lengths, and return their paths."""
    lines = [[f"{file}.{n} {'x' * n}" for n in range(count)] for file, count in enumerate(LENGTHS)]
    return _write(folder, "lines", "txt", lines)


def jsons(folder: Path, name: str = "rows") -> list[Path]:
    """Write files of JSON Lines, and return their paths."""
    rows = [
        [json.dumps({"file": file, "tokens": list(range(n))}) for n in range(count)]
        for file, count in enumerate(LENGTHS)
    ]
    return _write(folder, name, "jsonl", rows)


def parquets(folder: Path) -> list[Path]:
    """Write Parquet files of row groups with four rows, and return their paths."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = []
    for file, count in enumerate(LENGTHS):
        paths.append(folder / f"{file}.parquet")
        table = pa.table({"file": [file] * count, "n": list(range(count))})
        pq.write_table(table, paths[-1], row_group_size=4)
    return paths


def tars(folder: Path) -> list[Path]:
    """Write tar files of samples with one to three members, and return their paths."""
    paths = []
    for file, count in enumerate(LENGTHS):
        paths.append(folder / f"{file}.tar")
        with tarfile.open(paths[-1], "w") as tar:
            for n in range(count):
                for extension in ("txt", "cls", "seg.JSON")[: 1 + n % 3]:
                    # Long names have a header of their own.
                    member = tarfile.TarInfo(f"{'deep/' * (40 * (n % 2))}{n}.{extension}")
                    content = f"{file} {n} {extension}".encode() * n
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))
    return paths


def _write(folder: Path, name: str, suffix: str, files: Sequence[Sequence[str]]) -> list[Path]:
    paths = [folder / f"{name}-{number}.{suffix}" for number in range(len(files))]
    for path, lines in zip(paths, files, strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return paths


def text_stream(folder: Path) -> Any:
    return text_lines.TextLines(texts(folder))


def json_stream(folder: Path) -> Any:
    return text_lines.TextLines(jsons(folder), json.loads)


def parquet_stream(folder: Path) -> Any:
    import parquet_rows

    return parquet_rows.ParquetRows(parquets(folder))


def shuffled_stream(folder: Path) -> Any:
    return shuffle_buffer.ShuffleBuffer(text_stream(folder), 5)


def shuffled_parquet_stream(folder: Path) -> Any:
    return shuffle_buffer.ShuffleBuffer(parquet_stream(folder), 100)


def packed_stream(folder: Path) -> Any:
    return packing.Packed(filter_map.Map(json_stream(folder), _tokens), 4, end=-1)


def mixed_stream(folder: Path) -> Any:
    return mixture.Mixture([text_stream(folder), json_stream(folder)], [0.7, 0.3])


def filtered_stream(folder: Path) -> Any:
    kept = filter_map.Filter(json_stream(folder), _even)
    return filter_map.Map(kept, _tokens)


def tar_stream(folder: Path) -> Any:
    return tar_samples.TarSamples(tars(folder))


def combined_stream(folder: Path) -> Any:
    """Everything at once: two sources, mixed, shuffled, mapped and packed."""
    sources = [json_stream(folder), text_lines.TextLines(jsons(folder, "more"), json.loads)]
    shuffled = shuffle_buffer.ShuffleBuffer(mixture.Mixture(sources, [2, 1]), 4)
    return packing.Packed(filter_map.Map(shuffled, _tokens), 5)


def _hf(folder: Path) -> Any:
    import datasets

    paths = [str(path) for path in jsons(folder)]
    return datasets.IterableDataset.from_generator(_rows, gen_kwargs={"paths": paths})


def hf_stream_alone(folder: Path) -> Any:
    """The stream itself, without the recipe: its class has a state."""
    return _hf(folder)


def hf_stream_wrapped(folder: Path) -> Any:
    return hf_stream.HFStream(_hf(folder))


def hf_stream_shuffled(folder: Path) -> Any:
    return shuffle_buffer.ShuffleBuffer(hf_stream_wrapped(folder), 5)


def _rows(paths: list[str]) -> Any:
    for path in paths:
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            yield json.loads(line)


def _even(row: dict[str, Any]) -> bool:
    return len(row["tokens"]) % 2 == 0


def _tokens(row: dict[str, Any]) -> list[int]:
    return [100 * row["file"], *row["tokens"]]


STREAMS: dict[str, Callable[[Path], Any]] = {
    "text lines": text_stream,
    "JSON Lines": json_stream,
    "Parquet": parquet_stream,
    "shuffle buffer": shuffled_stream,
    "shuffle buffer over Parquet": shuffled_parquet_stream,
    "packing": packed_stream,
    "mixture": mixed_stream,
    "filter and map": filtered_stream,
    "tar samples": tar_stream,
    "all together": combined_stream,
    "Hugging Face alone": hf_stream_alone,
    "Hugging Face": hf_stream_wrapped,
    "Hugging Face in a shuffle buffer": hf_stream_shuffled,
}
"""Makes each recipe's stream of files that it writes into a folder."""

NEEDS = {"Parquet": "pyarrow.parquet", "Hugging Face": "datasets"}
"""The packages that the names of streams stand for."""


def loader_of(
    dataset: Any,
    num_workers: int,
    *,
    lanes: int = 2,
    interval: int | None = 1,
    ranks: tuple[int, int] | None = None,
) -> StatefulDataLoader[Any]:
    """Return a loader of a stream in lanes; batches are lists of samples."""
    return StatefulDataLoader(
        dataset,
        batch_size=3,
        collate_fn=list,
        num_workers=num_workers,
        lanes=lanes,
        seed=7,
        snapshot_every_n_steps=interval,
        ranks=ranks,
    )


def indexed_loader(
    folder: Path, num_workers: int, *, ranks: tuple[int, int] = (0, 1)
) -> StatefulDataLoader[Any]:
    """Return a loader of one rank over the lines of one file, shuffled."""
    path = folder / "all.txt"
    if not path.exists():
        path.write_text("".join(f"{n}{'x' * n}\n" for n in range(22)), encoding="utf-8")
    return StatefulDataLoader(
        indexed_lines.IndexedLines(path),
        collate_fn=list,
        num_workers=num_workers,
        shuffle=True,
        seed=7,
        ranks=ranks,
        global_batch_size=4,
    )
