// Order threshold of an extension: all candidates lie beyond it.
//
// The threshold of list i is the farthest of the root and the vertices after position i. A bit of `later` is set for
// each vertex farther than the root and than all vertices after it; the threshold is thus the vertex of
// the first set bit above i, or the root. Each prefix of the embedding has a mask: an added vertex hides earlier
// ones, which reappear when it is removed.
//
// Pipelined with the scheduler: look-up in stage A, first set bit in B, vertex in C.
module gramer_threshold_table
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  config_t config_i,
  // Stage A: the token, with the entry to look up
  input  token_t  leveled_i,
  // Stage B: position i of the ancestor entry being written
  input  logic    write_i,
  input  slot_t   write_slot_i,
  input  pos_t    write_level_i,
  input  pos_t    base_i,
  // Stage C: the token, its embedding, and the slot that continues with it
  input  logic    valid_i,
  input  token_t  token_i,
  input  logic    on_i, // the entry's list is finished: continue with the next one
  input  id_t     ids_i [DEPTH],
  input  slot_t   copy_to_i,
  output id_t     threshold_o
);

  (* ram_style = "distributed" *) mask_t later [SLOTS << POS_W];
  // Copy of position i of each ancestor entry, for a look-up one stage earlier: a steal does not change the
  // i of the victim's entry, and does not read a slot that has just written one.
  (* ram_style = "distributed" *) pos_t bases [SLOTS << POS_W];

  mask_t b_later_q, c_later_q;
  pos_t  b_base_q, c_farthest_q, c_farthest_on_q;

  // The end of the entry's list is known late, so the result for the next list is computed in parallel.
  mask_t after_base; // positions after i

  assign after_base = ~mask_t'(1) << b_base_q;

  always_ff @(posedge clk_i) begin
    b_later_q <= later[{leveled_i.slot, leveled_i.level}];
    b_base_q  <= leveled_i.kind == BACK || leveled_i.kind == STEAL
                 ? bases[{leveled_i.slot, leveled_i.level}]
                 : leveled_i.kind == GROWN ? '0 : leveled_i.cursor.i;
    c_later_q <= b_later_q;
    if (write_i) bases[{write_slot_i, write_level_i}] <= base_i;
    c_farthest_q    <= first_of(b_later_q & after_base);
    c_farthest_on_q <= first_of(b_later_q & (after_base << 1));
  end

  // For a grown embedding all vertices count, including the new one.
  logic  grown;
  pos_t  newest;
  id_t   old_farthest;
  mask_t later_d;

  assign grown        = token_i.kind == GROWN;
  assign newest       = pos_t'(token_i.size - 1'b1);
  assign old_farthest = ids_i[on_i ? c_farthest_on_q : c_farthest_q];

  always_comb begin
    threshold_o = old_farthest;
    later_d     = c_later_q;
    if (grown) begin
      if (token_i.size == size_t'(1)
          || beyond(config_i.ascending, token_i.vertex, old_farthest))
        threshold_o = token_i.vertex;
      for (int j = 0; j < DEPTH; j++)
        later_d[j] = token_i.size != size_t'(1)
            && (pos_t'(j) == newest
                ? beyond(config_i.ascending, token_i.vertex, ids_i[0])
                : c_later_q[j] && beyond(config_i.ascending, ids_i[j], token_i.vertex));
    end
  end

  // A steal copies the mask. It divides an ancestor of the victim, so no entry is read in the cycle in
  // which it is written.
  always_ff @(posedge clk_i)
    if (valid_i && (grown || token_i.kind == STEAL)) later[{copy_to_i, newest}] <= later_d;

endmodule
