# Compiles a data mover to a kernel object with Vitis HLS:
#
#   vitis_hls -f compile_movers.tcl
#   vitis-run --mode hls --tcl compile_movers.tcl     (2024.2 and later)
#
# Neither documents arguments for the script, so they come from the environment: GRAMER_KERNEL, the
# mover; GRAMER_HLS, the repository's hls folder; GRAMER_BUILD, where the project goes; GRAMER_PART;
# GRAMER_CLOCK_NS. The object is GRAMER_BUILD/GRAMER_KERNEL.xo.
foreach {variable name} {kernel GRAMER_KERNEL hls GRAMER_HLS build GRAMER_BUILD part GRAMER_PART
                         clock GRAMER_CLOCK_NS} {
  if {![info exists env($name)] || $env($name) eq ""} {
    puts stderr "error: compile_movers.tcl wants $name in the environment"
    exit 2
  }
  set $variable $env($name)
}

if {[catch {
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
} message]} {
  puts stderr "error: $kernel: $message"
  exit 1
}
# Without it vitis_hls stays open at its prompt.
exit 0
