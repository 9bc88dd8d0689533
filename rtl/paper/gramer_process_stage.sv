// Process of figure 6 (`process` itself is a class of SystemVerilog): counts the embeddings of each pattern.
// A dictionary maps adjacency bits (and labels) to a pattern number; each pattern has a counter. Throughput: one
// embedding per cycle, even of the same pattern in consecutive cycles, by forwarding the value being written.
module gramer_process_stage
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic   clk_i,
  input  logic   rst_i,
  // Dictionary
  input  logic   dictionary_write_i,
  input  key_t   dictionary_key_i,
  input  entry_t dictionary_entry_i,
  input  key_t   key_i,
  output entry_t entry_o, // of the last cycle's key
  // Embeddings
  input  logic   valid_i,
  input  logic [NUMBER_W-1:0] number_i,
  // Between runs: clear a counter, or read one (answer in the next cycle)
  input  logic   clear_i,
  input  logic [NUMBER_W-1:0] at_i,
  output logic [COUNT_W-1:0] count_o,
  output logic   busy_o,
  output logic   saturated_o // sticky until the next clear: a counter is at its limit
);

  entry_t entry_q;
  logic saturated_q;

  assign entry_o     = entry_q;
  assign saturated_o = saturated_q;

  (* ram_style = "block" *) entry_t             dictionary [DICTIONARY];
  (* ram_style = "block" *) logic [COUNT_W-1:0] counts [COUNTERS];

  always_ff @(posedge clk_i) begin
    if (dictionary_write_i) dictionary[dictionary_key_i] <= dictionary_entry_i;
    entry_q <= dictionary[key_i];
  end

  logic                add_q, again_q, write;
  logic [NUMBER_W-1:0] number_q, write_at;
  logic [COUNT_W-1:0]  read_q, written_q, sum, write_value;

  assign sum         = again_q ? written_q : read_q;
  assign write       = clear_i || add_q;
  assign write_at    = clear_i ? at_i : number_q;
  assign write_value = clear_i ? '0 : (sum == '1 ? sum : sum + 1'b1);
  assign count_o     = read_q;
  assign busy_o      = add_q || valid_i;

  always_ff @(posedge clk_i) begin
    if (write) counts[write_at] <= write_value;
    read_q    <= counts[valid_i ? number_i : at_i];
    written_q <= write_value;
    again_q   <= add_q && number_q == number_i; // read while it is written: forward
    number_q  <= number_i;
    add_q     <= !rst_i && valid_i;
    if (rst_i || clear_i) saturated_q <= 1'b0;
    else if (add_q && sum == '1) saturated_q <= 1'b1;
  end

endmodule
