# Runs a Tcl file with the vendor's commands replaced by ones that check their options:
#
#   tclsh mock.tcl COMMANDS FILE ARGUMENT...
#
# Prints every call (`call`, the command and its words, between tabs and unit separators) and each
# object that is asked for by name, and ends with 1 at the first fault. A command that is neither
# Tcl's own nor in the table is a fault. The bus interfaces of the packaged core, which Vivado infers
# from its ports, are those of MOCK_INTERFACES; cells that match MOCK_MISSING are not there. A script that doesn't exit by itself leaves the line
# `open` behind, as a tool that waits at its prompt.
lassign $argv table script
set rest [lrange $argv 2 end]

proc fault {text} {
  puts stderr "error: $::script: $text"
  exit 1
}

set channel [open $script]
set text [read $channel]
close $channel
if {![info complete $text]} {
  fault "it is not a complete script"
}

set child [interp create]
# The folders of the vendor's tools are not made here.
$child eval {
  rename file real_file
  proc file {verb args} {
    if {$verb in {mkdir delete}} return
    real_file $verb {*}$args
  }
  rename cd {}
  proc cd {args} {}
  rename exec {}
  rename exit {}
}
# An end in the middle of the vendor's commands is the script's own; what was printed stays.
proc leave {{code 0}} {
  flush stdout
  exit $code
}
interp alias $child exit {} leave

# Files of the project.
set added {}
proc plain {words} {
  lsearch -all -inline -not -glob $words -*
}
proc vendor {name options answer words} {
  set wants {}
  foreach word $words {
    if {$wants ne ""} {
      set wants ""
      continue
    }
    # Negative numbers and values are no options.
    if {![regexp {^-[a-z_]} $word]} {
      continue
    }
    if {"$word=" in $options} {
      set wants $word
    } elseif {$word ni $options} {
      fault "$name has no option $word"
    }
  }
  if {$wants ne ""} {
    fault "$name: $wants wants a value"
  }
  puts "call\t[join [list $name {*}$words] \x1f]"
  set last [lindex $words end]
  switch $name {
    add_files {
      foreach file [plain $words] {
        lappend ::added {*}$file
      }
    }
    get_files {
      return [lsearch -all -inline -glob $::added *[string trimleft $last *]]
    }
    get_property {
      # Objects are their names here.
      return $last
    }
    ipx::get_bus_interfaces {
      if {![info exists ::env(MOCK_INTERFACES)]} {
        fault "the check gave no MOCK_INTERFACES"
      }
      return $::env(MOCK_INTERFACES)
    }
    ipx::get_memory_maps - ipx::get_address_blocks - ipx::add_register {
      return [lindex $words 0]
    }
    ipx::add_bus_parameter - ipx::add_register_parameter {
      return $last/[lindex $words 0]
    }
    get_cells {
      if {"-filter" in $words} {
        set filter [lindex $words [lsearch $words -filter]+1]
        if {![regexp {^NAME =~ (\S+)$} $filter all pattern]} {
          fault "the check does not understand the filter $filter"
        }
        puts "filter\t$pattern"
        return $pattern
      }
      puts "cell\t$last"
      # Dissolved by the synthesis.
      if {[info exists ::env(MOCK_MISSING)] && [string match $::env(MOCK_MISSING) $last]} {
        return {}
      }
      return $last
    }
    get_ports {
      puts "port\t$last"
      return $last
    }
  }
  return $answer
}
set channel [open $table]
foreach line [split [read $channel] \n] {
  if {$line eq "" || [string match #* $line]} continue
  lassign [split $line \t] name options answer
  if {$answer eq "-"} {
    set answer {}
  }
  if {[string match *::* $name]} {
    $child eval [list namespace eval [namespace qualifiers $name] {}]
  }
  $child eval [list proc $name args "vendor [list $name] [list $options] [list $answer] \$args"]
}
close $channel
interp alias $child vendor {} vendor
interp alias $child fault {} fault
$child eval {
  proc unknown {name args} { fault "$name is not a documented command" }
}
$child eval [list set argv $rest]
$child eval [list set argc [llength $rest]]
if {[catch {$child eval [list source $script]} message]} {
  fault $message
}
puts open
