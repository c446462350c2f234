static inline float g_h2f(uint16_t h) { return _cvtsh_ss(h); }
static inline uint16_t g_f2h(float f) { return (uint16_t)_cvtss_sh(f, 0); }
