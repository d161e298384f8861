#include "brute_force.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "model_builder.hpp"
#include "random_model.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/json.hpp"
#include "takt/model/validate.hpp"

/// Oracle 2: no response time of a brute-force execution is above a bound, whatever the releases.
namespace takt::analysis {
namespace {

using model::Choices;
using model::Shape;

struct Case {
  std::string name;
  Shape shape;
  unsigned systems = 150;
};

std::ostream& operator<<(std::ostream& stream, const Case& c) { return stream << c.name; }

struct Tightness {
  double sum = 0;
  double best = 0;
  int count = 0;
  void add(std::int64_t observed, Duration bound) {
    if (observed == 0) return;
    const double ratio = static_cast<double>(observed) / static_cast<double>(bound.count());
    sum += ratio;
    best = std::max(best, ratio);
    ++count;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("mean {:.3f}, best {:.3f}, of {}", sum / std::max(1, count), best, count);
  }
};

class BruteForce : public testing::TestWithParam<Case> {};

TEST_P(BruteForce, F19_NoObservationAboveABound) {
  std::mt19937 random(19);
  const Options base{.method = Method::combined, .horizon = Duration{20'000}};
  constexpr std::array methods{Method::round_robin, Method::busy_window, Method::combined};
  std::array<Tightness, 3> callback_tightness;
  std::array<Tightness, 3> chain_tightness;
  int converged = 0;
  for (unsigned system = 0; system < GetParam().systems; ++system) {
    const model::Model model = model::random_model(GetParam().shape, random);
    const auto valid = model::validate(model, "random");
    ASSERT_TRUE(valid) << valid.error().message << model::to_json(model);
    std::array<Bounds, 3> bounds;
    for (std::size_t m = 0; m < methods.size(); ++m) {
      bounds[m] = analyze(model, {.method = methods[m], .horizon = base.horizon});
    }
    converged += bounds[2].converged ? 1 : 0;
    model::Observed longest{.callbacks = std::vector<std::int64_t>(model.callbacks.size()),
                            .chains = std::vector<std::int64_t>(model.chains.size())};
    for (int run = 0; run < 12; ++run) {
      const Choices choices{
          .adversarial = run % 4 != 3, .late_budgets = run % 3 != 2, .synchronous = run % 2 == 0};
      const auto observed = model::execute(model, 2000, choices, random);
      for (std::size_t c = 0; c < longest.callbacks.size(); ++c) {
        longest.callbacks[c] = std::max(longest.callbacks[c], observed.callbacks[c]);
      }
      for (std::size_t c = 0; c < longest.chains.size(); ++c) {
        longest.chains[c] = std::max(longest.chains[c], observed.chains[c]);
      }
    }
    for (std::size_t m = 0; m < methods.size(); ++m) {
      for (std::size_t c = 0; c < longest.callbacks.size(); ++c) {
        const auto& bound = bounds[m].callbacks[c];
        if (!bound.bound) continue;
        ASSERT_LE(longest.callbacks[c], bound.bound->count())
            << to_string(methods[m]) << " " << bound.id << " by " << bound.by << "\n"
            << model::to_json(model) << bounds[m].to_json();
        callback_tightness[m].add(longest.callbacks[c], *bound.bound);
      }
      for (std::size_t c = 0; c < longest.chains.size(); ++c) {
        const auto& bound = bounds[m].chains[c];
        if (!bound.bound) continue;
        ASSERT_LE(longest.chains[c], bound.bound->count())
            << to_string(methods[m]) << " " << bound.id << "\n"
            << model::to_json(model) << bounds[m].to_json();
        chain_tightness[m].add(longest.chains[c], *bound.bound);
      }
    }
  }
  // The comparison must not be empty, and bounds that nothing comes near would prove nothing.
  EXPECT_GT(converged, static_cast<int>(GetParam().systems) / 4);
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const std::string name(to_string(methods[m]));
    RecordProperty(name + " callbacks", callback_tightness[m].text());
    RecordProperty(name + " chains", chain_tightness[m].text());
  }
  EXPECT_GT(callback_tightness[2].best, 0.9);
  RecordProperty("converged", converged);
}

INSTANTIATE_TEST_SUITE_P(
    DefaultExecutor, BruteForce,
    testing::Values(
        Case{"polled", {}}, Case{"privileged", {.privileged_timers = true}},
        Case{"curves", {.curves = true}}, Case{"triggers", {.curves = true, .trigger_sets = true}},
        Case{"joins", {.executors = 2, .joins = true}},
        Case{"three_executors", {.executors = 3, .most_callbacks = 9}},
        Case{"privileged_executors",
             {.executors = 3, .most_callbacks = 9, .privileged_timers = true, .curves = true}},
        Case{"sampling", {.executors = 2, .sampling = true}},
        Case{"everything",
             {.executors = 3,
              .most_callbacks = 10,
              .curves = true,
              .trigger_sets = true,
              .joins = true,
              .sampling = true}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace takt::analysis
