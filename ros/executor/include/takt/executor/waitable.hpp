#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "takt/executor/executable.hpp"
#include "takt/executor/guard_condition.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/traced_callback.hpp"

namespace takt::executor {

/// Runs its callback once for each trigger().
class Waitable final : public MessageExecutable, public WaitSetEntity {
 public:
  using Callback = std::function<void()>;

  /// Traces tell of it and of what triggers it if it has a node.
  [[nodiscard]] static Result<std::unique_ptr<Waitable>> create(
      std::shared_ptr<Context> context, std::string name, Callback callback,
      const std::shared_ptr<Node>& node = nullptr);

  /// One more instance is due. From any thread.
  void trigger();

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::waitable;
  }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) override;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const override;
  [[nodiscard]] Result<void> execute() override;
  [[nodiscard]] Result<void> run(std::size_t /*worker*/) override { return execute(); }
  [[nodiscard]] Result<void> notify(Arrived arrived) override;

 private:
  Waitable(std::unique_ptr<GuardCondition> condition, std::string name, Callback callback)
      : condition_(std::move(condition)), callback_(std::move(name), std::move(callback)) {}

  std::unique_ptr<GuardCondition> condition_;
  bool is_announced_ = false;
  TracedCallback<> callback_;
  std::atomic<std::size_t> pending_ = 0;
  std::mutex mutex_;
  Arrived arrived_;
};

}  // namespace takt::executor
