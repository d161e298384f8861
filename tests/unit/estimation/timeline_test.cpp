#include "takt/estimation/timeline.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "systems.hpp"
#include "takt/estimation/particle.hpp"
#include "takt/estimation/unscented_kalman.hpp"

namespace takt::estimation {
namespace {

/// Measurements that come late, in any order and in parts, leave the filter as if they had come in
/// time: the same operations are made again.
template <typename Filter>
void expect_same_as_in_time(const Filter& filter) {
  constexpr std::size_t remembered = 8;
  std::mt19937 random(5);
  Draw draw(5);
  Timeline<Filter, 1, 2> late(filter, remembered, 1, 2);
  Filter in_time = filter;
  struct Pending {
    std::uint64_t step;
    Vector<2> measurement;
  };
  std::vector<Pending> pending;
  for (std::uint64_t step = 0; step < 60; ++step) {
    const Vector<1> input = scalar(draw.normal());
    Vector<2> measurement;
    draw.fill(measurement);
    static_cast<void>(in_time.step(input, measurement));
    static_cast<void>(late.step(input, Vector<2>::Constant(missing)));
    pending.push_back({step, Vector<2>(measurement(0), missing)});
    pending.push_back({step, Vector<2>(missing, measurement(1))});
    std::ranges::shuffle(pending, random);
    while (!pending.empty() && (pending.size() > 6 || step == 59)) {
      // The oldest must not be forgotten; otherwise any.
      const auto oldest = std::ranges::min_element(pending, {}, &Pending::step);
      const auto chosen = oldest->step + remembered <= step + 2 ? oldest : pending.begin();
      EXPECT_TRUE(late.measure(chosen->step, chosen->measurement).ok());
      pending.erase(chosen);
    }
  }
  EXPECT_EQ(late.belief().state, in_time.belief().state);
  EXPECT_EQ(late.belief().covariance, in_time.belief().covariance);
}

TEST(Timeline, LateMeasurementsCountAsInTime) {
  Draw draw(6);
  const auto model = draw.linear_model<3, 1, 2>(3, 1, 2);
  const Belief<3> start{Vector<3>::Zero(), Matrix<3, 3>::Identity()};
  const Noise<3, 2> noise{model.process_noise, model.measurement_noise};
  const LinearAsNonlinear<3, 1, 2> nonlinear{model};
  expect_same_as_in_time(KalmanFilter<3, 1, 2>(model, start));
  expect_same_as_in_time(UnscentedKalmanFilter(nonlinear, {}, noise, start));
  expect_same_as_in_time(ParticleFilter(nonlinear, {.count = 50}, noise, start));
}

TEST(Timeline, RefusesWhatItCannotPlace) {
  Draw draw(6);
  const auto model = draw.linear_model<2, 1, 2>(2, 1, 2);
  Timeline<KalmanFilter<2, 1, 2>, 1, 2> line(
      KalmanFilter<2, 1, 2>(model, {Vector<2>::Zero(), Matrix<2, 2>::Identity()}), 4, 1, 2);
  const Vector<2> measurement(1, 2);
  EXPECT_EQ(line.measure(0, measurement).refusal, Refusal::in_the_future);
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(line.step(scalar(0), Vector<2>(missing, 1)).ok());
  }
  EXPECT_EQ(line.measure(1, measurement).refusal, Refusal::too_old);
  EXPECT_EQ(line.measure(2, measurement).refusal, Refusal::already_measured);
  EXPECT_TRUE(line.measure(2, Vector<2>(1, missing)).ok());
  EXPECT_EQ(line.measure(2, Vector<2>(1, missing)).refusal, Refusal::already_measured);
  EXPECT_EQ(line.measure(6, measurement).refusal, Refusal::in_the_future);
  const double endless = std::numeric_limits<double>::infinity();
  EXPECT_EQ(line.measure(3, Vector<2>(endless, missing)).refusal, Refusal::not_finite);
  // A new belief is the end of the old line.
  const Belief<2> anew{Vector<2>::Ones(), Matrix<2, 2>::Identity()};
  ASSERT_EQ(line.restart(anew), Refusal::none);
  EXPECT_EQ(line.measure(5, Vector<2>(1, missing)).refusal, Refusal::too_old);
  EXPECT_EQ(line.belief().state, anew.state);
}

}  // namespace
}  // namespace takt::estimation
