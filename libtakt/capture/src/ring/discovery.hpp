#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "../gate.hpp"
#include "../process_sink.hpp"
#include "takt/base/descriptor.hpp"
#include "takt/capture/recording.hpp"
#include "takt/capture/ring/mapping.hpp"
#include "takt/capture/ring/object_log.hpp"

namespace takt::capture::ring {

/// A ring, whichever descriptor it is open by.
using Identity = std::pair<dev_t, ino_t>;
[[nodiscard]] Identity identity_of(const Descriptor& memory);

/// The rings that cannot be read. A gate and a search both find them.
class Unreadable {
 public:
  /// Whether the ring was not added before. No memory: a process without a ring, which nothing else
  /// finds.
  [[nodiscard]] bool add(const Descriptor& memory);

 private:
  /// Beyond this many, some may be taken for new ones again.
  static constexpr std::size_t most_known = 1 << 16;

  std::set<Identity> known_;
};

/// Calls `use` for the rings of the processes that run now and that this user may look into, with
/// their memory. Each ring comes once, with the process that writes it, although recorders hold
/// rings, too. Takes about 3 us for each file that a process has open.
void for_each_ring(const std::function<void(pid_t process, const Descriptor& memory)>& use);

/// The same as a list.
[[nodiscard]] std::vector<std::pair<pid_t, Descriptor>> running_rings();

/// The memory of the ring that a process writes; none if it has none.
[[nodiscard]] Descriptor ring_of(pid_t process);

/// Looks for rings as long as it lives. Programs of other users pass no gate of this user, nor do
/// those for which another directory is /tmp.
class Search {
 public:
  /// Returns whether the ring was not known before and can be used.
  using Found = std::function<bool(pid_t process, const Descriptor& memory)>;

  /// Calls `found` once for every ring: for those that are there now before it returns; for those
  /// that come later on a thread of its own, which keeps no capabilities but those in `kept`. That
  /// is at most two intervals and two looks after the ring is made, and never before the first
  /// interval is over: by then, a recorder that started the process has the ring.
  Search(Found found, std::uint64_t kept);

  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search() { close(); }

  /// Calls `found` no more; called by the destructor if not before.
  void close();
  /// Calls `found` for all rings that are there now, if it has not been called for them.
  void look_now();

  /// Processes of whose rings `found` said that they are new, except those that were there first:
  /// what these processes did first was not recorded.
  [[nodiscard]] std::uint64_t late() const { return late_; }

 private:
  enum class Handed { not_yet, over };

  void look(bool at_new_ones);
  void run(const std::stop_token& stop, std::uint64_t kept);

  Found found_;
  std::map<Identity, Handed> seen_;  // in the last look
  std::atomic<std::uint64_t> late_ = 0;
  std::mutex looking_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: uses the members above
};

/// What a search does with the rings that it finds: `admit` gets those of all processes or, for
/// `only_started`, of those that were told of the gate and could not reach it, in a network and a
/// /tmp of their own.
[[nodiscard]] Search::Found admitting(bool only_started, const Gate& gate, Search::Found admit);

/// Hands the entries of a process's object log up to the time `until` to its sink. An entry
/// older than `since` gets the time `since`. Both are CLOCK_MONOTONIC, nanoseconds. `events`: mask
/// of those wanted. Returns the entries that the log has lost; the sink is told, too.
[[nodiscard]] Losses append_objects(const Mapping& mapping, std::uint64_t events,
                                    std::uint64_t since, std::uint64_t until, ProcessSink& sink);
/// The same for the entries that have come since the log was read last. Returns those that it has
/// lost in all.
[[nodiscard]] Losses append_objects(ObjectLog& log, std::uint64_t events, std::uint64_t since,
                                    std::uint64_t until, ProcessSink& sink);

}  // namespace takt::capture::ring
