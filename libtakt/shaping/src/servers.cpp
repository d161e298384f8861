#include "takt/shaping/servers.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

#include "grid.hpp"

namespace takt::shaping {

namespace {

/// Observations of a chain in a joint table; those of its profile are thinned to that many.
constexpr std::size_t most_latencies = std::size_t{1} << 20U;

/// The least common multiple of the periods; none: too many jobs, or beyond the range of times.
std::optional<Duration> hyperperiod(std::span<const Demand> demands) {
  std::int64_t cycle = 1;
  for (const Demand& demand : demands) {
    const std::int64_t period = demand.period.count();
    if (__builtin_mul_overflow(cycle, period / std::gcd(cycle, period), &cycle)) return {};
  }
  std::int64_t jobs = 0;
  for (const Demand& demand : demands) jobs += cycle / demand.period.count();
  if (jobs > most_releases) return {};
  return Duration(cycle);
}

struct Pending {
  std::size_t chain = 0;
  std::size_t job = 0;
  Duration deadline{};
  Duration left{};
};

/// Earliest deadline first, job by job: what is most urgent runs until it is done or until the next
/// release.
class Timeline {
 public:
  Timeline(std::span<const Demand> demands, std::span<const Duration> lengths, Duration cycle)
      : demands_(demands), lengths_(lengths), cycle_(cycle), jobs_(demands.size()) {}

  std::vector<std::vector<Job>> run() && {
    while (now_ < cycle_) {
      release();
      const Duration next = next_release();
      while (now_ < next && !pending_.empty()) run_until(next);
      now_ = next;
    }
    assert(pending_.empty() && "a utilisation of at most 1 is served within the hyperperiod");
    return std::move(jobs_);
  }

 private:
  void release() {
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      if (now_ % demands_[i].period != Duration{0}) continue;
      pending_.push_back({i, jobs_[i].size(), now_ + demands_[i].period, lengths_[i]});
      jobs_[i].push_back({.release = now_, .slots = {}});
    }
  }

  [[nodiscard]] Duration next_release() const {
    Duration next = cycle_;
    for (const Demand& demand : demands_) {
      next = std::min(next, (now_ / demand.period + 1) * demand.period);
    }
    return next;
  }

  void run_until(Duration next) {
    const auto urgent = std::ranges::min_element(pending_, {}, &Pending::deadline);
    const Duration end = std::min(next, now_ + urgent->left);
    std::vector<Slot>& slots = jobs_[urgent->chain][urgent->job].slots;
    if (!slots.empty() && slots.back().end == now_) {
      slots.back().end = end;
    } else {
      slots.push_back({now_, end});
    }
    urgent->left -= end - now_;
    now_ = end;
    if (urgent->left == Duration{0}) pending_.erase(urgent);
  }

  std::span<const Demand> demands_;
  std::span<const Duration> lengths_;
  Duration cycle_;
  Duration now_{};
  std::vector<Pending> pending_;
  std::vector<std::vector<Job>> jobs_;
};

/// When an execution of that length is over, from its release.
Duration latency_in(const Job& job, Duration length) {
  for (const Slot& slot : job.slots) {
    const Duration time = slot.end - slot.start;
    if (length <= time) return slot.start + length - job.release;
    length -= time;
  }
  assert(false && "slots are as long as the longest execution");
  return length;
}

Profile in_table(const Profile& alone, const std::vector<Job>& jobs) {
  const std::size_t step = (alone.count() * jobs.size() - 1) / most_latencies + 1;
  std::vector<Duration> latencies;
  for (const Job& job : jobs) {
    // The extremes are kept.
    for (std::size_t i = 0; i < alone.count(); i += step) {
      latencies.push_back(latency_in(job, alone.latencies()[i]));
    }
    if (step > 1) latencies.push_back(latency_in(job, alone.max()));
  }
  return Profile::of(std::move(latencies)).value();
}

}  // namespace

Result<std::vector<Slot>> callback_servers(std::span<const Step> steps, Duration cycle) {
  std::vector<Slot> slots;
  std::vector<Duration> free;
  for (const Step& step : steps) {
    if (step.core >= free.size()) free.resize(step.core + 1);
    Duration start = free[step.core];
    for (const std::size_t other : step.after) {
      assert(other < slots.size() && "steps come after what they wait for");
      start = std::max(start, slots[other].end);
    }
    slots.push_back({start, start + step.length});
    free[step.core] = slots.back().end;
    if (slots.back().end > cycle) {
      return error("the slot of {} would end at {:.6g} ms, after the cycle of {:.6g} ms", step.id,
                   milliseconds(slots.back().end), milliseconds(cycle));
    }
  }
  return slots;
}

Result<JointTable> joint_table(std::span<const Demand> demands, Duration grid, Duration slack) {
  assert(!demands.empty());
  double utilisation = 0;
  std::vector<Duration> lengths;
  for (const Demand& demand : demands) {
    if (demand.period <= Duration{0}) return error("the period of {} is not positive", demand.id);
    lengths.push_back(round_up(demand.alone.max(), grid) + slack);
    utilisation +=
        static_cast<double>(lengths.back().count()) / static_cast<double>(demand.period.count());
  }
  if (utilisation > 1) {
    return error(
        "the chains ask for {:.3g} of their core at their longest, slack included; at most "
        "1 is possible",
        utilisation);
  }
  const std::optional<Duration> cycle = hyperperiod(demands);
  if (!cycle) {
    return error(
        "the periods have more than {} releases before they meet again; choose periods "
        "that divide each other",
        most_releases);
  }
  JointTable table{
      .cycle = *cycle, .jobs = Timeline(demands, lengths, *cycle).run(), .latencies = {}};
  for (std::size_t i = 0; i < demands.size(); ++i) {
    table.latencies.push_back(in_table(demands[i].alone, table.jobs[i]));
  }
  return table;
}

}  // namespace takt::shaping
