// Drops embeddings that must not be processed: duplicates, which another order of the same vertices also reaches
// (canonicality, first-neighbour and order rule), and those the application rejects (vertex sets that are
// not cliques), the user's filter, or a run whose dictionary selects (patterns that it lacks).
//
// The order tests are the extender's threshold; this module tests the connectivity mask. The dictionary look-up
// takes one cycle, between the structural test and the application's test.
module gramer_filter
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  config_t config_i,
  // From the extender
  input  logic    found_valid_i,
  input  found_t  found_i,
  input  logic    refused_i, // by the user's filter
  // Dictionary: answers in the next cycle
  output key_t    key_o,
  input  entry_t  entry_i,
  // To process
  output logic    valid_o,  // an embedding that passed
  output logic    last_o,   // with k vertices
  output size_t   size_o,   // its vertices
  output logic    first_o,  // a start vertex whose unit begins at its first neighbour
  output logic [NUMBER_W-1:0] number_o, // of its pattern
  output slot_t   slot_o,
  output id_t     vertex_o, // its last vertex
  // To the scheduler: result for a token that came with the candidate
  output logic    result_valid_o,
  output result_t result_o
);

  logic result_valid_q;
  result_t result_q;

  assign result_valid_o = result_valid_q;
  assign result_o       = result_q;

  localparam int unsigned PAIRS = MAX_MOTIF * (MAX_MOTIF - 1) / 2;
  localparam int unsigned FSM_PAIRS = 3; // labelled patterns have up to 3 vertices

  // Adjacency bits: bit j (j - 1) / 2 + i is the edge between positions i < j.
  function automatic key_t with_edges(input key_t old, input size_t size, input mask_t mask);
    logic [PAIRS-1:0] bits;
    bits = '0;
    for (int j = 1; j < MAX_MOTIF; j++)
      if (size == size_t'(j))
        for (int i = 0; i < j; i++) bits[j*(j-1)/2 + i] = mask[i];
    return old | key_t'(bits);
  endfunction

  function automatic key_t with_label(input key_t old, input size_t size, input label_t value);
    key_t bits;
    bits = '0;
    for (int j = 0; j < 3; j++)
      if (size == size_t'(j)) bits[FSM_PAIRS + j*LABEL_BITS +: LABEL_BITS] = value;
    return old | bits;
  endfunction

  logic    f1_valid_q, structure, f1_structure_q, f1_refused_q;
  found_t  f1_q;
  key_t    key;
  mask_t   all, earlier;

  assign all    = mask_t'((1 << found_i.size) - 1);
  assign earlier = mask_t'((1 << found_i.cursor.i) - 1);

  always_comb begin
    structure = (found_i.mask & earlier) == '0;
    if (config_i.app == APP_CLIQUE) structure &= found_i.mask == all;
    key = with_edges(found_i.key, found_i.size, found_i.mask);
    if (config_i.app == APP_FSM) key = with_label(key, found_i.size, found_i.record.label);
    if (config_i.app == APP_CLIQUE) key = '0;
  end

  assign key_o = key;

  always_ff @(posedge clk_i) begin
    f1_valid_q     <= !rst_i && found_valid_i;
    f1_structure_q <= structure;
    f1_refused_q   <= refused_i;
    f1_q           <= found_i;
    f1_q.key       <= key;
  end

  logic pass;

  assign pass = f1_structure_q && !f1_refused_q
      && (!config_i.selects || f1_q.size == '0 || entry_i.known);

  assign valid_o  = f1_valid_q && pass;
  assign last_o   = f1_q.last;
  assign size_o   = f1_q.size + 1'b1;
  assign first_o  = f1_q.size != '0 || f1_q.cursor.lo == '0;
  assign slot_o   = f1_q.slot;
  assign vertex_o = f1_q.vertex;
  assign number_o = config_i.app == APP_CLIQUE ? '0 : entry_i.number;

  always_ff @(posedge clk_i) begin
    result_valid_q  <= !rst_i && f1_valid_q && !f1_q.last;
    result_q.slot   <= f1_q.slot;
    // A start vertex has nothing to go back to: refused, it goes on without a list.
    result_q.accept <= pass || f1_q.size == '0;
    result_q.size   <= f1_q.size;
    result_q.vertex <= f1_q.vertex;
    result_q.record <= f1_q.record;
    if (f1_refused_q && f1_q.size == '0) result_q.record.degree <= '0;
    result_q.key    <= f1_q.key;
    result_q.cursor <= f1_q.cursor;
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(f1_valid_q && f1_q.last && config_i.app == APP_MOTIF && pass && !entry_i.known))
    else $error("a motif that the dictionary lacks");
  end
`endif

endmodule
