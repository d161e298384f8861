#include "decision_inputs.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/linux/admission.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/manager/newcomers.hpp"
#include "takt/model/take_out.hpp"

namespace takt::manager {

namespace {

/// A chain must have been seen so often from end to end, and each callback of the executors on
/// which it depends, before anything is reserved for it: its costs are not known before.
constexpr std::uint64_t enough_instances = 10;

/// After this time, callbacks that run more seldom are known as well as they ever will be: a
/// parameter that somebody sets, a service that is called once.
constexpr std::chrono::seconds seldom{30};

bool comes_seldom(const live::Monitor::Runs& runs, Instant now) {
  return runs.all > 0 && runs.all < enough_instances && now - runs.first >= seldom;
}

/// Executors that get messages of others and have not run each receiver so often on threads with
/// reservations.
std::vector<std::string> unproved(const model::Model& model,
                                  const std::vector<live::Monitor::Runs>& runs, Instant now) {
  std::set<std::string> found;
  for (const model::Edge& edge : model.edges) {
    const model::ExecutorIndex receiver = model[edge.to].executor;
    const live::Monitor::Runs& seen = runs[edge.to.value()];
    if (model[edge.from].executor != receiver && seen.prompt < enough_instances &&
        !comes_seldom(seen, now)) {
      found.insert(model[receiver].id);
    }
  }
  return {found.begin(), found.end()};
}

/// A message of the chain may always wait at a join for the one that completes the set, so that the
/// chain itself is never completed.
bool may_wait_at_join(const model::Model& model, const model::Chain& chain) {
  return std::ranges::any_of(model.joins, [&](const model::Join& join) {
    return std::ranges::find(chain.callbacks, join.callback) != chain.callbacks.end();
  });
}

}  // namespace

Result<budget::Cores> available_cores(const std::optional<std::vector<int>>& pinned) {
  auto processors = TAKT_TRY(linux_os::affinity(0));
  const auto share = TAKT_TRY(linux_os::deadline_share());
  if (share <= 0) {
    return error("the kernel admits no reservations: raise /proc/sys/kernel/sched_rt_runtime_us");
  }
  for (const int core : pinned.value_or(std::vector<int>{})) {
    if (std::ranges::count(processors, core) == 0) {
      return error("no thread can be kept on core {}: this process has cores {}", core,
                   fmt::join(processors, ", "));
    }
  }
  budget::Cores cores{.numbers = std::move(processors), .capacity = share};
  cores.pinnable = pinned.value_or(budget::cores_to_keep(cores.numbers));
  return cores;
}

std::vector<Doubt> Doubts::next(const std::vector<model::Executor>& executors,
                                const std::vector<live::Monitor::Unseen>& unseen) {
  std::erase_if(losses_, [](Remembered& known) { return --known.left < 0; });
  std::erase_if(refusals_, [](Remembered& known) { return --known.left < -known.lasts; });
  const auto lost = [&](std::string executor, std::string reason) {
    std::erase_if(losses_,
                  [&](const Remembered& known) { return known.doubt.executor == executor; });
    losses_.push_back({{std::move(executor), std::move(reason)}, loss_lasts, loss_lasts});
  };
  std::map<std::int64_t, live::Monitor::Unseen> present_ones;
  for (std::size_t e = 0; e < unseen.size(); ++e) {
    const live::Monitor::Unseen& now = unseen[e];
    const live::Monitor::Unseen before = unseen_[now.process];
    present_ones[now.process] = now;
    if (now.lost_events > before.lost_events) {
      lost(executors[e].id,
           fmt::format("{} events of its program were lost, so costs may be higher than seen",
                       now.lost_events - before.lost_events));
    } else if (now.unknown_runs > before.unknown_runs) {
      lost(executors[e].id, "its program ran callbacks whose creation was not seen");
    }
  }
  unseen_ = std::move(present_ones);
  return present();
}

void Doubts::refused(const std::vector<Doubt>& refusals) {
  for (const Doubt& doubt : refusals) {
    const auto known = std::ranges::find(refusals_, doubt.executor, [](const Remembered& refusal) {
      return refusal.doubt.executor;
    });
    if (known == refusals_.end()) {
      refusals_.push_back({doubt, 1, 1});
    } else {
      const int lasts = std::min(2 * known->lasts, longest_refusal);
      *known = {doubt, lasts, lasts};
    }
  }
}

void Doubts::always(const Doubt& doubt) { always_.push_back(doubt); }

std::vector<Doubt> Doubts::present() const {
  std::vector<Doubt> doubts = always_;
  for (const auto* list : {&losses_, &refusals_}) {
    for (const Remembered& known : *list) {
      if (known.left >= 0) doubts.push_back(known.doubt);
    }
  }
  return doubts;
}

Situation situation_of(const live::Monitor& monitor, std::vector<Doubt> doubts,
                       const budget::Cores& cores, bool dry_run,
                       const std::set<std::string>& reserved) {
  Situation situation{.time = monitor.now(),
                      .model = monitor.model(),
                      .missing_goals = {},
                      .doubts = std::move(doubts),
                      .unproved = {},
                      .cores = cores};
  for (const auto& goal : monitor.missing_goals()) {
    situation.missing_goals.push_back({goal.name, goal.reason});
  }
  std::vector<bool> ended;
  for (const live::Monitor::Threads& threads : monitor.threads()) ended.push_back(threads.ended);
  const auto has_ended = [&](model::CallbackIndex callback) {
    return ended[situation.model[callback].executor.value()];
  };
  const auto runs = monitor.runs();
  const auto is_known = [&](model::CallbackIndex callback) {
    const live::Monitor::Runs& seen = runs[callback.value()];
    return seen.all >= enough_instances || comes_seldom(seen, situation.time);
  };
  std::vector<Doubt> unknown;
  for (std::size_t c = 0; c < runs.size(); ++c) {
    if (is_known(model::CallbackIndex(c))) continue;
    const model::Callback& callback = situation.model.callbacks[c];
    if (ended[callback.executor.value()]) continue;
    unknown.push_back({situation.model[callback.executor].id,
                       fmt::format("{} has to run {} times first", callback.id, enough_instances)});
  }
  if (!dry_run) {
    std::ranges::move(unproved(situation.model, runs, situation.time),
                      std::back_inserter(situation.unproved));
  }
  std::vector<model::Chain> known;
  for (std::size_t c = 0; c < situation.model.chains.size(); ++c) {
    model::Chain& chain = situation.model.chains[c];
    const live::ChainWindow& measured = monitor.chains()[c];
    const bool was_seen = measured.total() >= enough_instances;
    const auto waits_at_join = [&] {
      return may_wait_at_join(situation.model, chain) &&
             std::ranges::all_of(chain.callbacks, is_known);
    };
    if (std::ranges::any_of(chain.callbacks, has_ended)) {
      situation.missing_goals.push_back({chain.id, std::string(program_has_ended)});
    } else if (was_seen ? measured.figures().count != 0 : waits_at_join()) {
      known.push_back(std::move(chain));
    } else if (was_seen) {
      // Whatever the reason is, a reservation may be a part of it.
      situation.missing_goals.push_back({chain.id, "was not completed for ten seconds"});
    } else {
      situation.missing_goals.push_back(
          {chain.id, fmt::format("has to be seen {} times first", enough_instances)});
    }
  }
  situation.model.chains = known;
  model::take_out(situation.model, ended);
  for (const model::Chain& chain : known) {
    const bool goes_on = std::ranges::find(situation.model.chains, chain.id, &model::Chain::id) !=
                         situation.model.chains.end();
    // Nothing but what has ended activates its callbacks.
    if (!goes_on) situation.missing_goals.push_back({chain.id, std::string(program_has_ended)});
  }
  settle_unknown(situation, unknown, reserved);
  return situation;
}

std::vector<std::vector<ThreadRun>> runs_of(const live::Monitor& monitor,
                                            const std::string& executor, Instant after) {
  std::vector<std::vector<ThreadRun>> result;
  for (const auto& instances : monitor.instances(executor, after)) {
    std::vector<ThreadRun>& runs = result.emplace_back();
    for (const auto& instance : instances) {
      const auto& beginning = instance.beginning;
      if (!beginning || !instance.cpu_time || !instance.suspended) continue;
      runs.push_back({.start = instance.start,
                      .end = instance.end,
                      .cpu_at_start = beginning->cpu_time,
                      .cpu_at_end = beginning->cpu_time + *instance.cpu_time,
                      .waits_at_start = beginning->waits,
                      .waits_at_end = beginning->waits + instance.suspended->times});
    }
  }
  return result;
}

std::vector<ExecutorThreads> threads_of(const live::Monitor& monitor) {
  std::vector<ExecutorThreads> result;
  const auto running = monitor.threads();
  for (std::size_t e = 0; e < running.size(); ++e) {
    ExecutorThreads& threads = result.emplace_back();
    threads.executor = monitor.model().executors[e].id;
    threads.process = static_cast<pid_t>(running[e].process);
    for (const auto thread : running[e].threads) {
      threads.threads.push_back(static_cast<pid_t>(thread));
    }
  }
  return result;
}

}  // namespace takt::manager
