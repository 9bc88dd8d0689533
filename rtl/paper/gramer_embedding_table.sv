// Current embedding of each slot: vertex ids, list bounds, and the key (adjacency bits and labels) of
// every prefix. A row is a slot, a lane is a position in the embedding.
//
// A steal copies a whole row in one cycle, so thief and victim never share a row. Each lane is a LUTRAM of
// SLOTS entries with one write and four read ports.
module gramer_embedding_table
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
  // Without compaction: the row to save with its ancestor entry, and the row to restore
  input  slot_t   saved_row_i,
  output row_t    saved_o,
  input  row_t    restored_i,
  // Listing: all ids of a row.
  input  slot_t   listed_row_i,
  output id_t     listed_ids_o [DEPTH],
  // Extender, first read: ids that the entries of a line must differ from.
  input  slot_t   early_row_i,
  output id_t     early_ids_o [MAX_MOTIF],
  // Extender, second read: the list to walk or search next.
  input  slot_t   list_row_i,
  input  pos_t    list_lane_i,
  output id_t     list_id_o,
  output edge_t   list_offset_o,
  output logic [31:0] list_degree_o
);

  // Values of each lane for the scheduler and for the extender's second read.
  id_t         list_ids     [DEPTH];
  edge_t       row_offsets  [DEPTH], list_offsets [DEPTH];
  logic [31:0] row_degrees  [DEPTH], list_degrees [DEPTH];
  key_t        row_keys     [DEPTH];
  slot_t       write_row;

  assign write_row = copy_i ? copy_to_i : row_i;

  for (genvar lane = 0; lane < DEPTH; lane++) begin : gen_lane
    (* ram_style = "distributed" *) id_t         ids     [SLOTS];
    (* ram_style = "distributed" *) edge_t       offsets [SLOTS];
    (* ram_style = "distributed" *) logic [31:0] degrees [SLOTS];
    (* ram_style = "distributed" *) key_t        keys    [SLOTS];
    logic        write;
    id_t         id;
    edge_t       offset;
    logic [31:0] degree;
    key_t        key;

    assign write  = copy_i || (write_i && write_lane_i == pos_t'(lane));
    assign id     = !copy_i ? write_id_i : COMPACTION == 0 ? restored_i.ids[lane] : row_ids_o[lane];
    assign offset = !copy_i ? write_offset_i
                  : COMPACTION == 0 ? restored_i.offsets[lane] : row_offsets[lane];
    assign degree = !copy_i ? write_degree_i
                  : COMPACTION == 0 ? restored_i.degrees[lane] : row_degrees[lane];
    assign key    = !copy_i ? write_key_i
                  : COMPACTION == 0 ? restored_i.keys[lane] : row_keys[lane];

    always_ff @(posedge clk_i) if (write) begin
      ids[write_row]     <= id;
      offsets[write_row] <= offset;
      degrees[write_row] <= degree;
      keys[write_row]    <= key;
    end

    assign row_ids_o[lane]    = ids[row_i];
    assign row_offsets[lane]  = offsets[row_i];
    assign row_degrees[lane]  = degrees[row_i];
    assign row_keys[lane]     = keys[row_i];
    assign listed_ids_o[lane] = ids[listed_row_i];
    assign list_ids[lane]     = ids[list_row_i];
    assign list_offsets[lane] = offsets[list_row_i];
    assign list_degrees[lane] = degrees[list_row_i];
    if (lane < MAX_MOTIF) begin : gen_early
      assign early_ids_o[lane] = ids[early_row_i];
    end
    if (COMPACTION == 0) begin : gen_saved
      assign saved_o.ids[lane]     = ids[saved_row_i];
      assign saved_o.offsets[lane] = offsets[saved_row_i];
      assign saved_o.degrees[lane] = degrees[saved_row_i];
      assign saved_o.keys[lane]    = keys[saved_row_i];
    end
  end

  if (COMPACTION != 0) begin : gen_not_saved
    assign saved_o = '0;
    logic unused;
    assign unused = &{1'b0, saved_row_i, restored_i};
  end

  assign row_offset_o  = row_offsets[row_lane_i];
  assign row_degree_o  = row_degrees[row_lane_i];
  assign row_key_o     = row_keys[row_key_lane_i];
  assign root_offset_o = row_offsets[0];
  assign root_degree_o = row_degrees[0];
  assign list_id_o     = list_ids[list_lane_i];
  assign list_offset_o = list_offsets[list_lane_i];
  assign list_degree_o = list_degrees[list_lane_i];

endmodule
