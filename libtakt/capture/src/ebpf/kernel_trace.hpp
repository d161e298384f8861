#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "../ctf/trace.hpp"
#include "record.h"
#include "takt/base/error.hpp"

namespace takt::capture::ebpf {

/// The scheduler's events as a CTF trace with LTTng's names and fields for them, a stream per
/// processor.
class KernelTrace {
 public:
  /// Makes the trace `kernel`. Error: it cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<KernelTrace>> create(ctf::Storage& storage);

  void append(const takt_sched& event);
  /// Says how many events have been lost so far, on whatever processor.
  void set_discarded(std::uint64_t count);
  void flush();
  /// Events that the storage did not take.
  [[nodiscard]] std::uint64_t unwritten() const;

 private:
  explicit KernelTrace(std::unique_ptr<ctf::Trace> trace) : trace_(std::move(trace)) {}

  ctf::Stream& stream_of(unsigned processor);

  std::unique_ptr<ctf::Trace> trace_;
  std::map<unsigned, std::unique_ptr<ctf::Stream>> processors_;
};

}  // namespace takt::capture::ebpf
