#include "takt/manager/enactor.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include "takt/base/try.hpp"
#include "takt/linux/middleware_threads.hpp"

namespace takt::manager {

namespace {

using linux_os::DeadlineScheduling;

constexpr linux_os::RoundRobinScheduling middleware_scheduling{.priority = 1};

/// The share of a core that the kernel's admission counts for a thread with this scheduling.
double share(const linux_os::ThreadScheduling& scheduling) {
  const auto* deadline = std::get_if<DeadlineScheduling>(&scheduling);
  if (deadline == nullptr) return 0;
  return static_cast<double>(deadline->runtime.count()) /
         static_cast<double>(deadline->period.count());
}

/// Whether a thread of the middleware comes before best effort already, because its program said
/// so.
bool is_urgent(pid_t thread) {
  const auto present = linux_os::get_scheduling(thread);
  if (!present) return false;
  const auto* round_robin = std::get_if<linux_os::RoundRobinScheduling>(&*present);
  return std::holds_alternative<linux_os::FifoScheduling>(*present) ||
         (round_robin != nullptr && round_robin->priority > middleware_scheduling.priority);
}

}  // namespace

const Enactor::Wanted* Enactor::enacted(const linux_os::ThreadIdentity& thread) const {
  const auto found = std::ranges::find(enacted_, thread, &Wanted::thread);
  return found == enacted_.end() ? nullptr : &*found;
}

std::vector<Enactor::Wanted> Enactor::wanted(const Decision& decision,
                                             const std::vector<ExecutorThreads>& threads,
                                             std::vector<Doubt>& refused) const {
  std::vector<Wanted> result;
  for (const ReservationDecision& reservation : decision.reservations) {
    const auto executor =
        std::ranges::find(threads, reservation.executor, &ExecutorThreads::executor);
    if (executor == threads.end() || executor->threads.empty()) {
      refused.push_back({reservation.executor, "none of its threads is known"});
      continue;
    }
    for (const pid_t thread : executor->threads) {
      const auto identity = linux_os::identify_by_own_number(executor->process, thread);
      if (!identity) {
        refused.push_back({reservation.executor, "a thread of it has ended"});
        break;
      }
      result.push_back(
          {*identity, reservation.executor,
           DeadlineScheduling{reservation.budget, reservation.deadline, reservation.period},
           reservation.core, thread});
    }
  }
  // Reservations for only a part of an executor's threads guarantee nothing.
  std::erase_if(result, [&](const Wanted& wanted) {
    return std::ranges::find(refused, wanted.executor, &Doubt::executor) != refused.end();
  });
  return result;
}

void Enactor::add_middleware(std::vector<Wanted>& wanted) {
  std::set<pid_t> processes;
  for (const Wanted& executor : wanted) processes.insert(executor.thread.process);
  for (const pid_t process : processes) {
    for (const auto& thread : linux_os::middleware_threads(process)) {
      if (is_urgent(thread.thread)) continue;
      wanted.push_back({.thread = thread, .executor = "", .scheduling = middleware_scheduling});
    }
  }
}

std::set<std::int64_t> Enactor::reserved() const {
  std::set<std::int64_t> threads;
  for (const Wanted& thread : enacted_) {
    if (std::holds_alternative<DeadlineScheduling>(thread.scheduling)) {
      threads.insert(thread.number);
    }
  }
  return threads;
}

void Enactor::leave(const std::vector<Wanted>& wanted) {
  std::erase_if(enacted_, [&](const Wanted& former) {
    const auto found = std::ranges::find(wanted, former.thread, &Wanted::thread);
    if (found != wanted.end() && found->core == former.core) return false;
    return guard_.restore(former.thread).has_value() || !linux_os::is_alive(former.thread);
  });
}

Result<void> Enactor::isolate(const std::vector<Wanted>& wanted) {
  std::set<int> cores;
  for (const Wanted& thread : wanted) {
    if (thread.core) cores.insert(*thread.core);
  }
  if (cores == isolated_) return {};
  leave({});
  auto done = guard_.isolate({cores.begin(), cores.end()});
  isolated_ = done ? cores : std::set<int>{};
  can_pin_ = can_pin_ && done.has_value();
  return done;
}

Result<void> Enactor::set(const Wanted& wanted) {
  const Wanted* former = enacted(wanted.thread);
  // The program, or somebody else, may have scheduled it otherwise meanwhile.
  if (former != nullptr && former->scheduling == wanted.scheduling &&
      linux_os::get_scheduling(wanted.thread.thread) == wanted.scheduling) {
    return {};
  }
  TAKT_TRY(guard_.remember(wanted.thread));
  if (wanted.core) {
    const auto kept = TAKT_TRY(guard_.keep(wanted.thread, *wanted.core));
    if (!kept) {
      pending_.insert(wanted.executor);
      std::erase_if(enacted_, [&](const Wanted& e) { return e.thread == wanted.thread; });
      enacted_.push_back({wanted.thread, wanted.executor, linux_os::OtherScheduling{}, wanted.core,
                          wanted.number});
      return {};
    }
  }
  TAKT_TRY(linux_os::set_scheduling(wanted.thread.thread, wanted.scheduling));
  std::erase_if(enacted_, [&](const Wanted& e) { return e.thread == wanted.thread; });
  enacted_.push_back(wanted);
  return {};
}

void Enactor::give_up(const Wanted& refused) {
  // It may be on its core already, without a reservation there.
  static_cast<void>(guard_.restore(refused.thread));
  std::erase_if(enacted_, [&](const Wanted& thread) {
    const bool concerned = thread.thread == refused.thread ||
                           (!refused.executor.empty() && thread.executor == refused.executor);
    return concerned && guard_.restore(thread.thread).has_value();
  });
}

std::vector<Doubt> Enactor::enact(const Decision& decision,
                                  const std::vector<ExecutorThreads>& threads) {
  std::vector<Doubt> refused;
  std::vector<Wanted> all = wanted(decision, threads, refused);
  add_middleware(all);
  leave(all);
  pending_.clear();
  if (const auto isolated = isolate(all); !isolated) {
    for (const ReservationDecision& reservation : decision.reservations) {
      if (reservation.core) refused.push_back({reservation.executor, isolated.error().message});
    }
  }
  const auto growth = [&](const Wanted& wanted) {
    const Wanted* former = enacted(wanted.thread);
    return share(wanted.scheduling) - (former != nullptr ? share(former->scheduling) : 0);
  };
  std::vector<std::pair<double, const Wanted*>> order;
  for (const Wanted& wanted : all) order.emplace_back(growth(wanted), &wanted);
  std::ranges::stable_sort(order, {}, &std::pair<double, const Wanted*>::first);
  for (const auto& [grows, wanted] : order) {
    if (std::ranges::find(refused, wanted->executor, &Doubt::executor) != refused.end()) continue;
    const auto done = set(*wanted);
    if (done) continue;
    give_up(*wanted);
    // Without a priority for the middleware messages are slower, and the model sees that.
    if (!wanted->executor.empty()) refused.push_back({wanted->executor, done.error().message});
  }
  return refused;
}

}  // namespace takt::manager
