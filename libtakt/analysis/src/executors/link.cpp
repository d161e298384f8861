#include "executors/link.hpp"

#include <algorithm>

#include "executors/job_queue.hpp"

namespace takt::analysis {

namespace {

class Link final : public PriorityExecutor {
 public:
  using PriorityExecutor::PriorityExecutor;

 private:
  [[nodiscard]] Interference interference(const Member& other,
                                          const Member& victim) const override {
    return by_priority(other, victim, Ties::first_activated);
  }

  /// More urgent messages go first until the victim's last chunk begins. The chunks before it are
  /// on the link by then.
  [[nodiscard]] Duration before_decision(const Member& victim) const override {
    const Duration whole = victim.task->cost(1);
    const Duration chunk = executor_.longest_piece;
    const Duration rest = whole % chunk;
    return whole - (rest > Duration{0} ? rest : std::min(whole, chunk));
  }

  [[nodiscard]] std::string_view name() const override { return "link"; }
};

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_link(const Round& round, ExecutorIndex executor) {
  return std::make_unique<Link>(round, executor);
}

}  // namespace takt::analysis
