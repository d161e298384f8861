#pragma once

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "post.hpp"

namespace takt::share {

/// The shared ends of this process by the middleware's handles.
template <typename End>
class Registry {
 public:
  void add(const void* handle, std::shared_ptr<End> end) {
    const std::unique_lock lock(mutex_);
    ends_[handle] = std::move(end);
  }

  /// Null if it is not shared.
  std::shared_ptr<End> find(const void* handle) {
    if (is_forked()) return nullptr;
    const std::shared_lock lock(mutex_);
    const auto found = ends_.find(handle);
    return found == ends_.end() ? nullptr : found->second;
  }

  std::shared_ptr<End> remove(const void* handle) {
    const std::unique_lock lock(mutex_);
    const auto found = ends_.find(handle);
    if (found == ends_.end()) return nullptr;
    auto end = std::move(found->second);
    ends_.erase(found);
    return end;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<End>> ends_;
};

class Publisher;
class Subscription;

Registry<Publisher>& publishers();
/// By `data`, which is what wait sets name.
Registry<Subscription>& subscriptions();

}  // namespace takt::share
