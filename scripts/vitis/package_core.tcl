# Packages the RTL core as a kernel object for Vitis. Run by scripts/vitis/build.sh:
#
#   vivado -mode batch -source package_core.tcl -tclargs GENERATED FILES HLS BUILD PART XO
#
# GENERATED holds what gramer-machine generated for the machine, FILES names a file with the paths of the
# core's sources, a line each (scripts/rtl_files.py), HLS is the repository's folder, BUILD is where the project and the packaged core go, XO is the kernel object. Which of the two
# cores it is follows from the kernel.xml that is in GENERATED.
if {$argc != 6} {
  puts stderr "error: package_core.tcl wants GENERATED FILES HLS BUILD PART XO, and got $argc arguments"
  exit 2
}
lassign $argv generated files hls build part xo

set kernel [expr {[file exists $generated/gramer_set_core.xml] ? "gramer_set_core" : "gramer_core"}]
set channel [open $files]
set listed [split [string trim [read $channel]] \n]
close $channel
set sources [concat [list $generated/gramer_pkg.sv] $listed [list $generated/gramer_kernel.v]]

file mkdir $build
create_project -force -part $part package_core $build/package_core
add_files -norecurse $sources
set_property file_type SystemVerilog [get_files *.sv]
# The top level: the packager takes Verilog or VHDL there.
set_property file_type Verilog [get_files *.v]
set_property top gramer_kernel [current_fileset]
update_compile_order -fileset sources_1

# The rule checks are cheaper than a failed link.
synth_design -rtl -name elaborated -top gramer_kernel -part $part
close_design

set ip $build/ip
file delete -force $ip
ipx::package_project -root_dir $ip -vendor gramer -library kernel -taxonomy /KernelIP \
  -import_files -set_current true
set core [ipx::current_core]
set_property name $kernel $core
set_property version 1.0 $core
set_property display_name {GRAMER core} $core
set_property sdx_kernel true $core
set_property sdx_kernel_type rtl $core
set_property ipi_drc {ignore_freq_hz true} $core
set_property vitis_drc {ctrl_protocol ap_ctrl_chain} $core
set_property supported_families {} $core
set_property auto_family_support_level level_2 $core

# Every interface runs on the one clock, with the one reset.
foreach interface [ipx::get_bus_interfaces -of_objects $core] {
  set name [get_property name $interface]
  if {[string match s_axi* $name] || [string match m_axi* $name] || [string match *axis* $name]} {
    ipx::associate_bus_interfaces -busif $name -clock ap_clk $core
  }
}
ipx::associate_bus_interfaces -clock ap_clk -reset ap_rst_n $core

# The read masters send incrementing bursts of full width alone: the interconnect needs no logic for
# others. It sizes its queues by the reads that a master has under way; where nothing is said it takes 2.
# The set core's loader reads pages under one id and the abort word under another; the paper's core reads
# lines, under an id for each memory of the bank and one for the abort word.
if {$kernel eq "gramer_set_core"} {
  set reads {MAX_BURST_LENGTH 64 NUM_READ_OUTSTANDING 8 NUM_READ_THREADS 2}
} else {
  set reads {MAX_BURST_LENGTH 1 NUM_READ_OUTSTANDING 32 NUM_READ_THREADS 8}
}
foreach interface [ipx::get_bus_interfaces -of_objects $core] {
  if {[string match m_axi* [get_property name $interface]]} {
    foreach {name value} [concat {HAS_BURST 0 SUPPORTS_NARROW_BURST 0} $reads] {
      set parameter [ipx::add_bus_parameter $name $interface]
      set_property value $value $parameter
      set_property value_source constant $parameter
    }
  }
}

# The registers: those of the control protocol, and of each argument of kernel.xml.
set map [ipx::get_memory_maps s_axi_control -of_objects $core]
set block [ipx::get_address_blocks reg0 -of_objects $map]
proc add_register {block name offset bits} {
  set register [ipx::add_register $name $block]
  set_property address_offset $offset $register
  set_property size $bits $register
  return $register
}
foreach {name offset} {CTRL 0x0 GIER 0x4 IP_IER 0x8 IP_ISR 0xc} {
  add_register $block $name $offset 32
}
set channel [open $generated/$kernel.xml]
set description [read $channel]
close $channel
foreach {all text} [regexp -all -inline {<arg ([^>]*)/>} $description] {
  foreach {all key value} [regexp -all -inline {(\w+)="([^"]*)"} $text] {
    set argument($key) $value
  }
  # Streams have no register.
  if {$argument(addressQualifier) ne "4"} {
    set register [add_register $block $argument(name) $argument(offset) \
                    [expr {8 * $argument(size)}]]
    if {$argument(addressQualifier) eq "1"} {
      set parameter [ipx::add_register_parameter ASSOCIATED_BUSIF $register]
      set_property value $argument(port) $parameter
    }
  }
}

ipx::create_xgui_files $core
ipx::update_checksums $core
ipx::check_integrity -kernel -xrt $core
ipx::save_core $core
close_project

# The functional model of the paper's core goes along, for software emulation; the set core has none.
file mkdir [file dirname $xo]
set model [list]
if {$kernel eq "gramer_core"} {
  set model [list -kernel_files [list $hls/core_model.cpp $hls/core_model.hpp $hls/gramer_movers.hpp \
                                   $generated/gramer_machine.hpp]]
}
package_xo -force -xo_path $xo -kernel_name $kernel -ip_directory $ip \
  -kernel_xml $generated/$kernel.xml {*}$model
