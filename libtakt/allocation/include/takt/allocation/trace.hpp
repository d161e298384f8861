#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "takt/allocation/allocator.hpp"

namespace takt::allocation {

/// How large the blocks of a trace are.
enum class Sizes {
  uniform,      // 1 KiB to 16 MiB, as in the document's evaluation
  log_uniform,  // the same, each power of two as often
  two,          // 1 KiB or 16 MiB
  images,       // the stages of an image pipeline: raw, RGB, halves, masks, lists of features
};

struct NamedSizes {
  Sizes sizes;
  std::string_view name;
};
inline constexpr std::array all_sizes{
    NamedSizes{Sizes::uniform, "uniform"}, NamedSizes{Sizes::log_uniform, "log-uniform"},
    NamedSizes{Sizes::two, "two sizes"}, NamedSizes{Sizes::images, "images"}};

/// Each step frees what is in a slot, if anything is, and puts a block there. In the document's
/// evaluation (component-cps, section 2.2.5, after mimalloc's malloc-large) its size is random.
struct Step {
  std::size_t slot;
  Bytes bytes;  // 0: nothing is put there
};

inline constexpr std::size_t trace_slots = 32;

/// One more than the largest slot.
[[nodiscard]] std::size_t slots_of(const std::vector<Step>& trace);

/// The same for the same seed, on every machine.
[[nodiscard]] std::vector<Step> make_trace(Sizes sizes, std::size_t steps, std::uint64_t seed);

/// After every tenth of a trace.
inline constexpr std::size_t moments = 10;

/// What an allocator made of a trace.
struct Usage {
  /// The mean, over the last three quarters of the steps, of the bytes that were asked for and are
  /// not released, over those that the range has.
  double in_use_of_range = 0;
  /// The same at these shares of the steps.
  std::array<double, moments> at_moments = {};
  /// At these moments: the largest free block over all that is free. 1 where nothing is.
  std::array<double, moments> largest_of_free = {};
  Bytes range = 0;           // at the end
  Bytes most_own_bytes = 0;  // of the allocator itself
};

/// Runs a trace. None: the range would pass the limit.
[[nodiscard]] std::optional<Usage> use(Allocator& allocator, const std::vector<Step>& trace,
                                       const Growth& growth);

}  // namespace takt::allocation
