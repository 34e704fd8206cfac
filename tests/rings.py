"""Which ring a file of tests is in, and which files one worker runs. Paths are below tests/."""

# The four rings, each a marker: `pytest -m exact`. A file is in that of its folder or in the one
# that names it.
RINGS = {
    # Oracles, bytes and golden files; and what is written of the package, against the package.
    "exact": (
        *("benchmarks", "conformance", "data", "metrics", "prompts", "records", "reporting"),
        *("retrieval", "scoring", "signature", "statistics"),
        *("test_architecture.py", "test_bench.py", "test_catalog.py", "test_docs.py"),
        "test_four_ways.py",
        *("test_golden_set.py", "test_interface_names.py", "test_json_page.py"),
        *("test_language.py", "test_lm_eval_versions.py", "test_options.py"),
        *("test_presets_table.py", "test_rings.py", "test_rules.py", "test_task_names.py"),
        *("test_transformers_versions.py", "page/test_page_data.py"),
        "page/test_page_entries_summaries.py",
    ),
    # Whatever hypothesis or a random walk makes, against a slow and obvious way.
    "properties": (
        *("check/test_explain.py", "data/test_array_items.py", "metrics/test_code.py"),
        *("metrics/test_hand_worked.py", "metrics/test_letter_choice.py", "metrics/test_lists.py"),
        *("metrics/test_reasoning.py", "metrics/test_robustness.py", "metrics/test_rouge.py"),
        *("metrics/test_segmenter.py", "metrics/test_summary_rouge.py", "metrics/test_text.py"),
        *("page/test_page_chart_js.py", "prompts/test_prepare_question.py"),
        *("prompts/test_truncation.py", "prompts/test_truncation_fast.py"),
        *("reporting/test_report_intervals.py", "reporting/test_retained_share.py"),
        *("retrieval/test_retrieval_chunks.py", "retrieval/test_retrieval_chunks_bm25.py"),
        *("scoring/test_merge.py", "server/test_asking_order.py", "statistics/test_effective.py"),
        *("statistics/test_means.py", "test_shapes.py", "test_terminal.py"),
    ),
    # What users do: commands, processes, servers, models, browsers, from end to end.
    "roads": (
        *("api", "check", "cli", "harness", "page", "server"),
        *("test_examples.py", "test_migrating.py", "test_new_benchmark.py", "test_packaging.py"),
        *("test_screens.py", "test_task_folder.py", "test_task_folder_links.py"),
    ),
    # Bad input, damage, mistakes, and what stops midway.
    "faults": (
        *("check/test_verify_edits.py", "data/test_archive.py"),
        *("data/test_rows.py", "harness/test_engines.py", "harness/test_interrupt.py"),
        *("harness/test_planted_secrets.py", "records/test_store_damage.py"),
        *("reporting/test_report_read_run.py", "scoring/test_problems.py"),
        *("scoring/test_score_bad_rows.py", "scoring/test_score_disk.py", "server/test_faults.py"),
        *("server/test_server_bounds.py", "server/test_server_faults.py", "test_errors.py"),
        *("test_input_files.py", "test_messages.py", "test_result_files.py", "test_secrets.py"),
    ),
}

# What takes long to make is made by one worker: with `pytest -n`, tests of a file run together, and
# so do these. The longest come first.
TOGETHER = {
    # Processes of conftest.py begin with one that imports the harness.
    "processes": (
        *("api/test_evaluate.py", "cli/test_flags.py", "harness/test_api_model.py"),
        *("harness/test_chat_notice.py", "harness/test_interrupt.py", "harness/test_quiet.py"),
        *("harness/test_planted_secrets.py", "harness/test_ranks.py", "harness/test_task.py"),
        *("harness/test_unloaded.py", "metrics/test_independence.py"),
        *("retrieval/test_retrieval_words.py", "scoring/test_repeats.py", "test_migrating.py"),
        *("test_new_benchmark.py", "test_rules.py", "test_screens.py"),
    ),
    # These have read all task files of the harness as well.
    "all tasks": (
        *("cli/test_cli_doctor.py", "cli/test_cli_path.py", "harness/test_headline.py"),
        *("harness/test_own_benchmark.py", "harness/test_run.py", "harness/test_suites.py"),
        *("test_catalog.py", "check"),
    ),
    "embeddings": (
        *("cli/test_cli_score.py", "harness/test_longbench_pro_similarity.py", "retrieval"),
        "scoring/test_score_embed.py",
    ),
    "four ways": ("test_four_ways.py",),
    "a real model": ("harness/test_hf.py",),
}


def below(nodeid):
    """Return the file of a test, below tests/."""
    return nodeid.partition("::")[0].removeprefix("tests/")


def found_in(table, file):
    """Return the names whose entries say most of a file: its own path before that of its folder."""
    folder = file.partition("/")[0]
    named = [name for name, entries in table.items() if file in entries]
    return named or [name for name, entries in table.items() if folder in entries]


def ring_of(file):
    """Return the ring of a file of tests; None, which test_rings.py refuses: it is in none."""
    return next(iter(found_in(RINGS, file)), None)


def together(file):
    """Return the name of the tests that a file's tests run with: of several, or its own."""
    return next(iter(found_in(TOGETHER, file)), file)
