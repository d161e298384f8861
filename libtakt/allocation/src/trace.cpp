#include "takt/allocation/trace.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>

namespace takt::allocation {

namespace {

constexpr Bytes smallest = 1024;
constexpr Bytes biggest = Bytes{16} << 20;

/// Of one camera of 1920 × 1080.
constexpr std::array<Bytes, 6> image_bytes{
    Bytes{1920} * 1080 * 2,      // raw, two bytes a point
    Bytes{1920} * 1080 * 3,      // RGB
    Bytes{960} * 540 * 3,        // half as wide and as high
    Bytes{960} * 540 * 4,        // depth, a number a point
    Bytes{960} * 540,            // mask
    Bytes{2'000} * (32 + 7 * 4)  // features, each with a descriptor
};

/// From 0 to before 1. Distributions of the standard library differ between implementations.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

std::size_t below(std::mt19937_64& random, std::size_t count) {
  return static_cast<std::size_t>(uniform(random) * static_cast<double>(count));
}

Bytes draw(Sizes sizes, std::mt19937_64& random) {
  switch (sizes) {
    case Sizes::uniform:
      return smallest + below(random, biggest - smallest + 1);
    case Sizes::log_uniform:
      return static_cast<Bytes>(smallest * std::pow(double{biggest} / smallest, uniform(random)));
    case Sizes::two:
      return below(random, 2) == 0 ? smallest : biggest;
    case Sizes::images:
      return image_bytes[below(random, image_bytes.size())];
  }
  assert(false);
  return 0;
}

double largest_of_free(const Allocator& allocator) {
  Bytes total = 0;
  Bytes largest_block = 0;
  for (const Block& block : allocator.free_blocks()) {
    total += block.bytes;
    largest_block = std::max(largest_block, block.bytes);
  }
  return total == 0 ? 1 : static_cast<double>(largest_block) / static_cast<double>(total);
}

}  // namespace

std::vector<Step> make_trace(Sizes sizes, std::size_t steps, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Step> trace(steps);
  for (Step& step : trace) {
    step.slot = below(random, trace_slots);
    step.bytes = draw(sizes, random);
  }
  return trace;
}

std::size_t slots_of(const std::vector<Step>& trace) {
  std::size_t slots = 0;
  for (const Step& step : trace) slots = std::max(slots, step.slot + 1);
  return slots;
}

std::optional<Usage> use(Allocator& allocator, const std::vector<Step>& trace,
                         const Growth& growth) {
  std::vector<std::optional<Block>> slots(slots_of(trace));
  Usage usage;
  Bytes in_use = 0;
  std::size_t counted = 0;
  for (std::size_t index = 0; index < trace.size(); ++index) {
    const auto [slot, bytes] = trace[index];
    std::optional<Block>& held = slots[slot];
    if (held) {
      in_use -= held->bytes;
      const bool was_in_use = allocator.release(held->offset);
      assert(was_in_use);
      held.reset();
    }
    if (bytes > 0) {
      const auto offset = allocate_or_grow(allocator, bytes, growth);
      if (!offset) return std::nullopt;
      held = Block{.offset = *offset, .bytes = bytes};
      in_use += bytes;
    }
    usage.range = growth.range_of(allocator.range()).value_or(growth.limit);
    usage.most_own_bytes = std::max(usage.most_own_bytes, allocator.own_bytes());
    const double share = static_cast<double>(in_use) / static_cast<double>(usage.range);
    const std::size_t moment = (index + 1) * moments / trace.size();
    if (moment > index * moments / trace.size()) {
      usage.at_moments[moment - 1] = share;
      usage.largest_of_free[moment - 1] = largest_of_free(allocator);
    }
    if (index < trace.size() / 4) continue;
    ++counted;
    usage.in_use_of_range += share;
  }
  usage.in_use_of_range /= static_cast<double>(std::max(counted, std::size_t{1}));
  return usage;
}

}  // namespace takt::allocation
