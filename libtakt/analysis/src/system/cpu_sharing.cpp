#include "system/cpu_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "takt/base/int128.hpp"
#include "takt/curves/least_solution.hpp"

namespace takt::analysis {

namespace {

using model::Executor;
using model::ReservationSupply;
using model::SlotSupply;

using Sharers = std::vector<const Executor*>;

template <typename Kind>
const Kind* supply_as(const Executor& executor) {
  return std::get_if<Kind>(&executor.supply);
}

/// The budget of all threads together: each thread has the reservation for itself.
Duration budgets(const Executor& executor) {
  return curves::saturating_multiply(supply_as<ReservationSupply>(executor)->budget,
                                     executor.threads);
}

/// Whether the bandwidths add up to at most 1: exactly, as long as the common denominator fits;
/// else in units of 2^-60, each rounded up.
bool bandwidth_fits(const Sharers& reserved) {
  Int128 numerator = 0;
  Int128 denominator = 1;
  bool exact = true;
  std::int64_t units = 0;
  for (const Executor* executor : reserved) {
    const Int128 period = supply_as<ReservationSupply>(*executor)->period.count();
    const Int128 budget = budgets(*executor).count();
    if (budget > period) return false;
    units += static_cast<std::int64_t>(((budget << 60) + period - 1) / period);
    if (units > std::int64_t{1} << 61) return false;
    const auto remainder = static_cast<std::int64_t>(denominator % period);
    const Int128 factor = period / std::gcd(remainder, static_cast<std::int64_t>(period));
    Int128 common = 0;
    Int128 scaled = 0;
    exact = exact && !__builtin_mul_overflow(denominator, factor, &common) &&
            !__builtin_mul_overflow(numerator, factor, &scaled) && common < Int128{1} << 120;
    if (!exact) continue;
    numerator = scaled + budget * (common / period);
    denominator = common;
  }
  return exact ? numerator <= denominator : units <= std::int64_t{1} << 60;
}

/// The demand of a window of that length: the budgets whose period begins and whose deadline ends
/// in it.
Duration demand(const Sharers& reserved, Duration window) {
  Duration sum{0};
  for (const Executor* executor : reserved) {
    const auto& [budget, period, deadline] = *supply_as<ReservationSupply>(*executor);
    if (window < deadline) continue;
    const std::int64_t due = (window - deadline) / period + 1;
    sum = curves::saturating_add(sum, curves::saturating_multiply(budgets(*executor), due));
  }
  return sum;
}

/// A window that demands more than its length, if there is one.
std::optional<Duration> overloaded_window(const Sharers& reserved) {
  // No deadline is missed first beyond the busy period that begins with all budgets at once.
  const Duration end = curves::least_solution(
      curves::SupplyBound::dedicated(), epsilon, curves::longest_time, [&](Duration x) {
        Duration sum{0};
        for (const Executor* executor : reserved) {
          const Duration period = supply_as<ReservationSupply>(*executor)->period;
          sum = curves::saturating_add(
              sum, curves::saturating_multiply(budgets(*executor), (x - epsilon) / period + 1));
        }
        return sum;
      });
  for (const Executor* executor : reserved) {
    const auto& [budget, period, deadline] = *supply_as<ReservationSupply>(*executor);
    for (Duration window = deadline; window <= end; window += period) {
      if (demand(reserved, window) > window) return window;
    }
  }
  return std::nullopt;
}

std::string reservation_fault(std::int64_t cpu, const Sharers& reserved) {
  if (!bandwidth_fits(reserved)) {
    std::string list;
    double total = 0;
    for (const Executor* executor : reserved) {
      const double share =
          static_cast<double>(budgets(*executor).count()) /
          static_cast<double>(supply_as<ReservationSupply>(*executor)->period.count());
      total += share;
      list += fmt::format("{}\"{}\" {:.2f}", list.empty() ? "" : ", ", executor->id, share);
    }
    return fmt::format("the reservations on cpu {} need {:.2f} of it ({}), and there is 1.00", cpu,
                       total, list);
  }
  const auto constrained = [](const Executor* executor) {
    const auto& reservation = *supply_as<ReservationSupply>(*executor);
    return reservation.deadline < reservation.period;
  };
  if (std::ranges::none_of(reserved, constrained)) return {};
  const auto window = overloaded_window(reserved);
  if (!window) return {};
  return fmt::format(
      "the reservations on cpu {} cannot all meet their deadlines: they need {} ns within {} ns",
      cpu, demand(reserved, *window).count(), window->count());
}

/// Names two slots that overlap at some time; empty if there are none. The distances between the
/// beginnings of their cycles are all multiples of the greatest common divisor of the cycles.
std::string slot_fault(std::int64_t cpu, const Executor& a, const Executor& b) {
  const SlotSupply& first = *supply_as<SlotSupply>(a);
  const SlotSupply& second = *supply_as<SlotSupply>(b);
  const std::int64_t step = std::gcd(first.cycle.count(), second.cycle.count());
  for (const model::Slot& x : first.slots) {
    for (const model::Slot& y : second.slots) {
      const std::int64_t distance = ((y.start - x.start).count() % step + step) % step;
      const bool apart =
          distance >= (x.end - x.start).count() && step - distance >= (y.end - y.start).count();
      if (apart) continue;
      return fmt::format(
          "slot [{}, {}) ns of \"{}\" and slot [{}, {}) ns of \"{}\" overlap on cpu {}",
          x.start.count(), x.end.count(), a.id, y.start.count(), y.end.count(), b.id, cpu);
    }
  }
  return {};
}

std::string fault_of(const Executor& executor, const Sharers& sharers) {
  const std::int64_t cpu = *executor.cpu;
  if (supply_as<ReservationSupply>(executor) != nullptr) {
    Sharers reserved;
    for (const Executor* other : sharers) {
      if (supply_as<ReservationSupply>(*other) != nullptr) reserved.push_back(other);
      if (supply_as<SlotSupply>(*other) != nullptr) {
        return fmt::format(
            "it shares cpu {} with the slots of \"{}\"; give one of them another cpu", cpu,
            other->id);
      }
    }
    return reservation_fault(cpu, reserved);
  }
  if (executor.threads > 1) {
    return fmt::format(
        "the {} threads of \"{}\" share cpu {}; give it a reservation, or no cpu for one each",
        executor.threads, executor.id, cpu);
  }
  for (const Executor* other : sharers) {
    if (other == &executor) continue;
    const bool slots =
        supply_as<SlotSupply>(executor) != nullptr && supply_as<SlotSupply>(*other) != nullptr;
    if (!slots) {
      return fmt::format(
          "\"{}\" shares cpu {} with \"{}\", and nothing says what is left for it: give each a "
          "reservation or slots, or one of them another cpu",
          executor.id, cpu, other->id);
    }
    if (auto fault = slot_fault(cpu, executor, *other); !fault.empty()) return fault;
  }
  return {};
}

}  // namespace

std::vector<std::string> cpu_contention(const model::Model& model) {
  std::map<std::int64_t, Sharers> by_cpu;
  for (const Executor& executor : model.executors) {
    if (executor.cpu) by_cpu[*executor.cpu].push_back(&executor);
  }
  std::vector<std::string> faults;
  for (const Executor& executor : model.executors) {
    faults.push_back(executor.cpu ? fault_of(executor, by_cpu[*executor.cpu]) : std::string{});
  }
  return faults;
}

}  // namespace takt::analysis
