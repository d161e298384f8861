#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "takt/base/grow.hpp"
#include "takt/execution/objects.hpp"
#include "takt/execution/observer.hpp"

namespace takt::execution {

/// The threads of a process that serve the same callbacks. rclcpp does not say which executor a
/// thread belongs to, so threads that ever ran the same callback are taken as one executor, be it
/// during start-up: two threads of a multi-threaded executor that share no callback in the whole
/// trace would be taken for two. Threads that announced the same executor (takt:executor_init)
/// belong together.
struct Executor {
  ProcessIndex process;
  std::vector<ThreadIndex> threads;
  /// In order of registration.
  std::vector<ObservedCallbackIndex> callbacks;
  /// Threads of processes that have ended and came back as this one, those of each together.
  std::vector<std::vector<ThreadIndex>> former;
  /// The announcement of its first thread, if there was one.
  std::optional<ExecutorThread> announced;
  /// Its threads ran many callbacks and no event showed a wait, as with rclcpp's executors of
  /// events.
  bool tells_no_waits = false;
  /// It is no executor but the thread of an event source, its only callback.
  bool is_source = false;

  /// The number of its threads: those it announced, or more if more ran callbacks.
  [[nodiscard]] std::int64_t thread_count() const;
  /// Its kind, as timing models name it: the announced one, or one that follows from the number of
  /// its threads and from whether events showed its waits.
  [[nodiscard]] std::string kind() const;
};

/// Observes which threads run which callbacks.
class ExecutorFinder final : public Observer {
 public:
  void on_instance(const Database& database, const CallbackInstance& instance) override;

  /// Grows when a thread runs a callback for the first time.
  [[nodiscard]] std::size_t known() const { return pairs_.size(); }
  /// Forgets which callbacks have run, but not which threads ran the same ones.
  void restart() { has_run_.clear(); }

  /// After this many runs without a wait, an executor is taken to emit no waits.
  static constexpr std::uint64_t enough_runs = 100;

  /// The executors, in order of their first callback. A callback that never ran belongs to none.
  [[nodiscard]] std::vector<Executor> executors(const Objects& objects,
                                                const events::Threads& threads) const;

 private:
  /// Whether the callback is on an executor.
  [[nodiscard]] bool has_run(std::size_t callback) const {
    return value_at(has_run_, ObservedCallbackIndex(callback)) != 0;
  }

  /// The threads that ran each callback, in order of appearance.
  std::vector<std::vector<ThreadIndex>> threads_of_;
  std::vector<char> has_run_;  // by callback
  std::set<std::pair<ObservedCallbackIndex, ThreadIndex>> pairs_;
  /// Runs by thread, and whether a wait was seen before any of them.
  struct Runs {
    std::uint64_t count = 0;
    bool waited = false;
  };
  std::vector<Runs> runs_;
};

/// Adds the threads that announced these executors and have not run a callback yet: any of them may
/// run the next one.
void add_announced_threads(std::vector<Executor>& executors, const Objects& objects,
                           const events::Threads& threads);

/// Ids of executors: the announced one, else the process' name, unique by a suffix "#2" ….
[[nodiscard]] std::vector<std::string> executor_ids(const std::vector<Executor>& executors,
                                                    const events::Threads& threads);

}  // namespace takt::execution
