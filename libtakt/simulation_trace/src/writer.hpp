#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "takt/base/error.hpp"
#include "takt/ctf/event_classes.hpp"
#include "takt/ctf/fields.hpp"
#include "takt/ctf/storage.hpp"
#include "takt/ctf/trace.hpp"
#include "takt/time/time.hpp"

namespace takt::simulation_trace {

/// What precedes the fields of a thread's events.
using ThreadContext = std::array<std::byte, sizeof(ctf::Contexts) + sizeof(std::uint64_t)>;

[[nodiscard]] ThreadContext thread_context(std::int32_t process, std::uint32_t thread,
                                           std::string_view name);

/// The trace of a simulated run. All threads share one stream, so that events of one instant keep
/// their order.
class Writer {
 public:
  /// Error: the directory cannot be written.
  [[nodiscard]] static Result<std::unique_ptr<Writer>> create(
      const std::filesystem::path& directory);

  /// Appends an event. Times count from the beginning of the simulation and never go back.
  template <typename Event>
  void add(Instant time, const ThreadContext& thread, const Event& event) {
    stream_->append(static_cast<std::uint64_t>(on_clock(time)),
                    static_cast<std::uint16_t>(Event::type), thread, fields_.encode(event));
  }

  /// The same time in nanoseconds of the trace's clock.
  [[nodiscard]] static std::int64_t on_clock(Instant time) {
    return (time.time_since_epoch() + before).count();
  }
  /// The same time in nanoseconds since the epoch.
  [[nodiscard]] std::int64_t since_epoch(Instant time) const { return on_clock(time) + offset_; }

  /// Writes what is buffered. Error: something could not be written.
  [[nodiscard]] Result<void> finish();

  static constexpr std::size_t gid_size = sizeof(tracepoints::Gid);

 private:
  explicit Writer(const std::filesystem::path& directory) : files_(directory), fields_(gid_size) {}

  /// What the clock shows when the simulation begins.
  static constexpr Duration before = std::chrono::seconds{10};

  ctf::Files files_;
  ctf::Fields fields_;
  std::int64_t offset_ = 0;
  std::unique_ptr<ctf::Trace> trace_;
  std::unique_ptr<ctf::Stream> stream_;
};

}  // namespace takt::simulation_trace
