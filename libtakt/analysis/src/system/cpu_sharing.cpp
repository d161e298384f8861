#include "system/cpu_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "takt/base/int128.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

namespace {

using model::Executor;
using model::FixedPrioritySupply;
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

/// The last deadline before `time`; 0 if there is none.
Duration last_deadline_before(const Sharers& reserved, Duration time) {
  Duration last{0};
  for (const Executor* executor : reserved) {
    const auto& [budget, period, deadline] = *supply_as<ReservationSupply>(*executor);
    if (deadline >= time) continue;
    last = std::max(last, deadline + (time - epsilon - deadline) / period * period);
  }
  return last;
}

/// The length of the busy period that begins with all budgets at once; no deadline is missed first
/// after it. None if it was not found.
std::optional<Duration> busy_period(const Sharers& reserved, std::size_t steps) {
  Duration length = epsilon;
  for (std::size_t step = 0; step < steps && length <= curves::longest_time; ++step) {
    Duration sum{0};
    for (const Executor* executor : reserved) {
      const Duration period = supply_as<ReservationSupply>(*executor)->period;
      sum = curves::saturating_add(
          sum, curves::saturating_multiply(budgets(*executor), (length - epsilon) / period + 1));
    }
    if (sum <= length) return length;
    length = sum;
  }
  return std::nullopt;
}

/// Whether the demand of every window is at most its length.
struct Verdict {
  bool decided = false;
  /// A window that demands more than its length; none: there is none, or it was not found.
  std::optional<Duration> overloaded{};
};

/// Quick processor-demand analysis (Zhang, Burns 2009, Theorem 5): from the end of the busy period
/// back, past all windows that are longer than the demand of a longer one. Where the processor is
/// almost full, there may be as many steps as nanoseconds: `steps` limits them.
Verdict judge_windows(const Sharers& reserved, std::size_t steps) {
  const std::optional<Duration> end = busy_period(reserved, steps);
  if (!end) return {};
  Duration window = last_deadline_before(reserved, *end);
  for (std::size_t step = 0; step < steps; ++step) {
    if (window == Duration{0}) return {.decided = true};
    const Duration needed = demand(reserved, window);
    if (needed > window) return {.decided = true, .overloaded = window};
    window = needed < window ? needed : last_deadline_before(reserved, window);
  }
  return {};
}

std::string reservation_fault(std::int64_t cpu, const Sharers& reserved, std::size_t steps) {
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
  const auto [decided, overloaded] = judge_windows(reserved, steps);
  if (!decided) {
    return fmt::format(
        "it would take too long to find out whether the reservations on cpu {} all meet their "
        "deadlines; deadlines as long as the periods would, and so would shorter budgets",
        cpu);
  }
  if (!overloaded) return {};
  return fmt::format(
      "the reservations on cpu {} cannot all meet their deadlines: they need {} ns within {} ns",
      cpu, demand(reserved, *overloaded).count(), overloaded->count());
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

/// Why no reservation on a processor can be counted on; empty if all can.
std::string fault_of_reservations(std::int64_t cpu, const Sharers& sharers, std::size_t steps) {
  Sharers reserved;
  for (const Executor* executor : sharers) {
    if (supply_as<ReservationSupply>(*executor) != nullptr) reserved.push_back(executor);
    if (supply_as<SlotSupply>(*executor) != nullptr) {
      return fmt::format("it shares cpu {} with the slots of \"{}\"; give one of them another cpu",
                         cpu, executor->id);
    }
  }
  return reserved.empty() ? std::string{} : reservation_fault(cpu, reserved, steps);
}

/// Why an executor at a fixed priority cannot count on what others leave; empty if it can.
std::string fault_of_priority(const Executor& executor, const Sharers& sharers,
                              const std::string& of_reservations) {
  const std::int64_t cpu = *executor.cpu;
  if (!of_reservations.empty()) return of_reservations;
  for (const Executor* other : sharers) {
    const auto* fixed = supply_as<FixedPrioritySupply>(*other);
    const bool goes_before =
        fixed != nullptr && fixed->priority >= supply_as<FixedPrioritySupply>(executor)->priority;
    if (!goes_before || other->threads == 1) continue;
    return fmt::format(
        "the {} threads of \"{}\" have a fixed priority on cpu {}, and what several such threads "
        "take is not bounded; give \"{}\" a reservation or another cpu",
        other->threads, other->id, cpu, other->id);
  }
  return {};
}

/// Why an executor without a reservation cannot count on its supply; empty if it can.
std::string fault_of(const Executor& executor, const Sharers& sharers) {
  const std::int64_t cpu = *executor.cpu;
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
          "reservation, a fixed priority or slots, or one of them another cpu",
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
  std::map<std::int64_t, std::string> of_reservations;
  // A step looks at all that share a processor, so this limits the work for all processors.
  constexpr std::size_t most_looks = 10'000'000;
  const std::size_t steps = most_looks / std::max<std::size_t>(1, model.executors.size());
  for (const auto& [cpu, sharers] : by_cpu) {
    of_reservations[cpu] = fault_of_reservations(cpu, sharers, steps);
  }
  std::vector<std::string> faults;
  for (const Executor& executor : model.executors) {
    std::string& fault = faults.emplace_back();
    const bool fixed = supply_as<FixedPrioritySupply>(executor) != nullptr;
    if (fixed && executor.threads > 1 && !executor.cpu) {
      fault = fmt::format(
          "the {} threads of \"{}\" have a fixed priority, and nothing says on which processors "
          "they run; give it a reservation, or no supply if each has a processor of its own",
          executor.threads, executor.id);
    }
    if (!executor.cpu) continue;
    const Sharers& sharers = by_cpu[*executor.cpu];
    const std::string& reserved = of_reservations[*executor.cpu];
    if (fixed) {
      fault = fault_of_priority(executor, sharers, reserved);
    } else {
      const bool is_reserved = supply_as<ReservationSupply>(executor) != nullptr;
      fault = is_reserved ? reserved : fault_of(executor, sharers);
    }
  }
  return faults;
}

Rivals rivals_of(const model::Model& model, model::ExecutorIndex index) {
  Rivals rivals;
  const Executor& executor = model[index];
  const auto* own = supply_as<FixedPrioritySupply>(executor);
  if (own == nullptr) return rivals;
  if (own->withheld > Duration{0}) rivals.servers.push_back({own->withheld, own->withheld_period});
  if (!executor.cpu) return rivals;
  for (std::size_t e = 0; e < model.executors.size(); ++e) {
    const Executor& other = model.executors[e];
    if (&other == &executor || other.cpu != executor.cpu) continue;
    if (const auto* reservation = supply_as<ReservationSupply>(other)) {
      rivals.servers.insert(rivals.servers.end(), static_cast<std::size_t>(other.threads),
                            {reservation->budget, reservation->period});
    }
    const auto* fixed = supply_as<FixedPrioritySupply>(other);
    if (fixed == nullptr || fixed->priority < own->priority) continue;
    (fixed->priority > own->priority ? rivals.higher : rivals.equal).emplace_back(e);
  }
  return rivals;
}

}  // namespace takt::analysis
