// x86-64 with AVX2.
#include <immintrin.h>

#define AF_NAME avx2
#define AF_WIDTH 8
#include "kernels.inl"
