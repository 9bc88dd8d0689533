// A machine with a set core for the proofs, small enough for a solver: the sizes that the modules use.
// A line has two bits; what takes a line apart isn't proven here.
package gramer_set_pkg;
  localparam int unsigned PUS             = 2;
  localparam int unsigned PARTITIONS      = 2;
  localparam int unsigned PARTITION_LINES = 2;
  localparam int unsigned ANSWERS         = 2;
  localparam int unsigned UNIT_QUEUE      = 8;
  localparam int unsigned LISTS           = 2;
  localparam int unsigned LIST_LINES      = 32;
  localparam int unsigned ROW_BANKS       = 8;
  localparam int unsigned ROW_WORDS       = 8;
  localparam int unsigned MAP_BANKS       = 1;
  localparam int unsigned MAP_WORDS       = 2;
  localparam int unsigned MAP_ENTRIES     = 2;
  localparam int unsigned COUNT_W         = 8;
  localparam int unsigned LINE_W          = 2;
  localparam int unsigned LINE_ENTRIES    = 16;
  localparam int unsigned LINE_QUARTERS   = 4;
  localparam int unsigned QUARTER_ENTRIES = 4;
  localparam int unsigned ID_W            = 4;
  localparam int unsigned SIZE_W          = 6;
  localparam int unsigned PLANS           = 4;
  localparam int unsigned SUMS            = 8;
  localparam int unsigned K_MOST          = 16;
  localparam int unsigned PLAN_LEVELS     = 0;
  localparam int unsigned PLAN_WALKERS    = 1;
  localparam int unsigned REACHED         = 4;
  localparam int unsigned WEDGE_ID_W      = 2;
  localparam int unsigned WEDGE_UP_W      = 1;
  localparam int unsigned PLAN_WORDS      = 40;
  localparam int unsigned PLAN_LABELS     = 2;
  localparam int unsigned PLAN_SETS       = 32;
  localparam int unsigned SIZE_ROUNDED    = 32;
  localparam int unsigned WORD_MAKE       = 0;
  localparam int unsigned WORD_COUNT      = 1;
  localparam int unsigned WORD_WALK       = 2;
  localparam int unsigned WORD_LIST       = 3;
endpackage
