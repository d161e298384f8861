#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>

#include "../ctf/trace.hpp"
#include "../ctf/tracepoints.hpp"
#include "../descriptor.hpp"
#include "takt/capture/recording.hpp"
#include "takt/capture/ring/reader.hpp"

namespace takt::capture::ring {

/// The trace of one process: what comes out of its ring, a stream per thread. The events of a
/// thread are in order in the ring, those of different threads need not be.
class ProcessTrace {
 public:
  /// Makes the trace in `directory`. `events`: mask of those wanted. Error: it cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<ProcessTrace>> create(
      pid_t process, std::unique_ptr<Reader> reader, const std::filesystem::path& directory,
      std::uint64_t events);

  /// Moves what the ring holds to the trace.
  void drain();
  /// Writes what is buffered, and what each thread has lost. Error: it cannot be written.
  [[nodiscard]] Result<void> flush();
  /// The process has ended: also reads what stands behind events that it did not complete.
  void drain_remains();

  [[nodiscard]] bool has_ended() const;
  void disable() { reader_->disable(); }
  [[nodiscard]] bool empty() const { return reader_->empty(); }
  [[nodiscard]] Losses losses() const;

 private:
  struct Thread {
    std::unique_ptr<ctf::Stream> stream;
    ctf::Contexts contexts;
  };

  ProcessTrace(pid_t process, std::unique_ptr<Reader> reader, std::unique_ptr<ctf::Trace> trace);

  /// The thread's stream; null if there are too many.
  Thread* thread(std::uint32_t id, std::size_t entry);

  pid_t process_;
  Descriptor life_;  // readable when the process has ended
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<ctf::Trace> trace_;
  std::map<std::uint32_t, Thread> threads_;
  std::uint64_t without_stream_ = 0;
};

}  // namespace takt::capture::ring
