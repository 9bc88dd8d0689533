# Compiles a data mover to a kernel object with Vitis HLS:
#
#   vitis_hls -f compile_movers.tcl KERNEL HLS BUILD PART CLOCK_NS
#
# (from 2024.2 on `vitis-run --mode hls --tcl` takes the same file). The object is
# BUILD/KERNEL.xo. The kernel's test bench is the repository's; it runs before the synthesis.
set arguments [lrange $argv end-4 end]
if {[llength $arguments] != 5} {
  puts stderr "error: compile_movers.tcl wants KERNEL HLS BUILD PART CLOCK_NS"
  exit 2
}
lassign $arguments kernel hls build part clock

file mkdir $build
cd $build
open_project -reset $kernel
set_top $kernel
add_files $hls/$kernel.cpp -cflags "-std=c++14 -I$hls"
open_solution -reset -flow_target vitis solution
set_part $part
create_clock -period $clock -name default
config_interface -m_axi_alignment_byte_size 64 -m_axi_max_widen_bitwidth 512
csynth_design
export_design -format xo -output $build/$kernel.xo
close_project
