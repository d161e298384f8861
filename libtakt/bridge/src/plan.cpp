#include "takt/bridge/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "takt/bridge/wire.hpp"

namespace takt::bridge {

namespace {

/// Slots beside those of waiting messages: for the message on the link, for the newest one, which a
/// channel keeps, and for one that is being written.
constexpr std::size_t more_slots_out = 3;
/// Slots beside those of waiting messages: for the one that is being published, for the newest one,
/// for one that is arriving, and for one that has just arrived.
constexpr std::size_t more_slots_in = 4;
constexpr std::size_t state_slots = 1 + more_slots_out;

/// States go first: nothing is published without them.
constexpr std::int64_t state_priority = std::numeric_limits<std::int64_t>::max();

/// The port of a host for its connection with another one.
std::uint16_t port(const Configuration& configuration, std::size_t host, std::size_t other) {
  const std::size_t place = other < host ? other : other - 1;
  return static_cast<std::uint16_t>(configuration.hosts[host].port + place);
}

/// How a host is connected to another one. An address in the file may be beyond the loopback
/// interface, as its author asked for it. Hosts with the same address are on one machine.
transport::Peer connection(const Configuration& configuration, std::size_t host,
                           std::size_t other) {
  const transport::Address local{configuration.hosts[host].address,
                                 port(configuration, host, other)};
  const transport::Address remote{configuration.hosts[other].address,
                                  port(configuration, other, host)};
  if (local.host == remote.host) {
    const auto name = [](const transport::Address& address) {
      return fmt::format("{} {}", address.host, address.port);
    };
    return {.address = transport::SharedMemoryOptions{name(local), name(remote)}, .settings = {}};
  }
  if (configuration.link.protocol == Protocol::rdma) {
    return {.address =
                transport::VerbsOptions{.local = local, .remote = remote, .beyond_loopback = true},
            .settings = {}};
  }
  return {.address = transport::UdpOptions{.local = local,
                                           .remote = remote,
                                           .beyond_loopback = true,
                                           .priority = configuration.link.socket_priority},
          .settings = {}};
}

link::ChannelDescription out_channel(const Topic& topic) {
  return {.slots = topic.depth + more_slots_out, .bytes = topic.largest_message + header_bytes};
}

link::ChannelDescription in_channel(const Topic& topic) {
  return {.slots = topic.depth + more_slots_in, .bytes = topic.largest_message + header_bytes};
}

}  // namespace

Plan plan(const Configuration& configuration, std::size_t host) {
  Plan plan;
  const auto peer = [&](std::size_t other) {
    const auto known = std::ranges::find(plan.peers, other);
    const link::PeerIndex index(static_cast<std::size_t>(known - plan.peers.begin()));
    if (known != plan.peers.end()) return index;
    plan.peers.push_back(other);
    plan.connections.push_back(connection(configuration, host, other));
    return index;
  };
  for (std::size_t t = 0; t < configuration.topics.size(); ++t) {
    const Topic& topic = configuration.topics[t];
    const std::uint32_t stream = stream_of(topic.name);
    for (const std::size_t to : topic.to) {
      if (topic.from == host) plan.out.push_back({t, peer(to), stream});
      if (to == host) plan.in.push_back({t, peer(topic.from), stream});
    }
  }
  const auto urgency = [&](const Route& route) {
    return -configuration.topics[route.topic].priority;
  };
  std::ranges::stable_sort(plan.out, {}, urgency);
  std::ranges::stable_sort(plan.in, {}, urgency);
  return plan;
}

Flow describe(const Configuration& configuration, const Plan& plan, const Hooks& hooks) {
  Flow flow;
  link::Description& description = flow.description;
  description.chunk_bytes = configuration.link.chunk_bytes;
  const link::ChannelDescription state{.slots = state_slots, .bytes = most_state_bytes};
  for (std::size_t p = 0; p < plan.peers.size(); ++p) {
    const link::PeerIndex peer(p);
    flow.state_channels.push_back(description.add(state));
    description.add({.name = "state",
                     .priority = state_priority,
                     .inputs = {link::OnData{flow.state_channels.back()}},
                     .operation = link::Send{.stream = state_stream, .peer = peer, .waits = true},
                     .depth = 1});
    const link::ChannelIndex told = description.add(state);
    description.receives.push_back({.peer = peer, .stream = state_stream, .channel = told});
    description.add({.name = "peer's state",
                     .inputs = {link::OnData{told}},
                     .operation = link::Call{[hooks, peer](const link::Activation& activation) {
                       hooks.state_arrived(peer, activation.message);
                       return true;
                     }},
                     .depth = state_slots});
  }
  for (std::size_t i = 0; i < plan.out.size(); ++i) {
    const Route& route = plan.out[i];
    const Topic& topic = configuration.topics[route.topic];
    const link::ChannelIndex channel = description.add(out_channel(topic));
    link::TaskDescription sending{
        .name = topic.name,
        .priority = topic.priority,
        .inputs = {link::OnData{channel}},
        .operation = link::Send{.stream = route.stream,
                                .peer = route.peer,
                                .waits = true,
                                .begins =
                                    [hooks, i](std::span<const std::byte> message) {
                                      hooks.begun(i, message);
                                    }},
        .depth = topic.depth};
    if (topic.period > Duration{0}) {
      sending.inputs = {link::OnTimer{.period = topic.period, .first = Duration{0}}};
      sending.samples = channel;
    }
    const link::TaskIndex task = description.add(std::move(sending));
    description.add({.name = topic.name + " ended",
                     .inputs = {link::OnEnd{task}},
                     .operation = link::Call{[hooks, i](const link::Activation& activation) {
                       hooks.ended(i, activation);
                       return true;
                     }},
                     .depth = topic.depth});
    flow.out_channels.push_back(channel);
    flow.out_tasks.push_back(task);
  }
  for (std::size_t i = 0; i < plan.in.size(); ++i) {
    const Route& route = plan.in[i];
    const Topic& topic = configuration.topics[route.topic];
    const link::ChannelIndex channel = description.add(in_channel(topic));
    description.receives.push_back(
        {.peer = route.peer, .stream = route.stream, .channel = channel});
    description.add({.name = topic.name + " arrived",
                     .inputs = {link::OnData{channel}},
                     .operation = link::Call{[hooks, i](const link::Activation& activation) {
                       hooks.arrived(i, activation);
                       return true;
                     }},
                     .depth = topic.depth + more_slots_in});
  }
  return flow;
}

std::uint64_t memory_of(const Configuration& configuration, std::size_t host) {
  std::uint64_t bytes = 0;
  const auto add = [&](const link::ChannelDescription& messages) {
    std::uint64_t more = 0;
    if (__builtin_mul_overflow(messages.slots, messages.bytes, &more) ||
        __builtin_add_overflow(bytes, more, &bytes)) {
      bytes = std::numeric_limits<std::uint64_t>::max();
    }
  };
  const Plan planned = plan(configuration, host);
  for (const Route& route : planned.out) {
    const Topic& topic = configuration.topics[route.topic];
    add(out_channel(topic));
    // The message that is being taken.
    add({.slots = 1, .bytes = topic.largest_message});
    // The messages that late joiners get are kept, for bridges that begin anew.
    if (topic.durability != Durability::volatile_) {
      add({.slots = topic.depth, .bytes = topic.largest_message});
    }
  }
  for (const Route& route : planned.in) add(in_channel(configuration.topics[route.topic]));
  for (std::size_t i = 0; i < 2 * planned.peers.size(); ++i) {
    add({.slots = state_slots, .bytes = most_state_bytes});
  }
  return bytes;
}

}  // namespace takt::bridge
