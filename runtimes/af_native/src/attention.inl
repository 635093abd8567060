// Attention: turning heads, the running softmax, and the cache in 16 bits.

constexpr float LEAST = -1e30f;  // below every score; infinities would make NaN of their difference

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

inline void to_f16(const float* values, uint16_t* into, int n) {
  int i = 0;
  for (; i + W <= n; i += W) store_f16(into + i, load(values + i));
  for (; i < n; i++) into[i] = f32_to_f16(values[i]);
}

inline void keep16(const Heads& h, const float* key, const float* value, uint16_t* row) {
  to_f16(key, row, h.head_dim);
  to_f16(value, row + h.padded, h.head_dim);
}

// Take n scores, whole blocks, into a running softmax: they become weights, and what came before is to be scaled by the
// value returned.
inline float soften(float* scores, int n, float& top, float& sum) {
  vf greatest = splat(top);
  for (int p = 0; p < n; p += W) greatest = vmax(greatest, load(scores + p));
  const float new_top = max_of(greatest);
  vf total = vf{};
  for (int p = 0; p < n; p += W) {
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
      kept[r] = soften(scores[r], BLOCK, state.top[r], state.sum[r]);
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

inline void attend16(const Heads& h, const float* q, const uint16_t* rows, int first, int last, Softmax state,
                     int64_t part_stride) {
  for (int start = first; start < last; start += SEGMENT) {
    const int end = start + SEGMENT < last ? start + SEGMENT : last;
    for (int r = 0; r < h.group();) {
      const Softmax from = {state.top + r, state.sum + r, state.mixed + r * h.padded};
      const float* own = q + r * h.padded;
      const int left = h.group() - r;
      if (left >= 4) attend_heads<4>(h, own, rows, start, end, from);
      else if (left == 3) attend_heads<3>(h, own, rows, start, end, from);
      else if (left == 2) attend_heads<2>(h, own, rows, start, end, from);
      else attend_heads<1>(h, own, rows, start, end, from);
      r += left < 4 ? left : 4;
    }
    state = state.next(part_stride);
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

inline void attend_tile16(const Heads& h, const float* q, const uint16_t* rows, int n_tokens, int at, float* scratch,
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
      kept[r] = soften(scores + r * BLOCK, BLOCK, state.top[r], state.sum[r]);
    }
    mix_block(h, scores, values, n, n_queries, kept, state.mixed);
  }
}

void finish(const Softmax& first, int64_t stride, int n_states, int head_dim, float* into) {
  float top = LEAST, sum = 0.0f;
  for (int i = 0; i < n_states; i++) top = first.top[i * stride] > top ? first.top[i * stride] : top;
  for (int d = 0; d < head_dim; d++) into[d] = 0.0f;
  for (int start = 0; start < n_states; start += W) {
    const int n = n_states - start < W ? n_states - start : W;
    alignas(64) float kept[W];
    for (int i = 0; i < W; i++) kept[i] = i < n ? first.top[(start + i) * stride] - top : LEAST;
    store(kept, exp_negative(load(kept)));
    for (int i = 0; i < n; i++) sum += first.sum[(start + i) * stride] * kept[i];
    const float* mixed = first.mixed + start * stride;
    int d = 0;
    for (; d + W <= head_dim; d += W) {
      vf all = load(into + d);
      for (int i = 0; i < n; i++) all += load(mixed + i * stride + d) * splat(kept[i]);
      store(into + d, all);
    }
    for (; d < head_dim; d++) {
      for (int i = 0; i < n; i++) into[d] += mixed[i * stride + d] * kept[i];
    }
  }
  const float inverse = 1.0f / sum;
  for (int d = 0; d < head_dim; d++) into[d] *= inverse;
}
