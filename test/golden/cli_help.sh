# Help of `tuner`, and what all programs have: help of 80 columns, version, manual page, completions.
"$BIN/tuner" --help
echo "--- of one command: its own options, not those of a run"
for c in status explain log tile; do "$BIN/tuner" $c --help | grep -e '^ *-.*--' -e '^ops'; done
"$BIN/tuner" run --help | grep -c -e --compile-only -e --peer
"$BIN/tuner" status --jobs 2 out; echo "exit $?"
"$BIN/tuner" --version
"$BIN/tuner" --help-params | head -5
version=$("$BIN/tuner" --version | sed 's/^tuner //')
for p in tuner tuner-client tuner-bench tuner-logic tuner-createlib tuner-nvrtc; do
  echo "--- $p"
  "$BIN/$p" --version 2>/dev/null | head -1 | grep -cx "$p $version"
  "$BIN/$p" --help >help; echo "exit $?"; "$BIN/$p" -h | cmp - help
  awk -v p=$p 'length($0) > 80 { print p ": line of " length($0) " columns: " $0 }' help
  # every option of the help is in the manual page and is completed
  "$BIN/$p" --help-man >man; "$BIN/$p" --help-completion bash >bash; "$BIN/$p" --help-completion=zsh >zsh
  sed 's/\\-/-/g' man >plain
  for o in $(sed -n 's/^  \(   \|-.,\) \(--[A-Za-z_-]*\).*/\2/p' help); do
    for f in plain bash zsh; do grep -q -e "$o" $f || echo "$p: $o is not in $f"; done
  done
  "$BIN/$p" --help-completion fish; echo "exit $?"
  "$BIN/$p" --help >/dev/full; echo "exit $?"
done 2>&1
