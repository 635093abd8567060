// Attention over a cache in 8 bits: rows in blocks of 32, laid out as products want their weights.
//
// A block of one K/V head: codes of K | codes of V | 32 scales of K | 32 scales of V, codes around 128, scales in f16.
// K is two tiles of 16 rows whose columns are dimensions; V is turned: tiles of 16 dimensions whose columns are rows.

constexpr int CODE_TILE = BLOCK * TILE;  // bytes of 16 by 32 codes
constexpr int OFFSET = 128 - SHIFT<8>;   // of codes once they are unpacked
constexpr int MAX_QUERIES = 4;           // that share a read of the cache
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

// Softmax weights of up to SEGMENT rows, times the rows' scales of V, in whole steps.
struct Steps {
  alignas(64) int8_t high[SEGMENT], low[SEGMENT];
  float offset;  // OFFSET * their sum
  float unit;
};

// Up to SEGMENT rows of one K/V head; those behind the last one are there in memory, whatever they hold.
struct Rows {
  const uint8_t* blocks;
  int n_blocks;
  const uint8_t* next;                    // blocks whose keys are to be fetched meanwhile; null = none
  float unit;                             // of a softmax weight of 1 and the greatest scale of V, STEPS
  alignas(64) float step_scale[SEGMENT];  // scales of V in such units; 0 behind the last row
};

constexpr int TILES = W == 16 ? 2 : 1;  // tiles that share an input which is spread over a register

// Scores of N queries, which begin at row `at` of `in`, with all rows.
template <int N>
inline void score_rows8(const Heads& h, const Activations& in, int64_t at, const Rows& rows, float (*scores)[SEGMENT]) {
  constexpr int PER_BLOCK = BLOCK / TILE, VECTORS = TILES * PARTS;
  const int n_parts = (h.head_dim + BLOCK - 1) / BLOCK;
  const int64_t in_blocks = h.padded / BLOCK, apart = in_blocks * CODE_TILE, values_at = BLOCK * h.padded;
  const int8_t* codes = in.codes + at * in.n_columns;
  const float *in_scale = in.scale + at * in_blocks, *in_sum = in.sum + at * in_blocks;
  vf offset[N];
  for (int r = 0; r < N; r++) {
    float sum = 0.0f;
    for (int b = 0; b < n_parts; b++) sum -= float(OFFSET) * in_sum[r * in_blocks + b];
    offset[r] = splat(sum);
  }
  const uint8_t* block = rows.blocks;
  for (int i = 0; i < rows.n_blocks; i++, block += h.block_stride()) {
    const uint16_t* key_scale = (const uint16_t*)(block + 2 * values_at);
    for (int half = 0; half < PER_BLOCK; half += TILES) {
      const uint8_t* data = block + half * apart;
      fetch(data + values_at, TILES * apart);  // the values of these rows
      vf sums[N][TILES][PARTS];
      for (int r = 0; r < N; r++) {
        for (int v = 0; v < VECTORS; v++) sums[r][v / PARTS][v % PARTS] = offset[r];
      }
      for (int b = 0; b < n_parts; b++) {
        const int8_t* x[N];
        for (int r = 0; r < N; r++) x[r] = codes + r * in.n_columns + b * BLOCK;
        vi dots[N][TILES][PARTS] = {};
        add_dots<N, TILES>(data + b * CODE_TILE, apart, x, dots);
        for (int r = 0; r < N; r++) {
          const vf scale = splat(in_scale[r * in_blocks + b]);
          for (int v = 0; v < VECTORS; v++) {
            sums[r][v / PARTS][v % PARTS] += to_float(dots[r][v / PARTS][v % PARTS]) * scale;
          }
        }
      }
      for (int v = 0; v < VECTORS; v++) {
        const int row = half * TILE + v * W;
        const vf scale = load_f16(key_scale + row);
        for (int r = 0; r < N; r++) store(scores[r] + i * BLOCK + row, sums[r][v / PARTS][v % PARTS] * scale);
      }
    }
  }
}

// Go on with the softmax of N queries over the rows' scores, which become steps; kept[r] is what their values so far
// are to be scaled by. Weights are taken against these rows' own maximum, so that few steps are lost where it is low.
template <int N>
inline void weigh_rows8(const Rows& rows, const float (*scores)[SEGMENT], const Softmax& state, float* kept,
                        Steps* steps) {
  const int n = rows.n_blocks * BLOCK;
  constexpr int BOTH = 2 * MAX_QUERIES > W ? 2 * MAX_QUERIES : W;
  alignas(64) float below[BOTH] = {};  // how far the maximums, of before and of these rows, are below the new one
  float own_top[N];
  for (int r = 0; r < N; r++) {
    vf greatest = load(scores[r]);
    for (int p = W; p < n; p += W) greatest = vmax(greatest, load(scores[r] + p));
    own_top[r] = max_of(greatest);
    const float top = own_top[r] > state.top[r] ? own_top[r] : state.top[r];
    below[r] = state.top[r] - top;
    below[MAX_QUERIES + r] = own_top[r] - top;
    state.top[r] = top;
  }
  for (int i = 0; i < BOTH; i += W) store(below + i, exp_negative(load(below + i)));
  vf totals[N] = {};
  vi n_steps[N] = {};
  for (int p = 0; p < n; p += W) {
    const vf step_scale = load(rows.step_scale + p);
    for (int r = 0; r < N; r++) {
      const vf weight = exp_negative(load(scores[r] + p) - splat(own_top[r]));
      totals[r] += weight;
      const vi whole = nearest(weight * step_scale);
      n_steps[r] += whole;
      store_bytes(steps[r].high + p, whole >> 7);
      store_bytes(steps[r].low + p, whole & 127);
    }
  }
  for (int r = 0; r < N; r++) {
    const float share = below[MAX_QUERIES + r];
    kept[r] = below[r];
    state.sum[r] = state.sum[r] * kept[r] + sum_of(totals[r]) * share;
    steps[r].offset = float(OFFSET) * sum_of(to_float(n_steps[r]));
    steps[r].unit = rows.unit * share;
  }
}

// Add the rows' values by N queries' weights to what is there, which is scaled by `kept`.
template <int N>
inline void mix_rows8(const Heads& h, const Steps* steps, const float* kept, const Rows& rows, float* mixed) {
  constexpr int T = W == 16 && N <= 3 ? 4 : TILES, VECTORS = T * PARTS;  // as many tiles as there are registers for
  for (int d = 0; d < h.head_dim; d += T * TILE) {
    vi sums[2 * N][T][PARTS] = {};
    const int64_t keys_at = d / TILE * CODE_TILE;
    const uint8_t* data = rows.blocks + BLOCK * h.padded + keys_at;
    const uint8_t* next = (rows.next ? rows.next : rows.blocks) + keys_at;
    for (int b = 0; b < rows.n_blocks; b++) {
      if (rows.next) fetch(next, T * CODE_TILE);  // keys, as many as there are values here
      const int8_t* x[2 * N];
      for (int r = 0; r < N; r++) {
        x[2 * r] = steps[r].high + b * BLOCK;
        x[2 * r + 1] = steps[r].low + b * BLOCK;
      }
      add_dots<2 * N, T>(data, CODE_TILE, x, sums);
      data += h.block_stride();
      next += h.block_stride();
    }
    for (int r = 0; r < N; r++) {
      for (int v = 0; v < VECTORS; v++) {
        float* to = mixed + r * h.padded + d + v * W;
        const vi sum = (sums[2 * r][v / PARTS][v % PARTS] << 7) + sums[2 * r + 1][v / PARTS][v % PARTS];
        store(to, load(to) * splat(kept[r]) + (to_float(sum) - splat(steps[r].offset)) * splat(steps[r].unit));
      }
    }
  }
}

// Go on with the softmax of N queries over some rows, of which query r sees the first `seen[r]`.
template <int N>
inline void attend_rows8(const Heads& h, const Activations& in, int64_t at, const Rows& rows, const int* seen,
                         const Softmax& state) {
  alignas(64) float scores[N][SEGMENT];
  score_rows8<N>(h, in, at, rows, scores);
  for (int r = 0; r < N; r++) {
    for (int p = seen[r]; p < rows.n_blocks * BLOCK; p++) scores[r][p] = LEAST;
  }
  float kept[N];
  Steps steps[N];
  weigh_rows8<N>(rows, scores, state, kept, steps);
  mix_rows8<N>(h, steps, kept, rows, state.mixed);
}

// Take rows [start, last) of a K/V head, at most SEGMENT; keys of the next ones are fetched meanwhile, behind the last
// ones those of `then`.
inline void take_rows8(const Heads& h, const uint8_t* head, int start, int last, const uint8_t* then, Rows& rows) {
  const int n = last - start < SEGMENT ? last - start : SEGMENT;
  rows.blocks = head + start / BLOCK * h.block_stride();
  rows.n_blocks = (n + BLOCK - 1) / BLOCK;
  rows.next = start + SEGMENT < last ? rows.blocks + SEGMENT / BLOCK * h.block_stride() : then;
  vf greatest = vf{};
  for (int b = 0; b < rows.n_blocks; b++) {
    const int64_t scales_at = b * h.block_stride() + 2 * BLOCK * h.padded;
    if (rows.next) fetch(rows.next + scales_at, 4 * BLOCK);
    const uint16_t* scales = (const uint16_t*)(rows.blocks + scales_at) + BLOCK;
    for (int p = 0; p < BLOCK; p += W) store(rows.step_scale + b * BLOCK + p, load_f16(scales + p));
  }
  for (int p = n; p < rows.n_blocks * BLOCK; p++) rows.step_scale[p] = 0.0f;
  for (int p = 0; p < rows.n_blocks * BLOCK; p += W) greatest = vmax(greatest, load(rows.step_scale + p));
  const float most = max_of(greatest), inverse = most > 0.0f ? STEPS / most : 0.0f;
  for (int p = 0; p < rows.n_blocks * BLOCK; p += W) {
    store(rows.step_scale + p, load(rows.step_scale + p) * splat(inverse));
  }
  rows.unit = most * (1.0f / STEPS);
}

inline Activations queries_in(const Heads& h, float* scratch) {
  const int64_t blocks = max_queries(h) * h.padded / BLOCK;
  return {(int8_t*)(scratch + 2 * blocks), scratch, scratch + blocks, nullptr, h.padded};
}

inline void take8(const Heads& h, const float* q, int from, int n, float* scratch) {
  for (int r = from; r < from + n; r++) quantise(q + int64_t(r) * h.padded, queries_in(h, scratch), r, h.padded);
}

// Queries that were taken, `group` per token, over rows [first, last); the first token sees rows up to `at`, the next
// one more.
inline void attend_all8(const Heads& h, int from, int n_queries, const uint8_t* head, int first, int last, int at,
                        float* scratch, Softmax state, int64_t part_stride, const uint8_t* then) {
  const Activations in = queries_in(h, scratch);
  for (int start = first; start < last; start += SEGMENT) {
    Rows rows;
    take_rows8(h, head, start, last, then, rows);
    for (int r = 0; r < n_queries;) {
      int seen[MAX_QUERIES];
      for (int i = 0; i < MAX_QUERIES; i++) {
        const int n = at + (r + i) / h.group() + 1 - start, most = rows.n_blocks * BLOCK;
        seen[i] = n < 0 ? 0 : n < most ? n : most;
      }
      const Softmax parts = {state.top + r, state.sum + r, state.mixed + r * h.padded};
      const int left = n_queries - r;
      if (left >= 4) attend_rows8<4>(h, in, from + r, rows, seen, parts);
      else if (left == 3) attend_rows8<3>(h, in, from + r, rows, seen, parts);
      else if (left == 2) attend_rows8<2>(h, in, from + r, rows, seen, parts);
      else attend_rows8<1>(h, in, from + r, rows, seen, parts);
      r += left < 4 ? left : 4;
      rows.next = nullptr;
    }
    state = state.next(part_stride);
  }
}

inline void attend8(const Heads& h, int from, const uint8_t* rows, int first, int last, float* scratch,
                    const Softmax& state, int64_t part_stride, const uint8_t* then) {
  attend_all8(h, from, h.group(), rows, first, last, last - 1, scratch, state, part_stride, then);
}

inline void attend_tile8(const Heads& h, const float* q, const uint8_t* rows, int n_tokens, int at, float* scratch,
                         const Softmax& state) {
  take8(h, q, 0, n_tokens * h.group(), scratch);
  attend_all8(h, 0, n_tokens * h.group(), rows, 0, at + n_tokens, at, scratch, state, 0, nullptr);
}
