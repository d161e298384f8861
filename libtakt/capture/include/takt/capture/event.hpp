#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace takt::capture {

/// One event, valid until the next call to the object that returned it.
struct Event {
  std::uint64_t time = 0;  // CLOCK_MONOTONIC, nanoseconds
  std::uint32_t thread = 0;
  std::array<char, 16> thread_name{};  // NUL-terminated
  std::uint8_t number = 0;             // position in tracepoints::of_programs
  std::span<const std::byte> payload;  // checked: has the fields of its tracepoint and nothing else
};

}  // namespace takt::capture
