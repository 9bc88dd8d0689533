// Polls the abort word in DDR every PERIOD cycles of a run, so that the host can stop the run with an ordinary
// write. The read shares bank 0 with the memories; even with the longest wait there, a write takes effect
// within 4,096 cycles.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_abort_poller #(
  /// Cycles between two reads, a power of two.
  parameter int unsigned PERIOD = 2048
) (
  input  logic        clk_i,
  input  logic        rst_i,
  input  logic        clear_i,   // before a run
  input  logic        running_i, // poll
  input  logic [63:0] address_i, // of the abort word; 0: none
  // DDR reads
  output logic        valid_o,
  input  logic        ready_i,
  input  logic        word_valid_i,
  input  logic [31:0] word_i,
  // Requests of the host, held until the next run
  output logic        stop_o, // start no further unit
  output logic        kill_o, // end at once
  output logic        busy_o  // a read is outstanding
);

  logic valid_q, stop_q, kill_q, busy_q;

  assign valid_o = valid_q;
  assign stop_o  = stop_q;
  assign kill_o  = kill_q;
  assign busy_o  = busy_q;

  localparam int unsigned TIMER_W = $clog2(PERIOD);

  logic [TIMER_W-1:0] timer_q;
  logic               due_q, look; // due_q: the period ended in the last cycle

  assign look = due_q && running_i && !busy_q;

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      timer_q <= '0;
      stop_q  <= 1'b0;
      kill_q  <= 1'b0;
    end else begin
      if (running_i) timer_q <= timer_q + 1'b1;
      if (word_valid_i && word_i != '0) stop_q <= 1'b1;
      if (word_valid_i && word_i > 32'd1) kill_q <= 1'b1;
    end
    due_q <= !rst_i && running_i && address_i != '0 && timer_q == '1;
    if (rst_i) begin
      valid_q <= 1'b0;
      busy_q  <= 1'b0;
    end else begin
      // `ready_i` arrives late in the cycle, from the reader's arbiter; it feeds one level of logic alone.
      valid_q <= valid_q ? !ready_i : look;
      if (look) busy_q <= 1'b1;
      else if (word_valid_i) busy_q <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i) begin
    assert (!(word_valid_i && (!busy_q || valid_q))) else $error("a word that nobody asked for");
  end
`endif

endmodule
