// Extracts the elements of a word of a set, per cycle one of each class: elements of a class have their rows in the
// same sub-banks. The word is held as eight groups by the low bits of the element's position, which select the
// sub-bank of its row; a class is one, two, four or all groups.
//
//   load ─► groups ─► lowest of each group ─► one of each two, four, eight groups ─► read of each sub-bank
//
// The state is known one cycle ahead: registers hold for each group whether it has an element, and several.
module gramer_set_elements
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  // A word, with elements or without
  input  logic   load_i,
  output logic   ready_o,
  input  word_t  word_i,
  input  class_t size_i, // words of a row: 1 << size
  // Its elements
  output logic   valid_o,
  input  logic   take_i,
  output logic   last_o, // no element is left
  output logic [ROW_BANKS-1:0]      some_o, // per sub-bank: valid
  output logic [$clog2(WORD_W)-1:0] low_o [ROW_BANKS], // its position, without the sub-bank's bits
  output logic [WORD_GROUPS-1:0]         taken_o // groups that yield an element
);

  typedef logic [WORD_PLACES-1:0] group_t;
  typedef logic [WORD_PLACE_W-1:0] at_t;

  group_t            group_q [WORD_GROUPS];
  logic [WORD_GROUPS-1:0] any_q, more_q; // groups with an element, with several
  class_t            size_q;
  group_t            less [WORD_GROUPS];
  logic [WORD_GROUPS-1:0] left;

  // Groups of the same class with priority over group g: by the bits of the number, lowest first.
  function automatic logic [WORD_GROUPS-1:0] earlier(input class_t size, input logic [2:0] g);
    logic [WORD_GROUPS-1:0] groups;
    groups = '0;
    for (int unsigned r = 0; r < WORD_GROUPS; r++) begin
      logic [2:0] other;
      other     = 3'(r);
      groups[r] = row_group(size, member_t'(other)) == row_group(size, member_t'(g))
                  && {other[0], other[1], other[2]} < {g[0], g[1], g[2]};
    end
    return groups;
  endfunction

  always_comb
    for (int g = 0; g < WORD_GROUPS; g++) begin
      {taken_o[g], less[g], left[g]} = 'x;
      if (valid_o) begin
        taken_o[g] = any_q[g] && (any_q & earlier(size_q, 3'(g))) == '0;
        less[g]    = group_t'(without_lowest(word_t'(group_q[g])));
        left[g]    = taken_o[g] ? more_q[g] : any_q[g];
      end
    end

  assign last_o  = left == '0;
  assign ready_o = !valid_o || (take_i && last_o);

  group_t loaded [WORD_GROUPS];

  always_comb
    for (int g = 0; g < WORD_GROUPS; g++) begin
      loaded[g] = 'x;
      if (load_i) for (int p = 0; p < WORD_PLACES; p++) loaded[g][p] = word_i[p*WORD_GROUPS + g];
    end

  always_ff @(posedge clk_i) begin
    if (rst_i) valid_o <= 1'b0;
    else if (ready_o) valid_o <= load_i;
    if (ready_o && load_i) size_q <= size_i;
    for (int g = 0; g < WORD_GROUPS; g++) begin
      if (ready_o && load_i) begin
        group_q[g] <= loaded[g];
        any_q[g]   <= loaded[g] != '0;
        more_q[g]  <= several(word_t'(loaded[g]));
      end else if (valid_o && take_i && taken_o[g]) begin
        group_q[g] <= less[g];
        any_q[g]   <= more_q[g];
        more_q[g]  <= several(word_t'(less[g]));
      end
    end
  end

  // ---------------------------------------------------------------- positions

  at_t lowest [WORD_GROUPS];
  logic [WORD_PLACE_W:0]   of2 [4]; // of groups g and g + 4: position, then which of them
  logic [WORD_PLACE_W+1:0] of4 [2]; // of those and g + 2
  logic [WORD_PLACE_W+2:0] of8;

  always_comb begin
    for (int g = 0; g < WORD_GROUPS; g++) begin
      lowest[g] = valid_o ? '0 : 'x;
      if (valid_o)
        for (int p = WORD_PLACES - 1; p >= 0; p--) if (group_q[g][p]) lowest[g] = at_t'(p);
    end
    for (int g = 0; g < 4; g++)
      of2[g] = !valid_o ? 'x : any_q[g] ? {lowest[g], 1'b0} : {lowest[g + 4], 1'b1};
    for (int g = 0; g < 2; g++)
      of4[g] = !valid_o ? 'x : any_q[g] || any_q[g + 4] ? {of2[g], 1'b0} : {of2[g + 2], 1'b1};
    of8 = !valid_o ? 'x
          : any_q[0] || any_q[2] || any_q[4] || any_q[6] ? {of4[0], 1'b0} : {of4[1], 1'b1};
  end

  always_comb
    for (int unsigned b = 0; b < ROW_BANKS; b++) begin
      {low_o[b], some_o[b]} = 'x;
      if (valid_o) begin
        unique case (size_q)
          2'd0: low_o[b] = 6'(lowest[b]);
          2'd1: low_o[b] = 6'(of2[b / 2]);
          2'd2: low_o[b] = 6'(of4[b / 4]);
          default: low_o[b] = of8;
        endcase
        some_o[b] = 1'b0;
        for (int g = 0; g < WORD_GROUPS; g++)
          if (row_group(size_q, member_t'(g)) == 3'(b) >> size_q) some_o[b] |= any_q[g];
      end
    end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && valid_o) begin
    for (int g = 0; g < WORD_GROUPS; g++)
      assert (any_q[g] == (group_q[g] != '0) && more_q[g] == (less[g] != '0))
        else $error("elements are left, or none are");
    assert (!(last_o && left != '0)) else $error("an element of a set is left out");
  end
`endif

endmodule
