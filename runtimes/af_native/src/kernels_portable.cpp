// Plain C++ for every processor; vectors of 4 are lowered by the compiler.
#define AF_PORTABLE
#define AF_NAME portable
#define AF_WIDTH 4
#include "kernels.inl"
