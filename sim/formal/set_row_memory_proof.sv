// Two cycles after a read, both copies give what was last written before it, in every sub-bank. One arbitrary word of an
// arbitrary sub-bank is followed.
module set_row_memory_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic clk_i,
  input logic [ROW_BANKS-1:0] write_i,
  input row_at_t write_at_i,
  input logic [ROW_BANKS-1:0][$bits(word_t)-1:0] write_word_i,
  input logic make_read_i,
  input row_at_t make_at_i,
  input logic [ROW_BANKS-1:0] count_read_i,
  input logic [ROW_BANKS-1:0][ROW_AT_W-1:0] count_at_i,
  input logic [$clog2(ROW_BANKS)-1:0] bank_i, // the followed word: always the same
  input row_at_t at_i
);
  logic [1:0] started_q = '0;
  logic [$clog2(ROW_BANKS)-1:0] bank_q;
  row_at_t at_q;
  word_t   write_word [ROW_BANKS], make_word [ROW_BANKS], count_word [ROW_BANKS];
  row_at_t count_at [ROW_BANKS];

  for (genvar b = 0; b < ROW_BANKS; b++) begin : gen_bank
    assign write_word[b] = write_word_i[b];
    assign count_at[b]   = count_at_i[b];
  end

  gramer_set_row_memory dut (
    .clk_i, .write_i, .write_at_i, .write_word_i (write_word),
    .make_read_i, .make_at_i, .make_word_o (make_word),
    .count_read_i, .count_at_i (count_at), .count_word_o (count_word)
  );

  logic  written_q;             // the followed word has a value
  word_t value_q;
  logic  make1_q, make2_q, count1_q, count2_q; // it was read one and two cycles ago
  word_t make_value1_q, make_value2_q, count_value1_q, count_value2_q;

  always_ff @(posedge clk_i) begin
    if (started_q != 2'd2) started_q <= started_q + 1'b1;
    bank_q <= bank_i;
    at_q   <= at_i;
    if (started_q == '0) {written_q, make1_q, make2_q, count1_q, count2_q} <= '0;
    else begin
      if (write_i[bank_i] && write_at_i == at_i) begin
        written_q <= 1'b1;
        value_q   <= write_word_i[bank_i];
      end
      make1_q  <= make_read_i && make_at_i == at_i && written_q;
      count1_q <= count_read_i[bank_i] && count_at_i[bank_i] == at_i && written_q;
      {make2_q, count2_q} <= {make1_q, count1_q};
    end
    make_value1_q  <= value_q;
    count_value1_q <= value_q;
    make_value2_q  <= make_value1_q;
    count_value2_q <= count_value1_q;
  end

`ifdef INVARIANTS
  for (genvar b = 0; b < ROW_BANKS; b++) begin : gen_invariants
    always_comb
      if (started_q != '0 && bank_i == ($clog2(ROW_BANKS))'(b)) begin
        if (written_q)
          assert (dut.gen_bank[b].make_mem[at_i] == value_q && dut.gen_bank[b].count_mem[at_i] == value_q);
        if (make1_q) assert (dut.gen_bank[b].make_q == make_value1_q);
        if (count1_q) assert (dut.gen_bank[b].count_q == count_value1_q);
      end
  end
`endif

  always_comb begin
    if (started_q != '0) begin
      if (started_q == 2'd2) assume (bank_i == bank_q && at_i == at_q);
      if (make2_q) assert (make_word[bank_i] == make_value2_q);
      if (count2_q) assert (count_word[bank_i] == count_value2_q);
      cover (make2_q && count2_q && make1_q && make_value1_q != make_value2_q);
    end
  end
endmodule
