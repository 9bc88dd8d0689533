// Counts the cliques in the matrices of roots: gramer_set_maker makes sets and gramer_set_counter counts their edges,
// concurrently, from two copies of the rows.
module gramer_set_level_engine
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input  logic    clk_i,
  input  logic    rst_i,
  // Rows, and roots with complete rows
  input  logic [ROW_BANKS-1:0] write_i,
  input  row_at_t write_at_i,
  input  word_t   write_word_i [ROW_BANKS],
  input  mask_t   mask_i,
  input  logic    root_valid_i,
  input  place_t  place_i,
  input  root_t   root_i,
  input  words_t  rows_words_i,
  input  words_t  first_words_i,
  output logic    freed_o, // pulse: the oldest root is counted
  output logic [ROW_AT_W:0] words_o,
  // Cliques
  output logic    found_o,
  output logic [MEMBER_W:0] found_count_o,
  output clique_sum_t found_sum_o,
  output logic    busy_o,
  // Events
  output logic    busy_event_o, // a row was read
  output logic    set_o,        // a set was counted
  output logic [3:0] rows_o     // rows that were read for it
);

  logic    first_valid, first_take, begun_done, made_valid, set_take, set_done;
  logic    make_read, roots_busy, counter_busy, made;
  logic    made_valid_q, begun_done_q, set_take_q, counting_q;
  place_t  first_place, begun_place, made_place, done_place;
  place_t  made_place_q, begun_place_q;
  member_t first_member;
  set_t    made_set;
  words_t  made_words;
  class_t  made_size;
  row_at_t make_at;
  word_t   make_word [ROW_BANKS], count_word [ROW_BANKS];
  logic [ROW_BANKS-1:0] count_read;
  row_at_t count_at [ROW_BANKS];

  gramer_set_row_memory i_rows (
    .clk_i, .write_i, .write_at_i, .write_word_i,
    .make_read_i (make_read), .make_at_i (make_at), .make_word_o (make_word),
    .count_read_i (count_read), .count_at_i (count_at), .count_word_o (count_word)
  );

  gramer_set_roots i_roots (
    .clk_i, .rst_i, .mask_i, .root_valid_i, .place_i, .root_i, .first_words_i,
    .valid_o (first_valid), .take_i (first_take), .place_o (first_place),
    .member_o (first_member),
    .set_made_i (made_valid_q), .set_place_i (made_place_q),
    .begun_done_i (begun_done_q), .begun_place_i (begun_place_q),
    .set_done_i (set_done), .done_place_i (done_place),
    .freed_o, .words_o, .busy_o (roots_busy)
  );

  gramer_set_maker i_maker (
    .clk_i, .rst_i,
    .mask_i, .root_valid_i, .root_place_i (place_i), .root_i, .root_words_i (rows_words_i),
    .first_valid_i (first_valid), .first_take_o (first_take), .first_place_i (first_place),
    .first_member_i (first_member), .begun_done_o (begun_done), .begun_place_o (begun_place),
    .read_o (make_read), .read_at_o (make_at), .word_i (make_word),
    .set_valid_o (made_valid), .set_o (made_set), .set_words_o (made_words),
    .set_place_o (made_place), .set_size_o (made_size),
    .set_taken_i (set_take_q), .made_o (made)
  );

  gramer_set_counter i_counter (
    .clk_i, .rst_i,
    .mask_i, .root_valid_i, .root_place_i (place_i), .root_i, .root_words_i (rows_words_i),
    .set_valid_i (made_valid), .set_i (made_set), .set_words_i (made_words),
    .set_place_i (made_place), .set_size_i (made_size), .set_take_o (set_take),
    .set_done_o (set_done), .done_place_o (done_place),
    .read_o (count_read), .read_at_o (count_at), .word_i (count_word),
    .found_o, .found_count_o, .found_sum_o, .rows_o, .busy_o (counter_busy)
  );

  // Registers between the blocks. A set is made before its member is finished, and counted many cycles later, so
  // a root is never reported as finished too early.
  always_ff @(posedge clk_i) begin
    made_valid_q  <= !rst_i && made_valid;
    made_place_q  <= made_place;
    begun_done_q  <= !rst_i && begun_done;
    begun_place_q <= begun_place;
    set_take_q    <= !rst_i && set_take;
    counting_q    <= !rst_i && counter_busy;
    busy_event_o <= !rst_i && (made || count_read != '0);
    set_o        <= !rst_i && set_done;
  end

  // The root is still held while the counter starts.
  assign busy_o = roots_busy || counting_q || freed_o;

endmodule
