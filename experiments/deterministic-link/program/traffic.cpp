#include "traffic.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "takt/transport/link_thread.hpp"

namespace takt::deterministic_link {

namespace {

/// How soon somebody who found no room tries again.
constexpr Duration again = std::chrono::milliseconds(5);
constexpr std::size_t page = 4096;

void sleep_until(Instant instant) {
  const auto since = instant.time_since_epoch();
  std::this_thread::sleep_until(std::chrono::steady_clock::time_point(since));
}

}  // namespace

void mark(std::span<std::byte> message, const Stamp& stamp) {
  for (std::size_t at = page; at + sizeof stamp.number <= message.size(); at += page) {
    std::memcpy(message.data() + at, &stamp.number, sizeof stamp.number);
  }
  std::memcpy(message.data(), &stamp, sizeof stamp);
}

std::vector<std::vector<std::byte>> room_for(const Traffic& traffic) {
  std::vector<std::vector<std::byte>> messages;
  for (const Stream& stream : traffic.streams) messages.emplace_back(message_bytes(stream));
  return messages;
}

std::optional<Stamp> stamp_of(std::span<const std::byte> message) {
  Stamp stamp;
  if (message.size() < sizeof stamp) return std::nullopt;
  std::memcpy(&stamp, message.data(), sizeof stamp);
  for (std::size_t at = page; at + sizeof stamp.number <= message.size(); at += page) {
    std::uint32_t number = 0;
    std::memcpy(&number, message.data() + at, sizeof number);
    if (number != stamp.number) return std::nullopt;
  }
  return stamp;
}

int own_priority() {
  sched_param parameters{};
  sched_getparam(0, &parameters);
  return parameters.sched_priority;
}

void send_stream(const Traffic& traffic, std::uint32_t stream, const SendOne& send,
                 const std::function<bool()>& finished) {
  const Stream& sent = traffic.streams[stream];
  Instant due = transport::now();
  for (std::uint32_t number = 0; sent.count == 0 ? !finished() : number < sent.count; ++number) {
    sleep_until(due);
    due += sent.interval;
    const Stamp stamp{
        .sent = transport::now().time_since_epoch().count(), .stream = stream, .number = number};
    while (!send(stamp) && !(sent.count == 0 && finished())) {
      std::this_thread::sleep_for(again);
    }
  }
}

void send_all(const Traffic& traffic, const SendOne& send) {
  std::atomic<std::size_t> counted = 0;
  for (const Stream& stream : traffic.streams) counted += stream.count > 0 ? 1 : 0;
  std::vector<std::thread> threads;
  for (std::uint32_t stream = 0; stream < traffic.streams.size(); ++stream) {
    threads.emplace_back([&, stream] {
      // Who copies long messages for as long as it lasts does not delay those who send a few.
      if (traffic.streams[stream].count > 0 && sched_getscheduler(0) == SCHED_FIFO) {
        const sched_param before{.sched_priority = own_priority() + 1};
        sched_setscheduler(0, SCHED_FIFO, &before);
      }
      send_stream(traffic, stream, send, [&] { return counted == 0; });
      if (traffic.streams[stream].count > 0) --counted;
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void Arrivals::add(const Stamp& stamp, std::size_t bytes, Instant now) {
  const std::scoped_lock lock(mutex_);
  lines_.push_back({stamp, bytes, now});
}

void Arrivals::print() {
  const std::scoped_lock lock(mutex_);
  for (const Line& line : lines_) {
    fmt::print("{} {} {} {} {}\n", line.stamp.stream, line.stamp.number, line.bytes,
               line.stamp.sent, line.arrived.time_since_epoch().count());
  }
}

void wait_for_end() {
  char ignored = 0;
  while (read(STDIN_FILENO, &ignored, 1) > 0) {
  }
}

}  // namespace takt::deterministic_link
