// AXI4-Lite control registers of an RTL kernel, protocol ap_ctrl_chain. Offset 0: bit 0 ap_start,
// 1 ap_done, 2 ap_idle, 3 ap_ready, 4 ap_continue. Offsets 4, 8, 12: interrupt enables and status.
// Arguments start at 0x10.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_control #(
  /// Address bits; the block has 2**ADDR_W bytes of registers.
  parameter int unsigned ADDR_W = 7
) (
  input  logic        clk_i,
  input  logic        rst_i,
  // AXI4-Lite
  input  logic        awvalid_i,
  output logic        awready_o,
  input  logic [ADDR_W-1:0] awaddr_i,
  input  logic        wvalid_i,
  output logic        wready_o,
  input  logic [31:0] wdata_i,
  input  logic [3:0]  wstrb_i,
  output logic        bvalid_o,
  input  logic        bready_i,
  output logic [1:0]  bresp_o,
  input  logic        arvalid_i,
  output logic        arready_o,
  input  logic [ADDR_W-1:0] araddr_i,
  output logic        rvalid_o,
  input  logic        rready_i,
  output logic [31:0] rdata_o,
  output logic [1:0]  rresp_o,
  output logic        interrupt_o,
  // Core
  output logic        start_o, // held until ready_i
  input  logic        ready_i, // pulse: the core has accepted the start
  input  logic        done_i,  // pulse
  input  logic        idle_i,
  output logic        waiting_o, // done; ap_continue is pending
  output logic [31:0] registers_o [1 << (ADDR_W - 2)]
);

  logic        bvalid_q, rvalid_q;
  logic [31:0] rdata_q;

  assign bvalid_o = bvalid_q;
  assign rvalid_o = rvalid_q;
  assign rdata_o  = rdata_q;

  localparam int unsigned WORD_W = ADDR_W - 2;
  localparam logic [WORD_W-1:0] CTRL = '0, GIE = WORD_W'(1), IER = WORD_W'(2), ISR = WORD_W'(3);

  logic [31:0] registers_q [1 << WORD_W];
  logic        start_q, done_q, gie_q, write;
  logic [1:0]  ier_q, isr_q;
  logic [WORD_W-1:0] write_at, read_at;
  logic [31:0] strobe;

  assign registers_o = registers_q;
  assign start_o     = start_q && !done_q;
  assign waiting_o   = done_q;
  assign interrupt_o = gie_q && isr_q != '0;
  assign bresp_o     = '0;
  assign rresp_o     = '0;

  // Early requests wait in skid buffers, so no output of the port depends on an input of the same cycle.
  logic        aw_valid, w_valid, ar_valid, read;
  logic [31:0] data;
  logic [3:0]  strobes;

  gramer_skid #(.WIDTH(WORD_W)) i_write_address (
    .clk_i, .rst_i, .valid_i (awvalid_i), .ready_o (awready_o), .data_i (awaddr_i[ADDR_W-1:2]),
    .valid_o (aw_valid), .ready_i (write), .data_o (write_at)
  );
  gramer_skid #(.WIDTH(36)) i_write_data (
    .clk_i, .rst_i, .valid_i (wvalid_i), .ready_o (wready_o), .data_i ({wstrb_i, wdata_i}),
    .valid_o (w_valid), .ready_i (write), .data_o ({strobes, data})
  );
  gramer_skid #(.WIDTH(WORD_W)) i_read_address (
    .clk_i, .rst_i, .valid_i (arvalid_i), .ready_o (arready_o), .data_i (araddr_i[ADDR_W-1:2]),
    .valid_o (ar_valid), .ready_i (read), .data_o (read_at)
  );

  // Address and data are consumed together, once the previous response has been taken.
  assign write  = aw_valid && w_valid && (!bvalid_q || bready_i);
  assign read   = ar_valid && (!rvalid_q || rready_i);
  assign strobe = {{8{strobes[3]}}, {8{strobes[2]}}, {8{strobes[1]}}, {8{strobes[0]}}};

  always_ff @(posedge clk_i) begin
    if (rst_i) begin
      bvalid_q <= 1'b0;
      rvalid_q <= 1'b0;
      start_q  <= 1'b0;
      done_q   <= 1'b0;
      gie_q    <= 1'b0;
      ier_q    <= '0;
      isr_q    <= '0;
    end else begin
      if (write) bvalid_q <= 1'b1;
      else if (bready_i) bvalid_q <= 1'b0;
      if (read) rvalid_q <= 1'b1;
      else if (rready_i) rvalid_q <= 1'b0;

      if (ready_i) start_q <= 1'b0;
      if (write && write_at == CTRL && strobe[0]) begin
        if (data[0]) start_q <= 1'b1;
        if (data[4]) done_q <= 1'b0; // ap_continue
      end
      if (done_i) done_q <= 1'b1;

      if (write && write_at == GIE && strobe[0]) gie_q <= data[0];
      if (write && write_at == IER && strobe[0]) ier_q <= data[1:0];
      // Writing a one toggles a status bit, as in the control blocks of Vitis HLS.
      if (write && write_at == ISR && strobe[0]) isr_q <= isr_q ^ data[1:0];
      if (done_i && ier_q[0]) isr_q[0] <= 1'b1;
      if (ready_i && ier_q[1]) isr_q[1] <= 1'b1;
    end
    if (write && write_at > ISR)
      registers_q[write_at] <= (registers_q[write_at] & ~strobe) | (data & strobe);
    if (read) begin
      unique case (read_at)
        CTRL:    rdata_q <= {28'b0, ready_i, idle_i && !start_q, done_q, start_q};
        GIE:     rdata_q <= {31'b0, gie_q};
        IER:     rdata_q <= {30'b0, ier_q};
        ISR:     rdata_q <= {30'b0, isr_q};
        default: rdata_q <= registers_q[read_at];
      endcase
    end
  end

  // The two low address bits are unused: registers are words.
  logic unused;
  assign unused = &{1'b0, awaddr_i[1:0], araddr_i[1:0]};

endmodule
