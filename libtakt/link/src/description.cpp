#include "takt/link/description.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace takt::link {

namespace {

/// Says which channel, task or period of an input is wrong; empty: none.
struct InputFault {
  std::size_t channels;
  std::size_t tasks;

  std::string_view operator()(const OnData& input) const {
    return input.channel.value() < channels ? "" : "reads a channel that does not exist";
  }
  std::string_view operator()(const OnTimer& input) const {
    if (input.period <= Duration{0}) return "has a timer whose period is not above 0";
    return input.first >= Duration{0} ? "" : "has a timer that begins before the flow";
  }
  std::string_view operator()(const OnEnd& input) const { return known(input.task); }
  std::string_view operator()(const OnSuccess& input) const { return known(input.task); }
  std::string_view operator()(const OnTimeout& input) const {
    if (input.after <= Duration{0}) return "has a timeout that is not above 0";
    return known(input.task);
  }

  [[nodiscard]] std::string_view known(TaskIndex task) const {
    return task.value() < tasks ? "" : "follows a task that does not exist";
  }
};

bool carries_message(const Input& input) { return !std::holds_alternative<OnTimer>(input); }

}  // namespace

ChannelIndex Description::add(ChannelDescription channel) {
  channels.push_back(channel);
  return ChannelIndex(channels.size() - 1);
}

TaskIndex Description::add(TaskDescription task) {
  tasks.push_back(std::move(task));
  return TaskIndex(tasks.size() - 1);
}

Result<void> check(const Description& description, std::size_t peers) {
  if (description.chunk_bytes == 0) return error("chunk_bytes: must be above 0");
  for (std::size_t i = 0; i < description.channels.size(); ++i) {
    const auto& [slots, bytes] = description.channels[i];
    if (slots == 0 || slots > std::numeric_limits<std::uint32_t>::max()) {
      return error("channel {}: slots must be 1 to 2^32 - 1", i);
    }
    if (bytes == 0 || bytes > std::numeric_limits<std::uint32_t>::max()) {
      return error("channel {}: bytes must be 1 to 2^32 - 1", i);
    }
  }
  std::set<std::pair<PeerIndex, std::uint32_t>> sent;
  std::set<TaskIndex> timed;
  for (const TaskDescription& task : description.tasks) {
    const auto fault = [&](std::string_view what) {
      return error("task '{}' {}", task.name, what);
    };
    if (task.inputs.empty()) return fault("has no input that could activate it");
    if (task.depth == 0) return fault("has depth 0, so that no activation could wait");
    for (const Input& input : task.inputs) {
      const std::string_view wrong =
          std::visit(InputFault{description.channels.size(), description.tasks.size()}, input);
      if (!wrong.empty()) return fault(wrong);
      const auto* timeout = std::get_if<OnTimeout>(&input);
      if (timeout != nullptr && !timed.insert(timeout->task).second) {
        return fault("times a task out that another input times out already");
      }
    }
    const std::optional<ChannelIndex> samples = task.samples;
    if (samples && samples->value() >= description.channels.size()) {
      return fault("samples a channel that does not exist");
    }
    if (const auto* send = std::get_if<Send>(&task.operation)) {
      if (send->peer.value() >= peers) return fault("sends to a peer that does not exist");
      if (!sent.emplace(send->peer, send->stream).second) {
        return fault("sends a stream that another task sends already");
      }
      if (!samples && (task.combination == Combination::all
                           ? std::ranges::none_of(task.inputs, carries_message)
                           : !std::ranges::all_of(task.inputs, carries_message))) {
        return fault("can be activated without a message to send; let it sample a channel");
      }
    } else if (!std::get<Call>(task.operation).run) {
      return fault("calls nothing");
    }
  }
  std::set<std::pair<PeerIndex, std::uint32_t>> received;
  for (const ReceiveDescription& receive : description.receives) {
    if (receive.peer.value() >= peers || receive.channel.value() >= description.channels.size()) {
      return error("stream {} is received from a peer or in a channel that does not exist",
                   receive.stream);
    }
    if (!received.emplace(receive.peer, receive.stream).second) {
      return error("stream {} is received twice", receive.stream);
    }
  }
  return {};
}

}  // namespace takt::link
