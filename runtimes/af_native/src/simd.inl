// Vectors of floats, as wide as the instruction set has them, and the few operations that compilers do not derive.
// Included inside a namespace of the instruction set, so that no function is shared between sets.

#if AF_WIDTH == 16
constexpr int W = 16;
#elif AF_WIDTH == 8
constexpr int W = 8;
#else
constexpr int W = 4;
#endif
constexpr int PARTS = TILE / W;  // vectors per tile of rows

typedef float vf __attribute__((vector_size(W * 4)));
typedef int32_t vi __attribute__((vector_size(W * 4)));
typedef int8_t vb __attribute__((vector_size(W)));

inline vf load(const float* p) {
  vf v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(float* p, vf v) { __builtin_memcpy(p, &v, sizeof v); }
inline vf splat(float x) { return x - vf{}; }
#if AF_WIDTH == 16
inline vf vmax(vf a, vf b) { return (vf)_mm512_max_ps((__m512)a, (__m512)b); }
inline vf vmin(vf a, vf b) { return (vf)_mm512_min_ps((__m512)a, (__m512)b); }
#elif AF_WIDTH == 8
inline vf vmax(vf a, vf b) { return (vf)_mm256_max_ps((__m256)a, (__m256)b); }
inline vf vmin(vf a, vf b) { return (vf)_mm256_min_ps((__m256)a, (__m256)b); }
#else
inline vf vmax(vf a, vf b) { return a > b ? a : b; }
inline vf vmin(vf a, vf b) { return a < b ? a : b; }
#endif
inline void store_bytes(int8_t* p, vi v) {
  const vb bytes = __builtin_convertvector(v, vb);
  __builtin_memcpy(p, &bytes, sizeof bytes);
}
inline vf to_float(vi v) { return __builtin_convertvector(v, vf); }

constexpr float ROUND = 12582912.0f;  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
inline vi nearest(vf v) { return (vi)(v + splat(ROUND)) - (vi)splat(ROUND); }

// e^x for x <= 0 to about 2 units in the last place near 0; below -86 nothing is left.
inline vf exp_negative(vf x) {
  x = vmax(x, splat(-86.0f));
  const vf shifted = x * splat(1.44269504f) + splat(ROUND);
  const vf r = x * splat(1.44269504f) - (shifted - splat(ROUND));
  vf p = splat(1.326472538e-3f);
  p = p * r + splat(9.671512789e-3f);
  p = p * r + splat(5.550733749e-2f);
  p = p * r + splat(2.402224208e-1f);
  p = p * r + splat(6.931469776e-1f);
  p = p * r + splat(1.0f);
  return (vf)((vi)p + ((vi)shifted << 23));  // of the shifted number only the low bits, the exponent, stay
}

// 1 / (1 + e^-x), from e^-|x| so that nothing overflows.
inline vf sigmoid(vf x) {
  const vf e = exp_negative(vmin(x, -x));
  const vf one = splat(1.0f);
  return (x > vf{} ? one : e) / (one + e);
}

inline vf silu(vf x) { return x * sigmoid(x); }
// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), as a sigmoid of twice that.
inline vf gelu(vf x) { return x * sigmoid(splat(1.5957691216f) * (x + splat(0.044715f) * x * x * x)); }

inline float f16_to_f32(uint16_t half) {
  const uint32_t magnitude = uint32_t(half & 0x7fff) << 13;
  float value;
  if (magnitude >= (31u << 23)) {  // infinity or NaN
    const uint32_t bits = magnitude | 0x7f800000u;
    __builtin_memcpy(&value, &bits, 4);
  } else {
    __builtin_memcpy(&value, &magnitude, 4);
    value *= 5.192296858534828e33f;  // 2^112, the difference of the exponents; right for subnormals too
  }
  return half & 0x8000 ? -value : value;
}

inline uint16_t f32_to_f16(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  const uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return sign | 0x7e00;
  if (bits >= 0x477ff000u) return sign | 0x7c00;  // rounds to more than 65504
  if (bits < 0x38800000u) {                       // subnormal: let an addition round at its last place
    float magnitude;
    __builtin_memcpy(&magnitude, &bits, 4);
    magnitude += 0.5f;
    __builtin_memcpy(&bits, &magnitude, 4);
    return sign | uint16_t(bits - 0x3f000000u);
  }
  bits += 0xfffu + ((bits >> 13) & 1);  // to nearest, ties to even
  return sign | uint16_t((bits - 0x38000000u) >> 13);
}

#if AF_WIDTH == 16
inline vf load_f16(const uint16_t* p) { return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i*)p)); }
inline void store_f16(uint16_t* p, vf v) {
  _mm256_storeu_si256((__m256i*)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
inline float sum_of(vf v) { return _mm512_reduce_add_ps((__m512)v); }
inline float max_of(vf v) { return _mm512_reduce_max_ps((__m512)v); }
// Of four vectors, quarter sums: each 128-bit part holds one partial sum of a, b, c and d.
inline vf quarter_sums(vf a, vf b, vf c, vf d) {
  const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps((__m512)a, (__m512)b), _mm512_unpackhi_ps((__m512)a, (__m512)b));
  const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps((__m512)c, (__m512)d), _mm512_unpackhi_ps((__m512)c, (__m512)d));
  const __m512d lo = _mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
  const __m512d hi = _mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
  return (vf)_mm512_add_ps(_mm512_castpd_ps(lo), _mm512_castpd_ps(hi));
}
// Of W / 4 such vectors, the W whole sums in order.
inline vf whole_sums(const vf* quarters) {
  const __m512 a = (__m512)quarters[0], b = (__m512)quarters[1], c = (__m512)quarters[2], d = (__m512)quarters[3];
  const __m512 ab = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
  const __m512 cd = _mm512_add_ps(_mm512_shuffle_f32x4(c, d, 0x88), _mm512_shuffle_f32x4(c, d, 0xdd));
  return (vf)_mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
}
#elif AF_WIDTH == 8
inline vf load_f16(const uint16_t* p) { return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i*)p)); }
inline void store_f16(uint16_t* p, vf v) {
  _mm_storeu_si128((__m128i*)p, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
}
inline float sum_of(vf v) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
inline float max_of(vf v) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}
inline vf quarter_sums(vf a, vf b, vf c, vf d) {
  return (vf)_mm256_hadd_ps(_mm256_hadd_ps((__m256)a, (__m256)b), _mm256_hadd_ps((__m256)c, (__m256)d));
}
inline vf whole_sums(const vf* quarters) {
  const __m256 a = (__m256)quarters[0], b = (__m256)quarters[1];
  return (vf)_mm256_add_ps(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31));
}
#elif defined(__aarch64__) && !defined(AF_PORTABLE)
inline vf load_f16(const uint16_t* p) { return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p))); }
inline void store_f16(uint16_t* p, vf v) { vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v))); }
inline float sum_of(vf v) { return vaddvq_f32((float32x4_t)v); }
inline float max_of(vf v) { return vmaxvq_f32((float32x4_t)v); }
inline vf quarter_sums(vf a, vf b, vf c, vf d) {
  const float32x4_t ab = vpaddq_f32((float32x4_t)a, (float32x4_t)b), cd = vpaddq_f32((float32x4_t)c, (float32x4_t)d);
  return (vf)vpaddq_f32(ab, cd);
}
inline vf whole_sums(const vf* quarters) { return quarters[0]; }
#else
inline vf load_f16(const uint16_t* p) {
  return vf{f16_to_f32(p[0]), f16_to_f32(p[1]), f16_to_f32(p[2]), f16_to_f32(p[3])};
}
inline void store_f16(uint16_t* p, vf v) {
  for (int i = 0; i < W; i++) p[i] = f32_to_f16(v[i]);
}
inline float sum_of(vf v) { return (v[0] + v[2]) + (v[1] + v[3]); }
inline float max_of(vf v) {
  const float low = v[0] > v[1] ? v[0] : v[1], high = v[2] > v[3] ? v[2] : v[3];
  return low > high ? low : high;
}
inline vf quarter_sums(vf a, vf b, vf c, vf d) { return vf{sum_of(a), sum_of(b), sum_of(c), sum_of(d)}; }
inline vf whole_sums(const vf* quarters) { return quarters[0]; }
#endif
