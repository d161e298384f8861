#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace takt {

/// What work on hostile input may use.
struct Allowance {
  std::uint64_t memory = std::uint64_t{1} << 30;  // bytes to take in addition; not with sanitizers
  std::size_t output = std::size_t{64} << 20;     // bytes that it may hand over
  std::chrono::milliseconds time = std::chrono::hours(24);
};

/// Takes the bytes that work hands over; throws nothing.
using Output = std::function<void(std::span<const std::byte>)>;

/// Does work in a process of its own, so that what hostile input makes of it, an abort, all memory,
/// or a wait without end in the kernel, is not done to this process. Returns the bytes that it
/// handed over; none if it did not end by itself within its allowance. `wait` is called some twenty
/// times a second and may throw, which ends the work.
[[nodiscard]] std::optional<std::string> isolated(const std::function<void(const Output&)>& work,
                                                  const Allowance& allowance,
                                                  const std::function<void()>& wait = {});

}  // namespace takt
