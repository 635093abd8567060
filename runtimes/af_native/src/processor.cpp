#include "processor.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace af {
namespace {

struct Set {
  const Kernels* kernels;
  bool is_there;
};

#if defined(__x86_64__)

struct Cpuid {
  unsigned a = 0, b = 0, c = 0, d = 0;
  Cpuid(unsigned leaf, unsigned sub) { __get_cpuid_count(leaf, sub, &a, &b, &c, &d); }
};

bool has(unsigned word, int bit) { return word >> bit & 1; }

// Registers that the operating system saves; it must do so before a program may use them.
unsigned saved_registers() {
  if (!has(Cpuid(1, 0).c, 27)) return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

struct Sets {
  Set all[4];
  Sets() {
    const unsigned saved = saved_registers();
    const Cpuid one(1, 0), seven(7, 0), more(7, 1);
    const bool avx2 = (saved & 0x06) == 0x06 && has(one.c, 12) && has(one.c, 29) && has(seven.b, 5);  // fma f16c avx2
    const bool wide = avx2 && (saved & 0xe6) == 0xe6 && has(seven.b, 16) && has(seven.b, 17) && has(seven.b, 30) &&
                      has(seven.b, 31) && has(seven.c, 11);  // avx512 f dq bw vl vnni
    all[0] = {&kernels_avx512, wide};
    all[1] = {&kernels_avx_vnni, avx2 && has(more.a, 4)};
    all[2] = {&kernels_avx2, avx2};
    all[3] = {&kernels_portable, true};
  }
};

#elif defined(__aarch64__)

struct Sets {
  Set all[3];
  Sets() {
    const bool dot = getauxval(AT_HWCAP) >> 20 & 1, i8mm = getauxval(AT_HWCAP2) >> 13 & 1;  // HWCAP_ASIMDDP, HWCAP2_I8MM
    all[0] = {&kernels_neon_i8mm, dot && i8mm};
    all[1] = {&kernels_neon, dot};
    all[2] = {&kernels_portable, true};
  }
};

#else

struct Sets {
  Set all[1] = {{&kernels_portable, true}};
};

#endif

const Sets& sets() {
  static const Sets found;
  return found;
}

}  // namespace

const char* instruction_sets() {
  static const struct Names {
    char text[128] = "";
    Names() {
      for (const Set& set : sets().all) {
        if (!set.is_there) continue;
        if (text[0]) std::strcat(text, " ");
        std::strcat(text, set.kernels->name);
      }
    }
  } names;
  return names.text;
}

const Kernels* find_kernels(const char* name) {
  for (const Set& set : sets().all) {
    if (set.is_there && std::strcmp(set.kernels->name, name) == 0) return set.kernels;
  }
  return nullptr;
}

}  // namespace af
