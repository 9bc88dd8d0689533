// What is reached is noted for each bank in order, and rows have it: the vertex of each bank with the row's number,
// if it has that many; every loss is reported. One arbitrary bank is followed.
module set_reached_proof
  import gramer_set_pkg::*;
  import gramer_set_types_pkg::*;
(
  input logic    clk_i,
  input logic [MAP_BANKS-1:0] note_i,
  input map_at_t at_i,        // of the bank that is followed, and of all others
  input up_t     up_i,
  input logic    clear_i,
  input logic    read_i,
  input logic [NOTED_W-1:0] row_i,
  input logic    followed_i   // the bank, always the same
);
  logic                 started_q = 1'b0;
  logic                 followed_q;
  map_at_t              at [MAP_BANKS], row_at [MAP_BANKS];
  up_t                  up [MAP_BANKS], row_up [MAP_BANKS];
  logic [MAP_BANKS-1:0] there;
  logic [NOTED_W:0]     rows;
  logic                 busy, full;

  // The bank's vertices, as of a cycle after they came, and how many each bank has.
  logic [MAP_AT_W+WEDGE_UP_W-1:0] list_q [1 << NOTED_W];
  logic [NOTED_W:0]     count_q [MAP_BANKS];
  logic [MAP_BANKS-1:0] note_q;
  logic [MAP_AT_W+WEDGE_UP_W-1:0] noted_q;
  logic                 lost_q;
  // What a read has to see, two cycles later.
  logic [2:1]           read_q, there_q;
  logic [MAP_AT_W+WEDGE_UP_W-1:0] seen_q [3];
  logic                 cleared_q;

  always_comb
    for (int b = 0; b < MAP_BANKS; b++) begin
      at[b] = at_i;
      up[b] = up_i;
    end

  gramer_set_reached dut (
    .clk_i, .rst_i (!started_q), .clear_i,
    .note_i, .at_i (at), .up_i (up),
    .rows_o (rows), .read_i, .row_i, .there_o (there), .at_o (row_at), .up_o (row_up),
    .busy_o (busy), .full_o (full)
  );

  always_ff @(posedge clk_i) begin
    started_q  <= 1'b1;
    followed_q <= followed_i;
    note_q     <= started_q ? note_i : '0;
    noted_q    <= {at_i, up_i};
    read_q     <= {read_q[1], started_q && read_i};
    there_q    <= {there_q[1], {1'b0, row_i} < count_q[followed_i]};
    seen_q[1]  <= list_q[row_i];
    seen_q[2]  <= seen_q[1];
    if (!started_q) begin
      lost_q    <= 1'b0;
      cleared_q <= 1'b0;
      read_q    <= '0;
      for (int b = 0; b < MAP_BANKS; b++) count_q[b] <= '0;
    end else begin
      for (int b = 0; b < MAP_BANKS; b++)
        if (clear_i) count_q[b] <= '0;
        else if (note_q[b]) begin
          if (count_q[b] == (NOTED_W+1)'(1 << NOTED_W)) lost_q <= 1'b1;
          else begin
            count_q[b] <= count_q[b] + 1'b1;
            if (b == 32'(followed_i)) list_q[count_q[b][NOTED_W-1:0]] <= noted_q;
          end
        end
      if (clear_i && count_q[followed_i] != '0) cleared_q <= 1'b1;
    end
  end

  logic [NOTED_W:0] most;

  always_comb begin
    most = '0;
    for (int b = 0; b < MAP_BANKS; b++) if (count_q[b] > most) most = count_q[b];
  end

  always_comb begin
    if (started_q) begin
      // What callers owe: rows that are there, no clearing while something is noted.
      assume (followed_i == followed_q);
      assume (!(read_i && {1'b0, row_i} >= rows));
      assume (!(clear_i && (note_q != '0 || note_i != '0)));
      // What it owes.
      assert (rows == most);
      assert (busy == (note_q != '0));
      assert (full == lost_q);
      if (read_q[2]) begin
        assert (there[followed_i] == there_q[2]);
        if (there_q[2]) assert ({row_at[followed_i], row_up[followed_i]} == seen_q[2]);
      end
      cover (cleared_q && read_q[2] && there_q[2] && row_at[followed_i] != '0);
      cover (lost_q);
      cover (read_q[2] && !there_q[2]);
    end
  end
endmodule
