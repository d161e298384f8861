#include <array>

#include "executors/executor_analysis.hpp"

namespace takt::analysis {

std::unique_ptr<ExecutorAnalysis> make_analysis(const Round& round, ExecutorIndex executor) {
  using Make = std::unique_ptr<ExecutorAnalysis>(const Round&, ExecutorIndex);
  static constexpr auto make = std::to_array<Make*>({
#define TAKT_EXECUTOR_KIND(kind, traits, rules) make_##kind,
#include "takt/base/executor_kinds.def"
#undef TAKT_EXECUTOR_KIND
  });
  const LocalExecutor& local = round.system.executors[executor.value()];
  if (!local.contention.empty() || !local.undescribed.empty()) return nullptr;
  return make.at(static_cast<std::size_t>(local.description.kind))(round, executor);
}

}  // namespace takt::analysis
