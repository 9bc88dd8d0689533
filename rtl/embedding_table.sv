// The current embedding of each slot: vertex ids, list bounds, and the key (adjacency bits and
// labels) of every prefix. A row is a slot, a lane is a position in the embedding.
//
// A steal copies a whole row in one cycle, so that thief and victim never share a row. Each lane
// is a LUTRAM of SLOTS entries with one write and four read ports.
module embedding_table
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  // Scheduler: read row `row_i`; write one lane of it, or copy it to another row.
  input  slot_t   row_i,
  output id_t     row_ids_o [DEPTH],
  input  pos_t    row_lane_i,
  output edge_t   row_offset_o,
  output logic [31:0] row_degree_o,
  input  pos_t    row_key_lane_i,
  output key_t    row_key_o,
  output edge_t   root_offset_o, // of lane 0
  output logic [31:0] root_degree_o,
  input  logic    write_i,
  input  pos_t    write_lane_i,
  input  id_t     write_id_i,
  input  edge_t   write_offset_i,
  input  logic [31:0] write_degree_i,
  input  key_t    write_key_i,
  input  logic    copy_i,
  input  slot_t   copy_to_i,
  // Without compaction: a row to be saved with its ancestor entry, and one that is brought back
  input  slot_t   saved_row_i,
  output row_t    saved_o,
  input  row_t    restored_i,
  // Listing: all ids of a row.
  input  slot_t   listed_row_i,
  output id_t     listed_ids_o [DEPTH],
  // Extender, first look: the ids that a line's entries must differ from.
  input  slot_t   early_row_i,
  output id_t     early_ids_o [MAX_MOTIF],
  // Extender, second look: the list to be walked or searched next.
  input  slot_t   list_row_i,
  input  pos_t    list_lane_i,
  output id_t     list_id_o,
  output edge_t   list_offset_o,
  output logic [31:0] list_degree_o
);

  id_t         ids     [SLOTS][DEPTH];
  edge_t       offsets [SLOTS][DEPTH];
  logic [31:0] degrees [SLOTS][DEPTH];
  key_t        keys    [SLOTS][DEPTH];

  assign row_ids_o     = ids[row_i];
  assign row_offset_o  = offsets[row_i][row_lane_i];
  assign row_degree_o  = degrees[row_i][row_lane_i];
  assign row_key_o     = keys[row_i][row_key_lane_i];
  assign root_offset_o = offsets[row_i][0];
  assign root_degree_o = degrees[row_i][0];
  always_comb for (int j = 0; j < MAX_MOTIF; j++) early_ids_o[j] = ids[early_row_i][j];
  always_comb begin
    saved_o = '0;
    if (COMPACTION == 0)
      for (int lane = 0; lane < DEPTH; lane++) begin
        saved_o.ids[lane]     = ids[saved_row_i][lane];
        saved_o.offsets[lane] = offsets[saved_row_i][lane];
        saved_o.degrees[lane] = degrees[saved_row_i][lane];
        saved_o.keys[lane]    = keys[saved_row_i][lane];
      end
  end
  assign listed_ids_o  = ids[listed_row_i];
  assign list_id_o     = ids[list_row_i][list_lane_i];
  assign list_offset_o = offsets[list_row_i][list_lane_i];
  assign list_degree_o = degrees[list_row_i][list_lane_i];

  always_ff @(posedge clk_i) begin
    if (copy_i && COMPACTION == 0) begin
      for (int lane = 0; lane < DEPTH; lane++) begin
        ids[copy_to_i][lane]     <= restored_i.ids[lane];
        offsets[copy_to_i][lane] <= restored_i.offsets[lane];
        degrees[copy_to_i][lane] <= restored_i.degrees[lane];
        keys[copy_to_i][lane]    <= restored_i.keys[lane];
      end
    end else if (copy_i) begin
      ids[copy_to_i]     <= ids[row_i];
      offsets[copy_to_i] <= offsets[row_i];
      degrees[copy_to_i] <= degrees[row_i];
      keys[copy_to_i]    <= keys[row_i];
    end else if (write_i) begin
      ids[row_i][write_lane_i]     <= write_id_i;
      offsets[row_i][write_lane_i] <= write_offset_i;
      degrees[row_i][write_lane_i] <= write_degree_i;
      keys[row_i][write_lane_i]    <= write_key_i;
    end
  end

endmodule
