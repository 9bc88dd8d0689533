# Alveo U250 (xcu250-figd2104-2L-e): floorplan and exceptions of machine `accelerator`.
# Written by scripts/board.py from constraints/ and the machine's generated files; do not edit.
# The linker reads it before placement, when the clock is the platform's; constraints/clock.tcl
# makes one for a synthesis of the core alone.

proc cells {pattern} {
  global core
  return [get_cells $core/$pattern]
}

set core [get_cells -hierarchical -filter {NAME =~ *gramer_core_1/inst/i_core}]

# Regions (SLR). Soft assignments, so that the placer may move a few cells over a border.
set_property USER_SLR_ASSIGNMENT SLR0 [cells {gen_partition[0].i_partition}]
set_property USER_SLR_ASSIGNMENT SLR0 [cells {gen_partition[4].i_partition}]
set_property USER_SLR_ASSIGNMENT SLR0 [cells {gen_pu[0].i_pu}]
set_property USER_SLR_ASSIGNMENT SLR0 [cells {gen_pu[1].i_pu}]
set_property USER_SLR_ASSIGNMENT SLR0 [cells {gen_bank[0].i_reader}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {gen_partition[1].i_partition}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {gen_partition[5].i_partition}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {gen_pu[2].i_pu}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {gen_pu[3].i_pu}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {gen_bank[1].i_reader}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_control}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_prefetcher}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_arbitrator}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_abort}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_patterns}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_edge_requests}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_vertex_requests}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_edge_answers}]
set_property USER_SLR_ASSIGNMENT SLR1 [cells {i_vertex_answers}]
set_property USER_SLR_ASSIGNMENT SLR2 [cells {gen_partition[2].i_partition}]
set_property USER_SLR_ASSIGNMENT SLR2 [cells {gen_partition[6].i_partition}]
set_property USER_SLR_ASSIGNMENT SLR2 [cells {gen_pu[4].i_pu}]
set_property USER_SLR_ASSIGNMENT SLR2 [cells {gen_pu[5].i_pu}]
set_property USER_SLR_ASSIGNMENT SLR2 [cells {gen_bank[2].i_reader}]
set_property USER_SLR_ASSIGNMENT SLR3 [cells {gen_partition[3].i_partition}]
set_property USER_SLR_ASSIGNMENT SLR3 [cells {gen_partition[7].i_partition}]
set_property USER_SLR_ASSIGNMENT SLR3 [cells {gen_pu[6].i_pu}]
set_property USER_SLR_ASSIGNMENT SLR3 [cells {gen_pu[7].i_pu}]
set_property USER_SLR_ASSIGNMENT SLR3 [cells {gen_bank[3].i_reader}]

# Multicycle exceptions of constraints/exceptions.tsv. A run starts in the cycle in which its
# settings are written; the sets are forgotten in the 1024 cycles after it.
# First used after the caches' sets have been forgotten one by one.
set_multicycle_path 3 -setup -from [cells {config_q_reg[app]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[app]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[k]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[k]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[ascending]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[ascending]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[stealing]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[stealing]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[lru]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[lru]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[lists]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[lists]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[lambda]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[lambda]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[vertex_bound]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[vertex_bound]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[edge_bound]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[edge_bound]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[vertex_sets]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[vertex_sets]*}]
set_multicycle_path 3 -setup -from [cells {config_q_reg[edge_sets]*}]
set_multicycle_path 2 -hold -from [cells {config_q_reg[edge_sets]*}]
set_multicycle_path 3 -setup -from [cells {edge_base_q_reg*}]
set_multicycle_path 2 -hold -from [cells {edge_base_q_reg*}]
set_multicycle_path 3 -setup -from [cells {base_q_reg*}]
set_multicycle_path 2 -hold -from [cells {base_q_reg*}]
# Reset lasts many cycles, and nothing starts before the host's first write, long after its end.
set_multicycle_path 3 -setup -from [cells {rst_q_reg*}]
set_multicycle_path 2 -hold -from [cells {rst_q_reg*}]

# No false path is declared: there is one clock, and no register that is never used.
