// The AXI4-Lite slave (IHI0022, A3.2 and B1): a response for each address with its data, in order and not before them,
// that stays until it is taken and is OKAY; and a read of an argument gives what the last write left, byte by byte. One
// arbitrary argument is followed. The master keeps what it offers until it is taken.
module control_proof (
  input logic        clk_i,
  input logic        awvalid_i,
  input logic [4:0]  awaddr_i,
  input logic        wvalid_i,
  input logic [31:0] wdata_i,
  input logic [3:0]  wstrb_i,
  input logic        bready_i,
  input logic        arvalid_i,
  input logic [4:0]  araddr_i,
  input logic        rready_i,
  input logic        ready_i,
  input logic        done_i,
  input logic        idle_i,
  input logic [1:0]  watched_i // an arbitrary argument, always the same: register 4 to 7
);
  logic        started_q = 1'b0;
  logic        awready, wready, bvalid, arready, rvalid, interrupt, start, waiting;
  logic [1:0]  bresp, rresp;
  logic [31:0] rdata;
  logic [31:0] registers [8];

  gramer_control #(.ADDR_W(5)) dut (
    .clk_i, .rst_i (!started_q),
    .awvalid_i, .awready_o (awready), .awaddr_i, .wvalid_i, .wready_o (wready), .wdata_i, .wstrb_i,
    .bvalid_o (bvalid), .bready_i, .bresp_o (bresp),
    .arvalid_i, .arready_o (arready), .araddr_i, .rvalid_o (rvalid), .rready_i, .rdata_o (rdata), .rresp_o (rresp),
    .interrupt_o (interrupt), .start_o (start), .ready_i, .done_i, .idle_i, .waiting_o (waiting),
    .registers_o (registers)
  );

  // In the last cycle: what the master had on offer, and what the slave had.
  logic        aw_waits_q, w_waits_q, ar_waits_q, b_waits_q, r_waits_q;
  logic [4:0]  awaddr_q, araddr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [3:0]  wstrb_q;
  logic [1:0]  watched_q;
  // Taken and not used: at most one of each.
  logic        aw_there_q, w_there_q, ar_there_q, b_owed_q, r_owed_q, was_late_q;
  logic [2:0]  aw_at_q, ar_at_q;
  logic [31:0] w_data_q, shadow_q, read_q;
  logic [3:0]  w_strobe_q;
  logic        known_q;      // each byte of the watched register was written
  logic [3:0]  bytes_q;
  logic        r_watched_q;  // the owed answer is of the watched register, whose value is known

  wire takes_aw = awvalid_i && awready;
  wire takes_w  = wvalid_i && wready;
  wire takes_ar = arvalid_i && arready;
  wire [2:0]  aw_at  = aw_there_q ? aw_at_q : awaddr_i[4:2];
  wire [31:0] w_data = w_there_q ? w_data_q : wdata_i;
  wire [3:0]  w_strobe = w_there_q ? w_strobe_q : wstrb_i;
  wire [2:0]  ar_at  = ar_there_q ? ar_at_q : araddr_i[4:2];
  wire writes = (aw_there_q || takes_aw) && (w_there_q || takes_w) && (!b_owed_q || bready_i);
  wire reads  = (ar_there_q || takes_ar) && (!r_owed_q || rready_i);
  wire [2:0] watched = {1'b1, watched_i};

  always_ff @(posedge clk_i) begin
    started_q  <= 1'b1;
    watched_q  <= watched_i;
    aw_waits_q <= started_q && awvalid_i && !awready;
    w_waits_q  <= started_q && wvalid_i && !wready;
    ar_waits_q <= started_q && arvalid_i && !arready;
    b_waits_q  <= started_q && bvalid && !bready_i;
    r_waits_q  <= started_q && rvalid && !rready_i;
    awaddr_q   <= awaddr_i;
    araddr_q   <= araddr_i;
    wdata_q    <= wdata_i;
    wstrb_q    <= wstrb_i;
    rdata_q    <= rdata;
    if (!started_q) begin
      aw_there_q  <= 1'b0;
      w_there_q   <= 1'b0;
      ar_there_q  <= 1'b0;
      b_owed_q    <= 1'b0;
      r_owed_q    <= 1'b0;
      bytes_q     <= '0;
      r_watched_q <= 1'b0;
      was_late_q  <= 1'b0;
    end else begin
      aw_there_q <= (aw_there_q || takes_aw) && !writes;
      w_there_q  <= (w_there_q || takes_w) && !writes;
      ar_there_q <= (ar_there_q || takes_ar) && !reads;
      aw_at_q    <= aw_at;
      w_data_q   <= w_data;
      w_strobe_q <= w_strobe;
      ar_at_q    <= ar_at;
      b_owed_q   <= writes || (b_owed_q && !bready_i);
      r_owed_q   <= reads || (r_owed_q && !rready_i);
      if (writes && aw_at == watched) begin
        bytes_q <= bytes_q | w_strobe;
        for (int b = 0; b < 4; b++) if (w_strobe[b]) shadow_q[8*b +: 8] <= w_data[8*b +: 8];
      end
      if (reads) begin
        r_watched_q <= ar_at == watched && bytes_q == '1;
        read_q      <= shadow_q;
      end
      if (aw_there_q && w_there_q) was_late_q <= 1'b1;
    end
  end

  always_comb begin
    if (started_q) begin
      assume (watched_i == watched_q);
      // What the master owes.
      if (aw_waits_q) assume (awvalid_i && awaddr_i == awaddr_q);
      if (w_waits_q) assume (wvalid_i && wdata_i == wdata_q && wstrb_i == wstrb_q);
      if (ar_waits_q) assume (arvalid_i && araddr_i == araddr_q);
      // What the slave owes.
      assert (bvalid == b_owed_q);
      assert (rvalid == r_owed_q);
      assert (bresp == '0 && rresp == '0);
      if (b_waits_q) assert (bvalid);
      if (r_waits_q) assert (rvalid && rdata == rdata_q);
      assert (!(takes_aw && aw_there_q) && !(takes_w && w_there_q) && !(takes_ar && ar_there_q));
      if (r_owed_q && r_watched_q) assert (rdata == read_q);
      for (int b = 0; b < 4; b++) if (bytes_q[b]) assert (registers[watched][8*b +: 8] == shadow_q[8*b +: 8]);
`ifdef INVARIANTS
      assert (dut.i_write_address.full_q == aw_there_q && !(aw_there_q && awready));
      assert (dut.i_write_data.full_q == w_there_q && !(w_there_q && wready));
      assert (dut.i_read_address.full_q == ar_there_q && !(ar_there_q && arready));
      if (aw_there_q) assert (dut.i_write_address.data_q == aw_at_q);
      if (w_there_q) assert (dut.i_write_data.data_q == {w_strobe_q, w_data_q});
      if (ar_there_q) assert (dut.i_read_address.data_q == ar_at_q);
      if (r_waits_q) assert (dut.rdata_q == rdata_q);
`endif
      cover (was_late_q && r_owed_q && r_watched_q && read_q != '0);
      cover (b_owed_q && aw_there_q && w_there_q && r_owed_q && ar_there_q);
    end
  end
endmodule
