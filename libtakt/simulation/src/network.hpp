#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "takt/model/message_share.hpp"
#include "takt/model/model.hpp"

namespace takt::simulation {

using model::CallbackIndex;
using model::ExecutorIndex;

/// A message or an instance carries a time for every position that a chain has at the callback (see
/// Vertex::positions): when the chain's first callback was activated. This value stands for a
/// position whose chain it is not on.
///
/// Positions come in pairs. The first follows what triggers what: at a join the input that
/// completes the set, and of sampled data its first reader. The second, right after it, follows the
/// data: all inputs of a join, and every reader until newer data has come.
inline constexpr Instant not_on_chain = Instant::min();
constexpr std::size_t positions_per_step = 2;
constexpr bool follows_data(std::size_t position) { return position % positions_per_step == 1; }

/// An edge as messages travel it.
struct Link {
  CallbackIndex from;
  CallbackIndex to;
  Duration delay{};
  /// Predecessors of `from` whose messages make it publish here; none: whatever activates it.
  std::optional<std::vector<CallbackIndex>> triggered_by;
  /// Which of its instances send; none: all.
  std::optional<model::MessageShare> share;
  /// The receiver does not react but samples what has come when it starts.
  bool sampled = false;
  /// Whether its release takes time of another executor. There, an instance that ends in the
  /// instant of the arrival is not prolonged by it.
  bool follows_ends = false;
  /// Which input of the receiver's join it feeds.
  std::optional<std::size_t> join_input;
  /// Positions at `from` and the positions at `to` that follow them.
  std::vector<std::pair<std::size_t, std::size_t>> positions;
};

/// A chain at its first callback.
struct ChainStart {
  std::size_t chain = 0;
  /// Links to the chain's next callback: an activation that sends along none of them is no input of
  /// the chain. Empty if every activation sends along one of them, or there is no next one.
  std::vector<std::size_t> onward;
};

/// A callback as messages pass it.
struct Vertex {
  /// Indices into Network::links.
  std::vector<std::size_t> outgoing;
  /// Links whose messages it samples.
  std::vector<std::size_t> sampled;
  /// How many positions chains have here.
  std::size_t positions = 0;
  /// The positions at which chains begin; the chains that begin here; for each chain that ends
  /// here, its number and the first of its pair of positions.
  std::vector<std::size_t> beginning;
  std::vector<ChainStart> starting;
  std::vector<std::pair<std::size_t, std::size_t>> ending;
  std::optional<model::JoinKind> join;
  std::size_t join_inputs = 0;
};

/// The callback graph of a model with its chains, compiled for the passage of messages.
struct Network {
  explicit Network(const model::Model& model);

  std::vector<Link> links;
  std::vector<Vertex> vertices;

 private:
  void add_chains(const model::Model& model);
};

}  // namespace takt::simulation
