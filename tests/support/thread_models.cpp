#include "takt/soundness/thread_models.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "takt/generation/random.hpp"
#include "takt/simulation/simulate.hpp"
#include "takt/statistics/distribution.hpp"

namespace takt::soundness {

namespace {

using generation::Random;
using std::chrono::milliseconds;

constexpr Duration simulated_for = std::chrono::seconds{2};
constexpr std::int64_t permille_of_group = 700;
constexpr std::array<std::int64_t, 10> periods{10, 20, 25, 40, 50, 100, 200, 250, 500, 1000};

/// Shares in permille that add up to about `total`, none above what a group may need.
std::vector<std::int64_t> draw_shares(Random& random, std::size_t count, std::int64_t total) {
  std::vector<std::int64_t> weights(count);
  for (std::int64_t& weight : weights) weight = random.between(10, 100);
  const std::int64_t sum = std::reduce(weights.begin(), weights.end(), std::int64_t{0});
  for (std::int64_t& weight : weights) {
    weight = std::clamp<std::int64_t>(weight * total / sum, 1, permille_of_group);
  }
  return weights;
}

/// The node of each callback: a random one with room for it, else one of its own.
std::vector<std::size_t> draw_nodes(Random& random, const std::vector<std::int64_t>& shares) {
  const auto count = static_cast<std::int64_t>(shares.size());
  std::vector<std::int64_t> used(static_cast<std::size_t>(random.between(count / 2, count)));
  std::vector<std::size_t> nodes;
  for (const std::int64_t share : shares) {
    auto node = static_cast<std::size_t>(random.between(0, std::ssize(used) - 1));
    if (used[node] + share > permille_of_group) {
      node = used.size();
      used.push_back(0);
    }
    used[node] += share;
    nodes.push_back(node);
  }
  return nodes;
}

/// Some of the simulations release everything at once, all others at random or nearly at once.
simulation::Options adversary(const model::Model& model, int number) {
  using namespace simulation;
  Options options;
  options.seed = static_cast<std::uint64_t>(number);
  options.publication = number % 2 == 0 ? Publication::at_end : Publication::at_start;
  options.order = number < 2 ? OrderModel::registered : OrderModel::random;
  options.execution = number % 5 == 4 ? ExecutionModel::random : ExecutionModel::worst_case;
  options.reservation = number / 2 % 2 == 0 ? ReservationModel::latest : ReservationModel::random;
  options.releases = number % 10 < 6 ? ReleaseModel::synchronous : ReleaseModel::random;
  options.duration = simulated_for;
  if (options.releases == ReleaseModel::random || number < 6) return options;
  Random random(options.seed);
  for (const model::Callback& callback : model.callbacks) {
    const auto* periodic = callback.activation
                               ? std::get_if<model::PeriodicActivation>(&*callback.activation)
                               : nullptr;
    if (periodic == nullptr) continue;
    options.offsets[callback.id] =
        Duration{random.between(0, periodic->period.count() / (number % 3 + 1) - 1)};
  }
  return options;
}

void take_longest(Duration& longest, const statistics::Distribution& seen) {
  if (seen.count() > 0) longest = std::max(longest, seen.max());
}

}  // namespace

ThreadModel random_threads(std::uint64_t seed, bool reservations) {
  Random random(seed);
  ThreadModel made;
  made.length = random.between(2, 10);
  const std::int64_t chains = std::max<std::int64_t>(1, random.between(10, 40) / made.length);
  const auto count = static_cast<std::size_t>(chains * made.length);
  made.load = random.between(1, 70);

  model::Executor& executor = made.model.executors.emplace_back();
  executor.id = "e";
  executor.kind = model::ExecutorKind::multi_threaded;
  executor.threads = random.between(2, 8);
  std::int64_t share_of_thread = 100;
  if (reservations) {
    const Duration period = milliseconds{random.between(2, 20)};
    share_of_thread = random.between(30, 90);
    executor.supply = model::ReservationSupply{
        .budget = period * share_of_thread / 100, .period = period, .deadline = period};
  }
  const std::int64_t total = executor.threads * made.load * share_of_thread / 10;
  const auto shares = draw_shares(random, count, total);
  const auto nodes = draw_nodes(random, shares);

  for (std::int64_t c = 0; c < chains; ++c) {
    const Duration period =
        milliseconds{periods.at(static_cast<std::size_t>(random.between(0, 9)))};
    model::Chain& chain = made.model.chains.emplace_back();
    chain.id = "chain" + std::to_string(c);
    for (std::int64_t place = 0; place < made.length; ++place) {
      const std::size_t index = made.model.callbacks.size();
      model::Callback& callback = made.model.callbacks.emplace_back();
      callback.id = "c" + std::to_string(index);
      callback.executor = model::ExecutorIndex{0};
      callback.kind = place == 0 ? model::CallbackKind::timer : model::CallbackKind::subscription;
      callback.registration = static_cast<std::int64_t>(index);
      callback.node = "/n" + std::to_string(nodes[index]);
      if (random.chance(20)) callback.callback_group = "reentrant";
      callback.execution_time = {period * shares[index] / 1000};
      chain.callbacks.emplace_back(index);
      if (place > 0) {
        model::Edge& edge = made.model.edges.emplace_back();
        edge.from = model::CallbackIndex{index - 1};
        edge.to = model::CallbackIndex{index};
        continue;
      }
      const std::int64_t jitter = random.chance(30) ? random.between(1, 25) : 0;
      callback.activation =
          model::PeriodicActivation{.period = period, .jitter = period * jitter / 100};
    }
  }
  return made;
}

Result<LongestSeen> longest_seen(const model::Model& model, int simulations) {
  LongestSeen longest{std::vector<Duration>(model.callbacks.size()),
                      std::vector<Duration>(model.chains.size())};
  for (int number = 0; number < simulations; ++number) {
    const auto simulated = simulation::simulate(model, adversary(model, number));
    if (!simulated) {
      if (simulation::is_overload(simulated.error())) continue;
      return tl::unexpected(simulated.error());
    }
    for (std::size_t c = 0; c < longest.callbacks.size(); ++c) {
      take_longest(longest.callbacks[c], simulated->callbacks[c].response_time);
    }
    for (std::size_t c = 0; c < longest.chains.size(); ++c) {
      take_longest(longest.chains[c], simulated->chains[c].latency);
    }
  }
  return longest;
}

}  // namespace takt::soundness
