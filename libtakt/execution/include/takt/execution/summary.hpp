#pragma once

#include <cstdint>
#include <vector>

#include "takt/execution/executors.hpp"
#include "takt/execution/observer.hpp"
#include "takt/statistics/distribution.hpp"

namespace takt::execution {

/// Counts how often everything in a trace happened, for `takt info`.
struct Summary {
  struct CallbackActivity {
    statistics::Distribution execution_time;
    Totals totals;
  };
  /// Indexed by callback, publisher and subscription. Objects beyond the end of a list did nothing.
  std::vector<CallbackActivity> callbacks;
  std::vector<std::uint64_t> publications;
  std::vector<std::uint64_t> takes;
  ExecutorFinder executors;
};

/// Observes an execution for its summary, in memory bounded by the number of objects.
class Summarizer final : public Observer {
 public:
  void on_instance(const Database& database, const CallbackInstance& instance) override;
  void on_publication(const Database& database, const Publication& publication) override;
  void on_take(const Database& database, const Take& take) override;

  [[nodiscard]] const Summary& summary() const { return summary_; }

 private:
  Summary summary_;
};

}  // namespace takt::execution
