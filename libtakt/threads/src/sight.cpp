#include "takt/threads/sight.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "takt/events/threads.hpp"
#include "takt/execution/names.hpp"
#include "takt/linux/middleware_threads.hpp"
#include "takt/time/time.hpp"

namespace takt::threads {

namespace {

using events::ProcessIndex;
using events::ThreadIndex;
using execution::Callback;
using execution::CallbackKind;
using execution::Database;
using execution::Objects;
using execution::ObservedCallbackIndex;

/// What is known of a process.
struct Program {
  std::set<std::string> nodes;
  /// Of which no thread has run anything.
  std::set<std::string> idle_nodes;
  /// Those that no thread has run, and the threads that spin.
  std::vector<ObservedCallbackIndex> idle{};
  std::vector<ThreadIndex> spinning{};
};

/// By process, of those that run.
using Programs = std::map<ProcessIndex, Program>;

SeenCallback seen(const Objects& objects, ObservedCallbackIndex index) {
  const Callback& callback = objects[index];
  SeenCallback result{.node = objects.node_name(callback), .names = {}};
  if (const auto topic = objects.topic_of(callback)) result.names.push_back(objects[*topic]);
  if (callback.timer) {
    const Duration period = objects[*callback.timer].period;
    result.names.push_back("timer-" + execution::compact_duration(period));
  }
  if (!callback.symbol.empty()) {
    result.names.push_back(execution::readable_symbol(callback.symbol));
  }
  return result;
}

Programs programs(const Database& database, const std::vector<execution::Executor>& executors) {
  const events::Threads& threads = database.threads();
  const Objects& objects = database.objects();
  Programs found;
  for (const execution::Node& node : objects.nodes) {
    if (threads.ended(node.process)) continue;
    found[node.process].nodes.insert(node.full_name());
    found[node.process].idle_nodes.insert(node.full_name());
  }
  std::set<ObservedCallbackIndex> placed;
  for (const execution::Executor& executor : executors) {
    placed.insert(executor.callbacks.begin(), executor.callbacks.end());
    const auto program = found.find(executor.process);
    if (program == found.end()) continue;
    for (const ObservedCallbackIndex callback : executor.callbacks) {
      program->second.idle_nodes.erase(objects.node_name(objects[callback]));
    }
  }
  for (std::size_t c = 0; c < objects.callbacks.size(); ++c) {
    const ObservedCallbackIndex index(c);
    const auto program = found.find(objects[index].process);
    if (program == found.end() || placed.contains(index) || objects[index].continues ||
        objects[index].kind == CallbackKind::event_source) {
      continue;
    }
    program->second.idle.push_back(index);
  }
  const auto& histories = database.thread_histories();
  for (std::size_t t = 0; t < histories.size(); ++t) {
    const ThreadIndex index(t);
    const auto program = found.find(threads[index].process);
    if (program != found.end() && histories[t].now() == execution::ThreadClass::executor) {
      program->second.spinning.push_back(index);
    }
  }
  return found;
}

}  // namespace

std::optional<ThreadIndex> Sight::only_spinning(ProcessIndex process,
                                                const std::vector<ThreadIndex>& spinning,
                                                Instant now) {
  Spinning& known = spinning_.try_emplace(process, Spinning{spinning, now}).first->second;
  if (known.threads != spinning) known = {spinning, now};
  const bool is_settled = now - known.since >= settled;
  return spinning.size() == 1 && is_settled ? std::optional(spinning.front()) : std::nullopt;
}

std::vector<SeenThread> Sight::threads(const Database& database, Instant now) {
  const events::Threads& known = database.threads();
  const Objects& objects = database.objects();
  auto executors = finder_.executors(objects, known);
  execution::add_announced_threads(executors, objects, known);
  const Programs running = programs(database, executors);
  std::vector<SeenThread> result;
  const auto add = [&](ThreadIndex thread, SeenThread seen) {
    const auto identity = linux_os::identify_by_own_number(
        static_cast<pid_t>(known[known[thread].process].id), static_cast<pid_t>(known[thread].id));
    if (!identity) return;
    seen.identity = *identity;
    result.push_back(std::move(seen));
  };
  const auto name_nodes = [](SeenThread& seen) {
    std::set<std::string> nodes;
    for (const SeenCallback& callback : seen.callbacks) nodes.insert(callback.node);
    seen.nodes.assign(nodes.begin(), nodes.end());
  };
  // What has not run is supposed to run here.
  const auto suppose = [&](SeenThread& at, const Program& program) {
    at.supposed.assign(program.idle_nodes.begin(), program.idle_nodes.end());
    for (const auto callback : program.idle) {
      SeenCallback idle = seen(objects, callback);
      const bool is_here = std::ranges::binary_search(at.nodes, idle.node) ||
                           std::ranges::binary_search(at.supposed, idle.node);
      if (is_here) at.callbacks.push_back(std::move(idle));
    }
  };
  std::set<ThreadIndex> done;
  for (const execution::Executor& executor : executors) {
    const auto program = running.find(executor.process);
    if (program == running.end()) continue;
    SeenThread of_all;
    of_all.kind = executor.is_source ? SeenThread::Kind::source : SeenThread::Kind::executor;
    of_all.of_executor = static_cast<std::size_t>(executor.thread_count());
    for (const ObservedCallbackIndex callback : executor.callbacks) {
      of_all.callbacks.push_back(seen(objects, callback));
    }
    name_nodes(of_all);
    const auto only = only_spinning(executor.process, program->second.spinning, now);
    if (!executor.is_source && only && executor.threads == std::vector{*only}) {
      suppose(of_all, program->second);
    }
    for (const ThreadIndex thread : executor.threads) {
      if (!executor.is_source) done.insert(thread);
      add(thread, of_all);
    }
  }
  for (const auto& [process, program] : running) {
    // Its executor has run no callback yet.
    const auto only = only_spinning(process, program.spinning, now);
    if (only && !done.contains(*only)) {
      SeenThread idle;
      suppose(idle, program);
      add(*only, std::move(idle));
    }
    for (const auto& identity :
         linux_os::middleware_threads(static_cast<pid_t>(known[process].id))) {
      SeenThread seen{.identity = identity, .kind = SeenThread::Kind::middleware};
      seen.nodes.assign(program.nodes.begin(), program.nodes.end());
      result.push_back(std::move(seen));
    }
  }
  return result;
}

std::uint64_t Sight::structure(const Database& database) const {
  const Objects& objects = database.objects();
  const auto ended = std::ranges::count_if(objects.nodes, [&](const execution::Node& node) {
    return database.threads().ended(node.process).has_value();
  });
  const auto spinning =
      std::ranges::count(database.thread_histories(), execution::ThreadClass::executor,
                         &execution::ThreadHistory::now);
  return finder_.known() + objects.callbacks.size() + objects.nodes.size() +
         objects.executor_threads.size() + static_cast<std::uint64_t>(ended + spinning);
}

}  // namespace takt::threads
