// An AXI4 read master of two memories (IHI0022, A3 and A5): an address stays until it is taken, is that of a line, and
// is the one that its request wants; each answer goes to the memory and the entry that its address was for, once, with
// its data and its response, though only those of one id come in order. One arbitrary read is followed. Addresses have
// ten bits here.
module axi_reader_proof
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input logic              clk_i,
  input logic [3:0]        base_i,      // of lines; always the same, as those below
  input logic [3:0]        edge_base_i,
  input logic [7:0]        word_i,
  input logic [1:0]        read_valid_i,
  input logic [MISS_W-1:0] entry0_i, entry1_i,
  input eline_t            line0_i, line1_i,
  input logic [1:0]        fill_ready_i,
  input logic              word_valid_i,
  input logic              arready_i,
  input logic              rvalid_i,
  input line_t             rdata_i,
  input logic [1:0]        rid_i,
  input logic [1:0]        rresp_i,
  input logic              mark_i // follow the read that begins now
);
  localparam int unsigned MOST = 1 << MISS_W; // reads of a memory in flight
  typedef logic [MISS_W:0] count_t;

  logic        started_q = 1'b0;
  logic [3:0]  base_q, edge_base_q;
  logic [7:0]  word_q;
  wire  [9:0]  base = {base_i, 6'b0}, edge_base = {edge_base_i, 6'b0}, word_address = {word_i, 2'b0};

  logic [1:0]        read_ready, fill_valid, arid, waiting_arid_q;
  logic [MISS_W-1:0] fill_entry, entry [2];
  eline_t            line [2];
  line_t             fill_line, kept_line_q, waiting_line_q;
  logic              word_ready, word_valid, arvalid, rready, beat, error;
  logic [31:0]       word;
  logic [9:0]        araddr, error_address, waiting_araddr_q;

  assign entry = '{entry0_i, entry1_i};
  assign line  = '{line0_i, line1_i};

  gramer_axi_reader #(.MEMORIES(2)) dut (
    .clk_i, .rst_i (!started_q), .base_i (base), .edge_base_i (edge_base),
    .read_valid_i, .read_ready_o (read_ready), .read_entry_i (entry), .read_line_i (line),
    .fill_valid_o (fill_valid), .fill_ready_i, .fill_entry_o (fill_entry), .fill_line_o (fill_line),
    .word_valid_i, .word_ready_o (word_ready), .word_address_i (word_address),
    .word_valid_o (word_valid), .word_o (word),
    .arvalid_o (arvalid), .arready_i, .araddr_o (araddr), .arid_o (arid),
    .rvalid_i, .rready_o (rready), .rdata_i, .rid_i, .rresp_i,
    .beat_o (beat), .error_o (error), .error_address_o (error_address)
  );

  logic        ar_waits_q, r_waits_q;
  logic [1:0]  waiting_rid_q, waiting_rresp_q;
  count_t      asked_q [2];     // requests taken and not handed back
  count_t      bus_q [3];       // addresses that the bus took and has not answered
  logic        word_asked_q;
  logic        marked_q, mark_m_q, sent_q, answered_q; // the read: its memory; its address is on the bus; its answer was taken
  logic [MISS_W-1:0] mark_entry_q;
  logic [9:0]  mark_address_q;
  logic [1:0]  mark_response_q;
  count_t      before_bus_q, before_q; // reads of its memory before it: to be answered, to be handed back
  logic        overtaken_q;

  wire [1:0] begins = read_valid_i & read_ready;
  wire       mark   = begins != '0 && mark_i && !marked_q;
  wire       mark_m = begins[1];
  wire [1:0] done   = fill_valid & fill_ready_i;
  wire       comes  = rvalid_i && rready;
  wire       ours   = comes && marked_q && !answered_q && rid_i == {1'b0, mark_m_q} && before_bus_q == '0;
  wire       last   = marked_q && done[mark_m_q] && before_q == '0;

  always_ff @(posedge clk_i) begin
    started_q   <= 1'b1;
    base_q      <= base_i;
    edge_base_q <= edge_base_i;
    word_q      <= word_i;
    ar_waits_q  <= started_q && arvalid && !arready_i;
    r_waits_q   <= started_q && rvalid_i && !rready;
    {waiting_araddr_q, waiting_arid_q} <= {araddr, arid};
    {waiting_line_q, waiting_rid_q, waiting_rresp_q} <= {rdata_i, rid_i, rresp_i};
    if (!started_q) begin
      for (int m = 0; m < 2; m++) asked_q[m] <= '0;
      for (int m = 0; m < 3; m++) bus_q[m] <= '0;
      word_asked_q <= 1'b0;
      marked_q     <= 1'b0;
      sent_q       <= 1'b0;
      answered_q   <= 1'b0;
      overtaken_q  <= 1'b0;
    end else begin
      for (int m = 0; m < 2; m++) asked_q[m] <= asked_q[m] + count_t'(begins[m]) - count_t'(done[m]);
      for (int m = 0; m < 3; m++)
        bus_q[m] <= bus_q[m] + count_t'(arvalid && arready_i && arid == 2'(m)) - count_t'(comes && rid_i == 2'(m));
      word_asked_q <= (word_valid_i && word_ready) || (word_asked_q && !word_valid);
      if (mark) begin
        marked_q       <= 1'b1;
        mark_m_q       <= mark_m;
        mark_entry_q   <= entry[mark_m];
        mark_address_q <= base + (mark_m ? edge_base : '0) + (10'(line[mark_m]) << 6);
        before_q       <= asked_q[mark_m] - count_t'(done[mark_m]);
        before_bus_q   <= bus_q[mark_m] + count_t'(arvalid && arid == {1'b0, mark_m})
                          - count_t'(comes && rid_i == {1'b0, mark_m});
        sent_q         <= 1'b0;
        answered_q     <= 1'b0;
      end else if (last) begin
        marked_q <= 1'b0;
      end else if (marked_q) begin
        sent_q <= 1'b1;
        if (ours) begin
          answered_q      <= 1'b1;
          kept_line_q     <= rdata_i;
          mark_response_q <= rresp_i;
        end else if (comes && !answered_q && rid_i == {1'b0, mark_m_q}) before_bus_q <= before_bus_q - 1'b1;
        if (done[mark_m_q]) before_q <= before_q - 1'b1;
        if (comes && !answered_q && rid_i == {1'b0, !mark_m_q}) overtaken_q <= 1'b1;
      end
    end
  end

  always_comb begin
    if (started_q) begin
      assume (base_i == base_q && edge_base_i == edge_base_q && word_i == word_q);
      // What memories and the poller owe: no more reads than entries, and one word at a time.
      for (int m = 0; m < 2; m++) if (asked_q[m] == count_t'(MOST)) assume (!read_valid_i[m]);
      if (word_asked_q) assume (!word_valid_i);
      // What the bus owes: answers for addresses that it took, that stay until they are taken.
      if (rvalid_i) assume (rid_i < 2'd3 && bus_q[rid_i] != '0);
      if (r_waits_q)
        assume (rvalid_i && rdata_i == waiting_line_q && rid_i == waiting_rid_q && rresp_i == waiting_rresp_q);

      // Addresses.
      if (ar_waits_q) assert (arvalid && araddr == waiting_araddr_q && arid == waiting_arid_q);
      if (arvalid) assert (araddr[5:0] == '0 && arid < 2'd3);
      if (arvalid && arid == 2'd2) assert (araddr == {word_address[9:6], 6'b0});
      if (marked_q && !sent_q) assert (arvalid && arid == {1'b0, mark_m_q} && araddr == mark_address_q);
      // Answers.
      assert (!(fill_valid[0] && fill_valid[1]) && !(word_valid && fill_valid != '0));
      for (int m = 0; m < 2; m++) if (fill_valid[m]) assert (asked_q[m] != '0);
      if (word_valid) assert (word_asked_q);
      assert (beat == (done != '0 || word_valid));
      assert (!error || beat);
      if (last) begin
        assert (answered_q || ours);
        assert (fill_entry == mark_entry_q);
        assert (fill_line == (answered_q ? kept_line_q : rdata_i));
        assert (error == ((answered_q ? mark_response_q : rresp_i) != '0));
        if (error) assert (error_address == mark_address_q);
      end
      cover (last && overtaken_q);
      cover (last && answered_q && error);
      cover (asked_q[0] == count_t'(MOST) && asked_q[1] == count_t'(MOST) && word_asked_q);
    end
  end
endmodule
