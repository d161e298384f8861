#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "cubic.hpp"
#include "systems.hpp"
#include "takt/estimation/dual_mode.hpp"
#include "takt/estimation/extended_kalman.hpp"
#include "takt/estimation/unscented_kalman.hpp"

// Counts the allocations of the calling thread, and notes the largest one. Eigen calls malloc
// itself, so malloc is replaced; glibc offers the real one by this name. Sanitizers have a malloc
// of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool counts = false;
namespace {
long allocations = 0;
std::size_t largest = 0;
}  // namespace
#else
constexpr bool counts = true;
namespace {
thread_local long allocations = 0;
thread_local std::size_t largest = 0;
}  // namespace
extern "C" {
void* __libc_malloc(std::size_t size);  // NOLINT: glibc's name
void* malloc(std::size_t size) {
  ++allocations;
  largest = std::max(largest, size);
  return __libc_malloc(size);
}
}
#endif

namespace takt::estimation {
namespace {

TEST(Allocation, NoneInTheStepsOfAnyFilter) {
  if (!counts) GTEST_SKIP() << "a sanitizer owns malloc";
  for (const char* kind : {R"({"kind": "ekf"})", R"({"kind": "ukf", "kappa": 2})",
                           R"({"kind": "particle", "particles": 200})"}) {
    Cubic cubic;
    cubic.nonlinear = kind;
    cubic.gain = "null";
    const Handoff handoff = cubic.read();
    DualMode estimator(handoff, {});
    Sample sample{.time = {}, .input = AnyVector::Zero(1), .measurement = AnyVector::Zero(1)};
    AnyVector late = AnyVector::Zero(1);
    std::mt19937 random(1);
    std::array<std::uint64_t, 5> modes{};
    const long before = allocations;
    for (int step = 0; step < 2000; ++step) {
      sample.time += handoff.timing.period;
      sample.input(0) = step % 100 < 40 ? 0.9 : -0.1;
      sample.measurement(0) = step % 5 == 0 ? std::nan("") : 0.3;
      const StepReport report = estimator.step(sample);
      static_cast<void>(estimator.used(sample.time));
      if (step % 5 == 2) static_cast<void>(estimator.measure_late(2, late));
      ++modes[static_cast<std::size_t>(report.mode)];
    }
    EXPECT_EQ(allocations, before) << kind;
    EXPECT_GT(modes[static_cast<std::size_t>(Mode::linear)], 0U) << kind;
    EXPECT_GT(modes[static_cast<std::size_t>(Mode::nonlinear)], 0U) << kind;
  }
}

TEST(Allocation, IsCounted) {
  if (!counts) GTEST_SKIP() << "a sanitizer owns malloc";
  const long before = allocations;
  AnyMatrix matrix(7, 7);
  matrix.setZero();
  EXPECT_GT(allocations, before);
}

/// The matrices of a plant are as large as the square of what a document names.
TEST(Allocation, IsBoundedByTheDocumentThatIsRead) {
  if (!counts) GTEST_SKIP() << "a sanitizer owns malloc";
  constexpr std::size_t many = 5000;
  for (const char* list : {"states", "inputs", "measurements"}) {
    nlohmann::json document = nlohmann::json::parse(Cubic{}.document());
    nlohmann::json& names = document["plant"][list];
    for (std::size_t i = 0; i < many; ++i) names.push_back("n" + std::to_string(i));
    const std::string text = document.dump();
    largest = 0;
    const auto handoff = parse_handoff(text, "hostile", "");
    ASSERT_FALSE(handoff);
    EXPECT_NE(handoff.error().message.find(list), std::string::npos) << handoff.error().message;
    EXPECT_LT(largest, 8 * text.size()) << list;
  }
}

/// Larger dynamic systems, whose products Eigen blocks.
TEST(Allocation, NoneWithSixteenStates) {
  if (!counts) GTEST_SKIP() << "a sanitizer owns malloc";
  constexpr int any = Eigen::Dynamic;
  Draw draw(3);
  const auto model = draw.linear_model<any, any, any>(16, 4, 12);
  const AnyBelief start{AnyVector::Zero(16), AnyMatrix::Identity(16, 16)};
  KalmanFilter<any, any, any> kalman(model, start);
  const Noise<any, any> noise{model.process_noise, model.measurement_noise};
  ExtendedKalmanFilter extended(LinearAsNonlinear<any, any, any>{model}, noise, start);
  UnscentedKalmanFilter unscented(LinearAsNonlinear<any, any, any>{model}, {}, noise, start);
  const AnyVector input = AnyVector::Ones(4);
  const AnyVector measurement = AnyVector::Ones(12);
  const long before = allocations;
  for (int i = 0; i < 20; ++i) {
    static_cast<void>(kalman.step(input, measurement));
    static_cast<void>(extended.step(input, measurement));
    static_cast<void>(unscented.step(input, measurement));
  }
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace takt::estimation
