#include "system/shared_core.hpp"

#include <algorithm>
#include <utility>

#include "demand/demand_line.hpp"
#include "demand/utilisation.hpp"
#include "takt/curves/saturating.hpp"

namespace takt::analysis {

using curves::saturating_add;
using curves::saturating_multiply;
using curves::unbounded_time;

namespace {

/// What a window leaves of a server takes divisions of large numbers.
constexpr std::size_t effort_of_server = 4;

}  // namespace

SharedCore::SharedCore(Rivals rivals)
    : rivals_(std::move(rivals)),
      quiet_(std::make_shared<Quiet>(*this)),
      any_(std::make_shared<Any>(*this)) {}

void SharedCore::bind(const System& system, const Curves& curves,
                      const std::vector<Duration>& response, Effort& effort) {
  system_ = &system;
  curves_ = &curves;
  response_ = &response;
  effort_ = &effort;
  for (Executors* list : {&higher_, &higher_or_equal_, &equal_, &resting_}) list->clear();
  for (const ExecutorIndex rival : rivals_.higher) {
    if (!always_works(rival)) {
      resting_.push_back(rival);
      continue;
    }
    higher_.push_back(rival);
    higher_or_equal_.push_back(rival);
  }
  for (const ExecutorIndex rival : rivals_.equal) {
    if (!always_works(rival)) {
      resting_.push_back(rival);
      continue;
    }
    equal_.push_back(rival);
    higher_or_equal_.push_back(rival);
  }
  renew();
}

void SharedCore::renew() {
  quiet_->renew();
  any_->renew();
}

bool SharedCore::always_works(ExecutorIndex executor) const {
  const policy::Description& description = system_->executors[executor.value()].description;
  return description.policy.slots.empty() && !description.activated_outside_chain;
}

bool SharedCore::is_unknown(ExecutorIndex executor) const {
  const LocalExecutor& rival = system_->executors[executor.value()];
  return !rival.undescribed.empty() || !rival.contention.empty();
}

std::optional<SharedCore::Unlimited> SharedCore::unlimited() const {
  for (const Executors* list : {&rivals_.higher, &rivals_.equal}) {
    for (const ExecutorIndex rival : *list) {
      if (is_unknown(rival)) return Unlimited{rival};
      for (const CallbackIndex callback : system_->executors[rival.value()].callbacks) {
        const bool waits = std::ranges::count(resting_, rival) > 0 &&
                           (*response_)[callback.value()] == unbounded_time;
        if (waits || curves_->activations(callback).unbounded()) return Unlimited{rival, callback};
      }
    }
  }
  return std::nullopt;
}

SharedCore::Demand SharedCore::requested(const Executors& executors, Duration window) const {
  Demand demand;
  std::size_t looked_at = 1;
  const auto count = [&](const curves::DerivedCurve& curve) {
    const curves::Plateau level = curve.plateau(window);
    looked_at += curve.weight();
    demand.until = std::min(demand.until, level.until);
    return level.count;
  };
  const auto add = [&](Duration time) { demand.time = saturating_add(demand.time, time); };
  for (const ExecutorIndex rival : executors) {
    const LocalExecutor& executor = system_->executors[rival.value()];
    if (is_unknown(rival)) return {unbounded_time};
    for (const CallbackIndex callback : executor.callbacks) {
      const Task& task = (*system_)[callback];
      const curves::DerivedCurve& activations = curves_->busy_activations(callback);
      if (activations.unbounded()) return {unbounded_time};
      const std::int64_t instances = count(activations);
      add(task.cost(instances));
      if (executor.release_overhead == Duration{0}) continue;
      std::int64_t releases = saturating_multiply(instances, task.local_sends);
      if (task.own) releases = saturating_add(releases, count(curves_->own(callback)));
      for (const std::size_t e : task.incoming) {
        if (system_->edges[e].local) continue;
        if (curves_->edge(e).unbounded()) return {unbounded_time};
        releases = saturating_add(releases, count(curves_->edge(e)));
      }
      add(saturating_multiply(executor.release_overhead, releases));
    }
  }
  effort_->spend(looked_at);
  return demand;
}

Duration SharedCore::pending(const Executors& executors, Duration window) const {
  Duration sum{0};
  std::size_t looked_at = 1;
  for (const ExecutorIndex rival : executors) {
    const LocalExecutor& executor = system_->executors[rival.value()];
    // Messages that complete no set are released, too, and nothing says for how long they wait.
    if (is_unknown(rival) || executor.release_overhead > Duration{0}) return unbounded_time;
    for (const CallbackIndex callback : executor.callbacks) {
      const curves::DerivedCurve& activations = curves_->activations(callback);
      const Duration response = (*response_)[callback.value()];
      if (activations.unbounded() || response == unbounded_time) return unbounded_time;
      looked_at += activations.weight();
      const std::int64_t instances = activations.count(saturating_add(window, response) - epsilon);
      sum = saturating_add(sum, (*system_)[callback].cost(instances));
    }
  }
  effort_->spend(looked_at);
  return sum;
}

/// A server that begins anew each time that its thread wakes has used no more than its bandwidth
/// until then. So between the first and the last budget of a window there is no more than that.
Duration SharedCore::left_by_servers(Duration window) const {
  // In units of 2^-40 ns, so that one ε at most is lost by rounding.
  Int128 served = 0;
  for (const auto& [budget, period] : rivals_.servers) {
    const Duration ends = std::min(window, 2 * budget);
    const Int128 between = Int128{(window - ends).count()} * budget.count();
    const Int128 whole = between / period.count();
    const Int128 rest =
        (between % period.count() * one_processor + period.count() - 1) / period.count();
    served += (ends.count() + whole) * one_processor + rest;
  }
  const Int128 left = Int128{window.count()} * one_processor - served;
  return Duration{static_cast<std::int64_t>(std::max(Int128{0}, left) / one_processor)};
}

/// Windows no longer than two budgets of some server have nothing left. In longer ones, what is
/// left is a line but for rounding, so the answer is close to where that line reaches the demand.
Duration SharedCore::beside_servers(Duration demand) const {
  const bool is_limit = demand <= Duration{0} || demand > curves::longest_time;
  if (rivals_.servers.empty() || is_limit) return demand;
  constexpr Duration longest = 2 * curves::longest_time;
  Int128 share = one_processor;
  Int128 needed = Int128{demand.count()} * one_processor;
  for (const auto& [budget, period] : rivals_.servers) {
    const Int128 served = Int128{budget.count()} * one_processor / period.count();
    share -= served;
    needed += Int128{2} * budget.count() * (one_processor - served);
  }
  const auto suffices = [&](Duration window) {
    effort_->spend(effort_of_server * rivals_.servers.size());
    return left_by_servers(window) >= demand;
  };
  if (share <= 0 || needed / share >= longest.count()) {
    return suffices(longest) ? longest : unbounded_time;
  }
  const Duration near{static_cast<std::int64_t>(needed / share)};
  Duration least = near;
  Duration most = near;
  for (Duration step = epsilon; !suffices(most); step *= 2) {
    if (most == longest) return unbounded_time;
    least = most + epsilon;
    most = std::min(most + step, longest);
  }
  for (Duration step = epsilon; least == most && least > demand; step *= 2) {
    const Duration shorter = std::max(least - step, demand);
    if (!suffices(shorter)) {
      least = shorter + epsilon;
      break;
    }
    least = most = shorter;
  }
  while (least < most) {
    const Duration middle = least + (most - least) / 2;
    if (suffices(middle)) {
      most = middle;
    } else {
      least = middle + epsilon;
    }
  }
  return least;
}

Duration SharedCore::Quiet::taken(Duration window) const {
  return saturating_add(core_.requested(core_.higher_or_equal_, window).time,
                        core_.pending(core_.resting_, window));
}

Duration SharedCore::Quiet::left(Duration window) const {
  const Duration beside = core_.left_by_servers(window);
  return beside - std::min(beside, taken(window));
}

Duration SharedCore::Quiet::next_window(Duration demand, Duration window) const {
  return std::max(window, core_.beside_servers(saturating_add(demand, taken(window))));
}

/// Let the thread's window begin y after the last quiet time of those of larger priority. Until
/// then they, and servers, have used all of the processor. So of the window they leave what they
/// leave of z = y + Δ. That is least right after a request.
template <typename Use>
void SharedCore::Any::for_each_longer(Duration window, Use use) const {
  Demand demand = core_.requested(core_.higher_, window);
  use(window, demand.time);
  const Duration carried = core_.higher_.empty() ? epsilon : longest();
  if (carried == unbounded_time) use(window, unbounded_time);
  if (carried == unbounded_time || demand.time == unbounded_time) return;
  const Duration end = saturating_add(window, carried);
  while (demand.until < end - epsilon) {
    const Duration next = demand.until + epsilon;
    demand = core_.requested(core_.higher_, next);
    use(next, demand.time);
  }
}

Duration SharedCore::Any::pending(Duration window) const {
  return saturating_add(core_.pending(core_.equal_, window), core_.pending(core_.resting_, window));
}

Duration SharedCore::Any::left(Duration window) const {
  Duration least = window;
  for_each_longer(window, [&](Duration longer, Duration requested) {
    const Duration beside = core_.left_by_servers(longer);
    least = std::min(least, beside - std::min(beside, requested));
  });
  return least - std::min(least, pending(window));
}

Duration SharedCore::Any::next_window(Duration demand, Duration window) const {
  const Duration needed = saturating_add(demand, pending(window));
  Duration next = window;
  for_each_longer(window, [&](Duration longer, Duration requested) {
    const Duration all = saturating_add(needed, requested);
    if (core_.left_by_servers(longer) < all) next = std::max(next, core_.beside_servers(all));
  });
  return next;
}

Duration SharedCore::Any::longest() const {
  if (longest_) return *longest_;
  Duration length = epsilon;
  while (length <= curves::longest_time) {
    const Duration next = core_.beside_servers(core_.requested(core_.higher_, length).time);
    if (next <= length) {
      longest_ = length;
      return length;
    }
    length = next;
  }
  longest_ = unbounded_time;
  return *longest_;
}

Int128 SharedCore::share() const {
  Int128 left = one_processor;
  for (const auto& [budget, period] : rivals_.servers) {
    left -= Int128{budget.count()} * one_processor / period.count();
  }
  for (const Executors* list : {&rivals_.higher, &rivals_.equal}) {
    for (const ExecutorIndex rival : *list) {
      for (const CallbackIndex callback : system_->executors[rival.value()].callbacks) {
        left -= long_run_share(callback, *system_, *curves_);
      }
    }
  }
  return std::max(Int128{1}, left);
}

std::optional<curves::RemainingSupply::Line> SharedCore::line_below() const {
  Line line{.share = one_processor};
  for (const auto& [budget, period] : rivals_.servers) {
    line.share -= (Int128{budget.count()} * one_processor + period.count() - 1) / period.count();
    line.lost += (2 * budget.count() + 1) * one_processor;
  }
  if (!resting_.empty()) return std::nullopt;
  for (const ExecutorIndex rival : higher_or_equal_) {
    const LocalExecutor& executor = system_->executors[rival.value()];
    if (is_unknown(rival) || executor.release_overhead > Duration{0}) return std::nullopt;
    for (const CallbackIndex callback : executor.callbacks) {
      const curves::DerivedCurve& activations = curves_->busy_activations(callback);
      const auto demand = activations.unbounded()
                              ? std::nullopt
                              : demand_line_above(activations, (*system_)[callback].cost);
      if (!demand) return std::nullopt;
      line.share -= demand->slope;
      line.lost += demand->start;
    }
  }
  return line.share > 0 ? std::optional(line) : std::nullopt;
}

}  // namespace takt::analysis
