#include "tracks.hpp"

#include <fmt/format.h>

#include "fields.hpp"

namespace takt::perfetto {
namespace {

/// The kernel's ids of processes and threads have no more bits.
constexpr int id_bits = 22;
constexpr std::uint64_t first_process_track = std::uint64_t{1} << 40;

/// Whether this is the first call with the index.
template <typename Tag>
bool is_first(std::vector<bool>& seen, Index<Tag> index) {
  if (index.value() >= seen.size()) {
    seen.resize(index.value() + 1);
  }
  const bool first = !seen[index.value()];
  seen[index.value()] = true;
  return first;
}

}  // namespace

std::uint64_t Tracks::of(events::ThreadIndex thread) {
  if (is_first(described_threads_, thread)) {
    describe_process(threads_[thread].process);
    describe_thread(thread);
  }
  return thread.value() + 1;
}

std::int64_t Tracks::unique(events::HostIndex host, std::int64_t id) {
  return id + (static_cast<std::int64_t>(host.value()) << id_bits);
}

void Tracks::describe_process(events::ProcessIndex index) {
  if (!is_first(described_processes_, index)) {
    return;
  }
  const events::Process& process = threads_[index];
  const bool is_elsewhere = process.host != events::HostIndex(0);
  Message described;
  described.number(process_descriptor::pid, unique(process.host, process.id))
      .text(process_descriptor::process_name,
            is_elsewhere ? fmt::format("{} on {}", process.name, threads_[process.host].name)
                         : process.name);
  Message track;
  track.number(track_descriptor::uuid, first_process_track + index.value())
      .message(track_descriptor::process, described);
  file_.add(Message().message(trace_packet::track_descriptor, track));
}

void Tracks::describe_thread(events::ThreadIndex index) {
  const events::Thread& thread = threads_[index];
  const events::Process& process = threads_[thread.process];
  Message described;
  described.number(thread_descriptor::pid, unique(process.host, process.id))
      .number(thread_descriptor::tid, unique(process.host, thread.id))
      .text(thread_descriptor::thread_name, thread.name);
  Message track;
  track.number(track_descriptor::uuid, std::uint64_t{index.value() + 1})
      .message(track_descriptor::thread, described);
  file_.add(Message().message(trace_packet::track_descriptor, track));
}

}  // namespace takt::perfetto
