#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace takt {

/// Limits for work on hostile input.
struct Allowance {
  std::uint64_t memory = std::uint64_t{1} << 30;  // additional bytes; no limit with sanitizers
  std::size_t output = std::size_t{64} << 20;     // bytes that the work may hand over
  std::chrono::milliseconds time = std::chrono::hours(24);
};

/// Takes the bytes that work hands over; throws nothing.
using Output = std::function<void(std::span<const std::byte>)>;

/// Does `work` in a child process. Hostile input may make it abort, exhaust memory or wait without
/// end in the kernel; this process is not affected. Returns the bytes that the work handed over;
/// none if it failed or did not end within its allowance. `wait` is called at least some twenty
/// times a second. It may throw, which ends the work.
[[nodiscard]] std::optional<std::string> isolated(const std::function<void(const Output&)>& work,
                                                  const Allowance& allowance,
                                                  const std::function<void()>& wait = {});

}  // namespace takt
