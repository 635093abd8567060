// x86-64 with AVX-VNNI.
#include <immintrin.h>

#define AF_NAME avx_vnni
#define AF_WIDTH 8
#include "kernels.inl"
