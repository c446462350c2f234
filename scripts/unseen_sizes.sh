#!/bin/sh
# unseen_sizes.sh CONFIG [N [SEED]]: prints CONFIG with N (100) problem sizes that it does not name in place of its own: layers
# of transformers and of vision networks, skinny, small, odd and batched ones, shared out among its problem types. Dimensions
# come from a list of real layers and from log-uniform ranges, drawn by SEED (1): equal arguments, equal sizes.
#
# Strata are those of strata.awk. A size belongs to the stratum that it was drawn for. M*N*K*batch is at most 2^37, so that the
# slow types stay within minutes.
set -e
[ $# -ge 1 ] && [ $# -le 3 ] || { echo "usage: unseen_sizes.sh CONFIG [N [SEED]]" >&2; exit 2; }
number() { case $2 in '' | *[!0-9]* | ??????????*) echo "unseen_sizes.sh: $1 is '$2', expected a number" >&2; exit 2;; esac; }
n=${2:-100} seed=${3:-1}
number N "$n"; number SEED "$seed"
[ "$n" -ge 1 ] && [ "$n" -le 10000 ] || { echo "unseen_sizes.sh: N is $n, expected 1 to 10000" >&2; exit 2; }
[ -f "$1" ] || { echo "unseen_sizes.sh: there is no '$1'" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2016
awk -v n="$n" -v seed="$seed" -v config="$1" "$(cat "$here/strata.awk")"'
  # Park and Miller, "Random number generators: good ones are hard to find" (1988), with the multiplier of 1993
  function uniform() { state = state * 48271 % 2147483647; return state / 2147483647 }
  function among(list,   v) { return v[1 + int(uniform() * split(list, v, " "))] }
  function log_uniform(lo, hi, step) { return int(exp(log(lo) + uniform() * log((hi + 1) / lo)) / step) * step }
  function swap(   x) { x = m; m = n_; n_ = x }

  # hidden and inner dimension and width of keys and values: BERT, GPT-2, ViT, Llama, Qwen, Gemma, Phi, Falcon, DeepSeek
  function layer(   v) {
    split(among("768:3072:768 1024:4096:1024 1280:5120:1280 1600:6400:1600 2048:16384:256 2560:10240:2560 3584:18944:512 " \
                "4096:11008:4096 4096:14336:1024 4544:18176:128 5120:13824:5120 6656:17920:6656 7168:18432:512 8192:28672:1024"), v, ":")
    hidden = v[1]; out = v[2]; x = uniform()
    if (x < 0.25) out = hidden
    else if (x < 0.5) out = hidden + 2 * v[3] # queries, keys and values at once
    else if (x < 0.6) out = v[3] }
  # t tokens: forward, gradient of the input, gradient of the weights
  function transformer(t,   form) {
    layer(); form = uniform()
    if (form < 0.4) { m = out; n_ = t; k = hidden }
    else if (form < 0.7) { m = hidden; n_ = t; k = out }
    else { m = hidden; n_ = out; k = t } }
  # a convolution as a product: channels x pixels x (channels x window)
  function vision(   images) {
    images = among("1 4 8 16 32"); m = among("64 128 256 320 512 640 1024 2048"); k = among("64 128 256 320 512 640 1024 2048") * among("1 1 9")
    n_ = images * among("3136 784 196 49 4096 1024 256"); if (uniform() < 0.3) swap() }

  function draw_large() {
    x = uniform()
    if (x < 0.5) transformer(uniform() < 0.7 ? among("256 512 1024 2048 4096 8192") : log_uniform(192, 8192, 64))
    else if (x < 0.7) vision()
    else { m = log_uniform(192, 16384, 8); n_ = log_uniform(192, 16384, 8); k = log_uniform(64, 16384, 8) } }
  function draw_skinny(   t) {
    t = uniform() < 0.6 ? among("1 2 4 8 16 32 64 128") : log_uniform(1, 128, 1)
    layer(); m = out; n_ = t; k = hidden
    if (uniform() < 0.3) { m = hidden; k = out }
    if (uniform() < 0.4) swap() }
  function draw_small() { m = log_uniform(16, 1024, 8); n_ = log_uniform(16, 1024, 8); k = log_uniform(16, 2048, 8) }
  function draw_odd() {
    x = uniform()
    if (x < 0.25) transformer(among("197 257 577 785") * among("1 1 2 4 8"))
    else if (x < 0.4) { layer(); m = among("30522 32003 50257 151643"); n_ = among("128 256 512 1024"); k = hidden }
    else { m = log_uniform(129, 8192, 1); n_ = log_uniform(129, 8192, 1); k = log_uniform(17, 8192, 1) } }
  function draw_batched(   length_, head) {
    x = uniform()
    if (x < 0.6) { # attention: queries x keys, weights x values
      b = among("8 12 16 32 64 128 256"); length_ = among("64 128 197 256 512 1024 2048"); head = among("64 64 80 96 128 128")
      m = length_; n_ = length_; k = head
      if (uniform() < 0.5) { m = head; k = length_ }
    } else if (x < 0.75) { layer(); b = among("4 8 16"); m = out; n_ = log_uniform(8, 512, 8); k = hidden } # experts
    else { b = log_uniform(2, 256, 1); m = log_uniform(16, 1024, 8); n_ = log_uniform(16, 1024, 8); k = log_uniform(16, 1024, 8) } }

  # the config names this size, or a range around it
  function named(   i, r) {
    for (i = 1; i <= n_boxes; i++) {
      split(box[i], r, " ")
      if (m >= r[1] && m <= r[2] && n_ >= r[3] && n_ <= r[4] && b >= r[5] && b <= r[6] && k >= r[7] && k <= r[8]) return 1 }
    return 0 }
  function draw(want,   tries) {
    for (tries = 0; tries < 10000; tries++) {
      b = 1
      if (want == "large") draw_large()
      else if (want == "skinny") draw_skinny()
      else if (want == "small") draw_small()
      else if (want == "odd") draw_odd()
      else draw_batched()
      if (m < 1 || n_ < 1 || k < 1 || m * n_ * k * b > 2 ^ 37 || stratum(m, n_, b, k) != want) continue
      if ((m, n_, b, k) in drawn || named()) continue
      drawn[m, n_, b, k] = 1
      return m ", " n_ ", " b ", " k }
    print "unseen_sizes.sh: " config ": no more sizes for stratum " want >"/dev/stderr"
    bad = 1; exit 1 }

  # sizes that the config names, as boxes: low and high of M, N, batch, K
  function name_sizes(text,   part, v, i, d, line, depth, c) {
    gsub(/[ \t]/, "", text); line = ""; d = 0
    if (text ~ /^\[\[/) { # Range: lists of low, low and high, or low, step, ..., high
      text = substr(text, 2, length(text) - 2)
      while (match(text, /\[[0-9,]*\]/) && d < 4) {
        i = split(substr(text, RSTART + 1, RLENGTH - 2), v, ","); line = line v[1] " " v[i] " "; d++
        text = substr(text, RSTART + RLENGTH) }
    } else {
      gsub(/[][]/, "", text); i = split(text, v, ",")
      for (d = 0; d < 4 && d < i; d++) line = line v[d + 1] " " v[d + 1] " " }
    if (d == 4) box[++n_boxes] = line }

  { text[NR] = $0 }
  /^ *- (Exact|Range): *\[/ { line = $0; sub(/#.*/, "", line); sub(/^[^:]*: */, "", line); sub(/ *$/, "", line); name_sizes(line) }
  /^ *- ProblemSizes:/ { groups++ }
  END {
    if (bad) exit 1
    if (!groups) { print "unseen_sizes.sh: " config ": no \"- ProblemSizes:\" with a list below it" >"/dev/stderr"; exit 2 }
    state = 1 + (seed * 7919 + 12345) % 2147483645
    for (i = 0; i < 10; i++) uniform()
    of = split("large skinny odd large small batched large skinny large odd small batched large skinny large odd small batched large skinny", cycle, " ")
    for (i = 0; i < n; i++) { want = cycle[i % of + 1]; g = (turn[want]++ + i) % groups; sizes[g] = sizes[g] draw(want) "\n" }
    print "unseen_sizes.sh: " config ": " n " sizes drawn with seed " seed >"/dev/stderr"
    print "# problem sizes: " n " drawn with seed " seed " (unseen_sizes.sh)"
    for (i = 1; i <= NR; i++) {
      if (inside) {
        match(text[i], /^ */); if (RLENGTH > inside - 1 && text[i] ~ /^ *(-|#)/) continue
        inside = 0 }
      print text[i]
      if (text[i] !~ /^ *- ProblemSizes:/) continue
      match(text[i], /^ */); inside = RLENGTH + 2
      count = split(sizes[at++], v, "\n")
      for (j = 1; j < count; j++) printf "%*s- Exact: [%s]\n", inside, "", v[j] } }' "$1"
