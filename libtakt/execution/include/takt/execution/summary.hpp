#pragma once

#include <string>
#include <vector>

#include "takt/events/source.hpp"
#include "takt/execution/distribution.hpp"
#include "takt/execution/executors.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"

namespace takt::execution {

/// Observes what `takt info` says of a trace.
class Summary final : public Observer {
 public:
  void on_instance(const CallbackInstance& instance) override;
  void on_publication(const Publication& publication) override;
  void on_take(SubscriptionIndex subscription, Instant time, PublicationId source) override;

  /// The `takt/info` version 1 document.
  [[nodiscard]] std::string to_json(const events::Source& source, const Interpreter& interpreter,
                                    const Pass& pass) const;

 private:
  struct CallbackCounts {
    Distribution execution_time;
    std::uint64_t with_cpu_time = 0;
  };
  ExecutorFinder executors_;
  std::vector<CallbackCounts> callbacks_;
  std::vector<std::uint64_t> publications_;
  std::vector<std::uint64_t> takes_;
};

}  // namespace takt::execution
