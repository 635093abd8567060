// What an instruction set offers to the engine. Each kernels_*.cpp compiles kernels.inl once with flags of its own.
#pragma once
#include "af.h"

namespace af {

constexpr int TILE = 16;   // rows of a matrix that are computed together
constexpr int SEGMENT = 128;  // cache rows that one thread attends to at once; parts are merged in order
constexpr int BLOCK = 32;  // columns that share a scale, and cache rows that share a softmax step

// Activations of a step in the form that products read: 8 bits per value and a scale per block, and in f32.
struct Activations {
  int8_t* codes;  // [row][n_columns]
  float* scale;   // [row][n_columns / 32]
  float* sum;     // [row][n_columns / 32]: scale * sum of codes
  float* values;  // [row][n_columns]: read by f32 matrices only
  int64_t n_columns;
};

// One head group's running softmax: maximum, sum and weighted values per query head.
struct Softmax {
  float* top;    // [head]
  float* sum;    // [head]
  float* mixed;  // [head][padded_head_dim]
  __attribute__((always_inline)) Softmax next(int64_t stride) const {
    return {top + stride, sum + stride, mixed + stride};
  }
};

struct Heads {
  int n_heads, n_kv_heads, head_dim, padded;
  bool is_int8;  // of the cache
  // A cache in 16 bits: values from one row to the next.
  int64_t row_stride() const { return int64_t(n_kv_heads) * 2 * padded; }
  // A cache in 8 bits: bytes of a block of one K/V head, with scales of K and V; and from one block to the next.
  int64_t block_bytes() const { return int64_t(BLOCK) * (2 * padded + 4); }
  int64_t block_stride() const { return n_kv_heads * block_bytes(); }
  // Bytes before the rows of a K/V head, in either.
  int64_t head_offset(int kv) const { return kv * (is_int8 ? block_bytes() : int64_t(4) * padded); }
  int group() const { return n_heads / n_kv_heads; }
};

struct Kernels {
  const char* name;
  // Round n values (a multiple of 32) to 8 bits per block into one row of activations.
  void (*quantise)(const float* values, const Activations& into, int64_t row, int64_t n);
  // Scale a row to a root mean square of 1 and by the weight; columns n … padded become 0.
  void (*norm)(const float* row, const float* weight, float eps, float* into, int64_t n, int64_t padded);
  // Tiles [first, last) of a product for rows [0, n_rows): into[row * stride + tile * 16], stored or added.
  void (*product)(const AfMatrix& m, const Activations& in, int n_rows, int first, int last, float* into,
                  int64_t stride, bool is_added);
  // SiLU(gate) * up for blocks of 32 outputs [first, last), as activations of the next product.
  void (*gated)(const AfMatrix& m, const Activations& in, int n_rows, int first, int last, const Activations& into,
                bool is_f32_next);
  // Turn one head by its position's angles and scale it; the rest of `into` up to padded becomes 0.
  void (*rotate)(const float* head, const float* angles, float scale, int head_dim, float* into, int padded);
  // Write K and V of one head into row `at` of its cache rows.
  void (*keep)(const Heads& h, const float* key, const float* value, uint8_t* rows, int at);
  // Make queries [from, from + n) of `q`, [query][padded], ready in scratch, for `attend` to find.
  void (*take)(const Heads& h, const float* q, int from, int n, float* scratch);
  // Go on with the softmax of one group of heads, whose queries begin at `from`, over cache rows [first, last) of one K/V
  // head; first is a multiple of SEGMENT, and each SEGMENT has a state of its own, part_stride floats behind the last
  // one's. Scratch as below. `then` are rows that come next, to be fetched by the way; null = none.
  void (*attend)(const Heads& h, const float* q, int from, const uint8_t* rows, int first, int last, float* scratch,
                 const Softmax& state, int64_t part_stride, const uint8_t* then);
  // The same for a tile of up to 16 tokens: q [token][head of group][padded], row `at + token` is the last one seen.
  void (*attend_tile)(const Heads& h, const float* q, const uint8_t* rows, int n_tokens, int at, float* scratch,
                      const Softmax& state);
  // Merge n partial states of one head (each `stride` floats after the last) into finished values.
  void (*finish)(const Softmax& first, int64_t stride, int n_states, int head_dim, float* into);
  void (*embed)(const AfMatrix& m, int64_t row, float* into, int64_t n);
  void (*read)(const uint8_t* data, int64_t n_bytes);
};

constexpr int TILE_TOKENS = 16;
// Queries that a thread has at hand: of a tile of tokens and one group of heads, or of one token and all heads.
inline int64_t max_queries(const Heads& h) {
  const int64_t tile = int64_t(TILE_TOKENS) * h.group();
  return tile > h.n_heads ? tile : h.n_heads;
}
// Floats of scratch that attention takes. In 16 bits: K and V of one block, scores of all queries, and what each keeps.
// In 8 bits: all queries as activations.
inline int64_t tile_scratch(const Heads& h) {
  const int64_t queries = max_queries(h);
  if (h.is_int8) return queries * (h.padded / 4 + 2 * h.padded / BLOCK);
  return int64_t(2) * BLOCK * h.padded + queries * (BLOCK + 1);
}

// Static, so that no file calls another instruction set's copy.
static inline void fetch(const uint8_t* data, int64_t n_bytes) {
  for (int64_t i = 0; i < n_bytes; i += 64) __builtin_prefetch(data + i);
}

static inline int64_t tile_bytes(const AfMatrix& m) {
  const int64_t n = m.n_blocks;
  switch (m.form) {
    case AF_F32: return n * BLOCK * TILE * 4;
    case AF_INT8: return (n * (BLOCK * TILE + 2 * TILE) + 63) / 64 * 64;
    case AF_INT4: return (n * (BLOCK * TILE / 2 + 2 * TILE) + 63) / 64 * 64;
    default: return (n * (BLOCK * TILE / 2 + 4 * TILE) + 63) / 64 * 64;
  }
}

extern const Kernels kernels_portable;
#if defined(__x86_64__)
extern const Kernels kernels_avx2, kernels_avx_vnni, kernels_avx512;
#elif defined(__aarch64__)
extern const Kernels kernels_neon, kernels_neon_i8mm;
#endif

}  // namespace af
