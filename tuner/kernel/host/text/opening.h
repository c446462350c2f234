#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

