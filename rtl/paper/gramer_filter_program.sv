// Runs the user's filter on each candidate: `Filter` of algorithm 1. Its words come with the run.
//
//   candidate ─► C: attributes of its embedding ─► L: a word a cycle, all positions at once ─► A: verdict
//
// A word compares an attribute of the new vertex, the embedding's size, or a constant with an attribute
// of every earlier vertex, with its adjacency, or with the constant. Words up to one that ends a
// condition are joined by or; every condition must hold, for all positions if it is about pairs. A
// candidate takes one cycle a word, so the extender pauses for the others: candidates come from events
// that are at least as many cycles apart. Without a filter all pass at once.
//
// Attributes are rows like those of the embedding table: written with it, and copied by a steal.
module gramer_filter_program
  import gramer_pkg::*;
  import gramer_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  input  logic    filters_i, // the run has a filter
  // Words of the filter, before the first unit
  input  logic    word_write_i,
  input  logic [FILTER_AT_W-1:0] word_at_i,
  input  filter_word_t word_i,
  // Writes of the embedding table
  input  slot_t   row_i,
  input  logic    write_i,
  input  pos_t    lane_i,
  input  logic [31:0] degree_i,
  input  label_t  label_i,
  input  logic    copy_i,
  input  slot_t   copy_to_i,
  // From the extender
  input  logic    valid_i,
  input  found_t  found_i,
  output logic    pause_o,   // take no event
  // To the filter
  output logic    valid_o,
  output found_t  found_o,
  output logic    refused_o
);

  // ---------------------------------------------------------------- words

  localparam int unsigned AT_W = FILTER_WORDS > 1 ? $clog2(FILTER_WORDS) : 1;

  (* ram_style = "distributed" *) filter_word_t words [FILTER_WORDS];
  logic [AT_W-1:0] length_q, phase_q; // words less one; cycles since the extender took an event
  logic            complete_q;        // the last word is there

  always_ff @(posedge clk_i) begin
    if (word_write_i && 32'(word_at_i) < FILTER_WORDS) begin
      words[AT_W'(word_at_i)] <= word_i;
      complete_q <= word_i.last || (complete_q && word_at_i != '0);
      if (!complete_q || word_at_i == '0) length_q <= AT_W'(word_at_i);
    end
    phase_q <= rst_i || phase_q >= length_q ? '0 : phase_q + 1'b1;
  end

  assign pause_o = filters_i && phase_q != '0;

  // ---------------------------------------------------------------- attributes

  slot_t       write_row;
  logic [31:0] degrees [DEPTH];
  label_t      labels  [DEPTH];

  assign write_row = copy_i ? copy_to_i : row_i;

  for (genvar lane = 0; lane < DEPTH; lane++) begin : gen_lane
    (* ram_style = "distributed" *) logic [31:0] degree_rows [SLOTS];
    (* ram_style = "distributed" *) label_t      label_rows  [SLOTS];

    always_ff @(posedge clk_i) if (copy_i || (write_i && lane_i == pos_t'(lane))) begin
      degree_rows[write_row] <= copy_i ? degree_rows[row_i] : degree_i;
      label_rows[write_row]  <= copy_i ? label_rows[row_i] : label_i;
    end

    assign degrees[lane] = degree_rows[found_i.slot];
    assign labels[lane]  = label_rows[found_i.slot];
  end

  // ---------------------------------------------------------------- C: candidate, and the word to test

  logic            c_valid_q, c_final;
  found_t          c_q;
  filter_word_t    c_word_q;
  logic [AT_W-1:0] c_at_q, c_next;
  logic [31:0]     c_degrees_q [DEPTH];
  label_t          c_labels_q  [DEPTH];

  assign c_final = c_at_q == length_q;
  assign c_next  = valid_i ? '0 : c_at_q + 1'b1;

  always_ff @(posedge clk_i) begin
    c_valid_q <= !rst_i && filters_i && (valid_i || (c_valid_q && !c_final));
    c_at_q    <= c_next;
    c_word_q  <= words[c_next];
    if (valid_i) begin
      c_q         <= found_i;
      c_degrees_q <= degrees;
      c_labels_q  <= labels;
    end
  end

  // ---------------------------------------------------------------- L: the word at each position

  logic [31:0] left;
  mask_t       holds, concerned;
  logic        l_valid_q, l_first_q, l_final_q, l_ends_q;
  mask_t       l_holds_q, l_concerned_q;
  found_t      l_q;

  always_comb begin
    unique case (c_word_q.left)
      LEFT_LABEL:  left = 32'(c_q.record.label);
      LEFT_DEGREE: left = c_q.record.degree;
      LEFT_SIZE:   left = 32'(c_q.size) + 1'b1;
      default:     left = c_word_q.constant;
    endcase
  end

  for (genvar lane = 0; lane < DEPTH; lane++) begin : gen_test
    logic [31:0] right;
    logic        equal, less, related;

    always_comb begin
      unique case (c_word_q.right)
        RIGHT_LABEL:    right = 32'(c_labels_q[lane]);
        RIGHT_DEGREE:   right = c_degrees_q[lane];
        RIGHT_ADJACENT: right = 32'(c_q.mask[lane]);
        default:        right = c_word_q.constant;
      endcase
    end

    assign equal = left == right;
    assign less  = left < right;
    assign related = c_word_q.relation == RELATION_EQUAL ? equal
                   : c_word_q.relation == RELATION_LESS  ? less : !equal && !less;
    assign holds[lane] = related != c_word_q.negated;
    // A condition about one vertex holds for the new one, whatever came before.
    assign concerned[lane] = c_word_q.pairs ? size_t'(lane) < c_q.size : lane == 0;
  end

  always_ff @(posedge clk_i) begin
    l_valid_q     <= !rst_i && c_valid_q;
    l_first_q     <= c_at_q == '0;
    l_final_q     <= c_final;
    l_ends_q      <= c_word_q.ends || c_final;
    l_holds_q     <= holds;
    l_concerned_q <= concerned;
    l_q           <= c_q;
  end

  // ---------------------------------------------------------------- A: verdict

  mask_t  held, held_q; // positions at which a word of the condition holds
  logic   refused, refused_q, a_valid_q;
  found_t a_q;

  assign held    = held_q | l_holds_q;
  assign refused = (refused_q && !l_first_q) || (l_ends_q && (l_concerned_q & ~held) != '0);

  always_ff @(posedge clk_i) begin
    if (l_valid_q) begin
      held_q    <= l_ends_q ? '0 : held;
      refused_q <= refused;
    end
    if (rst_i) held_q <= '0;
    a_valid_q <= !rst_i && l_valid_q && l_final_q;
    a_q       <= l_q;
  end

  assign valid_o   = filters_i ? a_valid_q : valid_i;
  assign found_o   = filters_i ? a_q : found_i;
  assign refused_o = filters_i && refused_q;

`ifndef SYNTHESIS
  always_ff @(posedge clk_i) if (!rst_i && filters_i) begin
    assert (!(valid_i && c_valid_q && !c_final))
    else $error("a candidate before the last word of another");
    assert (!(c_valid_q && !c_word_q.pairs && c_word_q.right != RIGHT_CONSTANT))
    else $error("a word about one vertex has an earlier one on its right");
    assert (!(c_valid_q && !complete_q)) else $error("a filter without a last word");
    assert (!((copy_i || write_i) && c_valid_q && c_q.slot == write_row))
    else $error("the embedding of a candidate changes under test");
  end
`endif

endmodule
