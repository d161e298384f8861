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
class Timer final : public Executable {
 public:
  using Callback = std::function<void()>;

  /// A timer that does not run before start(). period > 0.
  [[nodiscard]] static Result<std::unique_ptr<Timer>> create(std::shared_ptr<Node> node,
                                                             Duration period, std::string name,
                                                             Callback callback);

  ~Timer() override;

  /// Expires first one period from now.
  [[nodiscard]] Result<void> start();

  /// Does not expire any more, until it is started again.
  [[nodiscard]] Result<void> stop();

  /// Whether it has expired and not been executed since.
  [[nodiscard]] Result<bool> is_due() const;

  /// Time until the next expiry, 0 or less if it is due; none: the timer does not run.
  [[nodiscard]] Result<std::optional<Duration>> time_until_expiry() const;

  /// Moves on to the next expiry. When the one that is due expired; none: the timer does not run.
  [[nodiscard]] Result<std::optional<Instant>> expire();

  /// Runs the callback for an expiry that expire() gave.
  void run();

  /// Calls `started` after each start(), on the thread that started the timer. An empty function
  /// ends this.
  [[nodiscard]] Result<void> on_start(std::function<void()> started);

  [[nodiscard]] scheduling::Category category() const override {
    return scheduling::Category::timer;
  }
  [[nodiscard]] Result<void> add_to(rcl_wait_set_t& wait_set) override;
  [[nodiscard]] bool is_ready_in(const rcl_wait_set_t& wait_set) const override;
  [[nodiscard]] Result<void> execute() override;

 private:
  Timer(std::shared_ptr<Node> node, std::string name, Callback callback)
      : node_(std::move(node)), callback_(std::move(name), std::move(callback)) {}

  std::shared_ptr<Node> node_;
  TracedCallback<> callback_;
  rcl_timer_t timer_ = rcl_get_zero_initialized_timer();
  std::function<void()> started_;
  std::size_t wait_set_index_ = 0;
};

}  // namespace takt::executor
