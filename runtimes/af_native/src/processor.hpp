// Which of the compiled instruction sets this processor has.
#pragma once
#include "kernels.hpp"

namespace af {
const char* instruction_sets();                    // best first, separated by spaces
const Kernels* find_kernels(const char* name);     // null if it is unknown or the processor lacks it
}  // namespace af
