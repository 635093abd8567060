// arm64 with the dot-product and the 8-bit matrix instructions.
#include <arm_neon.h>

#define AF_NAME neon_i8mm
#define AF_WIDTH 4
#include "kernels.inl"
