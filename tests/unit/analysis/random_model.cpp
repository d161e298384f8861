#include "random_model.hpp"

#include <algorithm>
#include <cstdint>

#include "model_builder.hpp"

namespace takt::model {

namespace {

class Generator {
 public:
  Generator(const Shape& shape, std::mt19937& random) : shape_(shape), random_(random) {}

  Model generate() {
    for (int e = 0; e < shape_.executors; ++e) add_executor();
    const auto size = pick(2, shape_.most_callbacks) + shape_.executors - 1;
    for (int i = 0; i < size; ++i) add_callback(static_cast<int>(size));
    if (shape_.joins) add_joins();
    if (shape_.trigger_sets) add_trigger_sets();
    add_chains();
    return builder_.model();
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution(low, high)(random_);
  }
  bool chance(int percent) { return pick(0, 99) < percent; }

  void add_executor() {
    Supply supply = DedicatedSupply{};
    if (shape_.reservations && chance(70)) {
      const auto period = pick(4, 12);
      const auto budget = pick((period + 1) / 2, period);
      supply = ReservationSupply{Duration{budget}, Duration{period},
                                 Duration{chance(70) ? period : pick(budget, period)}};
    }
    builder_.executor(supply, shape_.kind);
    if (shape_.privileged_timers) {
      builder_.model().executors.back().timers = TimerHandling::privileged;
    }
  }

  Activation random_activation() {
    const Duration period{pick(40, 250)};
    switch (pick(0, 3)) {
      case 0:
        return bursts(static_cast<std::size_t>(pick(1, 3)), period * 2);
      case 1:
        return PeriodicActivation{period, Duration{pick(0, period.count())}};
      case 2:
        return SporadicActivation{period, Duration{0}};
      default:
        return every(period);
    }
  }

  std::vector<Duration> random_cost(int callbacks) {
    const Duration first{pick(1, std::max(2, 90 / callbacks))};
    std::vector<Duration> curve{first};
    if (!shape_.curves) return curve;
    // Concave, hence sub-additive.
    Duration step = first;
    for (auto n = pick(0, 3); n > 0; --n) {
      step = Duration{pick(1, step.count())};
      curve.push_back(curve.back() + step);
    }
    return curve;
  }

  void add_callback(int size) {
    const ExecutorIndex executor{static_cast<std::size_t>(pick(0, shape_.executors - 1))};
    const std::size_t existing = builder_.model().callbacks.size();
    const bool source = existing == 0 || chance(35);
    const auto cost = random_cost(size);
    if (source) {
      const auto kind = chance(60) ? CallbackKind::timer : CallbackKind::subscription;
      const auto callback = builder_.callback(executor, kind, cost, random_activation());
      if (shape_.sampling && existing > 0 && chance(40)) {
        builder_.model().callbacks.back().kind = CallbackKind::timer;
        builder_.model().callbacks.back().activation =
            PeriodicActivation{Duration{pick(40, 250)}, Duration{pick(0, 10)}};
        connect(random_callback(existing), callback);
      }
      return;
    }
    constexpr std::array kinds{CallbackKind::subscription, CallbackKind::service,
                               CallbackKind::client};
    const auto kind = kinds[static_cast<std::size_t>(pick(0, 2))];
    const auto callback = builder_.callback(executor, kind, cost);
    builder_.model().callbacks.back().registration = pick(0, 9);
    connect(random_callback(existing), callback);
    if (existing > 1 && chance(25)) connect(random_callback(existing), callback);
  }

  CallbackIndex random_callback(std::size_t below) {
    return CallbackIndex{static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(below) - 1))};
  }

  void connect(CallbackIndex from, CallbackIndex to) {
    const Model& model = builder_.model();
    for (const Edge& edge : model.edges) {
      if (edge.from == from && edge.to == to) return;
    }
    const bool same = model[from].executor == model[to].executor;
    builder_.edge(from, to, Duration{same && chance(80) ? 0 : pick(0, 15)});
  }

  void add_joins() {
    Model& model = builder_.model();
    for (std::size_t c = 0; c < model.callbacks.size(); ++c) {
      std::vector<CallbackIndex> inputs;
      for (const Edge& edge : model.edges) {
        if (edge.to == CallbackIndex{c}) inputs.push_back(edge.from);
      }
      if (inputs.size() < 2 || model.callbacks[c].activation) continue;
      builder_.join(CallbackIndex{c}, chance(50) ? JoinKind::and_ : JoinKind::newest, inputs);
    }
  }

  void add_trigger_sets() {
    Model& model = builder_.model();
    for (Edge& edge : model.edges) {
      std::vector<CallbackIndex> predecessors;
      for (const Edge& in : model.edges) {
        if (in.to == edge.from) predecessors.push_back(in.from);
      }
      if (predecessors.size() > 1 && chance(50)) {
        predecessors.erase(predecessors.begin() + pick(0, 1));
        edge.triggered_by = predecessors;
      }
    }
  }

  /// The longest path along edges to a few random callbacks.
  void add_chains() {
    Model& model = builder_.model();
    for (int n = 0; n < 3; ++n) {
      std::vector<CallbackIndex> path{random_callback(model.callbacks.size())};
      for (bool grown = true; grown;) {
        grown = false;
        for (const Edge& edge : model.edges) {
          if (edge.to != path.front()) continue;
          path.insert(path.begin(), edge.from);
          grown = true;
          break;
        }
      }
      builder_.chain(path);
    }
  }

  const Shape& shape_;
  std::mt19937& random_;
  ModelBuilder builder_;
};

}  // namespace

Model random_model(const Shape& shape, std::mt19937& random) {
  return Generator(shape, random).generate();
}

}  // namespace takt::model
