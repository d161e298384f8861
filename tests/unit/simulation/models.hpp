#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/model/validate.hpp"
#include "takt/simulation/simulate.hpp"

/// Small models for the tests of the simulator; times are in milliseconds.
namespace takt::simulation {

using std::chrono::milliseconds;

/// Builds a model, callback by callback; ids are names.
class Models {
 public:
  model::Model model;

  Models& executor(const std::string& id, model::ExecutorKind kind,
                   model::Supply supply = model::DedicatedSupply{}) {
    model::Executor& executor = model.executors.emplace_back();
    executor.id = id;
    executor.kind = kind;
    executor.order = model::CallbackOrder::registered;
    executor.supply = supply;
    return *this;
  }

  /// On the last executor.
  Models& timer(const std::string& id, milliseconds period, milliseconds cost,
                milliseconds jitter = milliseconds{0}) {
    add(id, model::CallbackKind::timer, cost).activation =
        model::PeriodicActivation{period, jitter};
    return *this;
  }

  /// On the last executor, triggered by the callbacks of these ids.
  Models& subscription(const std::string& id, milliseconds cost,
                       std::initializer_list<std::string> from,
                       model::CallbackKind kind = model::CallbackKind::subscription) {
    add(id, kind, cost);
    for (const std::string& source : from) edge(source, id);
    return *this;
  }

  Models& edge(const std::string& from, const std::string& to,
               milliseconds delay = milliseconds{0}) {
    model::Edge& edge = model.edges.emplace_back();
    edge.from = index(from);
    edge.to = index(to);
    edge.delay = delay;
    return *this;
  }

  Models& join(const std::string& id, model::JoinKind kind,
               std::initializer_list<std::string> inputs) {
    model.joins.push_back(
        {.callback = index(id), .kind = kind, .inputs = indices(inputs), .unknown = {}});
    return *this;
  }

  Models& chain(const std::string& id, std::initializer_list<std::string> callbacks) {
    model::Chain& chain = model.chains.emplace_back();
    chain.id = id;
    chain.callbacks = indices(callbacks);
    return *this;
  }

  model::Callback& operator[](const std::string& id) { return model.callbacks[index(id).value()]; }

  [[nodiscard]] model::CallbackIndex index(std::string_view id) const {
    for (std::size_t i = 0; i < model.callbacks.size(); ++i) {
      if (model.callbacks[i].id == id) return model::CallbackIndex(i);
    }
    ADD_FAILURE() << "no callback " << id;
    return {};
  }

  /// Simulates; lists the timeline.
  [[nodiscard]] Simulation run(milliseconds duration, Options options = {}) const {
    const Result<void> valid = model::validate(model, "test");
    EXPECT_TRUE(valid) << (valid ? "" : valid.error().message);
    options.duration = duration;
    options.timeline = 1'000'000;
    Result<Simulation> result = simulate(model, options);
    EXPECT_TRUE(result) << (result ? "" : result.error().message);
    return result ? std::move(*result) : Simulation{};
  }

  /// "a [0,3) b [3,7)", in the order of the starts, and of these of the ends.
  [[nodiscard]] std::string schedule(milliseconds duration, const Options& options = {}) const {
    Simulation simulation = run(duration, options);
    std::ranges::stable_sort(simulation.timeline, {}, &TimelineEntry::start);
    std::string text;
    for (const TimelineEntry& entry : simulation.timeline) {
      text += fmt::format("{}{} [{},{})", text.empty() ? "" : " ", model[entry.callback].id,
                          in_milliseconds(entry.start.time_since_epoch()),
                          in_milliseconds(entry.end.time_since_epoch()));
    }
    return text;
  }

  [[nodiscard]] static std::string in_milliseconds(Duration time) {
    return fmt::format("{}", static_cast<double>(time.count()) / 1e6);
  }

 private:
  model::Callback& add(const std::string& id, model::CallbackKind kind, milliseconds cost) {
    model::Callback& callback = model.callbacks.emplace_back();
    callback.id = id;
    callback.node = "/" + id;
    callback.kind = kind;
    callback.executor = model::ExecutorIndex(model.executors.size() - 1);
    callback.registration = static_cast<std::int64_t>(model.callbacks.size());
    callback.execution_time = {cost};
    return callback;
  }

  [[nodiscard]] std::vector<model::CallbackIndex> indices(
      std::initializer_list<std::string> ids) const {
    std::vector<model::CallbackIndex> result;
    for (const std::string& id : ids) result.push_back(index(id));
    return result;
  }
};

/// A reservation of `budget` in every `period`.
inline model::Supply reservation(milliseconds budget, milliseconds period) {
  return model::ReservationSupply{budget, period, period};
}

}  // namespace takt::simulation
