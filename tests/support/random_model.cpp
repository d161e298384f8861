#include "takt/testbed/random_model.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "takt/testbed/random.hpp"

namespace takt::testbed {

namespace {

using model::CallbackIndex;
using model::CallbackKind;
using model::ExecutorIndex;
using model::ExecutorKind;

class Generator {
 public:
  Generator(const Shape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {
    model_.name = "random " + std::to_string(seed);
  }

  model::Model generate() {
    add_executors();
    add_callbacks();
    restrict_triggers();
    add_urgencies();
    add_costs();
    add_tables();
    add_chains();
    return std::move(model_);
  }

 private:
  void add_executors() {
    const auto count = random_.between(shape_.fewest_executors, shape_.most_executors);
    for (std::int64_t e = 0; e < count; ++e) {
      model::Executor executor;
      executor.id = "e" + std::to_string(e);
      executor.kind = shape_.kind;
      if (random_.chance(shape_.event_source)) executor.kind = ExecutorKind::event_source;
      if (random_.chance(shape_.privileged)) executor.timers = model::TimerHandling::privileged;
      if (random_.chance(shape_.reservation)) executor.supply = reservation();
      if (random_.chance(shape_.overhead)) executor.overhead = cost_curve(random_.between(1, 2));
      if (random_.chance(shape_.release_overhead)) executor.release_overhead = epsilon;
      if (shape_.kind == ExecutorKind::multi_threaded && shape_.most_threads > 1) {
        executor.threads = random_.between(1, shape_.most_threads);
      }
      model_.executors.push_back(std::move(executor));
    }
  }

  model::ReservationSupply reservation() {
    const auto period = random_.between(shape_.shortest_reservation_period.count(),
                                        shape_.longest_reservation_period.count());
    const auto budget = random_.between(period / 4 + 1, period);
    const auto deadline = random_.chance(50) ? period : random_.between(budget, period);
    return {.budget = Duration{budget}, .period = Duration{period}, .deadline = Duration{deadline}};
  }

  void add_callbacks() {
    // Event sources fill their executors at once; the rest is spread over the others.
    std::vector<ExecutorIndex> others;
    for (std::size_t e = 0; e < model_.executors.size(); ++e) {
      if (model_.executors[e].kind == ExecutorKind::event_source) {
        add_source(ExecutorIndex{e}, CallbackKind::event_source);
      } else {
        others.emplace_back(e);
      }
    }
    const auto count = random_.between(shape_.fewest_callbacks, shape_.most_callbacks);
    for (std::size_t i = 0; !others.empty() && std::ssize(model_.callbacks) < count; ++i) {
      add_callback(i < others.size() ? others[i] : pick(others));
    }
    // Registration decides priorities within a category; keep it independent of the graph's order.
    for (model::Callback& callback : model_.callbacks) {
      callback.registration = random_.between(0, 1000);
    }
  }

  void add_callback(ExecutorIndex executor) {
    const std::vector<CallbackIndex> local = callbacks_of(executor);
    if (!model_.callbacks.empty() && random_.chance(shape_.message_driven)) {
      const bool remote = local.empty() || random_.chance(shape_.remote_sender);
      const CallbackIndex sender = remote ? any_callback() : pick(local);
      add_receiver(executor, sender);
    } else {
      add_source(executor, random_.chance(60) ? CallbackKind::timer : CallbackKind::subscription);
    }
  }

  void add_source(ExecutorIndex executor, CallbackKind kind) {
    model::Callback& callback = new_callback(executor, kind);
    const auto period =
        random_.between(shape_.shortest_period.count(), shape_.longest_period.count());
    if (random_.chance(shape_.burst)) {
      callback.activation = burst(period);
      return;
    }
    const auto jitter = random_.chance(shape_.jitter) ? random_.between(1, 2 * period) : 0;
    if (kind == CallbackKind::subscription) {
      callback.activation = model::SporadicActivation{Duration{period}, Duration{jitter}};
    } else {
      callback.activation = model::PeriodicActivation{Duration{period}, Duration{jitter}};
    }
  }

  /// A few activations close together, then a pause: minimum distances over two such bursts.
  model::MinDistanceActivation burst(std::int64_t period) {
    const auto size = random_.between(2, 4);
    std::vector<std::int64_t> gaps;
    for (std::int64_t n = 1; n < size; ++n) gaps.push_back(random_.between(0, period / 8));
    gaps.push_back(size * period - std::reduce(gaps.begin(), gaps.end()));
    gaps.insert(gaps.end(), gaps.begin(), gaps.end());
    model::MinDistanceActivation activation{{Duration{0}}};
    for (std::size_t n = 1; n < gaps.size() / 2 + 1; ++n) {
      std::int64_t least = gaps.front() + gaps.back() + size * period;
      for (std::size_t first = 0; first + n <= gaps.size(); ++first) {
        const auto begin = gaps.begin() + static_cast<std::ptrdiff_t>(first);
        least = std::min(least, std::reduce(begin, begin + static_cast<std::ptrdiff_t>(n)));
      }
      activation.values.emplace_back(least);
    }
    return activation;
  }

  void add_receiver(ExecutorIndex executor, CallbackIndex sender) {
    constexpr std::array kinds{CallbackKind::subscription, CallbackKind::subscription,
                               CallbackKind::service, CallbackKind::client};
    const CallbackIndex receiver{model_.callbacks.size()};
    const CallbackIndex second = any_callback();
    new_callback(executor, kinds[static_cast<std::size_t>(random_.between(0, 3))]);
    add_edge(sender, receiver);
    if (second == sender || !random_.chance(shape_.second_sender)) return;
    add_edge(second, receiver);
    if (!random_.chance(shape_.join)) return;
    const auto kind = random_.chance(50) ? model::JoinKind::and_ : model::JoinKind::newest;
    model_.joins.push_back({receiver, kind, {sender, second}, {}});
  }

  void add_edge(CallbackIndex from, CallbackIndex to) {
    model::Edge edge;
    edge.from = from;
    edge.to = to;
    edge.topic = "t" + std::to_string(model_.edges.size());
    const bool remote = model_[from].executor != model_[to].executor;
    if (random_.chance(remote ? shape_.delay : shape_.local_delay)) {
      edge.delay = Duration{random_.between(1, shape_.shortest_period.count() / 2)};
    }
    model_.edges.push_back(std::move(edge));
  }

  model::Callback& new_callback(ExecutorIndex executor, CallbackKind kind) {
    model::Callback& callback = model_.callbacks.emplace_back();
    callback.id = "c" + std::to_string(model_.callbacks.size() - 1);
    callback.node = "/n";
    if (shape_.most_threads > 1) {
      callback.node += std::to_string(random_.between(1, shape_.most_threads));
    }
    callback.executor = executor;
    callback.kind = kind;
    return callback;
  }

  /// Where a callback with two senders publishes, lets some edges be triggered by one of them only.
  void restrict_triggers() {
    for (model::Edge& edge : model_.edges) {
      const auto senders = senders_of(edge.from);
      if (senders.size() < 2 || !random_.chance(shape_.trigger_set)) continue;
      edge.triggered_by = {pick(senders)};
    }
  }

  void add_urgencies() {
    for (model::Callback& callback : model_.callbacks) {
      const ExecutorKind kind = model_[callback.executor].kind;
      if (kind == ExecutorKind::fixed_priority) callback.priority = random_.between(1, 5);
      if (kind != ExecutorKind::edf || !callback.activation || random_.chance(50)) continue;
      callback.deadline = Duration{random_.between(1, shape_.longest_period.count())};
    }
  }

  /// Shares each executor's demand among its callbacks.
  void add_costs() {
    std::vector<double> rates;
    for (std::size_t i = 0; i < model_.callbacks.size(); ++i) {
      rates.push_back(model_.callbacks[i].activation ? rate(*model_.callbacks[i].activation) : 0);
      for (const model::Edge& edge : model_.edges) {
        if (edge.to == CallbackIndex{i}) rates[i] += rates[edge.from.value()];
      }
    }
    for (std::size_t e = 0; e < model_.executors.size(); ++e) {
      const std::vector<CallbackIndex> callbacks = callbacks_of(ExecutorIndex{e});
      const auto utilisation = random_.between(shape_.least_utilisation, shape_.most_utilisation);
      std::vector<std::int64_t> shares;
      for (std::size_t i = 0; i < callbacks.size(); ++i) shares.push_back(random_.between(1, 10));
      const auto all = std::reduce(shares.begin(), shares.end());
      for (std::size_t i = 0; i < callbacks.size(); ++i) {
        const double mean = bandwidth(model_.executors[e]) * static_cast<double>(utilisation) /
                            100 * static_cast<double>(shares[i]) / static_cast<double>(all) /
                            rates[callbacks[i].value()];
        model_.callbacks[callbacks[i].value()].execution_time =
            cost_curve(std::max<std::int64_t>(1, static_cast<std::int64_t>(mean)));
      }
    }
  }

  /// Execution times of about that mean: all alike, or a long one followed by short ones.
  std::vector<Duration> cost_curve(std::int64_t mean) {
    const auto length = random_.between(2, 4);
    const auto rest = std::max<std::int64_t>(1, mean / 4);
    if (mean < 2 || !random_.chance(shape_.cost_curve)) return {Duration{mean}};
    // The most that n consecutive of them cost begins with the long one.
    std::vector<Duration> curve{Duration{mean * length - rest * (length - 1)}};
    for (std::int64_t n = 1; n < length; ++n) curve.push_back(curve.back() + Duration{rest});
    return curve;
  }

  static double rate(const model::Activation& activation) {
    if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
      return 1.0 / static_cast<double>(periodic->period.count());
    }
    if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
      return 1.0 / static_cast<double>(sporadic->min_separation.count());
    }
    const auto& values = std::get<model::MinDistanceActivation>(activation).values;
    return static_cast<double>(values.size() - 1) / static_cast<double>(values.back().count());
  }

  static double bandwidth(const model::Executor& executor) {
    const auto* reservation = std::get_if<model::ReservationSupply>(&executor.supply);
    if (reservation == nullptr) return 1;
    return static_cast<double>(reservation->budget.count()) /
           static_cast<double>(reservation->period.count());
  }

  /// A slot or two for each callback of a table-driven executor, which has its processor to itself.
  void add_tables() {
    for (std::size_t e = 0; e < model_.executors.size(); ++e) {
      model::Executor& executor = model_.executors[e];
      if (executor.kind != ExecutorKind::table_driven) continue;
      std::vector<CallbackIndex> order = callbacks_of(ExecutorIndex{e});
      if (order.empty()) continue;
      const std::size_t once = order.size();
      for (std::size_t i = 0; i < once; ++i) {
        if (random_.chance(30)) order.push_back(order[i]);
      }
      executor.supply = model::DedicatedSupply{};
      executor.table.emplace();
      Duration time{0};
      while (!order.empty()) {
        const CallbackIndex callback = pick(order);
        order.erase(std::ranges::find(order, callback));
        const Duration start = time + Duration{random_.between(0, 2)};
        const Duration longest = model_[callback].execution_time.front();
        time = start + Duration{random_.between(1, 2 * longest.count() + 5)};
        executor.table->entries.push_back({.slot = {start, time}, .callback = callback});
      }
      executor.table->cycle = time + Duration{random_.between(0, 2)};
    }
  }

  /// Random walks along the edges.
  void add_chains() {
    const auto count = random_.between(1, shape_.most_chains);
    for (std::int64_t n = 0; n < count && !model_.edges.empty(); ++n) {
      const auto start = static_cast<std::size_t>(random_.between(0, std::ssize(model_.edges) - 1));
      const model::Edge* edge = &model_.edges[start];
      model::Chain chain;
      chain.id = "chain" + std::to_string(n);
      chain.callbacks = {edge->from};
      while (edge != nullptr) {
        chain.callbacks.push_back(edge->to);
        edge = onward(*edge);
      }
      model_.chains.push_back(std::move(chain));
    }
  }

  /// An edge that an activation along `before` may make its receiver publish on.
  const model::Edge* onward(const model::Edge& before) {
    std::vector<const model::Edge*> edges;
    for (const model::Edge& edge : model_.edges) {
      const bool triggered =
          !edge.triggered_by ||
          std::ranges::find(*edge.triggered_by, before.from) != edge.triggered_by->end();
      if (edge.from == before.to && triggered) edges.push_back(&edge);
    }
    return edges.empty() ? nullptr : pick(edges);
  }

  std::vector<CallbackIndex> callbacks_of(ExecutorIndex executor) const {
    std::vector<CallbackIndex> callbacks;
    for (std::size_t i = 0; i < model_.callbacks.size(); ++i) {
      if (model_.callbacks[i].executor == executor) callbacks.emplace_back(i);
    }
    return callbacks;
  }

  std::vector<CallbackIndex> senders_of(CallbackIndex callback) const {
    std::vector<CallbackIndex> senders;
    for (const model::Edge& edge : model_.edges) {
      if (edge.to == callback) senders.push_back(edge.from);
    }
    return senders;
  }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(random_.between(0, std::ssize(from) - 1))];
  }

  CallbackIndex any_callback() {
    return CallbackIndex{
        static_cast<std::size_t>(random_.between(0, std::ssize(model_.callbacks) - 1))};
  }

  const Shape& shape_;
  Random random_;
  model::Model model_;
};

}  // namespace

model::Model random_model(const Shape& shape, std::uint64_t seed) {
  return Generator(shape, seed).generate();
}

}  // namespace takt::testbed
