#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "takt/bridge/configuration.hpp"
#include "takt/link/description.hpp"
#include "takt/transport/link_thread.hpp"

namespace takt::bridge {

/// A topic on its way between this host and one peer.
struct Route {
  std::size_t topic = 0;
  link::PeerIndex peer{};
  std::uint32_t stream = 0;
};

/// The peers and the routes of one host.
struct Plan {
  /// The hosts with which it has a topic in common.
  std::vector<std::size_t> peers;
  std::vector<transport::Peer> connections;
  /// The most urgent first.
  std::vector<Route> out;
  std::vector<Route> in;
};

[[nodiscard]] Plan plan(const Configuration& configuration, std::size_t host);

/// Functions that the flow control calls in the link's thread; `begun` also in a thread that pushes
/// a message. Routes are given by their index in the plan.
struct Hooks {
  /// The first chunk of a message is about to be sent.
  std::function<void(std::size_t, std::span<const std::byte>)> begun;
  /// A message has come in.
  std::function<void(std::size_t, const link::Activation&)> arrived;
  /// A message was delivered, or has failed.
  std::function<void(std::size_t, const link::Activation&)> ended;
  /// A peer has sent its state.
  std::function<void(link::PeerIndex, std::span<const std::byte>)> state_arrived;
};

/// The description of a host's flow control, and where things are in it.
struct Flow {
  link::Description description;
  /// For each route out: where messages are pushed, and what sends them.
  std::vector<link::ChannelIndex> out_channels;
  std::vector<link::TaskIndex> out_tasks;
  /// For each peer: where our state is pushed.
  std::vector<link::ChannelIndex> state_channels;
};

[[nodiscard]] Flow describe(const Configuration& configuration, const Plan& plan,
                            const Hooks& hooks);

/// The most memory that messages of a host take, in bytes; the largest number if it is more.
[[nodiscard]] std::uint64_t memory_of(const Configuration& configuration, std::size_t host);
constexpr std::uint64_t most_memory = 16'000'000'000;

}  // namespace takt::bridge
