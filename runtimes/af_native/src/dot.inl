// Products of one block: 16 rows by 32 columns of codes with 32 activations, as 16 sums of integers.
//
// A block of codes is eight groups of four columns; a group is 64 bytes, four consecutive columns of row 0, of row 1 …
// In 4 bits, group g lies in the low half and group g + 4 in the high half of the same 64 bytes.
// `Codes` is a block unpacked once and used for every token; SHIFT is what unpacking took off each code.

#if AF_WIDTH == 16
struct Codes {
  __m512i group[8];
};
template <int BITS>
constexpr int SHIFT = 0;

template <int BITS>
inline Codes unpack(const uint8_t* p) {
  Codes c;
  const __m512i low = _mm512_set1_epi8(15);
  for (int i = 0; i < (BITS == 8 ? 8 : 4); i++) {
    const __m512i v = _mm512_loadu_si512(p + 64 * i);
    if (BITS == 8) {
      c.group[i] = v;
    } else {
      c.group[i] = _mm512_and_si512(v, low);
      c.group[i + 4] = _mm512_and_si512(_mm512_srli_epi16(v, 4), low);
    }
  }
  return c;
}

template <int BITS>
inline void dot(const Codes& c, const int8_t* x, vi* sums) {
  __m512i sum = _mm512_setzero_si512();
  for (int g = 0; g < 8; g++) {
    int32_t four;
    __builtin_memcpy(&four, x + 4 * g, 4);
    sum = _mm512_dpbusd_epi32(sum, c.group[g], _mm512_set1_epi32(four));
  }
  sums[0] = (vi)sum;
}

#define AF_HAS_ADD_DOTS
template <int N, int T>
inline void add_dots(const uint8_t* data, int64_t apart, const int8_t* const* x, vi (*sums)[T][PARTS]) {
  for (int g = 0; g < 8; g++) {
    __m512i codes[T];
    for (int t = 0; t < T; t++) {
      codes[t] = _mm512_loadu_si512(data + t * apart + 64 * g);
      asm("" : "+v"(codes[t]));  // or the compiler loads it again for every input
    }
    for (int r = 0; r < N; r++) {
      int32_t four;
      __builtin_memcpy(&four, x[r] + 4 * g, 4);
      const __m512i spread = _mm512_set1_epi32(four);
      for (int t = 0; t < T; t++) sums[r][t][0] = (vi)_mm512_dpbusd_epi32((__m512i)sums[r][t][0], codes[t], spread);
    }
  }
}

#elif AF_WIDTH == 8
struct Codes {
  __m256i group[8][2];
};
template <int BITS>
constexpr int SHIFT = 0;

template <int BITS>
inline Codes unpack(const uint8_t* p) {
  Codes c;
  const __m256i low = _mm256_set1_epi8(15);
  for (int i = 0; i < (BITS == 8 ? 8 : 4); i++) {
    for (int half = 0; half < 2; half++) {
      const __m256i v = _mm256_loadu_si256((const __m256i*)(p + 64 * i + 32 * half));
      if (BITS == 8) {
        c.group[i][half] = v;
      } else {
        c.group[i][half] = _mm256_and_si256(v, low);
        c.group[i + 4][half] = _mm256_and_si256(_mm256_srli_epi16(v, 4), low);
      }
    }
  }
  return c;
}

inline __m256i four_of(const int8_t* x) {
  int32_t four;
  __builtin_memcpy(&four, x, 4);
  return _mm256_set1_epi32(four);
}

#if defined(__AVXVNNI__)
template <int BITS>
inline void dot(const Codes& c, const int8_t* x, vi* sums) {
  for (int half = 0; half < 2; half++) {
    __m256i sum = _mm256_setzero_si256();
    for (int g = 0; g < 8; g++) sum = _mm256_dpbusd_avx_epi32(sum, c.group[g][half], four_of(x + 4 * g));
    sums[half] = (vi)sum;
  }
}

#define AF_HAS_ADD_DOTS
template <int N, int T>
inline void add_dots(const uint8_t* data, int64_t apart, const int8_t* const* x, vi (*sums)[T][PARTS]) {
  for (int g = 0; g < 8; g++) {
    for (int t = 0; t < T; t++) {
      const __m256i* at = (const __m256i*)(data + t * apart + 64 * g);
      const __m256i low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
      for (int r = 0; r < N; r++) {
        const __m256i four = four_of(x[r] + 4 * g);
        sums[r][t][0] = (vi)_mm256_dpbusd_avx_epi32((__m256i)sums[r][t][0], low, four);
        sums[r][t][1] = (vi)_mm256_dpbusd_avx_epi32((__m256i)sums[r][t][1], high, four);
      }
    }
  }
}
#else
// Pairs of products are added in 16 bits: eight groups of 4-bit codes stay below 8 * 2 * 15 * 127 = 30480. Codes of
// 8 bits are taken as two halves of 4, so that nothing saturates.
template <int BITS>
inline void dot(const Codes& c, const int8_t* x, vi* sums) {
  const __m256i low = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
  for (int half = 0; half < 2; half++) {
    __m256i lows = _mm256_setzero_si256(), highs = _mm256_setzero_si256();
    for (int g = 0; g < 8; g++) {
      const __m256i codes = c.group[g][half], four = four_of(x + 4 * g);
      if (BITS == 8) {
        lows = _mm256_add_epi16(lows, _mm256_maddubs_epi16(_mm256_and_si256(codes, low), four));
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(codes, 4), low);
        highs = _mm256_add_epi16(highs, _mm256_maddubs_epi16(high, four));
      } else {
        lows = _mm256_add_epi16(lows, _mm256_maddubs_epi16(codes, four));
      }
    }
    __m256i sum = _mm256_madd_epi16(lows, ones);
    if (BITS == 8) sum = _mm256_add_epi32(sum, _mm256_slli_epi32(_mm256_madd_epi16(highs, ones), 4));
    sums[half] = (vi)sum;
  }
}
#endif

#elif defined(__ARM_FEATURE_DOTPROD) && !defined(AF_PORTABLE)
struct Codes {
  int8x16_t group[8][4];
};
template <int BITS>
constexpr int SHIFT = BITS == 8 ? 128 : 8;  // the instruction takes signed codes

template <int BITS>
inline Codes unpack(const uint8_t* p) {
  Codes c;
  for (int i = 0; i < (BITS == 8 ? 8 : 4); i++) {
    for (int part = 0; part < 4; part++) {
      const uint8x16_t v = vld1q_u8(p + 64 * i + 16 * part);
      if (BITS == 8) {
        c.group[i][part] = vreinterpretq_s8_u8(veorq_u8(v, vdupq_n_u8(128)));
      } else {
        const int8x16_t eight = vdupq_n_s8(8);
        c.group[i][part] = vsubq_s8(vreinterpretq_s8_u8(vandq_u8(v, vdupq_n_u8(15))), eight);
        c.group[i + 4][part] = vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(v, 4)), eight);
      }
    }
  }
  return c;
}

template <int BITS>
inline void dot(const Codes& c, const int8_t* x, vi* sums) {
  const int8x16_t first = vld1q_s8(x), second = vld1q_s8(x + 16);
  for (int part = 0; part < 4; part++) {
    int32x4_t sum = vdupq_n_s32(0);
    sum = vdotq_laneq_s32(sum, c.group[0][part], first, 0);
    sum = vdotq_laneq_s32(sum, c.group[1][part], first, 1);
    sum = vdotq_laneq_s32(sum, c.group[2][part], first, 2);
    sum = vdotq_laneq_s32(sum, c.group[3][part], first, 3);
    sum = vdotq_laneq_s32(sum, c.group[4][part], second, 0);
    sum = vdotq_laneq_s32(sum, c.group[5][part], second, 1);
    sum = vdotq_laneq_s32(sum, c.group[6][part], second, 2);
    sum = vdotq_laneq_s32(sum, c.group[7][part], second, 3);
    sums[part] = (vi)sum;
  }
}

#if defined(__ARM_FEATURE_MATMUL_INT8)
// Two inputs at once: an instruction multiplies 2 rows by 2 inputs over 8 columns.
#define AF_HAS_PAIRS
struct Pairs {
  int8x16_t of[4][8];  // [8 columns][2 rows]
};

inline Pairs paired(const Codes& c) {
  Pairs pairs;
  for (int g = 0; g < 4; g++) {
    for (int part = 0; part < 4; part++) {
      const int32x4_t left = vreinterpretq_s32_s8(c.group[2 * g][part]);
      const int32x4_t right = vreinterpretq_s32_s8(c.group[2 * g + 1][part]);
      pairs.of[g][2 * part] = vreinterpretq_s8_s32(vzip1q_s32(left, right));
      pairs.of[g][2 * part + 1] = vreinterpretq_s8_s32(vzip2q_s32(left, right));
    }
  }
  return pairs;
}

inline void dot_two(const Pairs& c, const int8_t* x, const int8_t* y, vi* of_x, vi* of_y) {
  int32x4_t sums[8];
  for (int i = 0; i < 8; i++) sums[i] = vdupq_n_s32(0);
  for (int g = 0; g < 4; g++) {
    const int8x16_t both = vcombine_s8(vld1_s8(x + 8 * g), vld1_s8(y + 8 * g));
    for (int i = 0; i < 8; i++) sums[i] = vmmlaq_s32(sums[i], c.of[g][i], both);
  }
  for (int part = 0; part < 4; part++) {
    of_x[part] = (vi)vuzp1q_s32(sums[2 * part], sums[2 * part + 1]);
    of_y[part] = (vi)vuzp2q_s32(sums[2 * part], sums[2 * part + 1]);
  }
}
#endif

#else
struct Codes {
  int16_t column[BLOCK][TILE];
};
template <int BITS>
constexpr int SHIFT = 0;

template <int BITS>
inline Codes unpack(const uint8_t* p) {
  Codes c;
  for (int g = 0; g < (BITS == 8 ? 8 : 4); g++) {
    for (int row = 0; row < TILE; row++) {
      for (int k = 0; k < 4; k++) {
        const uint8_t byte = p[64 * g + 4 * row + k];
        c.column[4 * g + k][row] = BITS == 8 ? byte : byte & 15;
        if (BITS == 4) c.column[4 * g + 16 + k][row] = byte >> 4;
      }
    }
  }
  return c;
}

template <int BITS>
inline void dot(const Codes& c, const int8_t* x, vi* sums) {
  int32_t sum[TILE] = {};
  for (int k = 0; k < BLOCK; k++) {
    for (int row = 0; row < TILE; row++) sum[row] += c.column[k][row] * x[k];
  }
  __builtin_memcpy(sums, sum, sizeof sum);
}
#endif

// A block made ready for M inputs, which are taken STEP at a time, `stride` bytes from one to the next.
template <int BITS, int M, bool IS_PAIRED = false>
struct Block {
  static constexpr int STEP = 1;
  const Codes codes;
  explicit Block(const uint8_t* data) : codes(unpack<BITS>(data)) {}
  void dots(const int8_t* x, int64_t, vi (*sums)[PARTS]) const { dot<BITS>(codes, x, sums[0]); }
};

#if defined(AF_HAS_PAIRS)
template <int BITS, int M>
struct Block<BITS, M, true> {
  static constexpr int STEP = 2;
  const Pairs codes;
  explicit Block(const uint8_t* data) : codes(paired(unpack<BITS>(data))) {}
  void dots(const int8_t* x, int64_t stride, vi (*sums)[PARTS]) const {
    dot_two(codes, x, x + stride, sums[0], sums[1]);
  }
};
template <int M>
constexpr bool IS_PAIRED = M % 2 == 0;
#else
template <int M>
constexpr bool IS_PAIRED = false;
#endif

// Add to the sums of N inputs their products with T blocks of codes in 8 bits, each `apart` bytes behind the last one.
#if defined(AF_HAS_PAIRS)
template <int N, int T>
inline void add_dots(const uint8_t* data, int64_t apart, const int8_t* const* x, vi (*sums)[T][PARTS]) {
  for (int t = 0; t < T; t++) {
    const Codes codes = unpack<8>(data + t * apart);
    const Pairs pairs = paired(codes);
    for (int r = 0; r < N; r += 2) {
      vi dots[2][PARTS];
      if (r + 1 < N) dot_two(pairs, x[r], x[r + 1], dots[0], dots[1]);
      else dot<8>(codes, x[r], dots[0]);
      for (int i = r; i < r + 2 && i < N; i++) {
        for (int part = 0; part < PARTS; part++) sums[i][t][part] += dots[i - r][part];
      }
    }
  }
}
#elif !defined(AF_HAS_ADD_DOTS)
template <int N, int T>
inline void add_dots(const uint8_t* data, int64_t apart, const int8_t* const* x, vi (*sums)[T][PARTS]) {
  for (int t = 0; t < T; t++) {
    const Codes codes = unpack<8>(data + t * apart);
    for (int r = 0; r < N; r++) {
      vi dots[PARTS];
      dot<8>(codes, x[r], dots);
      for (int part = 0; part < PARTS; part++) sums[r][t][part] += dots[part];
    }
  }
}
#endif
