// Stage between walker and merger. Computes the limit of an operation (the end of its label's range, or the smallest
// image among its bounds) in three steps, requests its list, and queues it until its lines arrive. Operations and
// lines stay in order, so they need no tags.
//
//   op ─► pairs ─► fours ─► limit ─┬─► lines of its list
//                                  └─► [queue] ─► merger
module gramer_set_plan_asker
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic     clk_i,
  input  logic     rst_i,
  input  logic     valid_i,
  output logic     ready_o,
  input  set_op_t  op_i,
  // Lines
  output logic     issue_valid_o,
  input  logic     issue_ready_i,
  output line_at_t issue_line_o,
  output meta_t    issue_meta_o,
  // Operations, with their limit
  output logic     valid_o,
  input  logic     pop_i,
  output set_op_t  op_o,
  output logic     busy_o,
  output logic     list_o // event: a list is requested
);

  localparam int unsigned WAITING   = 16; // operations

  function automatic id_t lower(input id_t a, input id_t b);
    return a < b ? a : b;
  endfunction

  // ---------------------------------------------------------------- the limit

  logic    a_valid_q, b_valid_q, c_valid_q, go, take;
  set_op_t a_q, b_q, c_q;
  id_t     bound [8], a_low_q [4], b_low_q [2];

  assign go      = !c_valid_q || take;
  assign ready_o = go;

  always_comb begin
    for (int l = 0; l < 8; l++) bound[l] = op_i.limit;
    for (int l = 0; l < PLACED; l++) if (op_i.word.bounds[l]) bound[l] = op_i.images[l];
  end

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
      c_valid_q <= 1'b0;
    end else if (go) begin
      a_valid_q <= valid_i;
      b_valid_q <= a_valid_q;
      c_valid_q <= b_valid_q;
    end
    if (go) begin
      a_q <= op_i;
      for (int l = 0; l < PLACED; l++) if (!op_i.word.conflicts[l]) a_q.images[l] <= '1;
      for (int p = 0; p < 4; p++) a_low_q[p] <= lower(bound[2*p], bound[2*p+1]);
      b_q <= a_q;
      for (int p = 0; p < 2; p++) b_low_q[p] <= lower(a_low_q[2*p], a_low_q[2*p+1]);
      c_q <= b_q;
      c_q.limit <= lower(b_low_q[0], b_low_q[1]);
    end
  end

  // ---------------------------------------------------------------- the list

  logic full, x_valid_q, x_last, x_issued;
  logic [1:0] low, high;

  assign x_issued = x_valid_q && issue_ready_i;
  assign take     = c_valid_q && !full && (!x_valid_q || (x_issued && x_last));

  always_ff @(posedge clk_i) begin
    list_o <= !rst_i && take && c_q.word.streams;
    if (rst_i) x_valid_q <= 1'b0;
    else if (take) x_valid_q <= c_q.word.streams;
    else if (x_issued && x_last) x_valid_q <= 1'b0;
  end

  gramer_set_list_lines i_lines (
    .clk_i,
    .begin_i (take), .id_i (c_q.source.id), .size_i (c_q.source.size),
    .next_i (x_issued), .line_o (issue_line_o), .low_o (low), .high_o (high),
    .first_o (), .last_o (x_last)
  );

  assign issue_valid_o = x_valid_q;

  always_comb begin
    issue_meta_o      = '0;
    issue_meta_o.low  = low;
    issue_meta_o.high = high;
    issue_meta_o.last = x_last;
  end

  gramer_fifo #(.WIDTH($bits(set_op_t)), .DEPTH(WAITING)) i_waiting (
    .clk_i, .rst_i,
    .push_i (take), .data_i (c_q), .full_o (full),
    .pop_i, .valid_o, .data_o (op_o)
  );

  assign busy_o = a_valid_q || b_valid_q || c_valid_q || x_valid_q || valid_o;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(take && c_q.word.streams && c_q.source.size == '0)) else $error("a list of nothing");
  end
`endif

endmodule
