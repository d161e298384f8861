#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace takt::linux_os {

/// A mutex that its owner, a thread, takes and gives back without a locked instruction as long as
/// no other thread wants it. Other threads pay for this: they let the kernel order what the owner
/// has written and reads (membarrier(2)). Without an owner it is a std::mutex.
///
///   owner:   owner_holds_ = true;  [no barrier]  is_wanted_?    yes: gives way
///   others:  is_wanted_ = true;    membarrier()  owner_holds_?  yes: wait
///
/// At least one of the two sees what the other one has written.
class OwnedMutex {
 public:
  /// As long as it lives, the thread that has made it owns the mutex, where the kernel can order
  /// memory. One at a time.
  class Ownership {
   public:
    /// Null: of no mutex.
    explicit Ownership(OwnedMutex* mutex) : mutex_(mutex) {
      if (mutex_ != nullptr) mutex_->own();
    }
    ~Ownership() {
      if (mutex_ != nullptr) mutex_->disown();
    }
    Ownership(const Ownership&) = delete;
    Ownership& operator=(const Ownership&) = delete;

   private:
    OwnedMutex* mutex_;
  };

  void lock() {
    if (is_owner()) {
      owner_holds_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (!is_wanted_.load(std::memory_order_acquire)) return;
      give_way();
    } else {
      lock_as_other();
    }
  }

  void unlock() {
    if (is_owner() && !owner_has_mutex_) {
      owner_holds_.store(false, std::memory_order_release);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      if (is_wanted_.load(std::memory_order_relaxed)) owner_holds_.notify_one();
    } else {
      unlock_mutex();
    }
  }

 private:
  [[nodiscard]] bool is_owner() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  void own();
  void disown();
  void give_way();
  void lock_as_other();
  void unlock_mutex();

  /// Held by others, and by the owner after it has given way.
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
  std::atomic<bool> owner_holds_ = false;
  std::atomic<bool> is_wanted_ = false;
  /// The owner's.
  bool owner_has_mutex_ = false;
};

}  // namespace takt::linux_os
