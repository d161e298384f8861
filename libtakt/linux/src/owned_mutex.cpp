#include "takt/linux/owned_mutex.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace takt::linux_os {
namespace {

bool membarrier(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

bool can_order_memory() {
  static const bool is_registered = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
  return is_registered;
}

}  // namespace

void OwnedMutex::own() {
  if (!can_order_memory()) return;
  const std::scoped_lock lock(mutex_);
  owner_ = std::this_thread::get_id();
}

void OwnedMutex::disown() {
  const std::scoped_lock lock(mutex_);
  owner_ = std::thread::id();
}

void OwnedMutex::give_way() {
  owner_holds_.store(false, std::memory_order_release);
  owner_holds_.notify_one();
  mutex_.lock();
  owner_has_mutex_ = true;
}

void OwnedMutex::lock_as_other() {
  mutex_.lock();
  if (owner_.load(std::memory_order_relaxed) == std::thread::id()) return;
  is_wanted_.store(true, std::memory_order_relaxed);
  membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  while (owner_holds_.load(std::memory_order_acquire)) owner_holds_.wait(true);
}

void OwnedMutex::unlock_mutex() {
  if (is_owner()) {
    owner_has_mutex_ = false;
  } else {
    is_wanted_.store(false, std::memory_order_release);
  }
  mutex_.unlock();
}

}  // namespace takt::linux_os
