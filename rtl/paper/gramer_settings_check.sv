// Validates the argument registers at the start of a run: reports the AXI4-Lite offset of the first argument out of
// range. A core with such values would hang or read lines that do not exist. The content behind the addresses
// cannot be checked here.
(* keep_hierarchy = "yes" *) // assigned to a region of the die by the floorplan
module gramer_settings_check
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic [31:0] registers_i [1 << (CONTROL_ADDR_W - 2)],
  output logic        refused_o,
  output logic [31:0] offset_o
);

  localparam int unsigned SMALLEST     = 2; // vertices of an embedding
  localparam int unsigned LARGEST_FSM  = 3;
  localparam logic [31:0] FLAGS        = FILTER_WORDS != 0 ? 32'h3f : 32'h2f; // defined bits
  localparam int unsigned VERTEX_LINES = VERTEX_PAD_LINES * PARTITIONS;
  localparam int unsigned EDGE_LINES   = EDGE_PAD_LINES * PARTITIONS;

  localparam int unsigned CHECKS = 9;
  localparam int unsigned OFFSETS [CHECKS] = '{
    ARG_APPLICATION, ARG_K, ARG_FLAGS, ARG_SLOTS, ARG_LAMBDA_EIGHTHS,
    ARG_VERTEX_BOUND, ARG_EDGE_BOUND, ARG_VERTEX_SETS, ARG_EDGE_SETS
  };

  logic [31:0] application, k, slots, vertex_sets, edge_sets, largest;
  logic [63:0] edge_bound;
  logic [CHECKS-1:0] wrong;

  assign application = registers_i[ARG_APPLICATION >> 2];
  assign k           = registers_i[ARG_K >> 2];
  assign slots       = registers_i[ARG_SLOTS >> 2];
  assign edge_bound  = {registers_i[(ARG_EDGE_BOUND >> 2) + 1], registers_i[ARG_EDGE_BOUND >> 2]};
  assign vertex_sets = registers_i[ARG_VERTEX_SETS >> 2];
  assign edge_sets   = registers_i[ARG_EDGE_SETS >> 2];

  always_comb begin
    unique case (application[1:0])
      APP_CLIQUE: largest = DEPTH;
      APP_MOTIF:  largest = MAX_MOTIF;
      default:    largest = LARGEST_FSM;
    endcase
  end

  assign wrong[0] = application > 32'(APP_FSM);
  assign wrong[1] = k < SMALLEST || k > largest;
  assign wrong[2] = (registers_i[ARG_FLAGS >> 2] & ~FLAGS) != '0;
  assign wrong[3] = slots == '0 || slots > SLOTS;
  assign wrong[4] = registers_i[ARG_LAMBDA_EIGHTHS >> 2] > LAMBDA_MOST;
  // A machine without scratchpads ignores the bounds.
  assign wrong[5] = UNIFORM == 0 && registers_i[ARG_VERTEX_BOUND >> 2] > VERTEX_LINES;
  assign wrong[6] = UNIFORM == 0 && edge_bound > 64'(EDGE_LINES);
  assign wrong[7] = vertex_sets == '0 || vertex_sets > VERTEX_SETS;
  assign wrong[8] = edge_sets == '0 || edge_sets > EDGE_SETS;

  assign refused_o = wrong != '0;
  always_comb begin
    offset_o = '0;
    for (int c = CHECKS - 1; c >= 0; c--) if (wrong[c]) offset_o = OFFSETS[c];
  end

endmodule
