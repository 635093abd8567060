// Threads that live as long as the model: they spin inside a step and a while after it, and then sleep.
//
// POSIX threads and no C++ library, so that any compiler can link this without bringing one.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace af {

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

class Team {
 public:
  using Work = void (*)(void* context, int member);

  // `work(context, member)` runs on every member for each `run`; the caller of run is member 0. Member i is held to
  // core cores[i], the caller during a run to any of them; null = where the system puts them. After a run members spin
  // for linger_us, because the next run mostly follows soon, and then sleep.
  Team(int n_threads, Work work, void* context, const int32_t* cores = nullptr, int linger_us = 0)
      : n_(n_threads), work_(work), context_(context), cores_(cores), linger_ns_(int64_t(linger_us) * 1000) {
    threads_ = static_cast<Thread*>(calloc(size_t(n_), sizeof(Thread)));
    for (int i = 1; threads_ && i < n_; i++) {
      threads_[i].team = this;
      threads_[i].member = i;
      if (pthread_create(&threads_[i].id, nullptr, live, &threads_[i]) != 0) {
        dismiss(i);
        return;
      }
    }
    is_whole_ = threads_ != nullptr;
  }

  ~Team() {
    if (is_whole_) dismiss(n_);
    free(threads_);
  }

  // False if the system gave too few threads; then nothing may be run.
  bool is_whole() const { return is_whole_; }
  // Members of the run in progress.
  int size() const { return n_active_; }

  void run() {
    const Held held(cores_, n_);
    n_active_ = n_;
    next_.store(0, std::memory_order_relaxed);
    is_crowded_.store(was_kept_waiting(), std::memory_order_relaxed);
    waited_ns_ = 0;
    start();
    work_(context_, 0);
  }

  // The same with member 0 only; the others sleep on.
  void run_alone() {
    const Held held(cores_, n_);
    n_active_ = 1;
    work_(context_, 0);
  }

  // Wake the members that sleep, because a run is about to come; they spin for it as after a run. From any thread.
  void rouse() {
    if (n_ == 1) return;
    pthread_mutex_lock(&mutex_);
    calls_.fetch_add(1, std::memory_order_release);
    pthread_cond_broadcast(&wake_);
    pthread_mutex_unlock(&mutex_);
  }

  // True if member 0 spent long in a meeting of the last run, because another member had no core.
  bool was_kept_waiting() const { return waited_ns_ > 2000000; }

  // Wait until every member is here. The last one resets the shared counter.
  void meet(int member) {
    if (n_active_ == 1) {
      next_.store(0, std::memory_order_relaxed);
      return;
    }
    const uint32_t round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == n_) {
      arrived_.store(0, std::memory_order_relaxed);
      next_.store(0, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int n = 0; n < SPINS_BEFORE_YIELD; n++) {
      if (round_.load(std::memory_order_acquire) != round) return;
      relax();
    }
    const int64_t from = now_ns();
    while (round_.load(std::memory_order_acquire) == round) sched_yield();  // give our core to who was put off
    if (member == 0) waited_ns_ += now_ns() - from;
  }

  // Items 0, 1, 2 … handed out one by one, from 0 again after each meeting.
  int next() { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct Thread {
    Team* team;
    int member;
    pthread_t id;
  };

  // Keeps this thread on some cores, and gives it back its own at the end; cores that are not ours change nothing.
  struct Held {
    Held(const int32_t* cores, int n) {
      if (!cores || sched_getaffinity(0, sizeof before, &before) != 0) return;
      cpu_set_t wanted;
      CPU_ZERO(&wanted);
      for (int i = 0; i < n; i++) CPU_SET(size_t(cores[i]), &wanted);
      is_held = sched_setaffinity(0, sizeof wanted, &wanted) == 0;
    }
    ~Held() {
      if (is_held) sched_setaffinity(0, sizeof before, &before);
    }
    cpu_set_t before;
    bool is_held = false;
  };

  static constexpr int SPINS_BEFORE_YIELD = 2000;
  static constexpr int SPINS_BEFORE_LOOK = 100;  // at the clock
  static constexpr int64_t SHORT_LINGER_NS = 100000;

  static int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
  }

  static void* live(void* thread) {
    Team& team = *static_cast<Thread*>(thread)->team;
    const Held held(team.cores_ ? team.cores_ + static_cast<Thread*>(thread)->member : nullptr, 1);
    uint32_t seen = 0;
    while (team.wait_for_run(seen)) team.work_(team.context_, static_cast<Thread*>(thread)->member);
    return nullptr;
  }

  void start() {
    if (n_ == 1) return;
    pthread_mutex_lock(&mutex_);
    epoch_.fetch_add(1, std::memory_order_release);
    pthread_cond_broadcast(&wake_);
    pthread_mutex_unlock(&mutex_);
  }

  bool is_run_on(uint32_t seen) const { return epoch_.load(std::memory_order_acquire) != seen; }

  // Spin until a run begins or it is time to sleep.
  void linger(uint32_t seen) const {
    // Where cores are wanted elsewhere, who spins loses the turn that who sleeps is given at once
    const int64_t most = is_crowded_.load(std::memory_order_relaxed) ? SHORT_LINGER_NS : linger_ns_;
    const int64_t end = now_ns() + most;
    do {
      for (int n = 0; n < SPINS_BEFORE_LOOK; n++) {
        if (is_run_on(seen)) return;
        relax();
      }
    } while (now_ns() < end);
  }

  bool wait_for_run(uint32_t& seen) {
    uint32_t called = calls_.load(std::memory_order_acquire);
    for (linger(seen); !is_run_on(seen); linger(seen)) {
      pthread_mutex_lock(&mutex_);
      while (!is_run_on(seen) && calls_.load(std::memory_order_acquire) == called) pthread_cond_wait(&wake_, &mutex_);
      called = calls_.load(std::memory_order_acquire);
      pthread_mutex_unlock(&mutex_);
    }
    seen++;  // a run ends with a meeting of all, so none can be missed
    return !is_over_.load();
  }

  void dismiss(int n_members) {
    is_over_.store(true);
    start();
    for (int i = 1; i < n_members; i++) pthread_join(threads_[i].id, nullptr);
  }

  const int n_;
  int n_active_ = 1;
  int64_t waited_ns_ = 0;
  const Work work_;
  void* const context_;
  const int32_t* const cores_;
  const int64_t linger_ns_;
  Thread* threads_ = nullptr;
  bool is_whole_ = false;
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t wake_ = PTHREAD_COND_INITIALIZER;
  alignas(64) std::atomic<uint32_t> epoch_{0};
  std::atomic<uint32_t> calls_{0};
  std::atomic<bool> is_crowded_{false};
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> round_{0};
  alignas(64) std::atomic<int> next_{0};
  alignas(64) std::atomic<bool> is_over_{false};
};

}  // namespace af
