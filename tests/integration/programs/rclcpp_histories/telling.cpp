#include "telling.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <sstream>
#include <vector>

namespace histories {
namespace {

struct Sent {
  std::string topic;
  std::int64_t before;
  std::int64_t after;
};

struct Handled {
  std::string node;
  History received;
  std::int64_t time;
};

std::mutex mutex;
std::vector<Sent> all_sent;
std::vector<Handled> all_handled;
std::int64_t last = 0;

}  // namespace

std::int64_t monotonic() {
  // On Linux this clock is CLOCK_MONOTONIC.
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Packet packet_of(const History& history) {
  std::ostringstream text;
  for (const auto& [way, stamp] : history) {
    text << way << ' ' << stamp << '\n';
  }
  const std::string written = text.str();
  Packet packet;
  std::transform(written.begin(), written.end(), std::back_inserter(packet.payload),
                 [](char letter) { return static_cast<std::uint8_t>(letter); });
  return packet;
}

History history_of(const Packet& packet) {
  std::istringstream text(std::string(packet.payload.begin(), packet.payload.end()));
  History history;
  std::string way;
  for (std::int64_t stamp = 0; text >> way >> stamp;) {
    history[way] = stamp == by_the_stamp ? packet.stamp : stamp;
  }
  return history;
}

History passed_on(const History& received, const std::string& topic) {
  History made;
  for (const auto& [way, stamp] : received) {
    made[way + '>' + topic] = stamp;
  }
  return made;
}

void tell_sent(const std::string& topic, std::int64_t before, std::int64_t after) {
  const std::scoped_lock lock(mutex);
  all_sent.push_back({topic, before, after});
  last = monotonic();
}

void tell_handled(const std::string& node, const History& received, std::int64_t time) {
  const std::scoped_lock lock(mutex);
  all_handled.push_back({node, received, time});
  last = monotonic();
}

std::int64_t last_told() {
  const std::scoped_lock lock(mutex);
  return last;
}

void print_told() {
  for (const Sent& sent : all_sent) {
    std::printf("sent %s %lld %lld\n", sent.topic.c_str(), static_cast<long long>(sent.before),
                static_cast<long long>(sent.after));
  }
  for (const Handled& handled : all_handled) {
    for (const auto& [way, stamp] : handled.received) {
      std::printf("handled %s %s %lld %lld\n", handled.node.c_str(), way.c_str(),
                  static_cast<long long>(stamp), static_cast<long long>(handled.time));
    }
  }
}

}  // namespace histories
