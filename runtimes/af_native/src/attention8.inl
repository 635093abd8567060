// Attention over a cache in 8 bits: rows in blocks of 32, laid out as products want their weights.
//
// A block of one K/V head: codes of K | codes of V | 32 scales of K | 32 scales of V, codes around 128, scales in f16.
// K is two tiles of 16 rows whose columns are dimensions; V is turned: tiles of 16 dimensions whose columns are rows.

constexpr int CODE_TILE = BLOCK * TILE;  // bytes of 16 by 32 codes
constexpr int OFFSET = 128 - SHIFT<8>;   // of codes once they are unpacked
constexpr int STEPS = 127 * 128;         // softmax weights are rounded to so many, as two numbers of 7 bits

// The scale of n values as the cache keeps it: the greatest of them becomes 127.
inline uint16_t code_scale(const float* values, int n) {
  float most = 0.0f;
  for (int i = 0; i < n; i++) {
    const float size = values[i] < 0.0f ? -values[i] : values[i];
    most = size > most ? size : most;
  }
  return f32_to_f16(most / 127.0f);
}

inline float inverse_of(uint16_t scale) {
  const float value = f16_to_f32(scale);
  return value > 0.0f ? 1.0f / value : 0.0f;
}

inline uint8_t code_of(float x) {
  x = x < -127.0f ? -127.0f : x > 127.0f ? 127.0f : x;  // below f16's normal numbers a scale may be too small
  return uint8_t(int32_t(x + 128.5f));
}

inline void keep8(const Heads& h, const float* key, const float* value, uint8_t* rows, int at) {
  uint8_t* keys = rows + at / BLOCK * h.block_stride();
  uint8_t* values = keys + BLOCK * h.padded;
  uint16_t* scales = (uint16_t*)(values + BLOCK * h.padded);
  const int p = at % BLOCK;
  scales[p] = code_scale(key, h.head_dim);
  scales[BLOCK + p] = code_scale(value, h.head_dim);
  const float to_key = inverse_of(scales[p]), to_value = inverse_of(scales[BLOCK + p]);
  uint8_t* in_tile = keys + p / TILE * TILE * h.padded + p % TILE * 4;
  uint8_t* in_column = values + p / 4 * 4 * TILE + p % 4;
  for (int d = 0; d < h.head_dim; d++) {
    in_tile[d / 4 * 4 * TILE + d % 4] = code_of(key[d] * to_key);
    in_column[d / TILE * CODE_TILE + d % TILE * 4] = code_of(value[d] * to_value);
  }
}

// Softmax weights of up to SEGMENT rows in whole steps.
struct Steps {
  alignas(64) int8_t high[SEGMENT], low[SEGMENT];
  int32_t offset;  // OFFSET * their sum
  float unit;
};

inline void to_steps(float* weights, const float* value_scale, int n, Steps& into) {
  vf most = vf{};
  for (int p = 0; p < n; p += W) {
    const vf scaled = load(weights + p) * load(value_scale + p);
    store(weights + p, scaled);
    most = vmax(most, scaled);
  }
  const float greatest = max_of(most), inverse = greatest > 1e-30f ? STEPS / greatest : 0.0f;
  vi total = vi{};
  for (int p = 0; p < n; p += W) {
    const vi steps = nearest(load(weights + p) * splat(inverse));
    total += steps;
    const vb high = __builtin_convertvector(steps >> 7, vb), low = __builtin_convertvector(steps & 127, vb);
    __builtin_memcpy(into.high + p, &high, sizeof high);
    __builtin_memcpy(into.low + p, &low, sizeof low);
  }
  into.offset = OFFSET * int32_t(sum_of(to_float(total)));
  into.unit = greatest * (1.0f / STEPS);
}

// Up to SEGMENT rows of one K/V head; those behind the last one are there in memory, whatever they hold.
struct Rows {
  const uint8_t* blocks;
  int n_blocks;
  int64_t ahead;                           // bytes to what is fetched meanwhile; 0 = nothing
  alignas(64) float value_scale[SEGMENT];  // 0 behind the last row
};

// Scores of N queries, which begin at row `at` of `in`, with all rows.
template <int N>
inline void score_rows8(const Heads& h, const Activations& in, int64_t at, const Rows& rows, float (*scores)[SEGMENT]) {
  const int n_parts = (h.head_dim + BLOCK - 1) / BLOCK;
  const int64_t in_blocks = h.padded / BLOCK;
  for (int tile = 0; tile < rows.n_blocks * (BLOCK / TILE); tile++) {
    const uint8_t* block = rows.blocks + tile / (BLOCK / TILE) * h.block_stride();
    const int half = tile % (BLOCK / TILE);
    const uint16_t* key_scale = (const uint16_t*)(block + 2 * BLOCK * h.padded) + half * TILE;
    vf sums[N][PARTS] = {};
    for (int b = 0; b < n_parts; b++) {
      const uint8_t* data = block + (half * in_blocks + b) * CODE_TILE;
      if (rows.ahead) fetch(data + rows.ahead, CODE_TILE);
      const Codes codes = unpack<8>(data);
      for (int r = 0; r < N; r++) {
        vi dots[PARTS];
        dot<8>(codes, in.codes + (at + r) * in.n_columns + b * BLOCK, dots);
        const int64_t i = (at + r) * in_blocks + b;
        const vf scale = splat(in.scale[i]), offset = splat(float(OFFSET) * in.sum[i]);
        for (int part = 0; part < PARTS; part++) sums[r][part] += to_float(dots[part]) * scale - offset;
      }
    }
    for (int part = 0; part < PARTS; part++) {
      const vf scale = load_f16(key_scale + part * W);
      for (int r = 0; r < N; r++) store(scores[r] + tile * TILE + part * W, sums[r][part] * scale);
    }
  }
}

// Add the rows' values by N queries' weights to what is there, which is scaled by `kept`.
template <int N>
inline void mix_rows8(const Heads& h, const Steps* steps, const float* kept, const Rows& rows, float* mixed) {
  for (int d = 0; d < h.head_dim; d += TILE) {
    vi high[N][PARTS] = {}, low[N][PARTS] = {};
    for (int b = 0; b < rows.n_blocks; b++) {
      const uint8_t* data = rows.blocks + b * h.block_stride() + BLOCK * h.padded + d / TILE * CODE_TILE;
      if (rows.ahead) fetch(data + rows.ahead, CODE_TILE);
      const Codes codes = unpack<8>(data);
      for (int r = 0; r < N; r++) {
        vi dots[PARTS];
        dot<8>(codes, steps[r].high + b * BLOCK, dots);
        for (int part = 0; part < PARTS; part++) high[r][part] += dots[part];
        dot<8>(codes, steps[r].low + b * BLOCK, dots);
        for (int part = 0; part < PARTS; part++) low[r][part] += dots[part];
      }
    }
    for (int r = 0; r < N; r++) {
      for (int part = 0; part < PARTS; part++) {
        float* to = mixed + r * h.padded + d + part * W;
        const vf sum = to_float((high[r][part] << 7) + low[r][part] - steps[r].offset);
        store(to, load(to) * splat(kept[r]) + sum * splat(steps[r].unit));
      }
    }
  }
}

// Go on with the softmax of N queries over some rows, of which query r sees the first `seen[r]`.
template <int N>
inline void attend_rows8(const Heads& h, const Activations& in, int64_t at, const Rows& rows, const int* seen,
                         const Softmax& state) {
  const int n = rows.n_blocks * BLOCK;
  alignas(64) float scores[N][SEGMENT];
  score_rows8<N>(h, in, at, rows, scores);
  float kept[N];
  Steps steps[N];
  for (int r = 0; r < N; r++) {
    for (int p = seen[r]; p < n; p++) scores[r][p] = LEAST;
    kept[r] = soften(scores[r], n, state.top[r], state.sum[r]);
    to_steps(scores[r], rows.value_scale, n, steps[r]);
  }
  mix_rows8<N>(h, steps, kept, rows, state.mixed);
}

// Take rows [start, last) of a K/V head, at most SEGMENT.
inline void take_rows8(const Heads& h, const uint8_t* head, int start, int last, Rows& rows) {
  const int n = last - start < SEGMENT ? last - start : SEGMENT;
  rows.blocks = head + start / BLOCK * h.block_stride();
  rows.n_blocks = (n + BLOCK - 1) / BLOCK;
  for (int b = 0; b < rows.n_blocks; b++) {
    const uint8_t* block = rows.blocks + b * h.block_stride();
    const uint16_t* scales = (const uint16_t*)(block + 2 * BLOCK * h.padded) + BLOCK;
    for (int p = 0; p < BLOCK; p += W) store(rows.value_scale + b * BLOCK + p, load_f16(scales + p));
  }
  for (int p = n; p < rows.n_blocks * BLOCK; p++) rows.value_scale[p] = 0.0f;
}

// All queries, `group` per token, over rows [first, last); the first token sees rows up to `at`, the next one more.
inline void attend_all8(const Heads& h, const float* q, int n_queries, const uint8_t* head, int first, int last, int at,
                        float* scratch, Softmax state, int64_t part_stride) {
  const int64_t blocks = n_queries * int64_t(h.padded) / BLOCK;
  const Activations in = {(int8_t*)(scratch + 2 * blocks), scratch, scratch + blocks, nullptr, h.padded};
  for (int r = 0; r < n_queries; r++) quantise(q + r * h.padded, in, r, h.padded);
  for (int start = first; start < last; start += SEGMENT) {
    Rows rows;
    take_rows8(h, head, start, last, rows);
    for (int r = 0; r < n_queries;) {
      int seen[4];
      for (int i = 0; i < 4; i++) {
        const int n = at + (r + i) / h.group() + 1 - start, most = rows.n_blocks * BLOCK;
        seen[i] = n < 0 ? 0 : n < most ? n : most;
      }
      rows.ahead = r == 0 ? SEGMENT / BLOCK * h.block_stride() : 0;
      const Softmax from = {state.top + r, state.sum + r, state.mixed + r * h.padded};
      const int left = n_queries - r;
      if (left >= 4) attend_rows8<4>(h, in, r, rows, seen, from);
      else if (left == 3) attend_rows8<3>(h, in, r, rows, seen, from);
      else if (left == 2) attend_rows8<2>(h, in, r, rows, seen, from);
      else attend_rows8<1>(h, in, r, rows, seen, from);
      r += left < 4 ? left : 4;
    }
    state = state.next(part_stride);
  }
}

inline void attend8(const Heads& h, const float* q, const uint8_t* rows, int first, int last, float* scratch,
                    const Softmax& state, int64_t part_stride) {
  attend_all8(h, q, h.group(), rows, first, last, last - 1, scratch, state, part_stride);
}

inline void attend_tile8(const Heads& h, const float* q, const uint8_t* rows, int n_tokens, int at, float* scratch,
                         const Softmax& state) {
  attend_all8(h, q, n_tokens * h.group(), rows, 0, at + n_tokens, at, scratch, state, 0);
}
