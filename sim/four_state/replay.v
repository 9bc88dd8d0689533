// Replays the recorded pins of a core (sim/tests/four_state.rs) in a four-state simulator: gives the core its inputs and
// compares its outputs in every clock. Inputs that are not valid are x. An output must equal the recorded one, without an
// x; addresses and data must while they are valid. Registers and memories start with x, so the first clocks, up to the end
// of the first reset, are not compared.
//
// Plusargs: +pins=FILE, a line of hexadecimal fields for each clock; +wave=FILE, a waveform (VCD) of all signals.
module replay;
  parameter BANKS     = 1;
  parameter ADDRESS_W = 7; // of the control port

  integer file, fields, clock, differences;
  reg     compared; // the first reset has ended
  reg     clk;

  // Recorded pins, in the order of the fields.
  reg [8:0]           in; // the handshakes, from the reset to the out-stream's ready
  reg [31:0]          awaddr, wdata, araddr;
  reg [511:0]         in_tdata;
  reg [BANKS-1:0]     bank_arready, bank_rvalid, bank_rlast;
  reg [BANKS*8-1:0]   bank_rid;
  reg [BANKS*2-1:0]   bank_rresp;
  reg [BANKS*512-1:0] bank_rdata;
  reg [7:0]           out;
  reg                 out_tlast;
  reg [31:0]          rdata;
  reg [511:0]         out_tdata;
  reg [BANKS-1:0]     bank_arvalid, bank_rready;
  reg [BANKS*64-1:0]  bank_araddr;
  reg [BANKS*8-1:0]   bank_arid, bank_arlen;
  reg [BANKS*3-1:0]   bank_arsize;
  reg [BANKS*2-1:0]   bank_arburst;

  wire reset_n, awvalid, wvalid, bready, arvalid, rready, in_tvalid, in_tlast, out_tready;
  assign {reset_n, awvalid, wvalid, bready, arvalid, rready, in_tvalid, in_tlast, out_tready} = in;

  // The core's outputs.
  wire [7:0]           core_out;
  wire                 core_bvalid = core_out[5], core_rvalid = core_out[3], core_tvalid = core_out[1];
  wire [1:0]           core_bresp, core_rresp;
  wire [31:0]          core_rdata;
  wire [511:0]         core_tdata;
  wire                 core_tlast;
  wire [BANKS-1:0]     core_arvalid, core_rready;
  wire [BANKS*64-1:0]  core_araddr;
  wire [BANKS*8-1:0]   core_arid, core_arlen;
  wire [BANKS*3-1:0]   core_arsize;
  wire [BANKS*2-1:0]   core_arburst;

  // Answers of the banks, x without a valid.
  reg [BANKS-1:0]     core_rlast;
  reg [BANKS*8-1:0]   core_rid;
  reg [BANKS*2-1:0]   core_rresp_in;
  reg [BANKS*512-1:0] core_rdata_in;
  integer             b;

  always @* begin
    core_rlast    = {BANKS{1'bx}};
    core_rid      = {BANKS*8{1'bx}};
    core_rresp_in = {BANKS*2{1'bx}};
    core_rdata_in = {BANKS*512{1'bx}};
    for (b = 0; b < BANKS; b = b + 1)
      if (bank_rvalid[b]) begin
        core_rlast[b]               = bank_rlast[b];
        core_rid[b*8 +: 8]          = bank_rid[b*8 +: 8];
        core_rresp_in[b*2 +: 2]     = bank_rresp[b*2 +: 2];
        core_rdata_in[b*512 +: 512] = bank_rdata[b*512 +: 512];
      end
  end

  `CORE core (
    .ap_clk (clk), .ap_rst_n (reset_n), .interrupt (core_out[0]),
    .s_axi_control_awvalid (awvalid), .s_axi_control_awready (core_out[7]),
    .s_axi_control_awaddr (awvalid ? awaddr[ADDRESS_W-1:0] : {ADDRESS_W{1'bx}}),
    .s_axi_control_wvalid (wvalid), .s_axi_control_wready (core_out[6]),
    .s_axi_control_wdata (wvalid ? wdata : 32'bx), .s_axi_control_wstrb (wvalid ? 4'hf : 4'bx),
    .s_axi_control_bvalid (core_out[5]), .s_axi_control_bready (bready), .s_axi_control_bresp (core_bresp),
    .s_axi_control_arvalid (arvalid), .s_axi_control_arready (core_out[4]),
    .s_axi_control_araddr (arvalid ? araddr[ADDRESS_W-1:0] : {ADDRESS_W{1'bx}}),
    .s_axi_control_rvalid (core_out[3]), .s_axi_control_rready (rready),
    .s_axi_control_rdata (core_rdata), .s_axi_control_rresp (core_rresp),
    .m_axi_arvalid (core_arvalid), .m_axi_arready (bank_arready), .m_axi_araddr (core_araddr), .m_axi_arid (core_arid),
    .m_axi_arlen (core_arlen), .m_axi_arsize (core_arsize), .m_axi_arburst (core_arburst),
    .m_axi_rvalid (bank_rvalid), .m_axi_rready (core_rready), .m_axi_rdata (core_rdata_in), .m_axi_rid (core_rid),
    .m_axi_rresp (core_rresp_in), .m_axi_rlast (core_rlast),
    .s_axis_in_tvalid (in_tvalid), .s_axis_in_tready (core_out[2]),
    .s_axis_in_tdata (in_tvalid ? in_tdata : 512'bx), .s_axis_in_tlast (in_tvalid ? in_tlast : 1'bx),
    .m_axis_out_tvalid (core_out[1]), .m_axis_out_tready (out_tready), .m_axis_out_tdata (core_tdata),
    .m_axis_out_tlast (core_tlast)
  );

  task compare(input [20*8-1:0] name, input [511:0] is, input [511:0] wanted);
    if (is !== wanted) begin
      $display("clock %0d: %0s is %0h, recorded %0h", clock, name, is, wanted);
      difference;
    end
  endtask

  // Counts a difference, and gives up after ten. Memories call it too, for a write whose enable or address has an x.
  task difference;
    begin
      differences = differences + 1;
      if (differences == 10) begin
        $display("%0d clocks, %0d differences", clock, differences);
        $finish(0);
      end
    end
  endtask

  task compare_all;
    integer at;
    begin
      compare("handshakes", core_out, out);
      compare("m_axi_arvalid", core_arvalid, bank_arvalid);
      compare("m_axi_rready", core_rready, bank_rready);
      if (core_bvalid) compare("s_axi_control_bresp", core_bresp, 0);
      if (core_rvalid) begin
        compare("s_axi_control_rresp", core_rresp, 0);
        compare("s_axi_control_rdata", core_rdata, rdata);
      end
      if (core_tvalid) begin
        compare("m_axis_out_tlast", core_tlast, out_tlast);
        compare("m_axis_out_tdata", core_tdata, out_tdata);
      end
      for (at = 0; at < BANKS; at = at + 1)
        if (core_arvalid[at]) begin
          compare("m_axi_araddr", core_araddr[at*64 +: 64], bank_araddr[at*64 +: 64]);
          compare("m_axi_arid", core_arid[at*8 +: 8], bank_arid[at*8 +: 8]);
          compare("m_axi_arlen", core_arlen[at*8 +: 8], bank_arlen[at*8 +: 8]);
          compare("m_axi_arsize", core_arsize[at*3 +: 3], bank_arsize[at*3 +: 3]);
          compare("m_axi_arburst", core_arburst[at*2 +: 2], bank_arburst[at*2 +: 2]);
        end
    end
  endtask

  reg [1023:0] path, wave;

  initial begin
    if (!$value$plusargs("pins=%s", path)) $finish(0);
    if ($value$plusargs("wave=%s", wave)) begin
      $dumpfile(wave);
      $dumpvars(0, core);
    end
    file        = $fopen(path, "r");
    clk         = 1'b0;
    compared    = 1'b0;
    clock       = 0;
    differences = 0;
    fields      = 22;
    while (fields == 22) begin
      fields = $fscanf(file, "%h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h %h",
                       in, awaddr, wdata, araddr, in_tdata, bank_arready, bank_rvalid, bank_rlast, bank_rid, bank_rresp,
                       bank_rdata, out, out_tlast, rdata, out_tdata, bank_arvalid, bank_rready, bank_araddr, bank_arid,
                       bank_arlen, bank_arsize, bank_arburst);
      if (fields == 22) begin
        #1;
        compared = compared || reset_n;
        if (compared) compare_all;
        #1 clk = 1'b1;
        #1 clk = 1'b0;
        clock = clock + 1;
      end
    end
    $display("%0d clocks, %0d differences", clock, differences);
    $finish(0);
  end
endmodule

// Bitwise multiplexer, a cell of Yosys that its Verilog writer leaves to a library.
module \$bwmux (A, B, S, Y);
  parameter WIDTH = 1;
  input  [WIDTH-1:0] A, B, S;
  output [WIDTH-1:0] Y;
  // The last term is for a selection that is x between equal inputs.
  assign Y = (S & B) | (~S & A) | (A & B);
endmodule
