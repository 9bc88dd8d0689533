// What a token carries where there are no ancestor buffers (paper, table IV, "w/o AB").
package carried_pkg;

  import gramer_pkg::*;
  import gramer_types_pkg::*;

  // An embedding that is extended has at most DEPTH - 1 vertices, and its ancestors fewer.
  localparam int unsigned ANCESTORS = DEPTH - 2;

  // All that the scheduler with buffers of whole states keeps a slot: the embedding, for each
  // ancestor its state and its cursor, the thresholds' masks, the levels with work left.
  typedef struct packed {
    row_t    embedding;
    row_t    [ANCESTORS-1:0] ancestors;
    cursor_t [ANCESTORS-1:0] cursors;
    mask_t   [DEPTH-1:0] later;
    mask_t   work;
    size_t   size;
  } state_t;

endpackage
