#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>

#include "../life.hpp"
#include "../process_trace.hpp"
#include "takt/capture/recording.hpp"
#include "takt/capture/ring/reader.hpp"

namespace takt::capture::ring {

/// One process that is recorded: its ring, and the trace that the ring's events go to.
class Source {
 public:
  /// Makes the trace `directory`. `events`: mask of those wanted. Error: it cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<Source>> create(
      pid_t process, std::unique_ptr<Reader> reader, ctf::Storage& storage,
      const std::filesystem::path& directory, std::uint64_t events);

  /// Moves what the ring holds to the trace, at most one ring's worth: a process that writes
  /// without end, or one that goes on in the memory of one that has ended, does not stop the
  /// others.
  void drain();
  /// At the end of the process or of the recording: also reads the events behind those that were
  /// not completed.
  void drain_remains();
  /// Writes what is buffered, and what each thread has lost.
  void flush();

  [[nodiscard]] bool has_ended() const { return life_.has_ended(); }
  void disable() { reader_->disable(); }
  [[nodiscard]] bool empty() const { return reader_->empty(); }
  [[nodiscard]] Losses losses() const;

 private:
  Source(pid_t process, std::unique_ptr<Reader> reader, std::unique_ptr<ProcessTrace> trace,
         std::uint64_t events);

  void drain_objects();
  /// Moves one event; false if there was none.
  bool pass_on();
  [[nodiscard]] std::uint64_t malformed() const { return reader_->malformed() + without_stream_; }

  Life life_;
  std::unique_ptr<Reader> reader_;
  std::unique_ptr<ProcessTrace> trace_;
  std::uint64_t events_;
  std::uint64_t start_;  // CLOCK_MONOTONIC, nanoseconds
  std::uint64_t without_stream_ = 0;
};

}  // namespace takt::capture::ring
