#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "takt_msgs/msg/packet.hpp"

namespace histories {

using takt_msgs::msg::Packet;

/// CLOCK_MONOTONIC, the clock of traces, in nanoseconds.
std::int64_t monotonic();

/// What a message was made of: for each way to it, the topics that its content passed from a source
/// on, the time at which that source was about to publish.
using History = std::map<std::string, std::int64_t>;

/// In place of a time: that of the packet's own stamp.
constexpr std::int64_t by_the_stamp = 0;

Packet packet_of(const History& history);
History history_of(const Packet& packet);

/// The history of a message on `topic` that passes on what was received.
History passed_on(const History& received, const std::string& topic);

/// Remembers that a source published between two moments.
void tell_sent(const std::string& topic, std::int64_t before, std::int64_t after);
/// Remembers that a node's callback handled a message at `time`.
void tell_handled(const std::string& node, const History& received, std::int64_t time);

/// When something was told last; 0 if nothing was.
std::int64_t last_told();
/// Prints all that was told, a line each.
void print_told();

}  // namespace histories
