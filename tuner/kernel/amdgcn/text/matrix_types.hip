
/* ---- matrix instructions ---- */

typedef _Float16 g_h4 __attribute__((ext_vector_type(4)));
typedef _Float16 g_h8 __attribute__((ext_vector_type(8)));
typedef _Float16 g_h16 __attribute__((ext_vector_type(16)));
typedef short g_s2 __attribute__((ext_vector_type(2)));
typedef short g_s4 __attribute__((ext_vector_type(4)));
typedef short g_s8 __attribute__((ext_vector_type(8)));
typedef short g_s16 __attribute__((ext_vector_type(16)));
typedef float g_f2 __attribute__((ext_vector_type(2)));
typedef int g_i2 __attribute__((ext_vector_type(2)));
typedef int g_i4 __attribute__((ext_vector_type(4)));
