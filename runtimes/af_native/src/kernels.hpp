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
};

struct Heads {
  int n_heads, n_kv_heads, head_dim, padded;
  int64_t row_stride() const { return int64_t(n_kv_heads) * 2 * padded; }
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
  void (*to_f16)(const float* values, uint16_t* into, int n);
  // Go on with the softmax of one group of heads over cache rows [first, last) of one K/V head.
  void (*attend)(const Heads& h, const float* q, const uint16_t* rows, int first, int last, const Softmax& state);
  // The same for a tile of up to 16 tokens: q [token][head of group][padded], row `at + token` is the last one seen.
  void (*attend_tile)(const Heads& h, const float* q, const uint16_t* rows, int n_tokens, int at, float* scratch,
                      const Softmax& state);
  // Merge n partial states of one head (each `stride` floats after the last) into finished values.
  void (*finish)(const Softmax& first, int64_t stride, int n_states, int head_dim, float* into);
  void (*embed)(const AfMatrix& m, int64_t row, float* into, int64_t n);
  void (*read)(const uint8_t* data, int64_t n_bytes);
};

constexpr int TILE_TOKENS = 16;
// Floats of scratch that attend_tile takes: K and V of one block, scores of all queries, and what each keeps.
inline int64_t tile_scratch(const Heads& h) {
  return int64_t(2) * BLOCK * h.padded + int64_t(TILE_TOKENS) * h.group() * (BLOCK + 1);
}

extern const Kernels kernels_portable;
#if defined(__x86_64__)
extern const Kernels kernels_avx2, kernels_avx_vnni, kernels_avx512;
#elif defined(__aarch64__)
extern const Kernels kernels_neon;
#endif

}  // namespace af
