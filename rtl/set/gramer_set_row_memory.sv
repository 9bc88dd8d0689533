// Rows of the roots' matrices: bit c of row r is set if members r and c of a root's list are neighbours. A row has 1,
// 2, 4 or 8 words of 64 bits (its class) in as many sub-banks, so 8, 4, 2 or 1 rows are read per cycle. Two copies:
// one for making sets, one for counting. Block RAM with an output register: read latency of two cycles.
module gramer_set_row_memory
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic [ROW_BANKS-1:0] write_i,
  input  row_at_t write_at_i,
  input  word_t   write_word_i [ROW_BANKS],
  // Sets: one row
  input  logic    make_read_i,
  input  row_at_t make_at_i,
  output word_t   make_word_o [ROW_BANKS],
  // Counts: a row of each class
  input  logic [ROW_BANKS-1:0] count_read_i,
  input  row_at_t count_at_i [ROW_BANKS],
  output word_t   count_word_o [ROW_BANKS]
);

  for (genvar b = 0; b < ROW_BANKS; b++) begin : gen_bank
    (* ram_style = "block" *) word_t make_mem [ROW_WORDS];
    (* ram_style = "block" *) word_t count_mem [ROW_WORDS];
    word_t make_q, count_q;

    always_ff @(posedge clk_i) begin
      if (write_i[b]) begin
        make_mem[write_at_i]  <= write_word_i[b];
        count_mem[write_at_i] <= write_word_i[b];
      end
      if (make_read_i) make_q <= make_mem[make_at_i];
      make_word_o[b] <= make_q;
      if (count_read_i[b]) count_q <= count_mem[count_at_i[b]];
      count_word_o[b] <= count_q;
    end
  end

endmodule
