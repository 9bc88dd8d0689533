# Runs a Tcl file with the vendor's commands replaced by ones that check their options:
#
#   tclsh mock.tcl COMMANDS FILE ARGUMENT...
#
# Prints each object that is asked for by name, and ends with 1 at the first fault. A command that
# is neither Tcl's own nor in the table is a fault.
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
  set last [lindex $words end]
  switch $name {
    get_cells {
      if {"-filter" in $words} {
        puts "filter\t[lindex $words [lsearch $words -filter]+1]"
        return CORE
      }
      puts "cell\t$last"
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
