#pragma once

#include <cstdint>
#include <vector>

#include "packet_file.hpp"
#include "takt/events/threads.hpp"

namespace takt::perfetto {

/// The threads of a trace as Perfetto's tracks, described when they are first needed.
class Tracks {
 public:
  Tracks(const events::Threads& threads, PacketFile& file) : threads_(threads), file_(file) {}

  /// The number by which events name the thread's track.
  std::uint64_t of(events::ThreadIndex thread);

  /// Ids of processes and threads of several hosts must not meet in one trace.
  [[nodiscard]] static std::int64_t unique(events::HostIndex host, std::int64_t id);

 private:
  void describe_process(events::ProcessIndex process);
  void describe_thread(events::ThreadIndex thread);

  const events::Threads& threads_;
  PacketFile& file_;
  std::vector<bool> described_threads_;
  std::vector<bool> described_processes_;
};

}  // namespace takt::perfetto
