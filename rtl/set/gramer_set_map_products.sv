// Contribution of an edge with t triangles: t (t - 1) / 2 and t (deg a + deg b), split for the multipliers.
// Latency: three cycles.
module gramer_set_map_products
  import gramer_set_types_pkg::*;
(
  input  logic clk_i,
  input  logic rst_i,
  input  logic valid_i,
  input  logic [MAP_DEGREE_W-1:0] t_i,
  input  logic [MAP_DEGREE_W-1:0] degree_i, // of the member
  input  logic twice_i, // the degree counts twice
  input  logic [MAP_DEGREE_W-1:0] root_degree_i,
  // Three cycles later
  output logic valid_o,
  output logic [MAP_DEGREE_W-1:0] t_o,
  output logic [2*MAP_DEGREE_W-1:0] pairs_o,
  output logic [2*MAP_DEGREE_W+1:0] degrees_o
);

  localparam int unsigned PART = 16;

  logic [MAP_DEGREE_W:0]   m8_degrees_q;
  logic [MAP_DEGREE_W-1:0] m8_t_q, m8_less_q, m9_t_q, m10_t_q;
  logic [MAP_DEGREE_W+PART:0]   m9_degrees_low_q, m9_pairs_low_q;
  logic [2*MAP_DEGREE_W-PART:0] m9_degrees_high_q, m9_pairs_high_q;
  logic [2*MAP_DEGREE_W+1:0]    m10_degrees_q, m10_pairs_q;
  logic [10:8]         m_valid_q;

  always_ff @(posedge clk_i) begin
    m_valid_q    <= rst_i ? '0 : {m_valid_q[9:8], valid_i};
    m8_t_q       <= t_i;
    m8_less_q    <= t_i - 1'b1;
    // For 5-cycles the member's degree counts twice.
    m8_degrees_q <= (MAP_DEGREE_W+1)'(root_degree_i)
                    + ((MAP_DEGREE_W+1)'(degree_i) << twice_i);
    m9_t_q            <= m8_t_q;
    m9_degrees_low_q  <= (MAP_DEGREE_W+PART+1)'(m8_t_q[PART-1:0]) * m8_degrees_q;
    m9_degrees_high_q <= (2*MAP_DEGREE_W-PART+1)'(m8_t_q[MAP_DEGREE_W-1:PART]) * m8_degrees_q;
    m9_pairs_low_q    <= (MAP_DEGREE_W+PART+1)'(m8_t_q[PART-1:0]) * m8_less_q;
    m9_pairs_high_q   <= (2*MAP_DEGREE_W-PART+1)'(m8_t_q[MAP_DEGREE_W-1:PART]) * m8_less_q;
    m10_t_q       <= m9_t_q;
    m10_degrees_q <= (2*MAP_DEGREE_W+2)'(m9_degrees_low_q)
                     + ((2*MAP_DEGREE_W+2)'(m9_degrees_high_q) << PART);
    m10_pairs_q   <= (2*MAP_DEGREE_W+2)'(m9_pairs_low_q)
                     + ((2*MAP_DEGREE_W+2)'(m9_pairs_high_q) << PART);
  end

  assign valid_o   = m_valid_q[10] && m10_t_q != '0; // an edge without triangles adds nothing
  assign t_o       = m10_t_q;
  assign pairs_o   = (2*MAP_DEGREE_W)'(m10_pairs_q >> 1);
  assign degrees_o = m10_degrees_q;

endmodule
