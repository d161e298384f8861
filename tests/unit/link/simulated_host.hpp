#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulated_link.hpp"
#include "takt/link/flow_control.hpp"

namespace takt::link {

constexpr Instant at(std::int64_t nanoseconds) { return Instant{Duration{nanoseconds}}; }

inline Item must(std::optional<Item> item) {
  EXPECT_TRUE(item);
  return *item;
}

/// Flow control on a simulated link, and the loop that a real one has around it.
class SimulatedHost {
 public:
  explicit SimulatedHost(Description description, Duration per_chunk = Duration{0},
                         Duration per_byte = Duration{1})
      : link(per_chunk, per_byte) {
    const std::array<Transport*, 1> peers{&link};
    auto created = FlowControl::create(std::move(description), peers, Instant{});
    EXPECT_TRUE(created) << created.error().message;
    flow = std::move(*created);
  }

  /// Pushes a message of that size at that time; each of its bytes is its serial number.
  bool push(ChannelIndex channel, std::size_t bytes, std::int64_t time) {
    run(at(time), false);
    const std::vector<std::byte> message(bytes, static_cast<std::byte>(++serial_));
    return flow->push(channel, message, at(time));
  }

  /// Lets time pass until then. `to_the_end`: serves that instant, too, as nothing more follows in
  /// it.
  void run(Instant until, bool to_the_end = true) {
    while (now_ < until) {
      const auto due = flow->step(now_);
      Instant next = until;
      if (due) next = std::min(next, *due);
      if (const auto end = link.end()) next = std::min(next, *end);
      now_ = std::max(now_, next);
    }
    if (to_the_end) flow->step(now_);
  }
  void run(std::int64_t until) { run(at(until)); }

  /// Lets time pass in which nobody calls step().
  void sleep(std::int64_t until) { now_ = at(until); }

  /// Which stream had the link, one entry for each chunk.
  [[nodiscard]] std::vector<std::uint32_t> streams() const {
    std::vector<std::uint32_t> streams;
    for (const auto& carried : link.carried) streams.push_back(carried.chunk.stream);
    return streams;
  }

  SimulatedLink link;
  std::unique_ptr<FlowControl> flow;

 private:
  Instant now_{};
  int serial_ = 0;
};

/// A task that sends what is pushed into a channel of its own.
inline ChannelIndex add_sender(Description& description, std::int64_t priority,
                               std::uint32_t stream, std::size_t bytes = 1000,
                               std::size_t slots = 16) {
  const ChannelIndex channel = description.add(ChannelDescription{.slots = slots, .bytes = bytes});
  description.add({.name = "sender " + std::to_string(stream),
                   .priority = priority,
                   .inputs = {OnData{channel}},
                   .samples = {},
                   .operation = Send{.stream = stream, .peer = {}},
                   .depth = slots});
  return channel;
}

}  // namespace takt::link
