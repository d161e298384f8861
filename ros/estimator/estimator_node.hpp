#pragma once

#include <memory>
#include <rcl_interfaces/srv/set_parameters.hpp>
#include <std_msgs/msg/float64_multi_array.hpp>
#include <std_msgs/msg/string.hpp>
#include <string>
#include <vector>

#include "takt/estimation/dual_mode.hpp"
#include "takt/estimation/period_input.hpp"
#include "takt/executor/events_executor.hpp"
#include "takt/executor/publisher.hpp"
#include "takt/executor/service.hpp"
#include "takt/executor/subscription.hpp"
#include "takt/executor/timer.hpp"
#include "takt/executor/wait_set_executor.hpp"

namespace takt::estimator {

/// The dual-mode estimator between topics. Below the node's name:
///
///     input, measurement   what comes in: Float64MultiArray, in the order of the document's names
///     estimate, covariance what goes out once in every period; the covariance row by row
///     mode                 String: linear, to_nonlinear, nonlinear, to_linear, fail_safe
///     margin               Float64MultiArray: that of the input and that of the region
///     diagnostics          String: a JSON object, docs/estimation.md
///     set_parameters       the parameter mode set to "linear" asks for the cheap mode; refused,
///                          with the reason, where that is not safe
///
/// A timer runs the estimator. Any number of inputs may come in a period (PeriodInput). A period
/// may have no measurement; of several, the last one counts.
class EstimatorNode {
 public:
  [[nodiscard]] static Result<std::unique_ptr<EstimatorNode>> create(
      const estimation::Handoff& handoff, const std::string& name);

  /// The entities that an executor runs, the timer first.
  [[nodiscard]] std::vector<executor::WaitSetEntity*> entities();
  [[nodiscard]] std::vector<executor::ScheduledExecutable> executables();
  [[nodiscard]] const std::shared_ptr<executor::Context>& context() const { return context_; }

  /// Starts the timer. `refusal`: what the kernel refused, for the diagnostics; may be empty.
  [[nodiscard]] Result<void> start(std::string refusal);
  /// The first fault of the middleware, if there was one.
  [[nodiscard]] const Result<void>& failure() const { return failure_; }
  [[nodiscard]] std::string diagnostics() const;

 private:
  using Numbers = std_msgs::msg::Float64MultiArray;
  using Text = std_msgs::msg::String;
  using SetParameters = rcl_interfaces::srv::SetParameters;

  explicit EstimatorNode(const estimation::Handoff& handoff);

  [[nodiscard]] Result<void> connect(const std::string& name);
  void take_input(const Numbers& message);
  void take_measurement(const Numbers& message);
  void step();
  void answer(const SetParameters::Request& request, SetParameters::Response& response);
  template <typename Message>
  void publish(executor::Publisher<Message>& publisher, const Message& message);

  Duration period_;
  estimation::DualMode estimator_;
  estimation::PeriodInput inputs_;
  estimation::Sample sample_;
  estimation::StepReport report_;
  bool has_measurement_ = false;
  std::uint64_t steps_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t without_measurement_ = 0;
  std::uint64_t measurements_replaced_ = 0;
  std::string refusal_;
  Result<void> failure_;

  std::shared_ptr<executor::Context> context_;
  std::shared_ptr<executor::Node> node_;
  std::unique_ptr<executor::Timer> timer_;
  std::unique_ptr<executor::Subscription<Numbers>> input_;
  std::unique_ptr<executor::Subscription<Numbers>> measurement_;
  std::unique_ptr<executor::Service<SetParameters>> parameters_;
  std::unique_ptr<executor::Publisher<Numbers>> estimate_;
  std::unique_ptr<executor::Publisher<Numbers>> covariance_;
  std::unique_ptr<executor::Publisher<Numbers>> margin_;
  std::unique_ptr<executor::Publisher<Text>> mode_;
  std::unique_ptr<executor::Publisher<Text>> diagnostics_;
  Numbers numbers_;
  Text text_;
};

}  // namespace takt::estimator
