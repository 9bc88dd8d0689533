// Neighbour counts of connected sets of three vertices, from the map. The list of the first vertex is tagged: this
// yields its number of neighbours and of common neighbours with the middle vertex. The lists of third vertices follow:
// their neighbours in common with the other two. A triangle is reached from each of its vertices, and counts as the
// set whose middle vertex comes first.
//
//   lanes of an access ─► counts ─► sums of a list ─► a set
module gramer_set_triple_sums
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Lanes of a line: marked entries, and tagged ones
  input  logic    valid_i,
  input  wedge_t  wedge_i,
  input  logic [MAP_BANKS-1:0] hit_i,
  input  logic [MAP_BANKS-1:0] near_i,
  input  logic [4:0] entries_i, // of the line, reported with its first lanes
  input  logic    last_i,       // the last lanes of the list
  input  near_t   root_degree_i,
  // Sets: the last lanes of a list are in flight; no more may follow
  input  logic    asked_i,
  output logic    crowded_o,
  output logic    valid_o,
  output triple_t triple_o,
  input  logic    done_i // a set is finished
);

  localparam int unsigned UNDER_W = $clog2(TRIPLES) + 1;

  logic       s_valid_q, s_last_q, s_tags_q, s_first_q, s_meets_q;
  logic [4:0] s_hits_q, s_near_q, s_both_q, s_entries_q;
  near_t      s_root_q;
  logic       begins_q, ended_q, tags_q, first_q, meets_q, left_out_q;
  near_t      all_q, hits_q, near_q, both_q, root_q; // of the list
  near_t      a_q, ab_q;
  logic [UNDER_W-1:0] under_q;

  always_ff @(posedge clk_i) begin
    s_valid_q   <= valid_i && !rst_i;
    s_last_q    <= last_i;
    s_tags_q    <= wedge_i.tags;
    s_first_q   <= wedge_i.first;
    s_meets_q   <= wedge_i.meets;
    s_hits_q    <= 5'($countones(hit_i));
    s_near_q    <= 5'($countones(near_i));
    s_both_q    <= 5'($countones(hit_i & near_i));
    s_entries_q <= entries_i;
    s_root_q    <= root_degree_i;

    if (rst_i) begins_q <= 1'b1;
    else if (s_valid_q) begins_q <= s_last_q;
    ended_q <= s_valid_q && s_last_q && !rst_i;
    if (s_valid_q) begin
      all_q   <= (begins_q ? '0 : all_q) + near_t'(s_entries_q);
      hits_q  <= (begins_q ? '0 : hits_q) + near_t'(s_hits_q);
      near_q  <= (begins_q ? '0 : near_q) + near_t'(s_near_q);
      both_q  <= (begins_q ? '0 : both_q) + near_t'(s_both_q);
      meets_q <= s_meets_q || (meets_q && !begins_q);
      tags_q  <= s_tags_q;
      first_q <= s_first_q;
      root_q  <= s_root_q;
    end

    if (ended_q && tags_q) begin
      a_q  <= all_q;
      ab_q <= hits_q;
    end
    valid_o    <= ended_q && !tags_q && (!meets_q || first_q) && !rst_i;
    left_out_q <= ended_q && !tags_q && meets_q && !first_q && !rst_i;
    triple_o   <= '{triangle: meets_q, a: a_q, b: root_q, c: all_q, ab: ab_q, bc: hits_q,
                    ac: near_q, abc: both_q};

    // Two more may be in flight before the sender stops.
    if (rst_i) under_q <= '0;
    else under_q <= under_q + UNDER_W'(asked_i) - UNDER_W'(done_i) - UNDER_W'(left_out_q);
    crowded_o <= !rst_i && under_q >= UNDER_W'(TRIPLES - 3);
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (under_q <= UNDER_W'(TRIPLES)) else $error("more sets than have room");
    assert (!((done_i || left_out_q) && under_q == '0)) else $error("a set that was not asked for");
    assert (!(valid_o && (triple_o.ac == '0 || triple_o.abc > triple_o.ac)))
      else $error("neighbours in common that aren't");
  end
`endif

endmodule
