// Runs one step of a decoder: one pass per layer, cut only where threads must have met.
#include "af.h"
#include "kernels.hpp"
#include "processor.hpp"
#include "team.hpp"

#include <time.h>

#include <atomic>
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
  float* queries;  // [max_queries][padded]
  Softmax state;   // of as many queries
  float* tile;     // tile_scratch
  Activations in;  // of single rows: every thread makes its own, which is cheaper than meeting
};

struct Buffers {
  float *x, *qkv, *mixed;
  Activations in, gated;
  Own* own;         // [thread]
  Softmax partial;  // of single rows: [sequence][segment of the cache][n_heads]
  int64_t x_stride, qkv_stride, mixed_stride, partial_stride, n_segments;
};

// One sequence's rows in a step.
struct Part {
  int first, n, start;  // row of the step, how many, and rows in the cache before them
  uint8_t* cache;
  int last() const { return first + n - 1; }
  int at() const { return start + n - 1; }  // position of the last row
  int n_segments() const { return at() / SEGMENT + 1; }
};

Heads heads_of(const AfModel& m) {
  return {m.n_heads, m.n_kv_heads, m.head_dim, m.padded_head_dim, m.cache_form == AF_CACHE_INT8};
}

Buffers carve(const AfModel& m, Carver& carver) {
  const Heads h = heads_of(m);
  const int64_t rows = m.max_rows, q_size = int64_t(m.n_heads) * m.head_dim;
  const bool is_f32 = m.head.form == AF_F32;
  Buffers b;
  b.x_stride = up(m.hidden_size, BLOCK);
  b.qkv_stride = up(q_size + 2 * int64_t(m.n_kv_heads) * m.head_dim, TILE);
  b.mixed_stride = up(q_size, BLOCK);
  const int64_t widest = b.x_stride > b.mixed_stride ? b.x_stride : b.mixed_stride;
  const int64_t queries = max_queries(h);
  b.x = carver.take<float>(rows * b.x_stride);
  b.qkv = carver.take<float>(rows * b.qkv_stride);
  b.mixed = carver.take<float>(rows * b.mixed_stride);
  b.in = take_activations(carver, rows, widest, is_f32);
  b.gated = take_activations(carver, rows, m.ffn_size, is_f32);
  b.n_segments = up(m.max_seq_len, SEGMENT) / SEGMENT;
  b.partial_stride = up(m.n_heads * (2 + m.padded_head_dim), 16);
  b.partial = take_softmax(carver, b.partial_stride * b.n_segments * m.max_parts, m.n_heads, m.padded_head_dim);
  Own* owns = carver.take<Own>(m.n_threads);
  b.own = owns;
  for (int i = 0; i < m.n_threads; i++) {
    Own own = {};
    own.values = carver.take<float>(widest);
    own.queries = carver.take<float>(queries * m.padded_head_dim);
    own.state = take_softmax(carver, queries * (2 + m.padded_head_dim), queries, m.padded_head_dim);
    own.tile = carver.take<float>(tile_scratch(h));
    own.in = take_activations(carver, m.max_parts, widest, is_f32);
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
        score_scale(1.0f / __builtin_sqrtf(float(model.head_dim))),
        team(model.n_threads, work_of, this, model.cores, model.linger_us) {
    Carver carver(m.scratch);
    b = carve(m, carver);
  }

  AfStatus run(const AfStep& next) {
    step = &next;
    n_rows = 0;
    is_single = true;
    for (int p = 0; p < next.n_parts; p++) {
      const AfPart& given = next.parts[p];
      parts[p] = {n_rows, given.n_rows, given.start, given.cache};
      n_rows += given.n_rows;
      is_single = is_single && given.n_rows == 1;
    }
    is_cancelled = false;
    cancel_wanted.store(false, std::memory_order_relaxed);
    if (n_alone > 0) {
      n_alone--;
      team.run_alone();
    } else {
      team.run();
      // Where other work holds the cores, every meeting costs a turn of the scheduler; one thread is faster then.
      n_next_alone = team.was_kept_waiting() ? (n_next_alone < 512 ? 2 * n_next_alone : n_next_alone) : FIRST_ALONE;
      if (team.was_kept_waiting()) n_alone = n_next_alone;
    }
    return is_cancelled ? AF_CANCELLED : AF_DONE;
  }

  void cancel() { cancel_wanted.store(true, std::memory_order_relaxed); }

  void rouse() {
    if (n_alone == 0) team.rouse();
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
  Part parts[AF_MAX_PARTS];
  int n_rows = 0;           // of all parts
  bool is_single = true;    // one row each
  bool is_cancelled = false;  // written by member 0 before a meeting, read by all after it
  std::atomic<bool> cancel_wanted{false};
  Team team;  // last: its threads use all of the above

  static constexpr int FIRST_ALONE = 8;
  int n_alone = 0;  // steps to run without the other threads
  int n_next_alone = FIRST_ALONE;

  static constexpr int FIRST_BYTES = 4096;
  static constexpr int FEW = 8;  // below so many tokens a tile of them costs more than it shares

  Range share(int total, int t) const {
    const int n = team.size();
    return {int(int64_t(total) * t / n), int(int64_t(total) * (t + 1) / n)};
  }

  int n_parts() const { return int(step->n_parts); }

  int part_of(int row) const {
    int p = 0;
    while (row > parts[p].last()) p++;
    return p;
  }

  static void work_of(void* engine, int t) { static_cast<AfEngine*>(engine)->work(t); }

  void work(int t) {
    const Range rows = share(n_rows, t);
    for (int r = rows.first; r < rows.last; r++) embed(r);
    team.meet(t);
    for (int i = 0; i < m.n_layers; i++) {
      const int64_t layer_at = i * step->layer_stride;
      if (is_single) {
        single(t, m.layers[i], layer_at);
      } else if (i + 1 < m.n_layers) {
        many(t, m.layers[i], layer_at);
      } else {
        last_of_many(t, m.layers[i], layer_at);
      }
      soon(i + 1 < m.n_layers ? m.layers[i + 1].qkv : m.head, 1, t);
      if (t == 0) is_cancelled = cancel_wanted.load(std::memory_order_relaxed);
      team.meet(t);
      if (is_cancelled) return;
    }
    head(t);
    team.meet(t);
  }

  void embed(int row) {
    const Part& part = parts[part_of(row)];
    float* into = b.x + row * b.x_stride;
    k.embed(m.embed, step->parts[&part - parts].token_ids[row - part.first], into, m.hidden_size);
    if (m.embed_scale == 1.0f) return;
    for (int i = 0; i < m.hidden_size; i++) into[i] *= m.embed_scale;
  }

  // ---- the head ----

  // Tiles without an allowed id are not computed.
  void head(int t) {
    Own& own = b.own[t];
    for (int p = 0; p < n_parts(); p++) normed(b.x + p * b.x_stride, m.final_norm, own.in, p, own);
    const Range tiles = share(m.head.n_tiles, t);
    const int64_t stride = int64_t(m.head.n_tiles) * TILE;
    for (int tile = tiles.first; tile < tiles.last;) {
      const bool is_wanted = is_allowed(tile);
      int end = tile + 1;
      while (end < tiles.last && is_allowed(end) == is_wanted) end++;
      if (is_wanted) k.product(m.head, own.in, n_parts(), tile, end, step->logits, stride, false);
      for (int p = 0; p < n_parts(); p++) {
        if (step->parts[p].allowed) forbid(step->parts[p].allowed, tile, end, step->logits + p * stride);
      }
      tile = end;
    }
  }

  static uint32_t bits_of(const uint32_t* allowed, int tile) {
    static_assert(TILE == 16, "two tiles per word");
    return allowed[tile / 2] >> (tile % 2 * TILE) & 0xffff;
  }

  bool is_allowed(int tile) const {
    for (int p = 0; p < n_parts(); p++) {
      if (!step->parts[p].allowed || bits_of(step->parts[p].allowed, tile)) return true;
    }
    return false;
  }

  static void forbid(const uint32_t* allowed, int first, int last, float* logits) {
    for (int tile = first; tile < last; tile++) {
      const uint32_t bits = bits_of(allowed, tile);
      float* at = logits + tile * TILE;
      if (bits == 0xffff) continue;
      if (bits == 0) {
        for (int i = 0; i < TILE; i++) at[i] = -__builtin_inff();
        continue;
      }
      for (int i = 0; i < TILE; i++) at[i] = bits >> i & 1 ? at[i] : -__builtin_inff();
    }
  }

  // ---- one token of each sequence ----

  void single(int t, const AfLayer& layer, int64_t layer_at) {
    Own& own = b.own[t];
    for (int p = 0; p < n_parts(); p++) normed(b.x + p * b.x_stride, layer.attn_norm, own.in, p, own);
    const Range tiles = share(layer.qkv.n_tiles, t);
    project(layer, own.in, n_parts(), tiles);
    rows_soon(t, layer_at);
    team.meet(t);
    attend_single(t, layer, layer_at, true);
    soon(layer.o, 1, t);
    team.meet(t);
    after_attention(t, layer);
  }

  // The rest of a layer for the last token of each sequence, whose row is b.x[sequence].
  void after_attention(int t, const AfLayer& layer) {
    const int n = n_parts();
    Own& own = b.own[t];
    for (int p = 0; p < n; p++) taken(merged(p, own), own.in, p, b.mixed_stride);
    Range tiles = share(layer.o.n_tiles, t);
    k.product(layer.o, own.in, n, tiles.first, tiles.last, b.x, b.x_stride, true);
    soon(layer.gate_up, 4, t);
    team.meet(t);
    for (int p = 0; p < n; p++) normed(b.x + p * b.x_stride, layer.ffn_norm, own.in, p, own);
    const Range blocks = share(layer.gate_up.n_tiles / 4, t);
    k.gated(layer.gate_up, own.in, n, blocks.first, blocks.last, b.gated, is_f32);
    soon(layer.down, 1, t);
    team.meet(t);
    tiles = share(layer.down.n_tiles, t);
    k.product(layer.down, b.gated, n, tiles.first, tiles.last, b.x, b.x_stride, true);
  }

  // The heads of a sequence's last token over all segments, one behind the other.
  const float* merged(int p, Own& own) {
    const int64_t q_size = int64_t(m.n_heads) * m.head_dim;
    for (int head = 0; head < m.n_heads; head++) {
      k.finish(state_of(partial_of(p, 0), head), b.partial_stride, parts[p].n_segments(), m.head_dim,
               own.values + head * m.head_dim);
    }
    for (int64_t i = q_size; i < b.mixed_stride; i++) own.values[i] = 0.0f;
    return own.values;
  }

  // Items of attention over one row of each sequence: every head's rows of a segment, then the next segment, which is
  // the order in memory.
  struct Item {
    int p, segment, kv;
  };

  int n_single_items(int p) const { return parts[p].n_segments() * m.n_kv_heads; }

  Range single_items(int t) const {
    int total = 0;
    for (int p = 0; p < n_parts(); p++) total += n_single_items(p);
    return share(total, t);
  }

  Item item_at(int at) const {
    int p = 0;
    while (at >= n_single_items(p)) at -= n_single_items(p++);
    return {p, at / m.n_kv_heads, at % m.n_kv_heads};
  }

  const uint8_t* rows_of(const Item& item, int64_t layer_at) const {
    const int64_t blocks = item.segment * (SEGMENT / BLOCK);
    return parts[item.p].cache + layer_at + heads.head_offset(item.kv) + blocks * heads.block_stride();
  }

  void attend_single(int t, const AfLayer& layer, int64_t layer_at, bool is_row_new) {
    const Range items = single_items(t);
    int p = -1;
    for (int i = items.first; i < items.last; i++) {
      const Item item = item_at(i);
      if (item.p != p) take_heads(b.own[t], layer, p = item.p, item.kv, items.last - i);
      attend_item(b.own[t], layer, layer_at, item, is_row_new,
                  i + 1 < items.last && heads.is_int8 ? rows_of(item_at(i + 1), layer_at) : nullptr);
    }
  }

  // Turn and round the queries of a sequence's last row; of few items only their heads.
  void take_heads(Own& own, const AfLayer& layer, int p, int first, int n_items) {
    for (int i = 0; i < n_items && i < m.n_kv_heads; i++) {
      take_group(own, layer, parts[p], (first + i) % m.n_kv_heads);
    }
  }

  void take_group(Own& own, const AfLayer& layer, const Part& part, int kv) {
    const int first = kv * heads.group();
    for (int head = first; head < first + heads.group(); head++) {
      turn(layer.q_norm, part.last(), head, part.at(), score_scale, own.queries + int64_t(head) * heads.padded);
    }
    k.take(heads, own.queries, first, heads.group(), own.tile);
  }

  // One head group of a sequence's last row over one segment of its rows. Segments have the same borders for any
  // number of threads, so that the answers are the same; whoever has a K/V head's last one writes its new row first.
  void attend_item(Own& own, const AfLayer& layer, int64_t layer_at, const Item& item, bool is_row_new,
                   const uint8_t* then) {
    const Part& part = parts[item.p];
    uint8_t* cache = part.cache + layer_at;
    const bool is_last = item.segment + 1 == part.n_segments();
    if (is_row_new && is_last) remember(layer, cache, part.last(), part.at(), item.kv, own);
    const int head = item.kv * heads.group(), first = item.segment * SEGMENT;
    const Softmax state = state_of(partial_of(item.p, item.segment), head);
    forget(state, heads.group());
    k.attend(heads, own.queries, head, cache + heads.head_offset(item.kv), first,
             is_last ? part.at() + 1 : first + SEGMENT, own.tile, state, b.partial_stride, then);
  }

  // Bring in the first rows of this thread's part of attention.
  void rows_soon(int t, int64_t layer_at) const {
    const Range items = single_items(t);
    if (!heads.is_int8 || items.first == items.last) return;
    const Item item = item_at(items.first);
    const int left = parts[item.p].at() + 1 - item.segment * SEGMENT, n = left < SEGMENT ? left : SEGMENT;
    const uint8_t* rows = rows_of(item, layer_at);
    for (int i = 0; i < n; i += BLOCK) fetch(rows + i / BLOCK * heads.block_stride(), heads.block_bytes());
  }

  // ---- several tokens ----

  void many(int t, const AfLayer& layer, int64_t layer_at) {
    const int n = n_rows;
    const Range rows = share(n, t);
    project_many(t, layer, layer_at);
    team.meet(t);
    attend_many(layer, layer_at, t);
    team.meet(t);
    for (int r = rows.first; r < rows.last; r++) {
      const int p = part_of(r);
      taken(parts[p].n == 1 ? merged(p, b.own[t]) : b.mixed + r * b.mixed_stride, b.in, r, b.mixed_stride);
    }
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
  }

  // Of the last layer only each sequence's last token goes on; the others have left their K and V.
  void last_of_many(int t, const AfLayer& layer, int64_t layer_at) {
    project_many(t, layer, layer_at);
    for (int p = 0; t == 0 && p < n_parts(); p++) {
      if (parts[p].last() != p) {
        std::memcpy(b.x + p * b.x_stride, b.x + parts[p].last() * b.x_stride, sizeof(float) * b.x_stride);
      }
    }
    team.meet(t);
    attend_single(t, layer, layer_at, false);
    team.meet(t);
    after_attention(t, layer);
  }

  void project_many(int t, const AfLayer& layer, int64_t layer_at) {
    const Range rows = share(n_rows, t), tiles = share(layer.qkv.n_tiles, t);
    for (int r = rows.first; r < rows.last; r++) normed(b.x + r * b.x_stride, layer.attn_norm, b.in, r, b.own[t]);
    team.meet(t);
    project(layer, b.in, n_rows, tiles);
    team.meet(t);
    for (int r = rows.first; r < rows.last; r++) {
      const Part& part = parts[part_of(r)];
      const int at = part.start + r - part.first;
      for (int kv = 0; kv < m.n_kv_heads; kv++) remember(layer, part.cache + layer_at, r, at, kv, b.own[t]);
    }
  }

  void project(const AfLayer& layer, const Activations& in, int n, Range tiles) {
    k.product(layer.qkv, in, n, tiles.first, tiles.last, b.qkv, b.qkv_stride, false);
    if (!layer.qkv_bias) return;
    for (int r = 0; r < n; r++) {
      float* row = b.qkv + r * b.qkv_stride;
      for (int i = tiles.first * TILE; i < tiles.last * TILE; i++) row[i] += layer.qkv_bias[i];
    }
  }

  void attend_many(const AfLayer& layer, int64_t layer_at, int t) {
    int p = 0, before = 0;
    for (int item = team.next();; item = team.next()) {
      while (p < n_parts() && item - before >= n_items(parts[p])) before += n_items(parts[p++]);
      if (p == n_parts()) return;
      attend_tile(layer, layer_at, b.own[t], p, item - before);
    }
  }

  static int tile_size(const Part& part) { return part.n < FEW ? 1 : TILE_TOKENS; }

  int n_items(const Part& part) const {
    if (part.n == 1) return part.n_segments() * m.n_kv_heads;
    return (part.n + tile_size(part) - 1) / tile_size(part) * m.n_kv_heads;
  }

  void attend_tile(const AfLayer& layer, int64_t layer_at, Own& own, int p, int item) {
    const Part& part = parts[p];
    if (part.n == 1) {
      const Item one = {p, item / m.n_kv_heads, item % m.n_kv_heads};
      take_group(own, layer, part, one.kv);
      attend_item(own, layer, layer_at, one, false, nullptr);
      return;
    }
    const int size = tile_size(part), tile = (n_items(part) - 1 - item) / m.n_kv_heads;  // the longest first
    const int left = part.n - tile * size;
    attend_tokens(layer, part.cache + layer_at, own, item % m.n_kv_heads, part.first + tile * size,
                  part.start + tile * size, size < left ? size : left);
  }

  // n_tokens rows of the step from `row` on, the first at position `at`, with the heads of one group.
  void attend_tokens(const AfLayer& layer, const uint8_t* cache, Own& own, int kv, int row, int at, int n_tokens) {
    const int group = heads.group();
    for (int i = 0; i < n_tokens * group; i++) {
      turn(layer.q_norm, row + i / group, kv * group + i % group, at + i / group, score_scale,
           own.queries + i * heads.padded);
    }
    forget(own.state, n_tokens * group);
    if (n_tokens == 1) {
      k.take(heads, own.queries, 0, group, own.tile);
      k.attend(heads, own.queries, 0, cache + heads.head_offset(kv), 0, at + 1, own.tile, own.state, 0, nullptr);
    } else {
      k.attend_tile(heads, own.queries, cache + heads.head_offset(kv), n_tokens, at, own.tile, own.state);
    }
    for (int i = 0; i < n_tokens * group; i++) {
      float* into = b.mixed + (row + i / group) * b.mixed_stride + (kv * group + i % group) * m.head_dim;
      k.finish(state_of(own.state, i), 0, 1, m.head_dim, into);
    }
  }

  // ---- pieces ----

  // Bring in the beginning of what this thread reads after the next meeting: products fetch ahead only in themselves.
  // `unit` tiles of it are handed out at a time.
  void soon(const AfMatrix& next, int unit, int t) const {
    if (team.size() == 1) return;
    fetch(next.data + share(next.n_tiles / unit, t).first * unit * tile_bytes(next), FIRST_BYTES);
  }

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
  void remember(const AfLayer& layer, uint8_t* cache, int row, int at, int kv, Own& own) {
    const float* qkv = b.qkv + row * b.qkv_stride;
    float* key = own.state.mixed;  // free before a tile's attention
    turn(layer.k_norm, row, m.n_heads + kv, at, 1.0f, key);
    k.keep(heads, key, qkv + (m.n_heads + m.n_kv_heads + kv) * m.head_dim, cache + heads.head_offset(kv), at);
  }

  void turn(const float* norm, int row, int head, int at, float scale, float* into) {
    const float* from = b.qkv + row * b.qkv_stride + head * m.head_dim;
    if (norm) {
      k.norm(from, norm, m.rms_norm_eps, into, m.head_dim, m.head_dim);
      from = into;  // what is turned in place is read before it is written
    }
    k.rotate(from, m.rope + int64_t(at) * m.head_dim, scale, m.head_dim, into, heads.padded);
  }

  Softmax state_of(const Softmax& s, int head) const {
    return {s.top + head, s.sum + head, s.mixed + int64_t(head) * heads.padded};
  }

  Softmax partial_of(int p, int segment) const {
    const int64_t by = (p * b.n_segments + segment) * b.partial_stride;
    return {b.partial.top + by, b.partial.sum + by, b.partial.mixed + by};
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

AfStatus af_step(AfEngine* engine, const AfStep* step) { return engine->run(*step); }

void af_rouse(AfEngine* engine) { engine->rouse(); }

void af_cancel(AfEngine* engine) { engine->cancel(); }

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
