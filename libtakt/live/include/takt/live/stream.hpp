#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/capture/listener.hpp"
#include "takt/capture/recording.hpp"
#include "takt/events/event_stream.hpp"

namespace takt::live {

/// What programs do, as it happens: the events of their rings, or of probes in the kernel, in time
/// order.
class Stream final : public events::EventStream {
 public:
  /// `only_started`: programs with environment() and what they start; else every program that the
  /// tracer (ring or ebpf) hears, those that run already included. Errors: those of
  /// capture::Listener::start().
  [[nodiscard]] static Result<std::unique_ptr<Stream>> start(capture::Tracer tracer,
                                                             bool only_started);

  /// Variables to set for a program that is to be heard.
  [[nodiscard]] std::map<std::string, std::string> environment() const {
    return listener_->environment();
  }

  /// The events since the last call, except those of the last 20 ms: an event of one program may
  /// become visible that much later than a younger one of another program, and the events are
  /// handed out in the order of their times. Replaces the batch; false if there are none now.
  bool read(events::Batch& batch) override;

  [[nodiscard]] Position position() const override { return {}; }
  [[nodiscard]] std::map<std::string, std::uint64_t> counts() const override { return {}; }
  /// Events that were handed out, and programs that have ended, since the beginning.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t ended_programs() const { return ended_programs_; }
  /// Events that a process has lost since the beginning, and those of it that made no sense.
  [[nodiscard]] std::uint64_t lost(events::ProcessIndex process) const {
    const auto known = lost_.find(process);
    return known != lost_.end() ? known->second : 0;
  }
  /// A process that gets the number of one that has ended is another one here.
  [[nodiscard]] bool has_ended(events::ProcessIndex process) const {
    return threads_.ended(process).has_value();
  }

 private:
  explicit Stream(std::unique_ptr<capture::Listener> listener);
  void keep(pid_t process, std::size_t gid_size, const capture::Event& event);

  std::unique_ptr<capture::Listener> listener_;
  events::HostIndex host_;
  /// Not yet handed out. The payload of an event is in `payloads_`, at the position Event::payload.
  std::vector<events::Event> pending_;
  std::vector<events::Payload> payloads_;
  std::uint64_t total_ = 0;
  std::uint64_t ended_programs_ = 0;
  struct Running {
    /// What tells it apart from others of that number.
    std::uint64_t heard = 0;
    Instant last{};
  };
  /// The processes that run and were heard, by their number.
  std::unordered_map<pid_t, Running> running_;
  std::uint64_t heard_ = 0;
  std::map<events::ProcessIndex, std::uint64_t> lost_;
};

}  // namespace takt::live
