#pragma once

#include <optional>
#include <string>
#include <vector>

#include "takt/execution/instances.hpp"
#include "takt/execution/objects.hpp"

namespace takt::execution {

/// The threads of a process that serve the same callbacks. rclcpp does not say which executor a
/// thread belongs to, so threads that ever ran the same callback are taken as one executor: two
/// threads of a multi-threaded executor that share no callback in the whole trace would be taken
/// for two. Threads that announced themselves (takt:executor_init) belong together by that name.
struct Executor {
  ProcessIndex process;
  std::vector<ThreadIndex> threads;
  /// In order of registration.
  std::vector<CallbackIndex> callbacks;
  /// How its first thread introduced itself.
  std::optional<ExecutorThread> announced;

  /// Threads that it has, as announced or as seen running callbacks.
  [[nodiscard]] std::int64_t thread_count() const;
  /// Its kind as the contract names it: as announced, else by the number of its threads.
  [[nodiscard]] std::string kind() const;
};

/// Observes which threads run which callbacks.
class ExecutorFinder final : public Observer {
 public:
  void on_instance(const CallbackInstance& instance) override;

  /// The executors, in order of their first callback. A callback that never ran belongs to none.
  [[nodiscard]] std::vector<Executor> executors(const Objects& objects,
                                                const events::Threads& threads) const;

 private:
  /// By callback: the threads that ran it, in order of appearance.
  std::vector<std::vector<ThreadIndex>> threads_of_;
};

/// Ids of executors: the announced one, else the process' name, unique by a suffix "#2" ….
[[nodiscard]] std::vector<std::string> executor_ids(const std::vector<Executor>& executors,
                                                    const events::Threads& threads);

}  // namespace takt::execution
