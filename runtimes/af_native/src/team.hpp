// Threads that live as long as the model: they spin inside a step, a moment after it, and then sleep.
#pragma once
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

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
  // `work(thread)` runs on every member for each `run`; the caller of run is member 0.
  template <typename Work>
  Team(int n_threads, Work work) : n_(n_threads) {
    for (int i = 1; i < n_; i++) {
      threads_.emplace_back([this, i, work] {
        uint32_t seen = 0;
        while (wait_for_run(seen)) work(i);
      });
    }
  }

  ~Team() {
    is_over_.store(true);
    start();
    for (std::thread& thread : threads_) thread.join();
  }

  int size() const { return n_; }

  template <typename Work>
  void run(Work work) {
    next_.store(0, std::memory_order_relaxed);
    start();
    work(0);
  }

  // Wait until every member is here. The last one resets the shared counter.
  void meet() {
    if (n_ == 1) {
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
    for (int n = 0; round_.load(std::memory_order_acquire) == round; n++) {
      if (n < SPINS_BEFORE_YIELD) {
        relax();
      } else {
        std::this_thread::yield();  // a member was put off its core; give it ours
      }
    }
  }

  // Items 0, 1, 2 … handed out one by one, from 0 again after each meeting.
  int next() { return next_.fetch_add(1, std::memory_order_relaxed); }

 private:
  static constexpr int SPINS_BEFORE_YIELD = 4000;
  static constexpr int SPINS_BEFORE_SLEEP = 8000;  // about 0.2 ms: bridges the host's work between two steps

  void start() {
    if (n_ == 1) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      epoch_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
  }

  bool wait_for_run(uint32_t& seen) {
    for (int n = 0; n < SPINS_BEFORE_SLEEP && epoch_.load(std::memory_order_acquire) == seen; n++) relax();
    if (epoch_.load(std::memory_order_acquire) == seen) {
      std::unique_lock<std::mutex> lock(mutex_);
      wake_.wait(lock, [&] { return epoch_.load(std::memory_order_acquire) != seen; });
    }
    seen++;  // a run ends with a meeting of all, so none can be missed
    return !is_over_.load();
  }

  const int n_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_;
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<int> arrived_{0};
  alignas(64) std::atomic<uint32_t> round_{0};
  alignas(64) std::atomic<int> next_{0};
  alignas(64) std::atomic<bool> is_over_{false};
};

}  // namespace af
