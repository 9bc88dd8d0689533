"""Checks of scripts/hardware.py mutants, and their selection by module."""

from hardware.faults import SET

# A check: its name in the report, the test that is run, how many random cases, and what it reads.
CORE = ["sim/tests/core.rs", "sim/tests/support/mod.rs", "sim/tests/counters.tsv"]
CONTROL = ["sim/tests/control.rs"]
SUITE = [
    ("results", "random_tasks", 150, CORE),
    ("stops", "random_tasks_that_are_stopped_and_continued", 120, CORE),
    ("counters", "counters_are_as_last_seen", 0, CORE),
    ("directed", "an_axi_error_is_reported_with_its_address_and_the_next_run_is_clean", 0, CORE),
    ("directed", "a_run_is_stopped_at_once", 0, CORE),
    ("directed", "a_run_whose_records_do_not_fit_ends_at_once", 0, CORE),
    ("directed", "a_run_is_stopped_after_its_units", 0, CORE),
    ("directed", "on_the_papers_core::starts_are_taken_one_at_a_time_and_done_waits_for_continue", 0, CONTROL),
    ("directed", "on_the_papers_core::arguments_are_written_by_the_byte_and_read_back", 0, CONTROL),
    ("directed", "on_the_papers_core::interrupts_come_when_enabled_and_go_when_acknowledged", 0, CONTROL),
    ("directed", "arguments_out_of_range_are_refused", 0, CONTROL),
    ("directed", "counts_stay_at_their_largest_value_and_say_so", 0, CORE),
]

# A set core's: a bench as a check, the cluster's after that of the module, then the whole core.
SET_CORE = ["sim/tests/set.rs", "sim/tests/support/set.rs", "sim/tests/support/set_bench.rs",
            "sim/tests/support/set_corners.rs"]
SET_COUNTERS = ["sim/tests/set_counters.rs", "sim/tests/set_counters.tsv", "sim/tests/set_plan_counters.tsv",
                "sim/tests/set_wedge_counters.tsv"]
# Of houses and 5-cycles: by the whole core.
WEDGE_CORE = ["sim/tests/set_wedges.rs", "sim/tests/support/set.rs"]
WEDGE_SUITE = [
    ("results", "houses_and_five_cycles_of_hubs", 0, WEDGE_CORE),
    ("results", "houses_and_five_cycles_of_random_graphs", 0, WEDGE_CORE),
    ("stops", "wedges_that_end_early_are_clean", 0, WEDGE_CORE),
    ("counters", "counters_of_wedges_are_as_last_seen", 0, SET_COUNTERS),
]
WEDGE = ("gramer_set_wedge", "gramer_set_reached")
# Of 5-motifs, likewise.
MOTIFS_CORE = ["sim/tests/set_motifs5.rs", "sim/tests/support/set.rs"]
MOTIFS_SUITE = [
    ("results", "motifs_of_lists_of_every_length", 0, MOTIFS_CORE),
    ("results", "motifs5_of_random_graphs", 0, MOTIFS_CORE),
    ("results", "tags_when_levels_begin_again", 0, MOTIFS_CORE),
    ("stops", "motifs_that_end_early_are_clean", 0, MOTIFS_CORE),
    ("counters", "counters_of_wedges_are_as_last_seen", 0, SET_COUNTERS),
]
MOTIFS = ("gramer_set_triple", "gramer_set_by_map")
SET_SUITE = [
    ("results", "set_cluster", 0, ["sim/units/set_cluster.cpp", "sim/units/set_image.hpp", "sim/units/bench.hpp",
                                   "sim/tests/units.rs"]),
    ("results", "lists_of_every_length_that_matters", 0, SET_CORE),
    ("stops", "runs_that_end_early_are_clean", 0, SET_CORE),
    ("counters", "counters_of_sets_are_as_last_seen", 0, SET_COUNTERS),
    ("directed", "an_image_stays_over_many_runs", 0, SET_CORE),
    ("directed", "sums_stay_at_their_largest_value_and_say_so", 0, SET_CORE),
    ("directed", "counters_as_large_as_a_root_s_block", 0, SET_CORE),
    ("directed", "complete_graphs_have_all_walkers_under_way", 0, SET_CORE),
    ("directed", "cliques_of_random_graphs", 0, SET_CORE), # of a cluster of eight PUs too
    *WEDGE_SUITE, # wedge logic of the map and the PU
    *MOTIFS_SUITE[:4],
]
# Of the modules of search plans: the bench of all in a PU, then the whole core.
PLAN = ("gramer_set_plan", "gramer_set_recorder", "gramer_set_skid_buffer")
PLAN_CORE = ["sim/tests/set_plans.rs", "sim/tests/support/set.rs", "sim/tests/support/set_listing.rs"]
PLAN_SUITE = [
    ("results", "set_plan", 0, ["sim/units/set_plan.cpp", "sim/units/set_plans.hpp", "sim/units/bench.hpp",
                                "sim/tests/units.rs"]),
    ("results", "the_core_counts_patterns_of_random_graphs", 0, PLAN_CORE),
    ("results", "plans_with_lists_of_every_length_that_matters", 0, PLAN_CORE),
    ("results", "listing::the_core_lists_what_its_model_does_whatever_is_full", 0, PLAN_CORE),
    ("stops", "plans_that_end_early_are_clean", 0, PLAN_CORE),
    ("stops", "listing::listing_that_is_stopped_is_clean", 0, PLAN_CORE),
    ("counters", "counters_of_plans_are_as_last_seen", 0, SET_COUNTERS),
]
BENCHES = {"set_cluster", "set_plan"}


def suite_of(module):
    """Checks of a module's faults after its bench."""
    if module.startswith(WEDGE):
        return WEDGE_SUITE
    if module.startswith(MOTIFS):
        return [*MOTIFS_SUITE, *WEDGE_SUITE[:3]] if module == "gramer_set_by_map" else MOTIFS_SUITE
    return PLAN_SUITE if module.startswith(PLAN) else SET_SUITE if module.startswith(SET) else SUITE
