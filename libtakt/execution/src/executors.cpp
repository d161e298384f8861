#include "takt/execution/executors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "takt/base/grow.hpp"

namespace takt::execution {
namespace {

/// Union-find over threads.
class Groups {
 public:
  explicit Groups(std::size_t size) : parent_(size) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) {
      i = parent_[i] = parent_[parent_[i]];
    }
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(b)] = root(a); }

 private:
  std::vector<std::size_t> parent_;
};

}  // namespace

std::int64_t Executor::thread_count() const {
  return std::max(static_cast<std::int64_t>(threads.size()), announced ? announced->threads : 0);
}

std::string Executor::kind() const {
  if (is_source) {
    return "event_source";
  }
  if (announced) {
    return announced->kind;
  }
  if (threads.size() > 1) {
    return "multi_threaded";
  }
  return tells_no_waits ? "events" : "single_threaded";
}

void ExecutorFinder::on_instance(const Database& /*database*/, const CallbackInstance& instance) {
  auto& threads = grow_to(threads_of_, instance.callback);
  grow_to(has_run_, instance.callback) = 1;
  const bool is_last = !threads.empty() && threads.back() == instance.thread;
  if (!is_last && pairs_.emplace(instance.callback, instance.thread).second) {
    threads.push_back(instance.thread);
  }
  Runs& runs = grow_to(runs_, instance.thread);
  ++runs.count;
  // An executor that signals the runs of callbacks is one of those that wait (rclpy).
  runs.waited = runs.waited || instance.wait_end.has_value() || instance.is_signalled;
}

std::vector<Executor> ExecutorFinder::executors(const Objects& objects,
                                                const events::Threads& threads) const {
  const auto is_source = [&](std::size_t callback) {
    return objects.callbacks[callback].kind == CallbackKind::event_source;
  };
  Groups groups(threads.threads().size());
  for (std::size_t callback = 0; callback < threads_of_.size(); ++callback) {
    if (is_source(callback)) continue;
    std::map<ProcessIndex, ThreadIndex> first;
    for (const ThreadIndex thread : threads_of_[callback]) {
      const auto [known, is_new] = first.try_emplace(threads[thread].process, thread);
      groups.join(known->second.value(), thread.value());
    }
  }
  std::map<std::pair<ProcessIndex, std::string>, ThreadIndex> announced;
  for (const ExecutorThread& thread : objects.executor_threads) {
    const auto [first, is_new] =
        announced.try_emplace({threads[thread.thread].process, thread.executor}, thread.thread);
    groups.join(first->second.value(), thread.thread.value());
  }

  std::vector<Executor> executors;
  std::unordered_map<std::size_t, std::size_t> position;
  const auto executor_of = [&](ThreadIndex thread) -> Executor& {
    const auto [entry, is_new] =
        position.try_emplace(groups.root(thread.value()), executors.size());
    if (is_new) {
      executors.emplace_back().process = threads[thread].process;
    }
    return executors[entry->second];
  };
  std::vector<bool> is_placed(threads.threads().size());
  for (std::size_t callback = 0; callback < threads_of_.size(); ++callback) {
    if (!has_run(callback)) continue;
    if (is_source(callback)) {
      // Alone, whatever else its thread does (ros-llama S-1.5).
      Executor& source = executors.emplace_back();
      source.process = objects.callbacks[callback].process;
      source.threads = threads_of_[callback];
      source.callbacks.emplace_back(callback);
      source.is_source = true;
      continue;
    }
    executor_of(threads_of_[callback].back()).callbacks.emplace_back(callback);
  }
  // Threads that ran its callbacks during start-up alone are the executor's, too.
  for (std::size_t callback = 0; callback < threads_of_.size(); ++callback) {
    if (is_source(callback)) continue;
    for (const ThreadIndex thread : threads_of_[callback]) {
      const auto found = position.find(groups.root(thread.value()));
      if (is_placed[thread.value()] || found == position.end()) continue;
      is_placed[thread.value()] = true;
      executors[found->second].threads.push_back(thread);
    }
  }
  for (std::size_t callback = 0; callback < threads_of_.size(); ++callback) {
    if (is_source(callback) || !has_run(callback)) continue;
    std::map<ProcessIndex, std::vector<ThreadIndex>> former;
    for (const ThreadIndex thread : threads_of_[callback]) {
      if (is_placed[thread.value()]) continue;
      is_placed[thread.value()] = true;
      former[threads[thread].process].push_back(thread);
    }
    Executor& executor = executor_of(threads_of_[callback].back());
    for (auto& [process, group] : former) executor.former.push_back(std::move(group));
  }
  for (Executor& executor : executors) {
    executor.tells_no_waits = std::ranges::all_of(executor.threads, [this](ThreadIndex thread) {
      const Runs runs = value_at(runs_, thread);
      return !runs.waited && runs.count >= enough_runs;
    });
  }
  for (Executor& executor : executors) {
    const auto own = std::ranges::find(objects.executor_threads, executor.threads.front(),
                                       &ExecutorThread::thread);
    if (executor.is_source && own != objects.executor_threads.end()) executor.announced = *own;
  }
  for (const ExecutorThread& thread : objects.executor_threads) {
    const auto found = position.find(groups.root(thread.thread.value()));
    if (found != position.end() && !executors[found->second].announced) {
      executors[found->second].announced = thread;
    }
  }
  return executors;
}

void add_announced_threads(std::vector<Executor>& executors, const Objects& objects,
                           const events::Threads& threads) {
  for (Executor& executor : executors) {
    if (!executor.announced || executor.is_source) continue;
    for (const ExecutorThread& announced : objects.executor_threads) {
      if (threads[announced.thread].process != executor.process ||
          announced.executor != executor.announced->executor ||
          std::ranges::count(executor.threads, announced.thread) != 0) {
        continue;
      }
      executor.threads.push_back(announced.thread);
    }
  }
}

std::vector<std::string> executor_ids(const std::vector<Executor>& executors,
                                      const events::Threads& threads) {
  std::vector<std::string> ids;
  std::unordered_map<std::string, int> used;
  for (const Executor& executor : executors) {
    const std::string& process = threads[executor.process].name;
    const std::string program = process.empty() ? "process" : process;
    const bool is_named = executor.announced && !executor.announced->executor.empty();
    const std::string stem = is_named             ? executor.announced->executor
                             : executor.is_source ? program + " source"
                                                  : program;
    const int count = ++used[stem];
    ids.push_back(count == 1 ? stem : fmt::format("{}#{}", stem, count));
  }
  return ids;
}

}  // namespace takt::execution
