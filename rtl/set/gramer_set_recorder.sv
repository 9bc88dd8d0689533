// Packs the records of all PUs into beats of the out-stream, before the sums: one or two per beat, round robin over
// the PUs. The host sets the capacity in beats. At half of it no further unit is dispatched (`soft_o`), so that
// those in flight can usually finish; a record without room ends the run (`full_o`), and later ones are dropped.
//
//   PUs ─► turn ─► record ─► beat ─► report
module gramer_set_recorder
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    clear_i,        // before a run
  input  logic [31:0] room_i,     // capacity in beats; stable
  // Records
  input  logic [PUS-1:0] valid_i,
  output logic [PUS-1:0] ready_o,
  input  record_t record_i [PUS],
  // Beats
  output logic    beat_valid_o,
  input  logic    beat_ready_i,
  output beat_t   beat_o,
  // The end
  input  logic    end_i,          // pulse: no further record arrives
  output logic    ended_o,        // pulse: all beats have left; possibly in the same cycle
  // State
  output logic    soft_o,         // half of the capacity is used; sticky
  output logic    full_o,         // no room for a record; sticky
  output logic [39:0] records_o,  // records written
  output logic    busy_o
);

  localparam int unsigned HALF_W = LINE_W / 2;
  localparam int unsigned NARROW = RECORD_NARROW; // ids of a record of half a beat
  localparam int unsigned IDS    = PLACED + 1;

  // ---------------------------------------------------------------- a record

  logic [PUS-1:0] grant;
  logic    some, take, room, in_valid, in_take;
  record_t chosen, in_record;

  // Two entries break the path from the stream's ready through this module to the PU's
  // lister.
  assign take    = some && room;
  assign ready_o = grant & {PUS{take}};

  gramer_rr_arbiter #(.REQUESTS(PUS)) i_turn (
    .clk_i, .rst_i,
    .request_i (valid_i), .take_i (take),
    .valid_o (some), .grant_o (grant), .index_o ()
  );

  always_comb begin
    chosen = '0;
    for (int p = 0; p < PUS; p++) if (grant[p]) chosen |= record_i[p];
  end

  gramer_set_skid_buffer #(.WIDTH($bits(record_t))) i_record (
    .clk_i, .rst_i,
    .valid_i (some), .ready_o (room), .data_i (chosen),
    .valid_o (in_valid), .ready_i (in_take), .data_o (in_record)
  );

  // Ordinal, pattern number and unused ids are 0.
  logic [HALF_W-1:0] narrow;
  beat_t             wide;

  always_comb begin
    narrow = '0;
    wide   = '0;
    for (int i = 0; i < IDS; i++) begin
      if (i < NARROW) narrow[(2 + i)*32 +: 32] = 32'(in_record.ids[i]);
      wide[(2 + i)*32 +: 32] = 32'(in_record.ids[i]);
    end
  end

  // ---------------------------------------------------------------- beats

  logic [31:0] left_q, half_q; // beats left; half of the capacity
  logic        begun_q, held_q, whole_q, flush_q, leaves, first, second, over;
  logic        two_q;          // the beat has two records
  logic        soft_q, full_q;
  logic [39:0] records_q;
  beat_t       beat_q;

  assign soft_o       = soft_q;
  assign full_o       = full_q;
  assign records_o    = records_q;
  assign beat_valid_o = held_q && whole_q;
  assign beat_o       = beat_q;
  assign leaves       = beat_valid_o && beat_ready_i;
  assign second       = in_valid && held_q && !whole_q && !in_record.wide;
  assign first        = in_valid && (!held_q || leaves);
  assign over         = first && (full_q || left_q == '0);
  assign in_take      = first || second;
  assign ended_o      = (end_i || flush_q) && !held_q;
  assign busy_o       = in_valid; // the second entry is then empty, too

  always_ff @(posedge clk_i) begin
    if (rst_i || clear_i) begin
      held_q    <= 1'b0;
      whole_q   <= 1'b0;
      flush_q   <= 1'b0;
      begun_q   <= 1'b0;
      soft_q    <= 1'b0;
      full_q    <= 1'b0;
      records_q <= '0;
      left_q    <= room_i;
      half_q    <= room_i >> 1;
    end else begin
      if (first && !over) held_q <= 1'b1;
      else if (leaves) held_q <= 1'b0;
      if (first) whole_q <= in_record.wide;
      else if (second || flush_q) whole_q <= 1'b1;
      if (end_i) flush_q <= !ended_o;
      else if (ended_o) flush_q <= 1'b0;
      if (first && !over) begin
        left_q  <= left_q - 1'b1;
        begun_q <= 1'b1;
      end
      if (over) full_q <= 1'b1;
      soft_q <= soft_q || (begun_q && left_q <= half_q);
      if (leaves) records_q <= records_q + 40'(two_q) + 1'b1;
    end
    if (first) begin
      two_q  <= 1'b0;
      // The other half is empty: its pattern number is all ones.
      beat_q <= in_record.wide ? wide : {192'b0, 32'hffff_ffff, 32'b0, narrow};
    end else if (second) begin
      two_q                   <= 1'b1;
      beat_q[LINE_W-1:HALF_W] <= narrow;
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && !clear_i) begin
    assert (!(end_i && in_valid)) else $error("a record after the end");
    assert (!(first && second)) else $error("a record in two beats");
    assert (!(held_q && !whole_q && in_valid && in_record.wide))
      else $error("records of two sizes in a run");
    assert (left_q <= room_i) else $error("more beats than there is room for");
  end
`endif

endmodule
