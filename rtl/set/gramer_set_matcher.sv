// Says which PU each partition serves: in each cycle at most one PU a partition, and at most one partition a PU, for
// a line is as wide as the way into a PU. Each partition offers its turn to one of the PUs that wait there; a
// PU that has offers takes one of them. Both choose in turn, and a partition's turn passes on only when it was
// taken: so no request waits for ever, and where all queues are full, the turns of the partitions come to differ, and all serve.
//
//   waiting ─► offers, one of each partition ─► taken, one of each PU ─► grant
module gramer_set_matcher
  import gramer_set_pkg::*;
(
  input  logic           clk_i,
  input  logic           rst_i,
  input  logic [PUS-1:0] waiting_i [PARTITIONS], // PUs with a request there
  output logic [PUS-1:0] grant_o [PARTITIONS]
);

  logic [PUS-1:0]        offer [PARTITIONS];
  logic [PARTITIONS-1:0] offers [PUS], taken [PUS];

  for (genvar q = 0; q < PARTITIONS; q++) begin : gen_partition
    gramer_rr_arbiter #(.REQUESTS(PUS)) i_offer (
      .clk_i, .rst_i,
      .request_i (waiting_i[q]), .take_i (grant_o[q] != '0), .valid_o (), .grant_o (offer[q]), .index_o ()
    );

    always_comb for (int p = 0; p < PUS; p++) grant_o[q][p] = taken[p][q];
  end

  for (genvar p = 0; p < PUS; p++) begin : gen_pu
    always_comb for (int q = 0; q < PARTITIONS; q++) offers[p][q] = offer[q][p];

    gramer_rr_arbiter #(.REQUESTS(PARTITIONS)) i_take (
      .clk_i, .rst_i,
      .request_i (offers[p]), .take_i (1'b1), .valid_o (), .grant_o (taken[p]), .index_o ()
    );
  end

endmodule
