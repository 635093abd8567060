// arm64 with the dot-product instructions.
#include <arm_neon.h>

#define AF_NAME neon
#define AF_WIDTH 4
#include "kernels.inl"
