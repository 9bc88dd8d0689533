# After routing: what the build needs for its summary, and whether the clock is met. The linker
# runs it in the implementation's run (see scripts/vitis/build.sh).
set folder [file normalize [file join [pwd] gramer_reports]]
file mkdir $folder
report_timing_summary -max_paths 20 -file $folder/timing.rpt
report_utilization -hierarchical -hierarchical_depth 6 -file $folder/utilization.rpt
report_utilization -slr -file $folder/regions.rpt
report_design_analysis -logic_level_distribution -logic_level_dist_paths 5000 \
  -file $folder/levels.rpt
report_power -file $folder/power.rpt
