#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "takt/execution/instances.hpp"
#include "takt/flow/message_times.hpp"
#include "takt/flow/stages.hpp"
#include "takt/time/time.hpp"

namespace takt::flow {

/// When the message of a run came, or its timer was due, as far as the recording tells.
struct Arrival {
  enum class Known : std::uint8_t {
    nothing,
    due,     ///< it was due at `first`: it is a timer's, or something else triggered it
    late,    ///< its message is older than its reader, which is since `first`; it came at `second`
    sent,    ///< Fast DDS wrote its message at `first` and received it at `second`
    waited,  ///< its thread had waited from `first` to `second`, and then ran other callbacks
    waited_last,  ///< the same, and it ran nothing since
  };

  Known known = Known::nothing;
  Instant first;
  Instant second;
  /// What the message was in on its way.
  Stage way = Stage::in_transport;
  /// It was on its way until then: see ArrivalOrder.
  Instant not_before = Instant::min();
};

/// Messages of one publisher come in their order. So none came before the end of a sleep that was
/// ended by an older one.
class ArrivalOrder {
 public:
  /// Until when the message of an instance had not come, if an older message shows that.
  std::optional<Instant> not_before(const execution::CallbackInstance& instance,
                                    const execution::Publication& publication);

 private:
  struct Newest {
    Instant taken = Instant::min();
    Instant not_before = Instant::min();
  };
  std::map<std::pair<execution::ObservedCallbackIndex, execution::PublisherIndex>, Newest> newest_;
};

/// A run's message was sent before its reader was made: when that was there, and when the message
/// came (execution::CallbackInstance::late_arrival()).
struct Late {
  Instant since;
  Instant arrival;
};

/// How a run was activated, as far as the recording tells.
struct Activation {
  std::optional<Late> late;
  /// When its timer, or what else triggered it, was due.
  std::optional<Instant> due;
  /// Of its message, if Fast DDS's events were recorded.
  std::optional<MessageTimes::Times> times;
  /// Its message had not come before, if ArrivalOrder shows that.
  std::optional<Instant> not_before;
  /// Its message came through shared memory.
  bool by_memory = false;
  /// The last wait of its thread; both the same where none was recorded.
  Instant wait_begin;
  Instant wait_end;
  bool first_after_wait = false;
};

/// When a run's message came, or its timer was due, by what tells most of it.
[[nodiscard]] Arrival arrival_of(const Activation& activation);

}  // namespace takt::flow
