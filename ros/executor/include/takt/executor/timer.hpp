#pragma once

#include <rcl/timer.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "takt/executor/executable.hpp"
#include "takt/executor/node.hpp"
#include "takt/executor/traced_callback.hpp"
#include "takt/time/time.hpp"

namespace takt::executor {

/// A periodic timer on the steady clock. Missed periods are skipped, and the grid of its expiries
/// is kept (edf-executor 1.3).
class Timer final : public TimerExecutable, public WaitSetEntity {
 public:
  using Callback = std::function<void()>;

  /// A timer that does not run before start(). period > 0.
  [[nodiscard]] static Result<std::unique_ptr<Timer>> create(std::shared_ptr<Node> node,
                                                             Duration period, std::string name,
                                                             Callback callback);

  ~Timer() override;

  /// Expires first one period from now.
  [[nodiscard]] Result<void> start();

  /// Expires first at the next multiple of its period on CLOCK_MONOTONIC, where the rounds of
  /// tables of slots begin too.
  [[nodiscard]] Result<void> start_on_grid();

  /// Does not expire any more, until it is started again.
  [[nodiscard]] Result<void> stop();

  /// Whether it has expired and not been executed since.
  [[nodiscard]] Result<bool> is_due() const;

  [[nodiscard]] const void* traced_callback() const override { return callback_.address(); }
  [[nodiscard]] Result<std::optional<Duration>> time_until_expiry() const override;
  [[nodiscard]] Result<std::optional<Expiry>> expire() override;
  [[nodiscard]] Result<void> run(std::size_t worker) override;
  [[nodiscard]] Result<void> on_change(std::function<void()> changed) override;

  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) override;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const override;
  [[nodiscard]] Result<void> execute() override;

 private:
  Timer(std::shared_ptr<Node> node, std::string name, Callback callback)
      : node_(std::move(node)), callback_(std::move(name), std::move(callback)) {}

  std::shared_ptr<Node> node_;
  TracedCallback<> callback_;
  rcl_timer_t timer_ = rcl_get_zero_initialized_timer();
  std::function<void()> changed_;
  Duration period_{};
  std::size_t wait_set_index_ = 0;
};

}  // namespace takt::executor
