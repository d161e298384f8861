#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/events/event.hpp"
#include "takt/events/threads.hpp"

namespace takt::events {

/// Counts what is known to be missing from the events that a source delivered. Grows while reading.
struct StreamLosses {
  /// Events that the tracer could not record, by its own count.
  std::uint64_t discarded_events = 0;
  /// Packets that the tracer overwrote or never wrote.
  std::uint64_t discarded_packets = 0;
  /// Elements of lists beyond the longest that is kept.
  std::uint64_t cut_elements = 0;
  /// Bytes of the trace that could not be decoded, and one line for each reason.
  std::uint64_t unreadable_bytes = 0;
  std::vector<std::string> faults;
  /// Reasons beyond this many are left out.
  static constexpr std::size_t max_faults = 100;

  [[nodiscard]] bool any() const {
    return discarded_events != 0 || discarded_packets != 0 || cut_elements != 0 || !faults.empty();
  }
  StreamLosses& operator+=(const StreamLosses& other);
};

/// Identity of one trace that a source reads.
struct Input {
  std::string path;
  std::uint64_t bytes = 0;
  /// 64-bit hash of the metadata and of the stream files' names, sizes and bytes, in hexadecimal.
  /// Complete when the source has been read to the end.
  std::string fingerprint{};
  /// Whether the recording goes on or was cut short: `takt record` renames it when it ends well.
  bool is_partial = false;
};

/// A stream of events in time order. Reading is single-pass and takes bounded memory however long
/// the stream is.
///
/// Event::time is CLOCK_MONOTONIC of the first host; the times of other hosts are shifted by the
/// difference of the hosts' offsets to the epoch.
class EventStream {
 public:
  EventStream() = default;
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;
  virtual ~EventStream() = default;

  /// Replaces the batch by the next events (at least one). False at the end: the batch is empty.
  virtual bool read(Batch& batch) = 0;

  /// How far reading has come; total 0: not known.
  struct Position {
    std::uint64_t done = 0;
    std::uint64_t total = 0;
  };
  [[nodiscard]] virtual Position position() const = 0;

  [[nodiscard]] const Threads& threads() const { return threads_; }
  [[nodiscard]] const StreamLosses& losses() const { return losses_; }
  /// Adds what is known to be missing before anything is read.
  void add(const StreamLosses& losses) { losses_ += losses; }
  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }
  /// Events read so far by full name, those of unknown types included.
  [[nodiscard]] virtual std::map<std::string, std::uint64_t> counts() const = 0;
  /// Whether the processes of a host are known by their numbers alone: containers have processes
  /// with the same number (pid_ns tells them apart).
  [[nodiscard]] bool knows_numbers_alone() const { return knows_numbers_alone_; }
  /// How many processors the trace shows: the largest number of one that ran traced code, plus one,
  /// or the number that the recorder wrote.
  [[nodiscard]] std::uint32_t processors() const { return processors_; }
  /// How many packets, and how many single events, were recorded more than once: snapshots that
  /// overlap, or sessions with the same events. They are delivered once.
  struct Repeated {
    std::uint64_t packets = 0;
    std::uint64_t events = 0;
  };
  [[nodiscard]] const Repeated& repeated() const { return repeated_; }
  /// The time since the epoch less Event::time, as measured when the trace began.
  [[nodiscard]] Duration epoch_offset() const { return epoch_offset_; }

 protected:
  /// The time line less the clock of a trace of the host, given the time since the epoch less that
  /// clock. Traces of one host share its clock, however their offsets were measured: the first one
  /// counts for all of them, and that of the first host is the time line's.
  [[nodiscard]] Duration shift_of(HostIndex host, Duration offset);

  Threads threads_;
  StreamLosses losses_;
  Repeated repeated_;
  bool knows_numbers_alone_ = false;
  std::vector<Input> inputs_;
  Duration epoch_offset_{};
  std::uint32_t processors_ = 0;

 private:
  std::map<HostIndex, Duration> offsets_;
};

/// Which decoder reads a trace. Both deliver the same events.
enum class Decoder {
  automatic,   ///< our own, or libbabeltrace2 if our own does not understand the metadata
  own,         ///< fast; keeps to the readable part of damaged traces
  babeltrace,  ///< libbabeltrace2: all of CTF 1.8, stops at the first fault
};

struct OpenOptions {
  /// Largest size of an archive's contents, in bytes. A second limit is 256 times the archive's own
  /// size, but at least a gibibyte.
  std::uint64_t unpack_limit = std::uint64_t{64} << 30;
  Decoder decoder = Decoder::automatic;
  /// Whether events of types that Takt does not know are delivered, as EventType::foreign. Else
  /// they are counted by name and skipped. Our own decoder alone delivers them.
  bool foreign = false;
  /// Called now and then while an archive is unpacked; may throw, which ends the unpacking.
  std::function<void()> waiting{};
};

/// Opens the traces at `paths` as one source. A path is a directory with CTF traces anywhere below
/// it (LTTng's layout), or an archive of one (.tar, .tar.gz, .tar.xz, .tar.zst, .zip), which is
/// unpacked
/// to a temporary directory.
/// Errors: no such path, not a trace, unreadable metadata, an archive with anything but files and
/// directories inside or larger than the limit.
[[nodiscard]] Result<std::unique_ptr<EventStream>> open(
    std::span<const std::filesystem::path> paths, const OpenOptions& options = {});

}  // namespace takt::events
