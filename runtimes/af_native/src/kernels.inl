// All kernels of one instruction set. The file that includes this defines AF_NAME and AF_WIDTH.
#include "kernels.hpp"

namespace af {
namespace AF_NAME {
namespace {

#include "simd.inl"
#include "dot.inl"

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
    const Block<BITS, M, IS_PAIRED<M>> block(data + int64_t(b) * CODE_BYTES);
    vf scale[PARTS], offset[PARTS];
    for (int part = 0; part < PARTS; part++) {
      scale[part] = load_f16(scales + b * TILE + part * W);
      if (FORM == AF_INT4_MIN) {
        offset[part] = load_f16(minimums + b * TILE + part * W) + splat(float(SHIFT<BITS>)) * scale[part];
      } else {
        offset[part] = splat(float(SHIFT<BITS> - (BITS == 8 ? 128 : 8))) * scale[part];
      }
    }
    for (int first = 0; first < M; first += block.STEP) {
      vi dots[block.STEP][PARTS];
      block.dots(in.codes + (row + first) * in.n_columns + b * BLOCK, in.n_columns, dots);
      for (int r = first; r < first + block.STEP; r++) {
        const int64_t at = (row + r) * in_blocks + b;
        const vf in_scale = splat(in.scale[at]), in_sum = splat(in.sum[at]);
        for (int part = 0; part < PARTS; part++) {
          sums[r][part] += scale[part] * (to_float(dots[r - first][part]) * in_scale);
          sums[r][part] += offset[part] * in_sum;
        }
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

#include "attention.inl"
#include "attention8.inl"

void take(const Heads& h, const float* q, int from, int n, float* scratch) {
  if (h.is_int8) take8(h, q, from, n, scratch);
}

void attend(const Heads& h, const float* q, int from, const uint8_t* rows, int first, int last, float* scratch,
            const Softmax& state, int64_t part_stride, const uint8_t* then) {
  if (h.is_int8) attend8(h, from, rows, first, last, scratch, state, part_stride, then);
  else attend16(h, q + int64_t(from) * h.padded, (const uint16_t*)rows, first, last, state, part_stride);
}

void attend_tile(const Heads& h, const float* q, const uint8_t* rows, int n_tokens, int at, float* scratch,
                 const Softmax& state) {
  if (h.is_int8) attend_tile8(h, q, rows, n_tokens, at, scratch, state);
  else attend_tile16(h, q, (const uint16_t*)rows, n_tokens, at, scratch, state);
}

void keep(const Heads& h, const float* key, const float* value, uint8_t* rows, int at) {
  if (h.is_int8) keep8(h, key, value, rows, at);
  else keep16(h, key, value, (uint16_t*)rows + at * h.row_stride());
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
    AF_NAME::rotate,    AF_NAME::keep,     AF_NAME::take,   AF_NAME::attend,  AF_NAME::attend_tile,
    AF_NAME::finish,    AF_NAME::embed,    AF_NAME::read,
};
}  // namespace af
