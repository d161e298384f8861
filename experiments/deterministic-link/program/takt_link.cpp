#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

#include "takt/transport/link_thread.hpp"
#include "traffic.hpp"

namespace takt::deterministic_link {

namespace {

/// The experiment runs in network namespaces of its own, where nothing has to be kept secret.
constexpr transport::Key key{};
constexpr std::size_t long_message = 4 << 20;

std::array<transport::Peer, 1> peer(const Traffic& traffic) {
  if (traffic.method == "shared") {
    const transport::SharedMemoryOptions names{traffic.local, traffic.remote};
    return {transport::Peer{.address = names, .settings = {}}};
  }
  if (traffic.method == "rdma") {
    return {
        transport::Peer{.address = transport::VerbsOptions{.local = {traffic.local, first_port},
                                                           .remote = {traffic.remote, first_port},
                                                           .beyond_loopback = true},
                        .settings = {}}};
  }
  return {transport::Peer{.address = transport::UdpOptions{.local = {traffic.local, first_port},
                                                           .remote = {traffic.remote, first_port},
                                                           .beyond_loopback = true},
                          .settings = {}}};
}

/// Nobody who copies a message keeps the link waiting. Without the right to it, as it comes.
void prefer(transport::LinkThread& thread) {
  if (sched_getscheduler(0) == SCHED_FIFO) (void)thread.use_fifo(own_priority() + 2);
}

link::ChannelDescription channel_of(const Stream& stream) {
  return {.slots = stream.bytes > long_message ? 3U : 512U / (1 + stream.bytes / 8192) + 4,
          .bytes = message_bytes(stream)};
}

}  // namespace

std::string send_by_takt(const Traffic& traffic) {
  link::Description description{.chunk_bytes = traffic.chunk_bytes};
  for (std::uint32_t i = 0; i < traffic.streams.size(); ++i) {
    const link::ChannelDescription channel = channel_of(traffic.streams[i]);
    const link::ChannelIndex index = description.add(channel);
    description.add({.name = "stream",
                     .priority = traffic.streams[i].priority,
                     .inputs = {link::OnData{index}},
                     .operation = link::Send{.stream = i},
                     .depth = channel.slots});
  }
  const auto peers = peer(traffic);
  const auto started = transport::LinkThread::start(description, key, peers);
  if (!started) return started.error().message;
  transport::LinkThread& thread = **started;
  prefer(thread);
  while (!thread.connected({})) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // In place, as who has a registered buffer writes.
  const auto send = [&](const Stamp& stamp) {
    const auto loan = thread.loan(link::ChannelIndex(stamp.stream));
    if (!loan) return false;
    mark(loan->memory, stamp);
    thread.push(*loan, loan->memory.size());
    return true;
  };
  if (traffic.burst == 0) {
    send_all(traffic, send);
  } else {
    // Whoever is at its turn pushes its messages, before the next one does.
    for (std::uint32_t number = 0; number < traffic.streams[0].count; number += traffic.burst) {
      for (std::uint32_t stream = 0; stream < traffic.streams.size(); ++stream) {
        for (std::uint32_t i = 0; i < traffic.burst; ++i) {
          const Stamp stamp{.sent = transport::now().time_since_epoch().count(),
                            .stream = stream,
                            .number = number + i};
          while (!send(stamp)) std::this_thread::yield();
        }
      }
    }
  }
  // Until all that was pushed has an outcome.
  for (bool waiting = true; waiting;) {
    waiting = false;
    thread.with([&](link::FlowControl& flow) {
      for (std::size_t i = 0; i < traffic.streams.size(); ++i) {
        const link::TaskCounts& counts = flow.counts(link::TaskIndex(i));
        const bool counted = traffic.streams[i].count > 0;
        waiting = waiting || (counted && counts.activations > counts.delivered + counts.rejected +
                                                                  counts.lost + counts.dropped);
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  thread.with([&](link::FlowControl& flow) {
    for (std::size_t i = 0; i < traffic.streams.size(); ++i) {
      const link::TaskCounts& counts = flow.counts(link::TaskIndex(i));
      fmt::print("{} {} {} {}\n", counts.delivered, counts.rejected, counts.lost, counts.dropped);
    }
  });
  return {};
}

std::string receive_by_takt(const Traffic& traffic, Arrivals& arrivals) {
  link::Description description{.chunk_bytes = traffic.chunk_bytes};
  for (std::uint32_t i = 0; i < traffic.streams.size(); ++i) {
    const link::ChannelIndex index = description.add(channel_of(traffic.streams[i]));
    description.receives.push_back({.peer = {}, .stream = i, .channel = index});
    description.add({.name = "application",
                     .inputs = {link::OnData{index}},
                     .operation = link::Call{[&](const link::Activation& activation) {
                       const auto stamp = stamp_of(activation.message);
                       if (stamp)
                         arrivals.add(*stamp, activation.message.size(), activation.written);
                       return stamp.has_value();
                     }}});
  }
  const auto peers = peer(traffic);
  const auto started = transport::LinkThread::start(description, key, peers);
  if (!started) return started.error().message;
  prefer(**started);
  wait_for_end();
  return {};
}

}  // namespace takt::deterministic_link
