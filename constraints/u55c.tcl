# Alveo U55C (xcu55c-fsvh2892-2L-e): floorplan and exceptions of machine `accelerator`.
# Written by scripts/board.py from constraints/ and the machine's generated files; do not edit.
# The linker reads it before placement, when the clock is the platform's; constraints/clock.tcl
# makes one for a synthesis of the core alone.

# A cell that is not there, by another name or dissolved by the synthesis, ends no build: it is counted.
set found 0
set missing 0
proc cells {pattern} {
  global core found missing
  set cells [get_cells -quiet $core/$pattern]
  if {$cells eq {}} {
    incr missing
    puts "WARNING: gramer: no cell $core/$pattern; it stays without its constraint"
  } else {
    incr found
  }
  return $cells
}
proc place {slr pattern} {
  set cells [cells $pattern]
  if {$cells ne {}} { set_property USER_SLR_ASSIGNMENT $slr $cells }
}
proc relax {cycles pattern} {
  set cells [cells $pattern]
  if {$cells ne {}} {
    set_multicycle_path $cycles -setup -from $cells
    set_multicycle_path [expr {$cycles - 1}] -hold -from $cells
  }
}

set core [get_cells -hierarchical -filter {NAME =~ *gramer_core_1/inst/i_core}]

# Regions (SLR). Soft assignments, so that the placer may move a few cells over a border.
place SLR0 {i_memory/gen_partition[0].i_partition}
place SLR0 {i_memory/i_edge_requests/gen_column[0].i_column}
place SLR0 {i_memory/i_vertex_requests/gen_column[0].i_column}
place SLR0 {i_memory/gen_partition[1].i_partition}
place SLR0 {i_memory/i_edge_requests/gen_column[1].i_column}
place SLR0 {i_memory/i_vertex_requests/gen_column[1].i_column}
place SLR0 {i_memory/gen_partition[2].i_partition}
place SLR0 {i_memory/i_edge_requests/gen_column[2].i_column}
place SLR0 {i_memory/i_vertex_requests/gen_column[2].i_column}
place SLR0 {gen_pu[0].i_pu}
place SLR0 {i_memory/i_edge_answers/gen_column[0].i_column}
place SLR0 {i_memory/i_vertex_answers/gen_column[0].i_column}
place SLR0 {gen_pu[1].i_pu}
place SLR0 {i_memory/i_edge_answers/gen_column[1].i_column}
place SLR0 {i_memory/i_vertex_answers/gen_column[1].i_column}
place SLR0 {gen_pu[2].i_pu}
place SLR0 {i_memory/i_edge_answers/gen_column[2].i_column}
place SLR0 {i_memory/i_vertex_answers/gen_column[2].i_column}
place SLR0 {i_memory/gen_bank[0].i_reader}
place SLR0 {i_memory/gen_bank[1].i_reader}
place SLR0 {i_memory/gen_bank[2].i_reader}
place SLR0 {i_memory/gen_bank[3].i_reader}
place SLR1 {i_memory/gen_partition[3].i_partition}
place SLR1 {i_memory/i_edge_requests/gen_column[3].i_column}
place SLR1 {i_memory/i_vertex_requests/gen_column[3].i_column}
place SLR1 {i_memory/gen_partition[4].i_partition}
place SLR1 {i_memory/i_edge_requests/gen_column[4].i_column}
place SLR1 {i_memory/i_vertex_requests/gen_column[4].i_column}
place SLR1 {i_memory/gen_partition[5].i_partition}
place SLR1 {i_memory/i_edge_requests/gen_column[5].i_column}
place SLR1 {i_memory/i_vertex_requests/gen_column[5].i_column}
place SLR1 {gen_pu[3].i_pu}
place SLR1 {i_memory/i_edge_answers/gen_column[3].i_column}
place SLR1 {i_memory/i_vertex_answers/gen_column[3].i_column}
place SLR1 {gen_pu[4].i_pu}
place SLR1 {i_memory/i_edge_answers/gen_column[4].i_column}
place SLR1 {i_memory/i_vertex_answers/gen_column[4].i_column}
place SLR1 {gen_pu[5].i_pu}
place SLR1 {i_memory/i_edge_answers/gen_column[5].i_column}
place SLR1 {i_memory/i_vertex_answers/gen_column[5].i_column}
place SLR1 {i_control}
place SLR1 {i_prefetcher}
place SLR1 {i_arbitrator}
place SLR1 {i_abort}
place SLR1 {i_patterns}
place SLR1 {i_settings}
place SLR2 {i_memory/gen_partition[6].i_partition}
place SLR2 {i_memory/i_edge_requests/gen_column[6].i_column}
place SLR2 {i_memory/i_vertex_requests/gen_column[6].i_column}
place SLR2 {i_memory/gen_partition[7].i_partition}
place SLR2 {i_memory/i_edge_requests/gen_column[7].i_column}
place SLR2 {i_memory/i_vertex_requests/gen_column[7].i_column}
place SLR2 {gen_pu[6].i_pu}
place SLR2 {i_memory/i_edge_answers/gen_column[6].i_column}
place SLR2 {i_memory/i_vertex_answers/gen_column[6].i_column}
place SLR2 {gen_pu[7].i_pu}
place SLR2 {i_memory/i_edge_answers/gen_column[7].i_column}
place SLR2 {i_memory/i_vertex_answers/gen_column[7].i_column}

# Multicycle exceptions of constraints/exceptions.tsv. A run starts in the cycle in which its
# settings are written; the sets are forgotten in the 1024 cycles after it.
# First used after the caches' sets have been forgotten one by one.
relax 3 {config_q_reg[app]*}
relax 3 {config_q_reg[k]*}
relax 3 {config_q_reg[ascending]*}
relax 3 {config_q_reg[stealing]*}
relax 3 {config_q_reg[lru]*}
relax 3 {config_q_reg[lists]*}
relax 3 {config_q_reg[lambda]*}
relax 3 {config_q_reg[vertex_bound]*}
relax 3 {config_q_reg[edge_bound]*}
relax 3 {config_q_reg[vertex_sets]*}
relax 3 {config_q_reg[edge_sets]*}
relax 3 {edge_base_q_reg*}
relax 3 {base_q_reg*}
# Reset lasts many cycles, and nothing starts before the host's first write, long after its end.
relax 3 {rst_q_reg*}

# No false path is declared: there is one clock, and no register that is never used.

puts "gramer: constraints of $found cells, $missing cells are not there"
