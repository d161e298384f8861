#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "takt/base/grow.hpp"
#include "takt/events/threads.hpp"
#include "takt/execution/anomalies.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/message_index.hpp"
#include "takt/execution/objects.hpp"
#include "takt/execution/schedule.hpp"
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
  /// Messages that were sent before their reader was made, by its callback.
  struct LateReader {
    std::uint64_t messages = 0;
    /// The longest time from the sending to the making of the reader.
    Duration longest{};
  };
  [[nodiscard]] const std::map<ObservedCallbackIndex, LateReader>& late_readers() const {
    return late_readers_;
  }
  /// Subscriptions that took nothing, and how many messages were sent on their topics by programs
  /// of their host while they were there. Empty if no message was taken at all: takes are not
  /// recorded.
  [[nodiscard]] std::map<SubscriptionIndex, std::uint64_t> unheard() const;
  /// How many messages a subscription took.
  [[nodiscard]] std::uint64_t takes(SubscriptionIndex subscription) const {
    return value_at(heard_, subscription).takes;
  }
  /// Calls of services that have not been answered. Some are left out if there are very many.
  struct Calls {
    std::uint64_t count = 0;
    Instant first = Instant::max();
  };
  [[nodiscard]] std::map<ClientIndex, Calls> unanswered() const;
  /// The time of the newest event of the host of a process. Hosts have clocks of their own.
  [[nodiscard]] Instant newest_event(ProcessIndex process) const {
    return value_at(newest_events_, threads_[process].host);
  }
  /// Threads whose callbacks overlap: they belong to several processes with the same number.
  [[nodiscard]] const std::vector<ThreadIndex>& mixed_threads() const { return mixed_threads_; }
  /// How a thread is scheduled. What switches alone show is there after Interpreter::finish().
  [[nodiscard]] Schedule schedule(ThreadIndex thread) const;
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
  std::map<ObservedCallbackIndex, LateReader> late_readers_;
  /// By subscription: how many messages it took, and how many had been sent on its topic before.
  struct Heard {
    std::uint64_t takes = 0;
    std::uint64_t sent_before = 0;
  };
  std::vector<Heard> heard_;
  std::map<std::pair<HostIndex, TopicIndex>, std::uint64_t> sent_;
  /// When requests were sent that have no response yet, by client and number.
  std::map<std::pair<ClientIndex, std::int64_t>, Instant> awaited_;
  std::vector<Instant> newest_events_;  // by host
  std::vector<ExecutorActivity> executor_activity_;
  std::vector<ThreadHistory> thread_histories_;
  std::vector<ThreadIndex> mixed_threads_;
  /// What the recorder said of threads, by host and number (takt's thread_scheduling).
  std::map<std::pair<HostIndex, std::int64_t>, Schedule> schedules_;
  std::vector<Schedule> observed_schedules_;  // by thread, at the end
};

}  // namespace takt::execution
