"""Convert rows as loading does, without a file that they are read from."""

from lm_eval_longbench.data.convert import cache_folder, rows_of, write


def cached(benchmark, sha256, name, rows):
    """Return rows as converted from a file with this hash; `rows` is called if they are not yet."""

    def fill(folder):
        write(folder, benchmark, [name], ((name, row) for row in rows()))

    return rows_of(cache_folder(benchmark, sha256, name), name, fill)
