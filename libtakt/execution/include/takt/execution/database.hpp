#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "takt/events/threads.hpp"
#include "takt/execution/anomalies.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/message_index.hpp"
#include "takt/execution/objects.hpp"
#include "takt/execution/thread_class.hpp"

namespace takt::execution {

/// Holds what the events consumed so far show of an execution: the objects, the newest messages,
/// and what did not fit together. An interpreter fills it; everybody else reads it. Its memory is
/// bounded by the number of objects and does not grow with time.
class Database {
 public:
  explicit Database(const events::Threads& threads) : threads_(threads) {}

  [[nodiscard]] const events::Threads& threads() const { return threads_; }
  [[nodiscard]] const Objects& objects() const { return objects_; }
  [[nodiscard]] const Anomalies& anomalies() const { return anomalies_; }
  [[nodiscard]] const Totals& totals() const { return totals_; }
  /// A recent publication; null if it was too long ago. Valid until the next event.
  [[nodiscard]] const Publication* publication(PublicationId id) const {
    return messages_.find(id);
  }
  /// When start-up ended (see Observer::on_steady_state); nothing while it goes on.
  [[nodiscard]] std::optional<Instant> steady_since() const { return steady_since_; }
  /// By thread: what its executor did while no callback ran that events name, and how many events
  /// it emitted. Threads beyond the end did nothing.
  [[nodiscard]] const std::vector<ExecutorActivity>& executor_activity() const {
    return executor_activity_;
  }
  /// By thread: its class and the changes of its class. Threads beyond the end are unknown.
  [[nodiscard]] const std::vector<ThreadHistory>& thread_histories() const {
    return thread_histories_;
  }
  /// Instances that were still running at the end. Empty before Interpreter::finish().
  [[nodiscard]] const std::vector<CallbackInstance>& open_instances() const {
    return open_instances_;
  }

 private:
  friend class Interpreter;

  const events::Threads& threads_;
  Objects objects_;
  Anomalies anomalies_;
  Totals totals_;
  MessageIndex messages_;
  std::optional<Instant> steady_since_;
  std::vector<CallbackInstance> open_instances_;
  std::vector<ExecutorActivity> executor_activity_;
  std::vector<ThreadHistory> thread_histories_;
};

}  // namespace takt::execution
