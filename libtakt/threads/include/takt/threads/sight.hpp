#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "takt/events/threads.hpp"
#include "takt/execution/executors.hpp"
#include "takt/execution/observer.hpp"
#include "takt/threads/assign.hpp"
#include "takt/time/time.hpp"

namespace takt::threads {

/// Sees which threads of running programs do what, by their events and by the names of their
/// threads.
///
/// Events say which thread runs a callback. A callback that has not run yet is taken to run on the
/// only thread of its process that spins an executor, once there has been only one for a while.
class Sight final : public execution::Observer {
 public:
  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override {
    finder_.on_instance(database, instance);
  }

  /// How long a process must have had the same spinning threads.
  static constexpr Duration settled = std::chrono::milliseconds{500};

  /// The threads that run at this time, which does not go back, process by process. Reads /proc.
  [[nodiscard]] std::vector<SeenThread> threads(const execution::Database& database, Instant now);
  /// Changes when events show something new about threads.
  [[nodiscard]] std::uint64_t structure(const execution::Database& database) const;

 private:
  struct Spinning {
    std::vector<events::ThreadIndex> threads;
    Instant since;
  };
  /// The only thread of a process that spins, if nothing has changed for long enough.
  [[nodiscard]] std::optional<events::ThreadIndex> only_spinning(
      events::ProcessIndex process, const std::vector<events::ThreadIndex>& spinning, Instant now);

  execution::ExecutorFinder finder_;
  std::map<events::ProcessIndex, Spinning> spinning_;
};

}  // namespace takt::threads
