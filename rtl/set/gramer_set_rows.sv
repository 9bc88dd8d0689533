// Assembles rows: the matches of a member's list, line by line of the root's list, are the member's row of the matrix.
// Non-empty rows go to the row memory; a root is complete with its last row. Triangles are only counted.
module gramer_set_rows
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  // Intersector
  input  logic   valid_i,
  input  step_t  step_i,
  input  lanes_t match_i,
  // Row memory
  output logic [ROW_BANKS-1:0] write_o,
  output row_at_t write_at_o,
  output word_t  write_word_o [ROW_BANKS],
  // Masks of members of the root at place_o
  output mask_t  mask_o,
  // A root with complete rows; its last mask is valid in this cycle
  output logic   root_valid_o,
  output place_t place_o,
  output root_t  root_o,
  output words_t rows_words_o,  // words of its masks with a member that has a row,
  output words_t first_words_o, // and with one that has enough entries; other words never arrived
  // Triangles
  output logic   found_o,
  output logic [4:0] found_count_o,
  output clique_sum_t found_sum_o,
  output logic   unit_done_o, // pulse: a unit of triangles is finished
  output logic   busy_o
);

  // ---------------------------------------------------------------- the row

  logic        begins_q;  // the next step is a list's first
  set_t        row_q;
  logic [9:0]  entries_q; // bits of the row
  step_t       step_q;
  logic        row_valid_q, last_valid_q;
  logic [4:0]  found;

  assign found = valid_i ? 5'($countones(match_i)) : 'x;

  always_ff @(posedge clk_i) begin
    row_valid_q  <= !rst_i && valid_i && step_i.member_last && step_i.root.k != TRIANGLE;
    last_valid_q <= !rst_i && valid_i && step_i.unit_last && step_i.root.k != TRIANGLE;
    found_o      <= !rst_i && valid_i && step_i.root.k == TRIANGLE && step_i.counts && match_i != '0;
    unit_done_o  <= !rst_i && valid_i && step_i.unit_last && step_i.root.k == TRIANGLE;
    found_count_o <= found;
    found_sum_o   <= step_i.root.sum;
    if (rst_i) begins_q <= 1'b1;
    else if (valid_i) begins_q <= step_i.member_last || step_i.unit_last;
    if (valid_i) begin
      step_q    <= step_i;
      entries_q <= (begins_q ? '0 : entries_q) + 10'(found);
      for (int l = 0; l < LIST_LINES; l++)
        row_q[l*LANES +: LANES] <= (begins_q ? '0 : row_q[l*LANES +: LANES])
                                   | (step_i.at == lline_t'(l) ? match_i : '0);
    end
  end

  // ---------------------------------------------------------------- its words

  logic       some, several_entries, enough, root_q, mask_valid_q, keeps;
  logic [2:0] group;
  // Current word of the masks: members arrive in ascending order.
  word_t      rows_q, walked_q, first_q;
  words_t     rows_words_q, first_words_q;
  word_at_t   word, word_q;
  logic       clear_q; // the masks belong to a finished root

  assign some   = row_valid_q && entries_q != '0;
  // Minimum size of a set of the last level.
  assign several_entries = some && entries_q != 10'd1;
  assign enough = some && step_q.counts && entries_q >= 10'(step_q.root.k) - 10'd2;
  assign group  = row_group(step_q.root.size, step_q.member);
  assign word   = word_at_t'(step_q.member >> $clog2(WORD_W));

  // A row is written when it is complete.
  always_comb begin
    write_at_o = row_word(step_q.root.base, step_q.root.size, step_q.member);
    for (int b = 0; b < ROW_BANKS; b++) begin
      write_o[b]      = some && !rst_i && 3'(b) >> step_q.root.size == group;
      write_word_o[b] = some ? word_for(row_q, step_q.root.size, b) : 'x;
    end
  end

  assign keeps  = !clear_q && !(row_valid_q && word != word_q);

  always_ff @(posedge clk_i) begin
    root_q  <= !rst_i && last_valid_q;
    clear_q <= rst_i || last_valid_q;
    place_o <= step_q.place;
    root_o  <= step_q.root;
    mask_valid_q  <= some && !rst_i;
    if (row_valid_q) word_q <= word;
    rows_q        <= (keeps ? rows_q : '0)
                     | (some ? word_t'(1) << step_q.member[$clog2(WORD_W)-1:0] : '0);
    walked_q      <= (keeps ? walked_q : '0)
                     | (several_entries ? word_t'(1) << step_q.member[$clog2(WORD_W)-1:0] : '0);
    first_q       <= (keeps ? first_q : '0)
                     | (enough ? word_t'(1) << step_q.member[$clog2(WORD_W)-1:0] : '0);
    rows_words_q  <= (clear_q ? '0 : rows_words_q) | (some ? words_t'(1) << word : '0);
    first_words_q <= (clear_q ? '0 : first_words_q) | (enough ? words_t'(1) << word : '0);
  end

  assign root_valid_o = root_q;
  assign mask_o       = '{valid: mask_valid_q, at: word_q, rows: rows_q, walked: walked_q,
                          first: first_q};
  assign rows_words_o  = rows_words_q;
  assign first_words_o = first_words_q;
  assign busy_o       = valid_i || row_valid_q || last_valid_q || root_q;

endmodule
