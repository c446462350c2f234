template <int BYTES> struct g_Raw { unsigned v[BYTES / 4]; };
template <> struct g_Raw<2> { unsigned short v[1]; };
template <> struct g_Raw<1> { unsigned char v[1]; };
template <int HINT> struct g_Hint;
