#include "takt/budget/mapping.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <numeric>

#include "takt/scheduling/global_edf.hpp"

namespace takt::budget {

namespace {

/// Above the rounding of a sum of quotients; below the smallest share that two sums of budgets of
/// one period can differ by.
constexpr double tolerance = 1e-12;

/// Knows how much of each core is still free while loads are placed one by one.
class Bins {
 public:
  explicit Bins(const Cores& cores)
      : numbers_(cores.pinned()), free_(numbers_.size(), cores.capacity) {}

  /// Puts the load on the core, if it has room.
  bool put(const Load& load, std::size_t bin) {
    if (load.total() > free_[bin] + tolerance) return false;
    free_[bin] -= load.total();
    return true;
  }
  [[nodiscard]] std::size_t emptiest() const {
    return static_cast<std::size_t>(std::ranges::max_element(free_) - free_.begin());
  }
  [[nodiscard]] std::optional<std::size_t> numbered(int core) const {
    const auto found = std::ranges::find(numbers_, core);
    if (found == numbers_.end()) return std::nullopt;
    return static_cast<std::size_t>(found - numbers_.begin());
  }
  [[nodiscard]] std::size_t size() const { return numbers_.size(); }
  [[nodiscard]] int number(std::size_t bin) const { return numbers_[bin]; }

 private:
  const std::vector<int>& numbers_;
  std::vector<double> free_;
};

enum class Fit { worst, first };

std::optional<std::size_t> place(const Load& load, Bins& bins, Fit fit) {
  if (load.core) {
    const auto bin = bins.numbered(*load.core);
    return bin && bins.put(load, *bin) ? bin : std::nullopt;
  }
  if (fit == Fit::worst) {
    const std::size_t bin = bins.emptiest();
    return bins.put(load, bin) ? std::optional(bin) : std::nullopt;
  }
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    if (bins.put(load, bin)) return bin;
  }
  return std::nullopt;
}

std::optional<Mapping> partition(std::span<const Load> loads, const Cores& cores, Fit fit) {
  std::vector<std::size_t> order(loads.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Loads that are bound to a core go first.
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if (loads[a].core.has_value() != loads[b].core.has_value()) return loads[a].core.has_value();
    return loads[a].total() > loads[b].total();
  });
  Bins bins(cores);
  Mapping mapping{Mapping::Kind::partitioned, std::vector<int>(loads.size())};
  for (const std::size_t i : order) {
    const auto bin = place(loads[i], bins, fit);
    if (!bin) return std::nullopt;
    mapping.core_of[i] = bins.number(*bin);
  }
  return mapping;
}

bool is_bound(const Load& load) { return load.core.has_value(); }

/// The test of Goossens, Funk and Baruah for loads that are bound to no core.
scheduling::GfbTest gfb_test(std::span<const Load> loads, const Cores& cores) {
  std::vector<double> densities;
  for (const Load& load : loads) {
    densities.insert(densities.end(), static_cast<std::size_t>(load.threads), load.density);
  }
  return scheduling::gfb_test(densities, static_cast<int>(cores.numbers.size()));
}

bool holds_globally(std::span<const Load> loads, const Cores& cores) {
  if (std::ranges::any_of(loads, is_bound)) return false;
  const auto count = static_cast<double>(cores.numbers.size());
  const scheduling::GfbTest test = gfb_test(loads, cores);
  // The share of each core that the kernel keeps for other threads counts like a reservation.
  return test.total <= test.limit - count * (1 - cores.capacity) + tolerance;
}

}  // namespace

std::vector<int> cores_to_keep(const std::vector<int>& numbers) {
  return {numbers.begin() + 1, numbers.end()};
}

std::optional<Mapping> map_to_cores(std::span<const Load> loads, const Cores& cores) {
  assert(!cores.numbers.empty());
  std::vector<Load> all(loads.begin(), loads.end());
  all.insert(all.end(), cores.taken.begin(), cores.taken.end());
  if (holds_globally(all, cores)) return Mapping{};
  if (cores.pinned().empty()) return std::nullopt;
  auto mapping = partition(all, cores, Fit::worst);
  if (!mapping) mapping = partition(all, cores, Fit::first);
  if (mapping) mapping->core_of.resize(loads.size());
  return mapping;
}

bool serve(std::span<const Load> loads, const Cores& cores) {
  if (loads.empty()) return true;
  if (cores.numbers.empty() || exceed(loads, cores)) return false;
  if (std::ranges::all_of(loads, is_bound)) {
    return partition(loads, cores, Fit::first).has_value();
  }
  const scheduling::GfbTest test = gfb_test(loads, cores);
  return std::ranges::none_of(loads, is_bound) && test.holds &&
         test.largest <= cores.capacity + tolerance;
}

bool exceed(std::span<const Load> loads, const Cores& cores) {
  const auto count = static_cast<double>(cores.numbers.size());
  double total = 0;
  std::map<int, double> bound;
  const auto add = [&](const Load& load) {
    total += load.total();
    if (load.core) bound[*load.core] += load.total();
  };
  std::ranges::for_each(loads, add);
  std::ranges::for_each(cores.taken, add);
  return total > count * (cores.capacity + tolerance) ||
         std::ranges::any_of(
             bound, [&](const auto& core) { return core.second > cores.capacity + tolerance; });
}

}  // namespace takt::budget
