#include "takt/estimation/estimator.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "takt/estimation/extended_kalman.hpp"
#include "takt/estimation/kalman.hpp"
#include "takt/estimation/particle.hpp"
#include "takt/estimation/timeline.hpp"
#include "takt/estimation/unscented_kalman.hpp"

namespace takt::estimation {

namespace {

constexpr int any = Eigen::Dynamic;

/// A Kalman filter around an operating point, in absolute coordinates.
class OperatingPointFilter {
 public:
  using Snapshot = AnyBelief;

  explicit OperatingPointFilter(const Handoff& handoff)
      : state_(handoff.linear.state),
        input_(handoff.linear.input),
        output_(handoff.plant.measurements()),
        filter_(
            {handoff.linear.state_matrix, handoff.linear.input_matrix, handoff.linear.output_matrix,
             handoff.linear.feedthrough_matrix, handoff.process_noise, handoff.measurement_noise},
            {handoff.start.state - handoff.linear.state, handoff.start.covariance}),
        belief_(handoff.start),
        deviation_(belief_),
        input_deviation_(input_),
        output_deviation_(output_) {
    Plant plant = handoff.plant;
    plant.output(state_, input_, output_);
    if (handoff.linear.gain) filter_.fix_gain(*handoff.linear.gain);
  }

  [[nodiscard]] const AnyBelief& belief() const { return belief_; }

  [[nodiscard]] Refusal restart(const AnyBelief& belief) {
    if (belief.state.size() != state_.size()) return Refusal::wrong_size;
    deviation_.state = belief.state - state_;
    deviation_.covariance = belief.covariance;
    const Refusal refusal = filter_.restart(deviation_);
    if (refusal == Refusal::none) belief_ = belief;
    return refusal;
  }

  [[nodiscard]] Outcome step(const AnyVector& input, const AnyVector& measurement) {
    input_deviation_ = input - input_;
    output_deviation_ = measurement - output_;
    const Outcome outcome = filter_.step(input_deviation_, output_deviation_);
    belief_.state = filter_.belief().state + state_;
    belief_.covariance = filter_.belief().covariance;
    return outcome;
  }

  void save(Snapshot& snapshot) const { filter_.save(snapshot); }
  void restore(const Snapshot& snapshot) {
    filter_.restore(snapshot);
    belief_.state = snapshot.state + state_;
    belief_.covariance = snapshot.covariance;
  }

 private:
  AnyVector state_;
  AnyVector input_;
  AnyVector output_;
  KalmanFilter<any, any, any> filter_;
  AnyBelief belief_;
  AnyBelief deviation_;
  AnyVector input_deviation_;
  AnyVector output_deviation_;
};

/// How much further an error reaches than the half-widths, as a share of them.
double excess(double reach, double half_width) { return reach > 0 ? reach / half_width - 1 : -1; }

/// x̂ ± z √P_ii.
class ConfidenceBox {
 public:
  explicit ConfidenceBox(Eigen::Index states) : lower_(states), upper_(states) {}

  double bound(const AnyBelief& belief, const Region& region, const Confidence& confidence) {
    double most = -1;
    for (Eigen::Index i = 0; i < lower_.size(); ++i) {
      const double reach =
          confidence.deviations(i) * std::sqrt(std::max(0.0, belief.covariance(i, i)));
      lower_(i) = belief.state(i) - reach;
      upper_(i) = belief.state(i) + reach;
      most = std::max(most, excess(reach, confidence.half_widths(i)));
    }
    return std::max(most, region.bound_of_box(lower_.data(), upper_.data()));
  }

 private:
  AnyVector lower_;
  AnyVector upper_;
};

template <typename Filter>
double bound_of_set(Filter& filter, ConfidenceBox& box, const Region& region,
                    const Confidence& confidence) {
  return box.bound(filter.belief(), region, confidence);
}

/// Sigma points lie √(n + λ) standard deviations away, along the columns of the covariance's
/// factor; here they are put where the confidence asks for.
double bound_of_set(UnscentedKalmanFilter<Plant>& filter, ConfidenceBox& box, const Region& region,
                    const Confidence& confidence) {
  const AnyBelief& belief = filter.belief();
  double most = box.bound(belief, region, confidence);
  const double distance = confidence.deviations.maxCoeff();
  // On the stack, column by column, as this is computed in every period.
  Eigen::Matrix<double, any, any, 0, Plant::most_states, Plant::most_states> factor(
      belief.covariance.rows(), belief.covariance.cols());
  if (!cholesky(belief.covariance, factor)) return std::numeric_limits<double>::infinity();
  Eigen::Matrix<double, any, 1, 0, Plant::most_states, 1> point(belief.state.size());
  for (Eigen::Index i = 0; i < factor.cols(); ++i) {
    for (Eigen::Index j = 0; j < factor.rows(); ++j) {
      most = std::max(most, excess(distance * std::abs(factor(j, i)), confidence.half_widths(j)));
    }
    for (const double side : {distance, -distance}) {
      point = belief.state + side * factor.col(i);
      most = std::max(most, region.bound(point.data()));
    }
  }
  return most;
}

double bound_of_set(ParticleFilter<Plant>& filter, ConfidenceBox& /*box*/, const Region& region,
                    const Confidence& confidence) {
  std::array<double, Plant::most_states> lower{};
  std::array<double, Plant::most_states> upper{};
  double most = -1;
  for (Eigen::Index i = 0; i < filter.belief().state.size(); ++i) {
    const auto axis = static_cast<std::size_t>(i);
    lower[axis] = filter.percentile(i, confidence.tail / 2);
    upper[axis] = filter.percentile(i, 1 - confidence.tail / 2);
    const double mean = filter.belief().state(i);
    const double reach = std::max(upper[axis] - mean, mean - lower[axis]);
    most = std::max(most, excess(reach, confidence.half_widths(i)));
  }
  return std::max(most, region.bound_of_box(lower.data(), upper.data()));
}

template <typename Filter>
class TimedEstimator final : public Estimator {
 public:
  TimedEstimator(Filter filter, const Handoff& handoff, std::size_t remembered)
      : timeline_(std::move(filter), remembered, handoff.plant.inputs(),
                  handoff.plant.measurements()),
        box_(handoff.plant.states()) {}

  [[nodiscard]] const AnyBelief& belief() const override { return timeline_.belief(); }

  [[nodiscard]] Refusal restart(const AnyBelief& belief) override {
    return timeline_.restart(belief);
  }

  [[nodiscard]] Outcome step(const AnyVector& input, const AnyVector& measurement) override {
    return timeline_.step(input, measurement);
  }

  [[nodiscard]] Outcome measure_late(std::uint64_t age, const AnyVector& measurement) override {
    if (age >= timeline_.steps()) return {.refusal = Refusal::too_old};
    return timeline_.measure(timeline_.steps() - 1 - age, measurement);
  }

  [[nodiscard]] double bound_in(const Region& region, const Confidence& confidence) override {
    return bound_of_set(timeline_.filter(), box_, region, confidence);
  }

 private:
  Timeline<Filter, any, any> timeline_;
  ConfidenceBox box_;
};

}  // namespace

std::unique_ptr<Estimator> make_linear(const Handoff& handoff, std::size_t remembered) {
  return std::make_unique<TimedEstimator<OperatingPointFilter>>(OperatingPointFilter(handoff),
                                                                handoff, remembered);
}

std::unique_ptr<Estimator> make_nonlinear(const Handoff& handoff, std::size_t remembered) {
  const Noise<any, any> noise{handoff.process_noise, handoff.measurement_noise};
  if (const auto* unscented = std::get_if<Unscented>(&handoff.nonlinear)) {
    using Filter = UnscentedKalmanFilter<Plant>;
    return std::make_unique<TimedEstimator<Filter>>(
        Filter(handoff.plant, *unscented, noise, handoff.start), handoff, remembered);
  }
  if (const auto* particles = std::get_if<Particles>(&handoff.nonlinear)) {
    using Filter = ParticleFilter<Plant>;
    // Each remembered step keeps all particles: fewer steps are remembered rather than much memory
    // taken.
    constexpr std::size_t most_bytes = std::size_t{64} << 20;
    const std::size_t bytes =
        particles->count * sizeof(double) * (static_cast<std::size_t>(handoff.plant.states()) + 1);
    remembered = std::clamp<std::size_t>(most_bytes / bytes, 1, remembered);
    return std::make_unique<TimedEstimator<Filter>>(
        Filter(handoff.plant, *particles, noise, handoff.start), handoff, remembered);
  }
  using Filter = ExtendedKalmanFilter<Plant>;
  return std::make_unique<TimedEstimator<Filter>>(Filter(handoff.plant, noise, handoff.start),
                                                  handoff, remembered);
}

}  // namespace takt::estimation
