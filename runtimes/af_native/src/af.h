// The C interface of the library: plain structs and functions, called from Python through ctypes.
//
// The caller owns all memory (weights, cache, scratch); the library owns only its threads. Shapes are checked by the
// caller; the library trusts them.
#pragma once
#include <cstdint>

// How the codes of a matrix are stored; see docs/kernels.md for the order of bytes.
enum AfForm : int32_t {
  AF_F32 = 0,       // weight = value
  AF_INT8 = 1,      // weight = scale * (code - 128)
  AF_INT4 = 2,      // weight = scale * (code - 8)
  AF_INT4_MIN = 3,  // weight = scale * code + minimum
};

// How the cache holds K and V; see docs/kernels.md for the order of bytes.
enum AfCache : int32_t {
  AF_CACHE_F16 = 0,   // [position][kv head][K padded | V padded]
  AF_CACHE_INT8 = 1,  // [block of 32 positions][kv head][codes of K | codes of V | scales of K | scales of V]
};

// Rows are in tiles of 16, columns in blocks of 32; both are padded with zeros to whole tiles and blocks.
struct AfMatrix {
  const uint8_t* data;
  int32_t n_tiles;
  int32_t n_blocks;
  int32_t form;
  int32_t activation;  // of gate_up: AfActivation
};

enum AfActivation : int32_t {
  AF_SILU = 0,
  AF_GELU = 1,  // the form with tanh
};

struct AfLayer {
  AfMatrix qkv;      // rows: q heads, k heads, v heads
  AfMatrix o;
  AfMatrix gate_up;  // tiles alternate: gate 0, up 0, gate 1, up 1 …
  AfMatrix down;
  const float* attn_norm;
  const float* ffn_norm;
  const float* qkv_bias;  // [rows of qkv]; null = none
  const float* q_norm;    // [head_dim], before the rotation; null = none
  const float* k_norm;    // the same
};

struct AfModel {
  int32_t n_layers, hidden_size, n_heads, n_kv_heads, head_dim, ffn_size, vocab_size;
  int32_t padded_head_dim;  // of a cache row: K takes that many values, V follows
  int32_t max_rows;         // of all parts of a step together
  int32_t max_parts;        // sequences that may share a step, at most AF_MAX_PARTS
  int32_t n_threads;
  float rms_norm_eps;
  int32_t max_seq_len;      // rows of a cache slot
  const AfLayer* layers;
  const float* final_norm;
  AfMatrix embed, head;
  const float* rope;  // [position][head_dim / 2] cosines, then as many sines, per position
  uint8_t* scratch;   // af_scratch_bytes, 64-byte aligned
  const int32_t* cores;  // [n_threads]: which core each thread is held to; null = where the system puts them
  float embed_scale;     // what an embedding is multiplied by
  int32_t cache_form;    // AfCache
  int32_t linger_us;     // for so long threads spin after a step or a rouse, before they sleep
};

enum { AF_MAX_PARTS = 8 };

// One sequence's share of a step.
struct AfPart {
  const int64_t* token_ids;  // [n_rows]
  int32_t n_rows;            // those that count, without padding
  int32_t start;             // rows in the cache before this step
  uint8_t* cache;            // the slot's rows of layer 0, 64-byte aligned
  const uint32_t* allowed;   // a bit per id, [vocab_size rounded up to 32]; null = all. Others get -inf, mostly unread.
};

// The weights are read once for all parts; each gets the same numbers as alone.
struct AfStep {
  const AfPart* parts;
  int64_t n_parts;
  int64_t layer_stride;  // bytes of the cache from one layer to the next
  float* logits;         // [n_parts][vocab_size rounded up to 16] f32, of each part's last row
};

enum AfStatus : int32_t {
  AF_DONE = 0,
  AF_CANCELLED = 1,  // logits and the cache behind `start` hold anything
};

extern "C" {
// Names of the instruction sets compiled in that this processor has, best first, separated by spaces.
const char* af_instruction_sets();
int64_t af_scratch_bytes(const AfModel* model);
// Start the threads; null if the instruction set is unknown.
struct AfEngine* af_open(const AfModel* model, const char* instruction_set);
AfStatus af_step(struct AfEngine* engine, const AfStep* step);
// Wake the threads for a step that is about to come; from the thread that steps.
void af_rouse(struct AfEngine* engine);
// End the step in progress after the layer at hand; from any thread. Without a step in progress nothing happens.
void af_cancel(struct AfEngine* engine);
void af_close(struct AfEngine* engine);
// A checksum of whole 64-byte lines; finds damage, not malice.
void af_sum(const uint8_t* data, int64_t n_bytes, uint64_t* sums /* [4] */);
// Read n_bytes with n_threads and return the seconds it took: what memory gives at best.
double af_read(const uint8_t* data, int64_t n_bytes, int32_t n_threads, const char* instruction_set);
}
