#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>

#include "../process.hpp"
#include "record.h"
#include "takt/base/error.hpp"
#include "takt/ctf/trace.hpp"

namespace takt::capture::ebpf {

/// The scheduler's events as a CTF trace with LTTng's names and fields for them, a stream per
/// processor.
class KernelTrace {
 public:
  /// Makes the trace `kernel`. Error: it cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<KernelTrace>> create(ctf::Storage& storage);

  void append(const takt_sched& event);
  /// A traced thread did something at a time: says how it is scheduled, if it is new.
  void note(int thread, std::uint64_t time);
  /// Says which threads that it knows are scheduled otherwise by now. Costs two files for each.
  void look_at_threads(std::uint64_t time);
  /// Says how many events have been lost so far, on whatever processor.
  void set_discarded(std::uint64_t count);
  void flush();
  /// Events that the storage did not take.
  [[nodiscard]] std::uint64_t unwritten() const;

 private:
  explicit KernelTrace(std::unique_ptr<ctf::Trace> trace) : trace_(std::move(trace)) {}

  void tell(int thread, std::uint64_t time, const Scheduling& scheduling);
  ctf::Stream& stream_of(unsigned processor);

  std::unique_ptr<ctf::Trace> trace_;
  std::map<unsigned, std::unique_ptr<ctf::Stream>> processors_;
  std::unique_ptr<ctf::Stream> threads_;  // how they are scheduled
  std::unordered_map<int, Scheduling> scheduling_;
};

}  // namespace takt::capture::ebpf
