// A machine for the proofs, small enough for a solver: the sizes that the modules use.
package gramer_pkg;
  localparam int unsigned SLOTS      = 4;
  localparam int unsigned DEPTH      = 3;
  localparam int unsigned PUS        = 1;
  localparam int unsigned PARTITIONS = 1;
  localparam int unsigned BANKS      = 1;
  localparam int unsigned SLR_REGISTERS = 0;
  localparam int unsigned LAMBDA_W   = 7;
  localparam int unsigned MISSES     = 2;
  localparam int unsigned STAMP_W    = 4;
  localparam int unsigned LAMBDA_MOST = 512;
  localparam int unsigned DICTIONARY = 4;
  localparam int unsigned COUNTERS   = 4;
  localparam int unsigned COUNT_W    = 4;
  localparam int unsigned LABEL_BITS = 2;
  localparam int unsigned COMPACTION = 1;
  localparam int unsigned CANDIDATE_CHECK = 0;
  localparam int unsigned MAX_MOTIF  = 3;
  localparam int unsigned STEALING_BUFFER = 2;
  localparam int unsigned FILTER_WORDS = 0;
endpackage
