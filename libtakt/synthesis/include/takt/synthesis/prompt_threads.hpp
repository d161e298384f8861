#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/execution/observer.hpp"

namespace takt::synthesis {

/// Threads that the kernel runs before those of best effort, and since when. A message to any other
/// thread may seem to travel for long because its receiver waited for a processor. That waiting is
/// no transport: with a reservation it becomes a part of the supply, which bounds know already.
class PromptThreads final : public execution::Observer {
 public:
  void add(execution::ThreadIndex thread, Instant since) { since_.try_emplace(thread, since); }
  /// Forgets all threads for which this holds.
  template <class Predicate>
  void remove_if(const Predicate& holds) {
    std::erase_if(since_, [&](const auto& entry) { return holds(entry.first); });
  }

  /// Whether the thread was prompt at that time, and has been since.
  [[nodiscard]] bool covers(execution::ThreadIndex thread, Instant time) const {
    const auto found = since_.find(thread);
    return found != since_.end() && found->second <= time;
  }
  /// How many instances of the callback have run on prompt threads in all.
  [[nodiscard]] std::uint64_t runs(execution::ObservedCallbackIndex callback) const {
    return callback.value() < runs_.size() ? runs_[callback.value()] : 0;
  }

  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;

 private:
  std::map<execution::ThreadIndex, Instant> since_;
  std::vector<std::uint64_t> runs_;
};

}  // namespace takt::synthesis
