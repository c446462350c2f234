# shellcheck shell=sh
# For scripts to source. bench_words GROUP: what a group of a run or a logic file is in rocblas-bench's words, as tuner-bench takes
# them: of Cijk_Ailk_Bljk_HHS_BH_00, 'transA: N, transB: N, a_type: f16_r, ...'. Status 1: its types have no words.
bench_type_word() {
  case $1 in
    S) echo f32_r;; D) echo f64_r;; C) echo f32_c;; Z) echo f64_c;; H) echo f16_r;; B) echo bf16_r;; F8) echo f8_r;; B8) echo bf8_r;;
    I8) echo i8_r;; 4xi8) echo i8x4_r;; I) echo i32_r;;
  esac
}
bench_words() {
  bw_a=N bw_b=N bw_math=0
  case $1 in Cijk_AlikC_*) bw_a=C;; Cijk_Alik_*) bw_a=T;; esac
  case $1 in *_BjlkC_*) bw_b=C;; *_Bjlk_*) bw_b=T;; esac
  case $1 in *_MX|*_MX_*) bw_math=1;; esac
  # one letter for all types (SB, HB); or input, D and compute type (HHS_BH, F8B8SS_BH, I8II_BH)
  bw_types=$(echo "$1" | sed 's/^Cijk_[^_]*_[^_]*_//; s/_[0-9]*$//; s/_BH*$//; s/^\([SDCZH]\)B_MX$/\1B/' | sed -nE '
    s/^([SDCZH])B$/\1 \1 \1 \1/p
    s/^(4xi8|I8|F8|B8|[HB])(I|F8|B8|[SHB])([SI])$/\1 \1 \2 \3/p
    s/^(F8|B8)(F8|B8)(F8|B8|[SHB])(S)$/\1 \2 \3 \4/p')
  [ -n "$bw_types" ] || return 1
  set -- $bw_types
  echo "transA: $bw_a, transB: $bw_b, a_type: $(bench_type_word "$1"), b_type: $(bench_type_word "$2"), c_type: $(bench_type_word "$3")," \
    "d_type: $(bench_type_word "$3"), compute_type: $(bench_type_word "$4"), math_mode: $bw_math"
}
