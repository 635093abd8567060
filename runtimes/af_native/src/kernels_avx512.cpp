// x86-64 with AVX-512 VNNI.
#include <immintrin.h>

#define AF_NAME avx512
#define AF_WIDTH 16
#include "kernels.inl"
