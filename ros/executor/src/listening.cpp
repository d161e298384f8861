#include "takt/executor/listening.hpp"

#include <mutex>
#include <unordered_map>

namespace takt::executor {
namespace {

struct Listener {
  std::uint64_t number = 0;
  std::function<Result<void>()> end;
};

/// All who listen, by the address of the entity. Beginnings and ends come one after the other.
struct Listeners {
  std::mutex mutex;
  std::uint64_t begun = 0;
  std::unordered_map<const void*, Listener> now;
};

Listeners& listeners() {
  static Listeners all;
  return all;
}

}  // namespace

Result<Listening> Listening::begin(const void* source, const std::function<Result<void>()>& begin,
                                   std::function<Result<void>()> end) {
  Listeners& all = listeners();
  const std::scoped_lock lock(all.mutex);
  Listener& listener = all.now[source];
  if (listener.end) (void)listener.end();
  listener = {.number = ++all.begun, .end = std::move(end)};
  if (const Result<void> begun = begin(); !begun) {
    all.now.erase(source);
    return tl::unexpected(begun.error());
  }
  Listening listening;
  listening.source_ = source;
  listening.number_ = listener.number;
  return listening;
}

Result<void> Listening::end() {
  if (number_ == 0) return {};
  const std::uint64_t number = std::exchange(number_, 0);
  Listeners& all = listeners();
  const std::scoped_lock lock(all.mutex);
  const auto listener = all.now.find(source_);
  if (listener == all.now.end() || listener->second.number != number) return {};
  const std::function<Result<void>()> end = std::move(listener->second.end);
  all.now.erase(listener);
  return end();
}

}  // namespace takt::executor
