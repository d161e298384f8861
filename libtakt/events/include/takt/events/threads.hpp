#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "takt/base/index.hpp"
#include "takt/time/time.hpp"

namespace takt::events {

using HostIndex = Index<struct HostTag>;
using ProcessIndex = Index<struct ProcessTag>;
using ThreadIndex = Index<struct ThreadTag>;

/// One running of a machine: a reboot makes another host, as process ids start over.
struct Host {
  std::string name;
  /// Identity of the clock, which LTTng takes from the kernel's boot id. May be empty.
  std::string clock;
};

/// Identifies a process of a host. The number alone does not: each container counts its processes
/// from 1, in a namespace of its own.
struct ProcessId {
  // A number is one where no namespace is known. NOLINTNEXTLINE(misc-explicit-constructor)
  ProcessId(std::int64_t its_number, std::uint64_t its_name_space = 0)
      : number(its_number), name_space(its_name_space) {}

  std::int64_t number;
  /// Inode of the namespace; 0: not known.
  std::uint64_t name_space;
  bool operator==(const ProcessId&) const = default;
};

struct Process {
  HostIndex host;
  std::int64_t id = 0;
  /// The newest name of its main thread; until that is known, the first name of one of its threads.
  /// The kernel keeps 15 characters.
  std::string name;
};

struct Thread {
  ProcessIndex process;
  std::int64_t id = 0;
  std::string name;
};

/// The hosts, processes and threads that events come from, numbered in the order they appear.
/// An event refers to its thread by number, so that consumers of events need no look-up.
class Threads {
 public:
  HostIndex host(std::string_view name, std::string_view clock);
  ProcessIndex process(HostIndex host, ProcessId id);
  /// The thread, made if new, with its present name (empty: not known). Amortised O(1).
  ThreadIndex thread(HostIndex host, ProcessId process_id, std::int64_t thread_id,
                     std::string_view name);

  /// Notes that no events of the process follow this one. `tells_ends()`: they are all noted.
  void end(ProcessIndex process, Instant last) { ends_[process] = last; }
  void tell_ends() { tells_ends_ = true; }
  [[nodiscard]] bool tells_ends() const { return tells_ends_; }
  /// The process's last event, if it is known that no other follows. It may be noted before the
  /// events up to then are read.
  [[nodiscard]] std::optional<Instant> ended(ProcessIndex process) const {
    const auto end = ends_.find(process);
    return end == ends_.end() ? std::nullopt : std::optional(end->second);
  }

  /// Host, number and namespace of a process, which is 0 if it is not known.
  using Numbered = std::tuple<HostIndex, std::int64_t, std::uint64_t>;
  /// The last event of each process, in all that the source has.
  class LastEvents {
   public:
    void note(const Numbered& process, Instant time) {
      Instant& newest = newest_.try_emplace(process, time).first->second;
      newest = std::max(newest, time);
    }

   private:
    friend Threads;
    std::map<Numbered, Instant> newest_;
  };
  /// How to find them. Called once, when it is asked first: it may read everything.
  void look_ahead(std::function<LastEvents()> find) { find_last_ = std::move(find); }
  /// Whether the source has an event of the process after this time, be it delivered yet or not;
  /// true where nobody can look ahead.
  [[nodiscard]] bool goes_on_after(ProcessIndex process, Instant time) const;

  [[nodiscard]] const std::vector<Host>& hosts() const { return hosts_; }
  [[nodiscard]] const std::vector<Process>& processes() const { return processes_; }
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }
  [[nodiscard]] const Host& operator[](HostIndex index) const { return hosts_[index.value()]; }
  [[nodiscard]] const Process& operator[](ProcessIndex index) const {
    return processes_[index.value()];
  }
  [[nodiscard]] const Thread& operator[](ThreadIndex index) const {
    return threads_[index.value()];
  }

 private:
  struct Key {
    std::uint32_t owner = 0;
    std::int64_t id = 0;
    std::uint64_t name_space = 0;  // of a process
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return (static_cast<std::uint64_t>(key.id) * 0x9e3779b97f4a7c15u) ^ key.owner ^
             (key.name_space << 16);
    }
  };
  void rename(Thread& thread, std::string_view name);

  std::map<ProcessIndex, Instant> ends_;
  bool tells_ends_ = false;
  std::function<LastEvents()> find_last_;
  mutable std::optional<LastEvents> last_;
  std::vector<Host> hosts_;
  std::vector<Process> processes_;
  std::vector<bool> has_name_space_;  // by process: whether its namespace is known
  std::vector<Thread> threads_;
  std::unordered_map<Key, ProcessIndex, KeyHash> process_of_;
  std::unordered_map<Key, ThreadIndex, KeyHash> thread_of_;
};

}  // namespace takt::events
