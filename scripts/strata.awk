# The strata of problem sizes in tables. The first that holds:
#   batched  batch above 1
#   skinny   M or N at most 128, and another of M, N, K at least 8 times as long
#   odd      M, N or K is no multiple of 8
#   small    M*N*K below 1024^3
#   large    all others
function stratum(m, n, batch, k,   short_, long_) {
  if (batch > 1) return "batched"
  short_ = m < n ? m : n; long_ = m > n ? m : n
  if (k > long_) long_ = k
  if (short_ <= 128 && long_ >= 8 * short_) return "skinny"
  if (m % 8 || n % 8 || k % 8) return "odd"
  return m * n * k < 1024 * 1024 * 1024 ? "small" : "large" }
