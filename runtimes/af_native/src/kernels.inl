// All kernels of one instruction set. The file that includes this defines AF_NAME and AF_WIDTH.
#include "kernels.hpp"

namespace af {
namespace AF_NAME {
namespace {

#include "simd.inl"
#include "dot.inl"

constexpr float LEAST = -1e30f;  // below every score; infinities would make NaN of their difference

// ---- activations ----

void quantise(const float* values, const Activations& into, int64_t row, int64_t n) {
  int8_t* codes = into.codes + row * into.n_columns;
  const int64_t n_blocks = into.n_columns / BLOCK;
  for (int64_t b = 0; b < n / BLOCK; b++) {
    vf x[BLOCK / W], greatest = vf{};
    for (int i = 0; i < BLOCK / W; i++) {
      x[i] = load(values + b * BLOCK + i * W);
      greatest = vmax(greatest, vmax(x[i], -x[i]));
    }
    const float amax = max_of(greatest), scale = amax / 127.0f;
    const vf inverse = splat(amax > 1e-30f ? 127.0f / amax : 0.0f);
    vi total = vi{};
    for (int i = 0; i < BLOCK / W; i++) {
      const vi q = nearest(x[i] * inverse);
      total += q;
      const vb bytes = __builtin_convertvector(q, vb);
      __builtin_memcpy(codes + b * BLOCK + i * W, &bytes, sizeof bytes);
    }
    into.scale[row * n_blocks + b] = scale;
    into.sum[row * n_blocks + b] = scale * sum_of(to_float(total));
  }
}

void norm(const float* row, const float* weight, float eps, float* into, int64_t n, int64_t padded) {
  vf squares = vf{};
  int64_t i = 0;
  for (; i + W <= n; i += W) squares += load(row + i) * load(row + i);
  float sum = sum_of(squares);
  for (; i < n; i++) sum += row[i] * row[i];
  const float scale = 1.0f / __builtin_sqrtf(sum / float(n) + eps);
  for (i = 0; i + W <= n; i += W) store(into + i, load(row + i) * splat(scale) * load(weight + i));
  for (; i < n; i++) into[i] = row[i] * scale * weight[i];
  for (; i < padded; i++) into[i] = 0.0f;
}

// ---- products ----

inline int64_t tile_bytes(const AfMatrix& m) {
  const int64_t n = m.n_blocks;
  switch (m.form) {
    case AF_F32: return n * BLOCK * TILE * 4;
    case AF_INT8: return (n * (BLOCK * TILE + 2 * TILE) + 63) / 64 * 64;
    case AF_INT4: return (n * (BLOCK * TILE / 2 + 2 * TILE) + 63) / 64 * 64;
    default: return (n * (BLOCK * TILE / 2 + 4 * TILE) + 63) / 64 * 64;
  }
}

#if AF_WIDTH == 4 && defined(AF_PORTABLE)
constexpr int MAX_TOKENS = 4;
#elif AF_WIDTH == 16
constexpr int MAX_TOKENS = 8;
#else
constexpr int MAX_TOKENS = 4;
#endif

struct Sums {
  vf of[MAX_TOKENS][PARTS];
};

// One tile of a matrix with M tokens that begin at `row`: codes first, then scales, then minimums.
template <int FORM, int M>
inline void tile_sums(const uint8_t* data, int n_blocks, const Activations& in, int64_t row, Sums& out) {
  constexpr int BITS = FORM == AF_INT8 ? 8 : 4;
  constexpr int CODE_BYTES = BLOCK * TILE * BITS / 8;
  constexpr int STRIDE = CODE_BYTES + 2 * TILE * (FORM == AF_INT4_MIN ? 2 : 1), LINES = (STRIDE + 63) / 64;
  constexpr int AHEAD = BITS == 8 ? 4096 : 8192;  // bytes; measured, see docs/kernels.md
  const uint16_t* scales = (const uint16_t*)(data + int64_t(n_blocks) * CODE_BYTES);
  const uint16_t* minimums = scales + int64_t(n_blocks) * TILE;
  const int64_t in_blocks = in.n_columns / BLOCK;
  vf sums[M][PARTS] = {};
  for (int b = 0; b < n_blocks; b++) {
    if (row == 0) {  // the first tokens bring the tile in, the others find it in the cache
      for (int i = 0; i < LINES; i++) __builtin_prefetch(data + AHEAD + int64_t(b) * STRIDE + 64 * i);
    }
    const Codes codes = unpack<BITS>(data + int64_t(b) * CODE_BYTES);
    vf scale[PARTS], offset[PARTS];
    for (int part = 0; part < PARTS; part++) {
      scale[part] = load_f16(scales + b * TILE + part * W);
      if (FORM == AF_INT4_MIN) {
        offset[part] = load_f16(minimums + b * TILE + part * W) + splat(float(SHIFT<BITS>)) * scale[part];
      } else {
        offset[part] = splat(float(SHIFT<BITS> - (BITS == 8 ? 128 : 8))) * scale[part];
      }
    }
    for (int r = 0; r < M; r++) {
      vi dots[PARTS];
      dot<BITS>(codes, in.codes + (row + r) * in.n_columns + b * BLOCK, dots);
      const vf in_scale = splat(in.scale[(row + r) * in_blocks + b]), in_sum = splat(in.sum[(row + r) * in_blocks + b]);
      for (int part = 0; part < PARTS; part++) {
        sums[r][part] += scale[part] * (to_float(dots[part]) * in_scale);
        sums[r][part] += offset[part] * in_sum;
      }
    }
  }
  for (int r = 0; r < M; r++) {
    for (int part = 0; part < PARTS; part++) out.of[r][part] = sums[r][part];
  }
}

template <int M>
inline void tile_sums_f32(const float* data, int n_blocks, const Activations& in, int64_t row, Sums& out) {
  vf sums[M][PARTS] = {};
  for (int k = 0; k < n_blocks * BLOCK; k++) {
    for (int part = 0; part < PARTS; part++) {
      const vf weight = load(data + int64_t(k) * TILE + part * W);
      for (int r = 0; r < M; r++) sums[r][part] += weight * splat(in.values[(row + r) * in.n_columns + k]);
    }
  }
  for (int r = 0; r < M; r++) {
    for (int part = 0; part < PARTS; part++) out.of[r][part] = sums[r][part];
  }
}

template <int M>
inline void tile_of(const AfMatrix& m, const uint8_t* data, const Activations& in, int64_t row, Sums& out) {
  switch (m.form) {
    case AF_F32: return tile_sums_f32<M>((const float*)data, m.n_blocks, in, row, out);
    case AF_INT8: return tile_sums<AF_INT8, M>(data, m.n_blocks, in, row, out);
    case AF_INT4: return tile_sums<AF_INT4, M>(data, m.n_blocks, in, row, out);
    default: return tile_sums<AF_INT4_MIN, M>(data, m.n_blocks, in, row, out);
  }
}

// Sums of one tile for up to MAX_TOKENS tokens; returns how many.
inline int next_tokens(const AfMatrix& m, const uint8_t* data, const Activations& in, int64_t row, int n_rows,
                       Sums& out) {
  const int left = n_rows - int(row);
  if (left >= MAX_TOKENS) {
    tile_of<MAX_TOKENS>(m, data, in, row, out);
    return MAX_TOKENS;
  }
  if (left >= 4) {
    tile_of<4>(m, data, in, row, out);
    return 4;
  }
  if (left >= 2) {
    tile_of<2>(m, data, in, row, out);
    return 2;
  }
  tile_of<1>(m, data, in, row, out);
  return 1;
}

void product(const AfMatrix& m, const Activations& in, int n_rows, int first, int last, float* into, int64_t stride,
             bool is_added) {
  const int64_t n_bytes = tile_bytes(m);
  for (int tile = first; tile < last; tile++) {
    const uint8_t* data = m.data + tile * n_bytes;
    for (int row = 0; row < n_rows;) {
      Sums sums;
      const int n = next_tokens(m, data, in, row, n_rows, sums);
      for (int r = 0; r < n; r++) {
        float* to = into + (row + r) * stride + int64_t(tile) * TILE;
        for (int part = 0; part < PARTS; part++) {
          store(to + part * W, is_added ? load(to + part * W) + sums.of[r][part] : sums.of[r][part]);
        }
      }
      row += n;
    }
  }
}

void gated(const AfMatrix& m, const Activations& in, int n_rows, int first, int last, const Activations& into,
           bool is_f32_next) {
  const int64_t n_bytes = tile_bytes(m);
  for (int block = first; block < last; block++) {
    for (int row = 0; row < n_rows;) {
      alignas(64) float mixed[MAX_TOKENS][BLOCK];
      int n = 0;
      for (int half = 0; half < 2; half++) {
        const uint8_t* data = m.data + (int64_t(block) * 4 + half * 2) * n_bytes;
        Sums gate, up;
        n = next_tokens(m, data, in, row, n_rows, gate);
        next_tokens(m, data + n_bytes, in, row, n_rows, up);
        for (int r = 0; r < n; r++) {
          for (int part = 0; part < PARTS; part++) {
            const vf g = gate.of[r][part];
            store(mixed[r] + half * TILE + part * W, (m.activation == AF_GELU ? gelu(g) : silu(g)) * up.of[r][part]);
          }
        }
      }
      for (int r = 0; r < n; r++) {
        if (is_f32_next) {
          __builtin_memcpy(into.values + (row + r) * into.n_columns + block * BLOCK, mixed[r], sizeof mixed[r]);
        } else {
          const int64_t at = (row + r) * (into.n_columns / BLOCK) + block;  // a block is a row of one block
          const Activations one = {into.codes + at * BLOCK, into.scale + at, into.sum + at, nullptr, BLOCK};
          quantise(mixed[r], one, 0, BLOCK);
        }
      }
      row += n;
    }
  }
}

void embed(const AfMatrix& m, int64_t row, float* into, int64_t n) {
  const uint8_t* data = m.data + row / TILE * tile_bytes(m);
  const int lane = int(row % TILE);
  if (m.form == AF_F32) {
    for (int64_t k = 0; k < n; k++) into[k] = ((const float*)data)[k * TILE + lane];
    return;
  }
  const int n_bits = m.form == AF_INT8 ? 8 : 4, code_bytes = BLOCK * TILE * n_bits / 8;
  const uint16_t* scales = (const uint16_t*)(data + int64_t(m.n_blocks) * code_bytes);
  const uint16_t* minimums = scales + int64_t(m.n_blocks) * TILE;
  for (int64_t k = 0; k < n; k++) {
    const int64_t b = k / BLOCK;
    const int column = int(k % BLOCK), group = column / 4;
    const uint8_t byte = data[b * code_bytes + (n_bits == 8 ? group : group % 4) * 64 + lane * 4 + column % 4];
    const int code = n_bits == 8 ? byte : group < 4 ? byte & 15 : byte >> 4;
    const float scale = f16_to_f32(scales[b * TILE + lane]);
    const int zero = m.form == AF_INT4_MIN ? 0 : n_bits == 8 ? 128 : 8;
    into[k] = scale * float(code - zero);
    if (m.form == AF_INT4_MIN) into[k] += f16_to_f32(minimums[b * TILE + lane]);
  }
}

// ---- attention ----

void rotate(const float* head, const float* angles, float scale, int head_dim, float* into, int padded) {
  const int half = head_dim / 2;
  const float *cosines = angles, *sines = angles + half;
  int i = 0;
  for (; i + W <= half; i += W) {
    const vf a = load(head + i), b = load(head + half + i), c = load(cosines + i), s = load(sines + i);
    store(into + i, (a * c - b * s) * splat(scale));
    store(into + half + i, (b * c + a * s) * splat(scale));
  }
  for (; i < half; i++) {
    const float a = head[i], b = head[half + i];
    into[i] = (a * cosines[i] - b * sines[i]) * scale;
    into[half + i] = (b * cosines[i] + a * sines[i]) * scale;
  }
  for (i = head_dim; i < padded; i++) into[i] = 0.0f;
}

void to_f16(const float* values, uint16_t* into, int n) {
  int i = 0;
  for (; i + W <= n; i += W) store_f16(into + i, load(values + i));
  for (; i < n; i++) into[i] = f32_to_f16(values[i]);
}

// Take the scores of one block into a running softmax: they become weights, and what came before is to be scaled by
// the value returned.
inline float soften(float* scores, float& top, float& sum) {
  vf greatest = splat(top);
  for (int p = 0; p < BLOCK; p += W) greatest = vmax(greatest, load(scores + p));
  const float new_top = max_of(greatest);
  vf total = vf{};
  for (int p = 0; p < BLOCK; p += W) {
    const vf weight = exp_negative(load(scores + p) - splat(new_top));
    store(scores + p, weight);
    total += weight;
  }
  alignas(64) float kept[W];
  store(kept, exp_negative(splat(top - new_top)));
  sum = sum * kept[0] + sum_of(total);
  top = new_top;
  return kept[0];
}

constexpr int VALUES = W == 8 ? 2 : 4;  // vectors of values that are summed at once; padded / W is a multiple

template <int N>
inline void attend_heads(const Heads& h, const float* q, const uint16_t* rows, int first, int last,
                         const Softmax& state) {
  const int64_t stride = h.row_stride();
  const int dims = (h.head_dim + W - 1) / W * W;
  for (int block = first; block < last; block += BLOCK) {
    const int n = last - block < BLOCK ? last - block : BLOCK;
    const uint16_t* keys = rows + block * stride;
    alignas(64) float scores[N][BLOCK];
    for (int p = 0; p < n; p += W) {
      vf quarters[N][W / 4];
      for (int i = 0; i < W / 4; i++) {
        const uint16_t* key[4];
        for (int j = 0; j < 4; j++) {
          const int at = p + 4 * i + j;
          key[j] = keys + (at < n ? at : n - 1) * stride;  // behind the last row there may be no memory
          for (int line = 0; line < 2 * h.padded; line += 32) __builtin_prefetch(key[j] + BLOCK * stride + line);
        }
        vf sums[N][4] = {};
        for (int d = 0; d < dims; d += W) {
          for (int j = 0; j < 4; j++) {
            const vf k = load_f16(key[j] + d);
            for (int r = 0; r < N; r++) sums[r][j] += load(q + r * h.padded + d) * k;
          }
        }
        for (int r = 0; r < N; r++) quarters[r][i] = quarter_sums(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
      }
      for (int r = 0; r < N; r++) store(scores[r] + p, whole_sums(quarters[r]));
    }
    float kept[N];
    for (int r = 0; r < N; r++) {
      for (int p = n; p < BLOCK; p++) scores[r][p] = LEAST;
      kept[r] = soften(scores[r], state.top[r], state.sum[r]);
    }
    for (int d = 0; d < dims; d += VALUES * W) {
      vf mixed[N][VALUES];
      for (int r = 0; r < N; r++) {
        for (int i = 0; i < VALUES; i++) mixed[r][i] = load(state.mixed + r * h.padded + d + i * W) * splat(kept[r]);
      }
      for (int p = 0; p < n; p++) {
        const uint16_t* value = keys + p * stride + h.padded + d;
        for (int i = 0; i < VALUES; i++) {
          const vf v = load_f16(value + i * W);
          for (int r = 0; r < N; r++) mixed[r][i] += splat(scores[r][p]) * v;
        }
      }
      for (int r = 0; r < N; r++) {
        for (int i = 0; i < VALUES; i++) store(state.mixed + r * h.padded + d + i * W, mixed[r][i]);
      }
    }
  }
}

void attend(const Heads& h, const float* q, const uint16_t* rows, int first, int last, const Softmax& state) {
  for (int r = 0; r < h.group();) {
    const Softmax from = {state.top + r, state.sum + r, state.mixed + r * h.padded};
    const float* own = q + r * h.padded;
    const int left = h.group() - r;
    if (left >= 4) attend_heads<4>(h, own, rows, first, last, from);
    else if (left == 3) attend_heads<3>(h, own, rows, first, last, from);
    else if (left == 2) attend_heads<2>(h, own, rows, first, last, from);
    else attend_heads<1>(h, own, rows, first, last, from);
    r += left < 4 ? left : 4;
  }
}

// K of a block as f32 with positions along the vector, V as f32 with dimensions along it; rows behind n repeat the last.
inline void spread(const Heads& h, const uint16_t* rows, int n, float* keys, float* values) {
  const int dims = (h.head_dim + W - 1) / W * W;
  for (int p = 0; p < BLOCK; p++) {
    const uint16_t* row = rows + (p < n ? p : n - 1) * h.row_stride();
    for (int d = 0; d < dims; d += W) {
      alignas(64) float lanes[W];
      store(lanes, load_f16(row + d));
      for (int i = 0; i < W; i++) keys[(d + i) * BLOCK + p] = lanes[i];
      store(values + p * h.padded + d, load_f16(row + h.padded + d));
    }
  }
}

constexpr int QUERIES = 4;  // queries that share a read of the spread block
constexpr int SCORE_VECTORS = W == 16 ? 2 : W == 8 ? 2 : 4;

inline void score_block(const Heads& h, const float* q, const float* keys, int n_queries, float* scores) {
  for (int at = 0; at < n_queries; at += QUERIES) {
    const float* own[QUERIES];  // the last group may be short: its end is computed twice
    for (int r = 0; r < QUERIES; r++) own[r] = q + (at + r < n_queries ? at + r : n_queries - 1) * h.padded;
    for (int p = 0; p < BLOCK; p += SCORE_VECTORS * W) {
      vf sums[QUERIES][SCORE_VECTORS] = {};
      for (int d = 0; d < h.head_dim; d++) {
        for (int i = 0; i < SCORE_VECTORS; i++) {
          const vf k = load(keys + d * BLOCK + p + i * W);
          for (int r = 0; r < QUERIES; r++) sums[r][i] += splat(own[r][d]) * k;
        }
      }
      for (int r = 0; r < QUERIES && at + r < n_queries; r++) {
        for (int i = 0; i < SCORE_VECTORS; i++) store(scores + (at + r) * BLOCK + p + i * W, sums[r][i]);
      }
    }
  }
}

inline void mix_block(const Heads& h, const float* scores, const float* values, int n, int n_queries,
                      const float* kept, float* mixed) {
  const int dims = (h.head_dim + W - 1) / W * W;
  for (int at = 0; at < n_queries; at += QUERIES) {
    int own[QUERIES];
    for (int r = 0; r < QUERIES; r++) own[r] = at + r < n_queries ? at + r : n_queries - 1;
    for (int d = 0; d < dims; d += VALUES * W) {
      vf sums[QUERIES][VALUES];
      for (int r = 0; r < QUERIES; r++) {
        for (int i = 0; i < VALUES; i++) sums[r][i] = load(mixed + own[r] * h.padded + d + i * W) * splat(kept[own[r]]);
      }
      for (int p = 0; p < n; p++) {
        for (int i = 0; i < VALUES; i++) {
          const vf v = load(values + p * h.padded + d + i * W);
          for (int r = 0; r < QUERIES; r++) sums[r][i] += splat(scores[own[r] * BLOCK + p]) * v;
        }
      }
      for (int r = 0; r < QUERIES && at + r < n_queries; r++) {
        for (int i = 0; i < VALUES; i++) store(mixed + own[r] * h.padded + d + i * W, sums[r][i]);
      }
    }
  }
}

void attend_tile(const Heads& h, const float* q, const uint16_t* rows, int n_tokens, int at, float* scratch,
                 const Softmax& state) {
  const int group = h.group(), n_queries = n_tokens * group, last = at + n_tokens;
  float *keys = scratch, *values = keys + BLOCK * h.padded, *scores = values + BLOCK * h.padded;
  float* kept = scores + n_queries * BLOCK;
  for (int block = 0; block < last; block += BLOCK) {
    const int n = last - block < BLOCK ? last - block : BLOCK;
    spread(h, rows + block * h.row_stride(), n, keys, values);
    score_block(h, q, keys, n_queries, scores);
    for (int r = 0; r < n_queries; r++) {
      const int seen = at + r / group + 1 - block;  // rows of this block that the token may see
      for (int p = seen < 0 ? 0 : seen; p < BLOCK; p++) scores[r * BLOCK + p] = LEAST;
      kept[r] = soften(scores + r * BLOCK, state.top[r], state.sum[r]);
    }
    mix_block(h, scores, values, n, n_queries, kept, state.mixed);
  }
}

void finish(const Softmax& first, int64_t stride, int n_states, int head_dim, float* into) {
  float top = LEAST, sum = 0.0f;
  for (int i = 0; i < n_states; i++) top = first.top[i * stride] > top ? first.top[i * stride] : top;
  for (int d = 0; d < head_dim; d++) into[d] = 0.0f;
  for (int i = 0; i < n_states; i++) {
    alignas(64) float kept[W];
    store(kept, exp_negative(splat(first.top[i * stride] - top)));
    sum += first.sum[i * stride] * kept[0];
    const float* mixed = first.mixed + i * stride;
    for (int d = 0; d < head_dim; d++) into[d] += mixed[d] * kept[0];
  }
  const float inverse = 1.0f / sum;
  for (int d = 0; d < head_dim; d++) into[d] *= inverse;
}

void read(const uint8_t* data, int64_t n_bytes) {
  vf sums[4] = {};
  for (int64_t i = 0; i + 256 <= n_bytes; i += 256) {
    for (int j = 0; j < 256 / (W * 4); j++) {
      const vf v = load((const float*)(data + i + j * W * 4));
      sums[j % 4] = (vf)((vi)sums[j % 4] ^ (vi)v);
    }
  }
  const vi all = (vi)sums[0] ^ (vi)sums[1] ^ (vi)sums[2] ^ (vi)sums[3];
  volatile int32_t kept = all[0] ^ all[W - 1];
  (void)kept;
}

}  // namespace
}  // namespace AF_NAME

#define AF_JOIN(a, b) a##b
#define AF_TABLE(name) AF_JOIN(kernels_, name)
#define AF_TEXT(name) #name
#define AF_STRING(name) AF_TEXT(name)
extern const Kernels AF_TABLE(AF_NAME);
const Kernels AF_TABLE(AF_NAME) = {
    AF_STRING(AF_NAME), AF_NAME::quantise, AF_NAME::norm,   AF_NAME::product, AF_NAME::gated,
    AF_NAME::rotate,    AF_NAME::to_f16,   AF_NAME::attend, AF_NAME::attend_tile, AF_NAME::finish,
    AF_NAME::embed,     AF_NAME::read,
};
}  // namespace af
