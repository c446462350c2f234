# The parameter tables of tuner/space/README.md name none that the family does not honour: each is looked up in --help-params=md, which is
# made from the one table (effect.def, params.def). Also its own rows: three families, each honoured, hint, only or -.
"$BIN"/tuner --help-params=md >page.md
check() { # README-like file
  awk -F'|' '
    NR == FNR { if ($2 ~ /^ [A-Z0-9_]/ && NF > 6) { gsub(/ /, "", $2); for (f = 3; f <= 5; f++) says[$2, f] = $f; name[$2] } next }
    /^\| parameter \| on / { column = /AMD/ ? 3 : /nvptx/ ? 4 : 5; where = $3; next }
    !/^\|/ { column = 0 }
    column && !/^\|---/ {
      n = split($2, word, ",")
      for (i = 1; i <= n; i++) {
        w = word[i]; gsub(/\(.*\)|\[2\]|of the problem type|to D/, "", w); gsub(/ /, "", w)
        if (length(w) < 2) continue # "UnrollMajorLDSA, B"
        found = good = 0
        for (p in name) if (index(p, w) == 1) { found = 1; if (says[p, column] ~ /^ (honoured|only)/) good = 1 }
        if (!found) print "README:", w, "is no parameter"
        else if (!good) print "README:", w where "is not honoured"
        else checked++
      }
    }
    END { print checked + 0, "parameters of the tables are honoured" }' page.md "$1"
}
check "$ROOT/tuner/space/README.md"
echo "--- the check itself"
printf '%s\n' '| parameter | on the host |' '|---|---|' '| DepthU, Depthv | |' '| StaggerU | |' >wrong.md; check wrong.md
echo "--- the page"
awk -F'|' 'NF > 6 && !/^\|---|parameter/ { for (f = 3; f <= 5; f++) { split($f, w, /[ :;]+/); n[w[2]]++ } }
  END { for (k in n) print k }' page.md | sort
