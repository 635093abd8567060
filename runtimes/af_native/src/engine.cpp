// Runs one step of a decoder: one pass per layer, cut only where threads must have met.
#include "af.h"
#include "kernels.hpp"
#include "processor.hpp"
#include "team.hpp"

#include <time.h>

#include <cstring>
#include <new>

namespace af {
namespace {

int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

struct Range {
  int first, last;
};

// Hands out 64-byte aligned pieces of one block; without a block it only counts.
class Carver {
 public:
  explicit Carver(uint8_t* block) : block_(block) {}
  template <typename T>
  T* take(int64_t n) {
    T* piece = block_ ? reinterpret_cast<T*>(block_ + used_) : nullptr;
    used_ += up(n * int64_t(sizeof(T)), 64);
    return piece;
  }
  int64_t used() const { return used_; }

 private:
  uint8_t* block_;
  int64_t used_ = 0;
};

Activations take_activations(Carver& carver, int64_t rows, int64_t columns, bool is_f32) {
  const int64_t n = up(columns, BLOCK), coded = is_f32 ? 0 : rows * n;
  Activations a;
  a.codes = carver.take<int8_t>(coded);
  a.scale = carver.take<float>(coded / BLOCK);
  a.sum = carver.take<float>(coded / BLOCK);
  a.values = carver.take<float>(is_f32 ? rows * n : 0);
  a.n_columns = n;
  return a;
}

// Values of all queries first, then their maximums, then their sums.
Softmax take_softmax(Carver& carver, int64_t n, int64_t queries, int64_t padded) {
  float* state = carver.take<float>(n);
  if (!state) return {};
  return {state + queries * padded, state + queries * (padded + 1), state};
}

// What one thread has for itself.
struct Own {
  float* values;   // [widest row]
  float* queries;  // [tile of tokens][heads of a group][padded]
  Softmax state;   // of as many queries
  float* tile;     // tile_scratch
  Activations in;  // of a single step: every thread makes its own, which is cheaper than meeting
};

struct Buffers {
  float *x, *qkv, *mixed;
  Activations in, gated;
  Own* own;       // [thread]
  Softmax parts;  // of a single step: [segment of the cache][n_heads]
  int64_t x_stride, qkv_stride, mixed_stride, part_stride;
};

Heads heads_of(const AfModel& m) { return {m.n_heads, m.n_kv_heads, m.head_dim, m.padded_head_dim}; }

Buffers carve(const AfModel& m, Carver& carver) {
  const Heads h = heads_of(m);
  const int64_t rows = m.max_rows, q_size = int64_t(m.n_heads) * m.head_dim;
  const bool is_f32 = m.head.form == AF_F32;
  Buffers b;
  b.x_stride = up(m.hidden_size, BLOCK);
  b.qkv_stride = up(q_size + 2 * int64_t(m.n_kv_heads) * m.head_dim, TILE);
  b.mixed_stride = up(q_size, BLOCK);
  const int64_t widest = b.x_stride > b.mixed_stride ? b.x_stride : b.mixed_stride;
  const int64_t queries = h.group() * TILE_TOKENS, n_segments = up(m.max_seq_len, SEGMENT) / SEGMENT;
  b.x = carver.take<float>(rows * b.x_stride);
  b.qkv = carver.take<float>(rows * b.qkv_stride);
  b.mixed = carver.take<float>(rows * b.mixed_stride);
  b.in = take_activations(carver, rows, widest, is_f32);
  b.gated = take_activations(carver, rows, m.ffn_size, is_f32);
  b.part_stride = up(m.n_heads * (2 + m.padded_head_dim), 16);
  b.parts = take_softmax(carver, b.part_stride * n_segments, m.n_heads, m.padded_head_dim);
  Own* owns = carver.take<Own>(m.n_threads);
  b.own = owns;
  for (int i = 0; i < m.n_threads; i++) {
    Own own = {};
    own.values = carver.take<float>(widest);
    own.queries = carver.take<float>(queries * m.padded_head_dim);
    own.state = take_softmax(carver, queries * (2 + m.padded_head_dim), queries, m.padded_head_dim);
    own.tile = carver.take<float>(tile_scratch(h));
    own.in = take_activations(carver, 1, widest, is_f32);
    if (owns) owns[i] = own;
  }
  return b;
}

}  // namespace
}  // namespace af

using namespace af;

struct AfEngine {
  AfEngine(const AfModel& model, const Kernels& kernels)
      : m(model), k(kernels), heads(heads_of(model)), is_f32(model.head.form == AF_F32),
        score_scale(1.0f / __builtin_sqrtf(float(model.head_dim))), team(model.n_threads, work_of, this) {
    Carver carver(m.scratch);
    b = carve(m, carver);
  }

  void run(const AfStep& next) {
    step = &next;
    if (n_alone > 0) {
      n_alone--;
      team.run_alone();
      return;
    }
    team.run();
    // Where other work holds the cores, every meeting costs a turn of the scheduler; one thread is faster then.
    n_next_alone = team.was_kept_waiting() ? (n_next_alone < 512 ? 2 * n_next_alone : n_next_alone) : FIRST_ALONE;
    if (team.was_kept_waiting()) n_alone = n_next_alone;
  }

  bool is_whole() const { return team.is_whole(); }

 private:
  const AfModel m;
  const Kernels& k;
  const Heads heads;
  const bool is_f32;
  const float score_scale;
  Buffers b;
  const AfStep* step = nullptr;
  Team team;  // last: its threads use all of the above

  static constexpr int FIRST_ALONE = 8;
  int n_alone = 0;  // steps to run without the other threads
  int n_next_alone = FIRST_ALONE;

  static constexpr int FEW = 8;  // below so many tokens a tile of them costs more than it shares

  Range share(int total, int t) const {
    const int n = team.size();
    return {int(int64_t(total) * t / n), int(int64_t(total) * (t + 1) / n)};
  }

  static void work_of(void* engine, int t) { static_cast<AfEngine*>(engine)->work(t); }

  void work(int t) {
    const int n = step->n_rows;
    const Range rows = share(n, t);
    for (int r = rows.first; r < rows.last; r++) {
      k.embed(m.embed, step->token_ids[r], b.x + r * b.x_stride, m.hidden_size);
    }
    team.meet(t);
    for (int i = 0; i < m.n_layers; i++) {
      uint16_t* cache = step->cache + i * step->layer_stride;
      if (n == 1) {
        single(t, m.layers[i], cache);
      } else if (i + 1 < m.n_layers) {
        many(t, m.layers[i], cache);
      } else {
        last_of_many(t, m.layers[i], cache);
      }
    }
    Own& own = b.own[t];
    normed(b.x, m.final_norm, own.in, 0, own);
    const Range tiles = share(m.head.n_tiles, t);
    k.product(m.head, own.in, 1, tiles.first, tiles.last, step->logits, 0, false);
    team.meet(t);
  }

  // ---- one token ----

  void single(int t, const AfLayer& layer, uint16_t* cache) {
    Own& own = b.own[t];
    normed(b.x, layer.attn_norm, own.in, 0, own);
    const Range tiles = share(layer.qkv.n_tiles, t);
    k.product(layer.qkv, own.in, 1, tiles.first, tiles.last, b.qkv, b.qkv_stride, false);
    team.meet(t);
    attend_single(t, cache, b.qkv, step->start, true);
    after_attention(t, layer, step->start);
  }

  // The rest of a layer for one token at position `at`, whose row is b.x[0].
  void after_attention(int t, const AfLayer& layer, int at) {
    Own& own = b.own[t];
    const int64_t q_size = int64_t(m.n_heads) * m.head_dim;
    for (int head = 0; head < m.n_heads; head++) {
      k.finish(state_of(b.parts, head), b.part_stride, at / SEGMENT + 1, m.head_dim, own.values + head * m.head_dim);
    }
    for (int64_t i = q_size; i < b.mixed_stride; i++) own.values[i] = 0.0f;
    taken(own.values, own.in, 0, b.mixed_stride);
    Range tiles = share(layer.o.n_tiles, t);
    k.product(layer.o, own.in, 1, tiles.first, tiles.last, b.x, b.x_stride, true);
    team.meet(t);
    normed(b.x, layer.ffn_norm, own.in, 0, own);
    const Range blocks = share(layer.gate_up.n_tiles / 4, t);
    k.gated(layer.gate_up, own.in, 1, blocks.first, blocks.last, b.gated, is_f32);
    team.meet(t);
    tiles = share(layer.down.n_tiles, t);
    k.product(layer.down, b.gated, 1, tiles.first, tiles.last, b.x, b.x_stride, true);
    team.meet(t);
  }

  // One token's heads over rows 0 … at of the cache. Segments have the same borders for any number of threads, so that
  // the answers are the same; whoever has the last one of a K/V head writes that head's new row first.
  void attend_single(int t, uint16_t* cache, const float* qkv, int at, bool is_row_new) {
    Own& own = b.own[t];
    const int n = at / SEGMENT + 1;
    const Range items = share(n * m.n_kv_heads, t);
    for (int item = items.first; item < items.last; item++) {
      const int segment = item / m.n_kv_heads, kv = item % m.n_kv_heads;
      const int first = segment * SEGMENT, last = segment + 1 < n ? first + SEGMENT : at + 1;
      if (is_row_new && segment + 1 == n) remember(cache, 0, kv, own);
      Softmax state = b.parts;
      state.top += segment * b.part_stride;
      state.sum += segment * b.part_stride;
      state.mixed += segment * b.part_stride;
      attend_one(cache, own, kv, qkv, at, first, last, state_of(state, kv * heads.group()));
    }
    team.meet(t);
  }

  // One token's heads of one group over rows [first, last).
  void attend_one(const uint16_t* cache, Own& own, int kv, const float* qkv, int at, int first, int last,
                  const Softmax& state) {
    for (int i = 0; i < heads.group(); i++) {
      turn(qkv, kv * heads.group() + i, at, score_scale, own.queries + i * heads.padded);
    }
    forget(state, heads.group());
    k.attend(heads, own.queries, cache + kv * 2 * heads.padded, first, last, state);
  }

  // ---- several tokens ----

  void many(int t, const AfLayer& layer, uint16_t* cache) {
    const int n = step->n_rows;
    const Range rows = share(n, t);
    project_many(t, layer, cache);
    team.meet(t);
    attend_many(cache, t);
    team.meet(t);
    for (int r = rows.first; r < rows.last; r++) taken(b.mixed + r * b.mixed_stride, b.in, r, b.mixed_stride);
    team.meet(t);
    Range tiles = share(layer.o.n_tiles, t);
    k.product(layer.o, b.in, n, tiles.first, tiles.last, b.x, b.x_stride, true);
    team.meet(t);
    for (int r = rows.first; r < rows.last; r++) normed(b.x + r * b.x_stride, layer.ffn_norm, b.in, r, b.own[t]);
    team.meet(t);
    const Range blocks = share(layer.gate_up.n_tiles / 4, t);
    k.gated(layer.gate_up, b.in, n, blocks.first, blocks.last, b.gated, is_f32);
    team.meet(t);
    tiles = share(layer.down.n_tiles, t);
    k.product(layer.down, b.gated, n, tiles.first, tiles.last, b.x, b.x_stride, true);
    team.meet(t);
  }

  // Of the last layer only the last token goes on; the others have left their K and V.
  void last_of_many(int t, const AfLayer& layer, uint16_t* cache) {
    const int last = step->n_rows - 1;
    project_many(t, layer, cache);
    if (t == 0) std::memcpy(b.x, b.x + last * b.x_stride, sizeof(float) * b.x_stride);
    team.meet(t);
    attend_single(t, cache, b.qkv + last * b.qkv_stride, step->start + last, false);
    after_attention(t, layer, step->start + last);
  }

  void project_many(int t, const AfLayer& layer, uint16_t* cache) {
    const int n = step->n_rows;
    const Range rows = share(n, t), tiles = share(layer.qkv.n_tiles, t);
    for (int r = rows.first; r < rows.last; r++) normed(b.x + r * b.x_stride, layer.attn_norm, b.in, r, b.own[t]);
    team.meet(t);
    k.product(layer.qkv, b.in, n, tiles.first, tiles.last, b.qkv, b.qkv_stride, false);
    team.meet(t);
    for (int r = rows.first; r < rows.last; r++) {
      for (int kv = 0; kv < m.n_kv_heads; kv++) remember(cache, r, kv, b.own[t]);
    }
  }

  void attend_many(const uint16_t* cache, int t) {
    const int n = step->n_rows, size = n < FEW ? 1 : TILE_TOKENS, n_tiles = (n + size - 1) / size;
    for (int item = team.next(); item < n_tiles * m.n_kv_heads; item = team.next()) {
      const int tile = n_tiles - 1 - item / m.n_kv_heads;  // the longest first
      attend_item(cache, b.own[t], item % m.n_kv_heads, tile * size, size < n - tile * size ? size : n - tile * size);
    }
  }

  void attend_item(const uint16_t* cache, Own& own, int kv, int row, int n_tokens) {
    const int group = heads.group(), at = step->start + row;
    if (n_tokens == 1) {
      attend_one(cache, own, kv, b.qkv + row * b.qkv_stride, at, 0, at + 1, own.state);
    } else {
      for (int i = 0; i < n_tokens * group; i++) {
        const float* qkv = b.qkv + (row + i / group) * b.qkv_stride;
        turn(qkv, kv * group + i % group, at + i / group, score_scale, own.queries + i * heads.padded);
      }
      forget(own.state, n_tokens * group);
      k.attend_tile(heads, own.queries, cache + kv * 2 * heads.padded, n_tokens, at, own.tile, own.state);
    }
    for (int i = 0; i < n_tokens * group; i++) {
      float* into = b.mixed + (row + i / group) * b.mixed_stride + (kv * group + i % group) * m.head_dim;
      k.finish(state_of(own.state, i), 0, 1, m.head_dim, into);
    }
  }

  // ---- pieces ----

  // Norm a row and make it an input of products.
  void normed(const float* row, const float* weight, const Activations& into, int64_t at, Own& own) {
    float* values = is_f32 ? into.values + at * into.n_columns : own.values;
    k.norm(row, weight, m.rms_norm_eps, values, m.hidden_size, b.x_stride);
    if (!is_f32) k.quantise(values, into, at, b.x_stride);
  }

  // Make a row an input of products as it is.
  void taken(const float* row, const Activations& into, int64_t at, int64_t n) {
    if (is_f32) {
      std::memcpy(into.values + at * into.n_columns, row, sizeof(float) * n);
    } else {
      k.quantise(row, into, at, n);
    }
  }

  // Write one head's K and V of a row of the step into the cache.
  void remember(uint16_t* cache, int row, int kv, Own& own) {
    const int at = step->start + row;
    const float* qkv = b.qkv + row * b.qkv_stride;
    uint16_t* to = cache + at * heads.row_stride() + kv * 2 * heads.padded;
    turn(qkv, m.n_heads + kv, at, 1.0f, own.queries);
    k.to_f16(own.queries, to, m.head_dim);
    k.to_f16(qkv + (m.n_heads + m.n_kv_heads + kv) * m.head_dim, to + heads.padded, m.head_dim);
  }

  void turn(const float* qkv, int head, int at, float scale, float* into) {
    k.rotate(qkv + head * m.head_dim, m.rope + int64_t(at) * m.head_dim, scale, m.head_dim, into, heads.padded);
  }

  Softmax state_of(const Softmax& s, int head) const {
    return {s.top + head, s.sum + head, s.mixed + int64_t(head) * heads.padded};
  }

  void forget(const Softmax& s, int n) const {
    for (int i = 0; i < n; i++) {
      s.top[i] = -1e30f;
      s.sum[i] = 0.0f;
    }
    std::memset(s.mixed, 0, sizeof(float) * n * heads.padded);
  }
};

namespace {

struct Reader {
  const Kernels* kernels;
  const uint8_t* data;
  int64_t part;
  Team* team;
  static void work(void* reader, int t) {
    const Reader& r = *static_cast<Reader*>(reader);
    r.kernels->read(r.data + t * r.part, r.part);
    r.team->meet(t);
  }
};

double seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

}  // namespace

extern "C" {

const char* af_instruction_sets() { return instruction_sets(); }

int64_t af_scratch_bytes(const AfModel* model) {
  Carver carver(nullptr);
  carve(*model, carver);
  return carver.used();
}

AfEngine* af_open(const AfModel* model, const char* instruction_set) {
  const Kernels* kernels = find_kernels(instruction_set);
  void* memory = kernels ? aligned_alloc(64, size_t(up(sizeof(AfEngine), 64))) : nullptr;
  if (!memory) return nullptr;
  AfEngine* engine = new (memory) AfEngine(*model, *kernels);
  if (engine->is_whole()) return engine;
  af_close(engine);
  return nullptr;
}

void af_step(AfEngine* engine, const AfStep* step) { engine->run(*step); }

void af_close(AfEngine* engine) {
  engine->~AfEngine();
  free(engine);
}

void af_sum(const uint8_t* data, int64_t n_bytes, uint64_t* sums) {
  uint64_t lanes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  for (int64_t i = 0; i + 64 <= n_bytes; i += 64) {
    for (int lane = 0; lane < 8; lane++) {
      uint64_t word;
      std::memcpy(&word, data + i + 8 * lane, 8);
      lanes[lane] = (lanes[lane] ^ word) * 0x9e3779b97f4a7c15u;
      lanes[lane] ^= lanes[lane] >> 32;
    }
  }
  for (int i = 0; i < 4; i++) sums[i] = lanes[i] ^ (lanes[i + 4] * 3);
}

double af_read(const uint8_t* data, int64_t n_bytes, int32_t n_threads, const char* instruction_set) {
  Reader reader = {find_kernels(instruction_set), data, n_bytes / n_threads / 256 * 256, nullptr};
  if (!reader.kernels) return 0.0;
  Team team(n_threads, Reader::work, &reader);
  if (!team.is_whole()) return 0.0;
  reader.team = &team;
  team.run();
  const double start = seconds();
  team.run();
  return seconds() - start;
}
}
