# The core's clock for a synthesis of the core alone: 200 MHz. Linked into a platform it comes from
# there (`--kernel_frequency`), and this file is not read.
create_clock -period 5.000 -name ap_clk [get_ports ap_clk]
