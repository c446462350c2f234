# Rows of a table of `tuner sizes --csv`: -v type=f32_r: of that type of A; one=nn, omit=nt: transposes; problem=gemm|batch|both;
# strides=0: without leading dimensions and strides; hpa=0: half precision sums in half precision.
BEGIN { FS = OFS = "," }
/^#/ || NF < 3 { next }
!n { n = NF; for (i = 1; i <= NF; i++) at[$i] = i; print; next }
NF < n { next } # cut off
{
  op = tolower($at["transA"] $at["transB"]); batch = $at["batch_count"] + 0
  if (type != "" && $at["a_type"] != type) next
  if (one != "" && op != one) next
  if (omit != "" && op == omit) next
  if (problem == "gemm" && batch > 1 || problem == "batch" && batch <= 1) next
  if (strides == "0")
    for (i = 1; i <= NF; i++) for (name in at) if (at[name] == i && name ~ /^(ld[abcd]|stride_[abcd])$/) $i = ""
  if (hpa == "0" && $at["a_type"] == "f16_r") $at["compute_type"] = "f16_r"
  print
}
