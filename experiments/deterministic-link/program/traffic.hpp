#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "takt/time/time.hpp"

namespace takt::deterministic_link {

/// One kind of messages: `count` of them, one every `interval`, or as many as possible until all
/// others are sent where `count` is 0.
struct Stream {
  std::int64_t priority = 0;
  std::size_t bytes = 0;
  std::uint32_t count = 0;
  Duration interval{};
};

/// What stands at the beginning of every message. Both ends have one clock, unless they are on two
/// machines.
struct Stamp {
  std::int64_t sent = 0;
  std::uint32_t stream = 0;
  std::uint32_t number = 0;
};

struct Traffic {
  std::string method;
  std::string local;
  std::string remote;
  std::uint32_t chunk_bytes = 0;
  std::vector<Stream> streams;
  /// In turn, `burst` messages of each stream, instead of by intervals.
  std::uint32_t burst = 0;
};

inline std::size_t message_bytes(const Stream& stream) {
  return std::max(stream.bytes, sizeof(Stamp));
}

/// Memory for one message of each stream.
std::vector<std::vector<std::byte>> room_for(const Traffic& traffic);

constexpr std::uint16_t first_port = 46700;
constexpr std::size_t udp_payload = 1400;

/// Writes the stamp, and its number into every page.
void mark(std::span<std::byte> message, const Stamp& stamp);
/// None: the message was not marked so, or parts of it are of another one.
std::optional<Stamp> stamp_of(std::span<const std::byte> message);

/// Sends a whole message that is marked so, or says that it has to wait.
using SendOne = std::function<bool(const Stamp& stamp)>;

/// Sends all of a stream from the calling thread. `finished` ends streams without a count.
void send_stream(const Traffic& traffic, std::uint32_t stream, const SendOne& send,
                 const std::function<bool()>& finished);

/// Runs send_stream() for all streams in threads, and waits for them.
void send_all(const Traffic& traffic, const SendOne& send);

/// Messages that arrived, which are printed in the end, one a line: stream, number, bytes, when it
/// was sent and when it was whole.
class Arrivals {
 public:
  Arrivals() { lines_.reserve(1 << 18); }
  void add(const Stamp& stamp, std::size_t bytes, Instant now);
  void print();

 private:
  struct Line {
    Stamp stamp;
    std::size_t bytes = 0;
    Instant arrived{};
  };
  std::mutex mutex_;
  std::vector<Line> lines_;
};

/// The calling thread's priority under SCHED_FIFO.
int own_priority();

/// Waits for the end of standard input.
void wait_for_end();

/// Until the end of standard input: when which processor (`stream`) did not run whom it should.
void watch_machine(Arrivals& stalls);

/// Each returns what is wrong, or nothing.
std::string send_by_takt(const Traffic& traffic);
std::string receive_by_takt(const Traffic& traffic, Arrivals& arrivals);
/// Of one stream.
std::string send_directly(const Traffic& traffic);
std::string receive_directly(const Traffic& traffic, Arrivals& arrivals);
std::string send_plainly(const Traffic& traffic);
std::string receive_plainly(const Traffic& traffic, Arrivals& arrivals);

}  // namespace takt::deterministic_link
