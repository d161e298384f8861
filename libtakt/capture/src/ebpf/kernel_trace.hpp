#pragma once

#include <filesystem>
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
  /// Error: the directory cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<KernelTrace>> create(
      const std::filesystem::path& directory);

  void append(const takt_sched& event);
  /// Error: the trace cannot be written.
  [[nodiscard]] Result<void> flush();

 private:
  explicit KernelTrace(std::unique_ptr<ctf::Trace> trace) : trace_(std::move(trace)) {}

  std::unique_ptr<ctf::Trace> trace_;
  std::map<unsigned, std::unique_ptr<ctf::Stream>> processors_;
};

}  // namespace takt::capture::ebpf
