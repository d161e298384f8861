#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "ros_programs.hpp"
#include "takt/capture/recording.hpp"
#include "takt/ctf/trace.hpp"

namespace takt::capture {

/// Finds the processes with ROS 2 that a recording lacks, while it goes on: those that map rcl or a
/// middleware library, and of statically linked ones those with the sockets of a DDS participant.
/// It looks at the descendants of this process or at every process of the machine, a few times a
/// second, so that it may miss one that lives for less.
class Census {
 public:
  /// Begins to look. `only_started`: at this process's descendants alone. `records` says whether
  /// the tracer records a process that could be.
  Census(Tracer tracer, bool only_started, std::function<bool(pid_t)> records);
  Census(const Census&) = delete;
  Census& operator=(const Census&) = delete;
  ~Census() { close(); }

  /// Looks once more, then no more.
  void close();
  /// Those that were found until now.
  [[nodiscard]] std::vector<Unrecorded> found() const;
  /// Writes what has been found since the last call, as a trace of its own. Error: it cannot be
  /// written.
  [[nodiscard]] Result<void> write(ctf::Storage& storage);

 private:
  struct Known {
    std::uint64_t start = 0;
    /// It is looked at less often the longer it has been there.
    unsigned looks = 0;
    bool is_done = false;
    bool is_suspect = false;
    /// In how many looks it had begun to use ROS, and the tracer did not know it.
    unsigned strange_looks = 0;
  };
  void run(const std::stop_token& stop);
  void look();
  void look_at(pid_t process, Known& known);
  /// Whether a process with a tracing library is not recorded nevertheless.
  [[nodiscard]] bool is_passed_over(pid_t process, const RosProgram& program, Known& known) const;

  const Tracer tracer_;
  const bool only_started_;
  const std::function<bool(pid_t)> records_;
  std::map<pid_t, Known> known_;  // of the looking thread
  /// Descendants so far: a process whose parent ends becomes another's child.
  std::set<pid_t> family_;
  /// Processes that are no descendants. A number that is used again was gone for a look.
  std::set<pid_t> strangers_;
  unsigned number_of_look_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<Unrecorded> found_;
  std::size_t written_ = 0;
  std::unique_ptr<ctf::Trace> trace_;
  std::unique_ptr<ctf::Stream> stream_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: uses the members above
};

}  // namespace takt::capture
