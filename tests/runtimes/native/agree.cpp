// Runs small random models on every instruction set of this processor and compares the logits with portable C++.
// For machines without Python: `make native-arm` builds it for arm64 and runs it in an emulator.
#include "af.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int CAPACITY = 288;  // cache rows: more than two of the segments that attention takes

uint32_t state = 1;
uint32_t draw() { return state = state * 1664525u + 1013904223u, state >> 8; }
int64_t up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

template <typename T>
T* block(int64_t n) {
  T* memory = static_cast<T*>(aligned_alloc(64, size_t(up(n * int64_t(sizeof(T)), 64))));
  memset(static_cast<void*>(memory), 0, size_t(up(n * int64_t(sizeof(T)), 64)));
  return memory;
}

uint16_t half(float value) {  // normal numbers only
  uint32_t bits;
  memcpy(&bits, &value, 4);
  return uint16_t((bits >> 16 & 0x8000) | ((bits - 0x38000000u) >> 13 & 0x7fff));
}

AfMatrix matrix(int rows, int columns, int form) {
  const int tiles = int(up(rows, 16) / 16), blocks = int(up(columns, 32) / 32);
  const float size = 1.0f / std::sqrt(float(columns));
  if (form == AF_F32) {
    float* data = block<float>(int64_t(tiles) * blocks * 512);
    for (int64_t i = 0; i < int64_t(tiles) * blocks * 512; i++) data[i] = (float(draw() % 2001) - 1000) / 577 * size;
    return {reinterpret_cast<uint8_t*>(data), tiles, blocks, form, 0};
  }
  const int codes = form == AF_INT8 ? 512 : 256, scales = form == AF_INT4_MIN ? 64 : 32;
  const int64_t n = up(int64_t(blocks) * (codes + scales), 64);
  uint8_t* data = block<uint8_t>(n * tiles);
  for (int t = 0; t < tiles; t++) {
    uint8_t* tile = data + t * n;
    for (int i = 0; i < blocks * codes; i++) tile[i] = uint8_t(draw());
    uint16_t* scale = reinterpret_cast<uint16_t*>(tile + blocks * codes);
    const float unit = form == AF_INT8 ? size / 74 : size / 4.6f;
    for (int i = 0; i < blocks * 16; i++) {
      scale[i] = half(unit * (0.5f + float(draw() % 1000) / 1000));
      if (form == AF_INT4_MIN) scale[blocks * 16 + i] = half(-7.5f * unit * (0.5f + float(draw() % 1000) / 1000));
    }
  }
  return {data, tiles, blocks, form, 0};
}

float* ones(int n) {
  float* values = block<float>(n);
  for (int i = 0; i < n; i++) values[i] = 1;
  return values;
}

AfModel random_model(int form, int heads, int kv_heads, int head_dim, int threads, int cache_form) {
  const int layers = 2, hidden = 96, ffn = 160, capacity = CAPACITY;
  AfLayer* all = block<AfLayer>(layers);
  for (int i = 0; i < layers; i++) {
    all[i] = {matrix((heads + 2 * kv_heads) * head_dim, hidden, form), matrix(hidden, heads * head_dim, form),
              matrix(2 * ffn, hidden, form), matrix(hidden, ffn, form), ones(hidden), ones(hidden),
              nullptr, nullptr, nullptr};
  }
  const AfMatrix head = matrix(83, hidden, form == AF_F32 ? AF_F32 : AF_INT8);
  float* rope = block<float>(capacity * head_dim);
  for (int p = 0; p < capacity; p++) {
    for (int i = 0; i < head_dim / 2; i++) {
      const double angle = p * std::pow(10000.0, -2.0 * i / head_dim);
      rope[p * head_dim + i] = float(std::cos(angle));
      rope[p * head_dim + head_dim / 2 + i] = float(std::sin(angle));
    }
  }
  AfModel m = {layers, hidden, heads, kv_heads, head_dim, ffn, 83, int(up(head_dim, 64)), 40, 1, threads, 1e-5f, capacity,
               all, ones(hidden), head, head, rope, nullptr, nullptr, 1.0f, cache_form};
  m.scratch = block<uint8_t>(af_scratch_bytes(&m));
  return m;
}

int64_t layer_bytes(const AfModel& m) {
  const int64_t row = m.cache_form == AF_CACHE_F16 ? 4 * m.padded_head_dim : 2 * m.padded_head_dim + 4;
  return CAPACITY * m.n_kv_heads * row;
}

// Largest difference of the logits of two engines over prefills and single steps, in standard deviations.
double difference(const AfModel& m, const char* one, const char* other) {
  const int64_t layer = layer_bytes(m);
  float* logits[2] = {block<float>(96), block<float>(96)};
  AfEngine* engines[2];
  AfModel models[2] = {m, m};
  uint8_t* caches[2];
  for (int i = 0; i < 2; i++) {
    models[i].scratch = block<uint8_t>(af_scratch_bytes(&m));
    caches[i] = block<uint8_t>(layer * m.n_layers);
    engines[i] = af_open(&models[i], i ? other : one);
    if (!engines[i]) return 1e9;
  }
  double worst = 0;
  int start = 0;
  for (int step = 0; step < 30; step++) {
    const int rows = step == 0 ? 29 : step == 1 ? 3 : step == 2 ? 17 : step < 9 ? 32 : 1;
    int64_t ids[32];
    for (int64_t& id : ids) id = draw() % 83;
    for (int i = 0; i < 2; i++) {
      const AfPart part = {ids, rows, start, caches[i], nullptr};
      const AfStep s = {&part, 1, layer, logits[i]};
      af_step(engines[i], &s);
    }
    start += rows;
    double squares = 0, most = 0;
    for (int i = 0; i < 83; i++) {
      squares += double(logits[0][i]) * logits[0][i] / 83;
      const double by = std::fabs(double(logits[0][i]) - logits[1][i]);
      most = by > most || by != by ? by : most;
    }
    if (!(most / std::sqrt(squares) <= worst)) worst = most / std::sqrt(squares);
  }
  for (AfEngine* engine : engines) af_close(engine);
  return worst;
}

// Number of logits that differ between three sequences in one pass and each alone; the second may say two ids only.
int n_shared_differ(const AfModel& m, const char* name) {
  const int64_t layer = layer_bytes(m);
  AfModel model = m;
  model.max_parts = 3;
  model.scratch = block<uint8_t>(af_scratch_bytes(&model));
  AfEngine* engine = af_open(&model, name);
  if (!engine) return 1;
  float *together = block<float>(3 * 96), *alone = block<float>(96);
  uint8_t* caches[6];
  for (uint8_t*& cache : caches) cache = block<uint8_t>(layer * m.n_layers);
  const uint32_t allowed[3] = {1u << 5, 0, 1u << 17};
  int starts[3] = {0, 0, 0}, n_differ = 0;
  for (int step = 0; step < 12; step++) {
    int64_t ids[3][32];
    AfPart parts[3];
    for (int p = 0; p < 3; p++) {
      for (int64_t& id : ids[p]) id = draw() % 83;
      const int rows = step % 4 == 0 && p != 1 ? 9 + p : 1;
      parts[p] = {ids[p], rows, starts[p], caches[p], p == 1 ? allowed : nullptr};
    }
    const AfStep whole = {parts, 3, layer, together};
    af_step(engine, &whole);
    for (int p = 0; p < 3; p++) {
      AfPart own = parts[p];
      own.cache = caches[3 + p];
      const AfStep single = {&own, 1, layer, alone};
      af_step(engine, &single);
      for (int i = 0; i < 83; i++) n_differ += memcmp(&alone[i], &together[p * 96 + i], 4) != 0;
      starts[p] += own.n_rows;
    }
  }
  af_close(engine);
  return n_differ;
}

}  // namespace

// With an argument of any kind only one form of weights is run.
int main(int argc, char**) {
  const char* sets = af_instruction_sets();
  printf("this processor has: %s\n", sets);
  const int shapes[][3] = {{6, 3, 64}, {5, 1, 16}, {4, 4, 128}, {6, 2, 80}};
  int n_failed = 0;
  char names[128];
  strcpy(names, sets);
  for (char* name = strtok(names, " "); name; name = strtok(nullptr, " ")) {
    const char* twin = strcmp(name, "neon_i8mm") == 0 ? "neon" : name;  // the same sums in the same order
    for (int form = argc > 1 ? AF_INT4_MIN : AF_F32; form <= AF_INT4_MIN; form++) {
      for (int i = 0; i < 8; i++) {
        const int *shape = shapes[i / 2], cache = i % 2;
        const AfModel m = random_model(form, shape[0], shape[1], shape[2], 2, cache);
        const double by = difference(m, "portable", name), most = form == AF_F32 && cache == AF_CACHE_F16 ? 5e-3 : 0.2;
        const bool is_bad = !(by <= most);
        const int n_differ = n_shared_differ(m, name);
        if (n_differ) printf("BAD %s: %d logits of sequences that share a pass are not those that they get alone\n", name, n_differ);
        const double by_twin = twin == name ? 0 : difference(m, twin, name);
        if (by_twin != 0) printf("BAD %s differs from %s: %.5f\n", name, twin, by_twin);
        n_failed += is_bad + (n_differ != 0) + (by_twin != 0);
        printf("%s %-10s form %d, cache %d, %d x %d x %d: %.5f\n", is_bad ? "BAD" : "ok ", name, form, cache, shape[0],
               shape[1], shape[2], by);
      }
    }
  }
  return n_failed != 0;
}
