#pragma once

#include <memory>
#include <vector>

#include "takt/events/event.hpp"
#include "takt/events/threads.hpp"
#include "takt/execution/anomalies.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/objects.hpp"

namespace takt::execution {

/// Turns events into objects and instances (message-flow 3.3). A single pass in time order, without
/// allocation for each event and in memory bounded by the number of objects: what happened is
/// handed to the observers and forgotten.
class Interpreter {
 public:
  /// `threads` and the observers outlive the interpreter. `threads` may grow between batches.
  Interpreter(const events::Threads& threads, std::vector<Observer*> observers);
  ~Interpreter();

  void consume(const events::Batch& batch);
  /// After the last batch: completes what is complete and counts what is not.
  void finish();

  /// Complete after finish().
  [[nodiscard]] const Objects& objects() const;
  [[nodiscard]] const Anomalies& anomalies() const;
  /// Instances that were still running at the end. Empty before finish().
  [[nodiscard]] const std::vector<CallbackInstance>& open_instances() const;

  /// Instances that ended, and how many of them with processor time.
  struct Totals {
    std::uint64_t instances = 0;
    std::uint64_t with_cpu_time = 0;
  };
  [[nodiscard]] Totals totals() const;

  /// A recent publication, null if it was too long ago. Valid until the next event.
  [[nodiscard]] const Publication* publication(PublicationId id) const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::execution
