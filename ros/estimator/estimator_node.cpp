#include "estimator_node.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "takt/base/try.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::estimator {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t depth = 16;

template <typename Message>
Result<void> advertise(const std::shared_ptr<executor::Node>& node, const std::string& topic,
                       std::unique_ptr<executor::Publisher<Message>>& publisher) {
  auto made = TAKT_TRY(executor::Publisher<Message>::create(node, topic, depth));
  publisher = std::make_unique<executor::Publisher<Message>>(std::move(made));
  return {};
}

}  // namespace

EstimatorNode::EstimatorNode(const estimation::Handoff& handoff)
    : period_(handoff.timing.period),
      estimator_(handoff, {}),
      inputs_(handoff),
      sample_{
          .time = {},
          .input = handoff.linear.input,
          .measurement = estimation::AnyVector::Constant(handoff.plant.measurements(), missing)} {}

Result<std::unique_ptr<EstimatorNode>> EstimatorNode::create(const estimation::Handoff& handoff,
                                                             const std::string& name) {
  std::unique_ptr<EstimatorNode> made(new EstimatorNode(handoff));
  TAKT_TRY(made->connect(name));
  return made;
}

Result<void> EstimatorNode::connect(const std::string& name) {
  context_ = TAKT_TRY(executor::Context::create());
  node_ = TAKT_TRY(executor::Node::create(context_, name));
  const std::string base = (name.starts_with('/') ? name : "/" + name) + "/";
  auto timer = executor::Timer::create(node_, period_, "estimate", [this] { step(); });
  if (!timer) return tl::unexpected(timer.error());
  timer_ = std::move(*timer);
  auto input = executor::Subscription<Numbers>::create(node_, base + "input", depth, "input",
                                                       [this](const Numbers& m) { take_input(m); });
  if (!input) return tl::unexpected(input.error());
  input_ = std::move(*input);
  auto measurement =
      executor::Subscription<Numbers>::create(node_, base + "measurement", depth, "measurement",
                                              [this](const Numbers& m) { take_measurement(m); });
  if (!measurement) return tl::unexpected(measurement.error());
  measurement_ = std::move(*measurement);
  auto parameters = executor::Service<SetParameters>::create(
      node_, base + "set_parameters", "set_parameters",
      [this](const auto& request, auto& response) { answer(request, response); });
  if (!parameters) return tl::unexpected(parameters.error());
  parameters_ = std::move(*parameters);
  Result<void> made = advertise(node_, base + "estimate", estimate_);
  if (made) made = advertise(node_, base + "covariance", covariance_);
  if (made) made = advertise(node_, base + "margin", margin_);
  if (made) made = advertise(node_, base + "mode", mode_);
  if (made) made = advertise(node_, base + "diagnostics", diagnostics_);
  return made;
}

std::vector<executor::WaitSetEntity*> EstimatorNode::entities() {
  return {timer_.get(), input_.get(), measurement_.get(), parameters_.get()};
}

std::vector<executor::ScheduledExecutable> EstimatorNode::executables() {
  using scheduling::LocalIndex;
  return {{timer_.get(), LocalIndex(0)},
          {input_.get(), LocalIndex(1)},
          {measurement_.get(), LocalIndex(2)},
          {parameters_.get(), LocalIndex(3)}};
}

Result<void> EstimatorNode::start(std::string refusal) {
  refusal_ = std::move(refusal);
  return timer_->start();
}

template <typename Message>
void EstimatorNode::publish(executor::Publisher<Message>& publisher, const Message& message) {
  const Result<void> published = publisher.publish(message);
  if (!published && failure_) failure_ = published;
}

void EstimatorNode::take_input(const Numbers& message) {
  if (message.data.size() != static_cast<std::size_t>(sample_.input.size())) {
    ++refused_;
    return;
  }
  std::ranges::copy(message.data, sample_.input.begin());
  inputs_.take(sample_.input);
}

void EstimatorNode::take_measurement(const Numbers& message) {
  if (message.data.size() != static_cast<std::size_t>(sample_.measurement.size())) {
    ++refused_;
    return;
  }
  if (has_measurement_) ++measurements_replaced_;
  has_measurement_ = true;
  std::ranges::copy(message.data, sample_.measurement.begin());
}

void EstimatorNode::step() {
  ++steps_;
  sample_.time = linux_os::monotonic_now();
  sample_.input = inputs_.end_period();
  if (sample_.measurement.array().isNaN().all()) ++without_measurement_;
  report_ = estimator_.step(sample_);
  sample_.measurement.setConstant(missing);
  has_measurement_ = false;
  const estimation::AnyBelief& belief = estimator_.estimate();
  numbers_.data.assign(belief.state.begin(), belief.state.end());
  publish(*estimate_, numbers_);
  // The estimate is out: this ends the window of a hand-over.
  const estimation::StepReport after = estimator_.used(linux_os::monotonic_now());
  report_.mode = after.mode;
  report_.failure = after.failure;
  numbers_.data.assign(belief.covariance.data(),
                       belief.covariance.data() + belief.covariance.size());
  publish(*covariance_, numbers_);
  numbers_.data.assign({report_.input_margin, report_.region_margin});
  publish(*margin_, numbers_);
  text_.data = to_string(report_.mode);
  publish(*mode_, text_);
  text_.data = diagnostics();
  publish(*diagnostics_, text_);
}

std::string EstimatorNode::diagnostics() const {
  const estimation::WindowMonitor& window = estimator_.window();
  std::string refusal;
  for (const char c : refusal_) refusal += c == '"' || c == '\\' || c < ' ' ? ' ' : c;
  return fmt::format(
      R"({{"mode": "{}", "failure": "{}", "guaranteed": {}, "refusal": "{}", "steps": {}, )"
      R"("without_measurement": {}, "refused_messages": {}, "inputs_replaced": {}, )"
      R"("measurements_replaced": {}, "handovers": {}, "window": {}, )"
      R"("latest_window": {}, "longest_window": {}, "windows_exceeded": {}, "scheduling": "{}"}})",
      to_string(report_.mode), to_string(report_.failure), report_.is_guaranteed(),
      to_string(report_.outcome.refusal), steps_, without_measurement_, refused_,
      inputs_.replaced(), measurements_replaced_, window.count(), window.window().count(),
      window.latest().count(), window.longest().count(), window.exceeded(), refusal);
}

void EstimatorNode::answer(const SetParameters::Request& request,
                           SetParameters::Response& response) {
  for (const auto& parameter : request.parameters) {
    auto& result = response.results.emplace_back();
    if (parameter.name != "mode" || parameter.value.string_value != "linear") {
      result.reason = "only the parameter \"mode\" can be set, and only to \"linear\"";
      continue;
    }
    const estimation::Denial denial = estimator_.request_linear();
    result.successful = denial == estimation::Denial::none;
    result.reason = result.successful ? "" : std::string(explain(denial));
  }
}

}  // namespace takt::estimator
