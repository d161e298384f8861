#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "takt/base/index.hpp"

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

  std::vector<Host> hosts_;
  std::vector<Process> processes_;
  std::vector<bool> has_name_space_;  // by process: whether its namespace is known
  std::vector<Thread> threads_;
  std::unordered_map<Key, ProcessIndex, KeyHash> process_of_;
  std::unordered_map<Key, ThreadIndex, KeyHash> thread_of_;
};

}  // namespace takt::events
