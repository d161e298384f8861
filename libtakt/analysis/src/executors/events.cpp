// The events executor: first come, first served.

#include "executors/job_queue.hpp"

namespace takt::analysis {

namespace {

class Events final : public JobQueueExecutor {
 public:
  using JobQueueExecutor::JobQueueExecutor;

 private:
  [[nodiscard]] Interference interference(const Member&, const Member&) const override {
    return {.blocks = false, .precedes = true, .limit = until_victim};
  }
  [[nodiscard]] std::string_view name() const override { return "fifo"; }
};

}  // namespace

std::unique_ptr<ExecutorAnalysis> make_events(const Round& round, ExecutorIndex executor) {
  return std::make_unique<Events>(round, executor);
}

}  // namespace takt::analysis
