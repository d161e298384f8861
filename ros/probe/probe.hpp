#pragma once

#include <functional>
#include <memory>
#include <string>

#include "rclcpp/executor.hpp"
#include "rclcpp/experimental/executors/events_executor/events_queue.hpp"

namespace takt::probe {

using Queue = rclcpp::experimental::executors::EventsQueue;

/// How the executors that are probed are made. Tests have others than rclcpp's.
struct Executors {
  std::function<std::shared_ptr<rclcpp::Executor>()> single_threaded;
  std::function<std::shared_ptr<rclcpp::Executor>(std::size_t threads)> multi_threaded;
  /// `timer_thread`: timers run on a thread of their own.
  std::function<std::shared_ptr<rclcpp::Executor>(Queue::UniquePtr, bool timer_thread)> events;
};

/// rclcpp's.
Executors stock();

/// What an executor of one thread runs between its waits, as members of a JSON object:
///   "scenario": {"entities": [[node, kind, name], …], "windows": [{"ready": […], "ran": […]}, …],
///                "lost": […]}
///   "random": [the same, for each of several random systems]
/// Entities are in the order of their registration, the lists have their indices: what was ready at
/// the wait with which a window begins, what ran until the next wait, and what never ran.
std::string windows(const Executors& executors);

/// What threads run at the same time:
///   "exclusion": {"ran": how many callbacks of a mutually exclusive group ran,
///                 "overlaps": how many of them began while another one ran}
///   "resting": the kinds of which an instance of an idle group waited while a thread was idle
std::string threads(const Executors& executors);

/// What the events executor runs, with its timers on the same thread and on one of their own:
///   "events": {"came": [entities in the order of their events], "ran": [in that of their runs],
///              "lost": how many of them never ran}
///   "timer_thread": {"came": …, "ran": … (of timers, both in any order), "threads": how many
///   threads ran timers,
///                    "shared": whether one of them ran another callback, "overlaps": whether the
///                    timers ran beside another callback of their group}
std::string events(const Executors& executors);

/// All of it, to standard output.
void print(const Executors& executors);

}  // namespace takt::probe
