#!/bin/sh
# device_profile.sh OUT LIBRARY [M,N,K...]: the profiler's picture of the kernel that LIBRARY (half precision, NN) chooses for a size,
# beside that of the fastest kernel of cuBLAS: time, share of the tensor pipe's cycles, bytes of the last-level cache and of DRAM,
# active warps, and the three reasons for which warps waited most. Kernels of cuBLAS that add parts of K are left out, so that its calls may
# take longer than the time that is printed. ncu leaves the clocks alone. Needs ncu with access to counters.
# Writes OUT/profile.csv (a row of each kernel that ncu saw) and OUT/profile.txt, which it prints. Without sizes: 1024^3, 4096^3, 8192^3,
# 128x4096x4096 and 512x512x16384. Exit code 1: a size has no kernel that ncu saw.
# Environment: BENCH (build/bin/tuner-bench), NCU, LIMIT (seconds of a size, 60), CHIP (gh100: whose metrics are asked for).
set -e
[ $# -ge 2 ] || { echo "usage: device_profile.sh OUT LIBRARY [M,N,K...]" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
out=$1 library=$2
shift 2
[ $# -gt 0 ] || set -- 1024,1024,1024 4096,4096,4096 8192,8192,8192 128,4096,4096 512,512,16384
for size in "$@"; do
  case $size in
    *[!0-9,]* | *,*,*,* | ,* | *, | *,,*) ok=;;
    *,*,*) ok=1;;
    *) ok=;;
  esac
  [ -n "$ok" ] || { echo "device_profile.sh: the size is '$size', expected M,N,K" >&2; exit 2; }
done
bin=$root/build/bin; [ -d "$bin" ] || bin=${root%/share/tuner}/bin # installed
bench=${BENCH:-$bin/tuner-bench}
PATH=$PATH:/usr/local/cuda/bin
ncu=${NCU:-$(command -v ncu || true)}
[ -x "$bench" ] || { echo "device_profile.sh: there is no '$bench'" >&2; exit 2; }
[ -n "$ncu" ] || { echo "device_profile.sh: there is no ncu" >&2; exit 2; }
mkdir -p "$out"
"$ncu" --query-metrics --chip "${CHIP:-gh100}" 2>/dev/null | awk '{ print $1 }' >"$out/metrics.known"
known() { grep -q "^$1\$" "$out/metrics.known"; }
metrics=gpu__time_duration.sum
if known sm__pipe_tensor_cycles_active; then metrics=$metrics,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed; fi
for m in dram__bytes_read dram__bytes_write lts__t_bytes; do
  if known "$m"; then metrics=$metrics,$m.sum; fi
done
metrics=$metrics,sm__warps_active.avg.per_cycle_active
for m in $(grep '^smsp__average_warps_issue_stalled_.*_per_issue_active$' "$out/metrics.known" | grep -v not_issued || true); do metrics=$metrics,$m.ratio; done
: >"$out/profile.csv"
for size in "$@"; do
  echo "$size" | awk -F, '{ printf "- {rocblas_function: rocblas_gemm_ex, transA: N, transB: N, a_type: f16_r, b_type: f16_r, c_type: f16_r, d_type: f16_r, " \
    "compute_type: f32_r, M: %d, N: %d, K: %d, lda: %d, ldb: %d, ldc: %d, ldd: %d, alpha: 1, beta: 0}\n", $1, $2, $3, $1, $3, $1, $1 }' >"$out/size.yaml"
  timeout "${LIMIT:-60}" "$ncu" --clock-control none --csv --page raw --print-units base --launch-count 80 --metrics "$metrics" \
    --kernel-name 'regex:^(Cijk|nvjet|sm90|sm80|cutlass|void cutlass|void gemm|splitK|void splitK)' \
    "$bench" --compare "$library" "$library" --peer cublas -i 6 "$out/size.yaml" >"$out/ncu.txt" 2>&1 || tail -2 "$out/ncu.txt"
  sed -n '/^"ID"/,$p' "$out/ncu.txt" | grep '^"' | sed "s/^/\"$size\",/" >>"$out/profile.csv" || true
done
python3 - "$out/profile.csv" <<'PYTHON' >"$out/profile.txt"
import csv, sys

def value(text):
    """The number of a cell, which may have commas; None: it is none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


rows, head, best = list(csv.reader(open(sys.argv[1]))), None, {}
for row in rows:
    if len(row) > 1 and row[1] == "ID":
        head = row
    elif head and len(row) == len(head) and row[1].isdigit():
        cell = dict(zip(head[1:], row[1:]))
        name = cell["Kernel Name"]
        time = value(cell["gpu__time_duration.sum"]) or 0
        key = (row[0], "tuner" if name.startswith("Cijk") else "cuBLAS")
        if time > 0 and "splitKreduce" not in name and (key not in best or time < best[key][0]):
            best[key] = (time, name, cell)
for (size, side), (time, name, cell) in best.items():
    number = {k: value(v) for k, v in cell.items() if value(v) is not None}
    text = f"{size} {side}: {time / 1000:.1f} us"
    for k, v in number.items():
        if k == "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed":
            text += f", tensor pipe {v:.0f} %"
        elif k in ("dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum"):
            text += f", {k.split('.')[0]} {v / 1048576:.0f} MiB"
    text += f", {number.get('sm__warps_active.avg.per_cycle_active', 0):.1f} warps"
    stalls = sorted(((v, k) for k, v in number.items() if "stalled" in k), reverse=True)[:3]
    text += "; waits: " + ", ".join(f"{k.split('stalled_')[1].split('_per_issue')[0]} {v:.1f}" for v, k in stalls)
    print(text)
    print("    " + name[:200])
PYTHON
cat "$out/profile.txt"
for size in "$@"; do
  grep -q "^$size " "$out/profile.txt" || { echo "device_profile.sh: ncu saw no kernel of $size (the end of its last output: $(tail -1 "$out/ncu.txt"))" >&2; exit 1; }
done
