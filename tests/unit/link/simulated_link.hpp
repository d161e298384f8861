#pragma once

#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "takt/link/transport.hpp"

namespace takt::link {

/// A link in simulated time: a chunk takes a constant and a time for each byte, then its outcome is
/// there. Delivers to a sink, if there is one, and keeps a record of what it carried.
class SimulatedLink final : public Transport {
 public:
  struct Carried {
    Instant begin{};
    Instant end{};
    Chunk chunk{};
    const std::byte* memory = nullptr;
    Outcome outcome = Outcome::delivered;
  };

  SimulatedLink(Duration per_chunk, Duration per_byte)
      : per_chunk_(per_chunk), per_byte_(per_byte) {}

  void send(const Chunk& chunk, std::span<const std::byte> bytes, Instant now) override {
    bytes_ = bytes;
    carried.push_back({.begin = now,
                       .end = now + per_chunk_ + per_byte_ * chunk.bytes,
                       .chunk = chunk,
                       .memory = bytes.data()});
    busy_ = true;
  }

  std::optional<Outcome> poll(Instant now) override {
    if (!busy_ || now < carried.back().end) return std::nullopt;
    busy_ = false;
    Carried& last = carried.back();
    if (outcome) last.outcome = outcome(carried.size() - 1);
    if (last.outcome == Outcome::delivered && sink != nullptr) last.outcome = deliver(last, now);
    return last.outcome;
  }

  [[nodiscard]] bool reachable() const override { return up; }

  /// When the chunk under way ends.
  [[nodiscard]] std::optional<Instant> end() const {
    if (!busy_) return std::nullopt;
    return carried.back().end;
  }

  std::vector<Carried> carried;
  Sink* sink = nullptr;
  bool up = true;
  /// Gives the outcome of the n-th chunk; without it chunks are delivered.
  std::function<Outcome(std::size_t)> outcome;

 private:
  Outcome deliver(const Carried& last, Instant now) const {
    const Sink::Placement placement = sink->place(last.chunk);
    if (placement.kind == Sink::Placement::Kind::rejected) return Outcome::rejected;
    if (placement.kind == Sink::Placement::Kind::duplicate) return Outcome::delivered;
    if (!bytes_.empty()) std::memcpy(placement.memory.data(), bytes_.data(), bytes_.size());
    sink->arrived(last.chunk, now);
    return Outcome::delivered;
  }

  Duration per_chunk_;
  Duration per_byte_;
  std::span<const std::byte> bytes_;
  bool busy_ = false;
};

}  // namespace takt::link
