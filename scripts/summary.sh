#!/bin/sh
# Repeats what failed (BUILD/failed.log), adds up what the test runners counted in BUILD/counts.* and prints one closing line.
[ ! -s "$1/failed.log" ] || { echo; echo "failed:"; cat "$1/failed.log"; }
cat "$1"/counts.* | awk '{p+=$1; f+=$2; s+=$3} END {printf "%d passed, %d failed, %d skipped\n", p, f, s; exit f>0 || p==0}'
