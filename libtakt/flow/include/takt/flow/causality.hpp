#pragma once

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/execution/database.hpp"
#include "takt/flow/history.hpp"
#include "takt/flow/matching.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// How what went into a node led to what came out of it (message-flow 3.5).
enum class LinkKind {
  direct,          ///< sent by the run that handled the message, on its thread
  periodic_async,  ///< a timer's run used the newest message that was stored
  partial_sync,    ///< the run that completed a set of messages used those stored before
};

/// Who says so. What is ambiguous is told, but not followed.
enum class LinkOrigin { declared, model, inferred, ambiguous };

[[nodiscard]] std::string_view to_string(LinkKind kind);
[[nodiscard]] std::string_view to_string(LinkOrigin origin);

/// Subscriptions of a node whose messages come together in what its publishers send.
struct Group {
  LinkKind kind = LinkKind::periodic_async;
  LinkOrigin origin = LinkOrigin::declared;
  execution::ProcessIndex process;
  std::vector<execution::ObservedCallbackIndex> inputs;
  std::vector<execution::PublisherIndex> outputs;
  /// Only of a join: it uses every message, in the order in which they came. Otherwise it uses the
  /// newest message of each input and drops the older ones.
  bool is_queued = false;
};

/// Whether to believe what the behaviour of nodes suggests where nothing is declared.
enum class Inference { off, on };

/// The groups that the programs declared (message_link_*); for nodes that declared nothing those of
/// the model's joins (null: no model); for nodes that are in none those that infer_groups() finds.
[[nodiscard]] std::vector<Group> find_groups(const execution::Objects& objects,
                                             const History& history, const model::Model* model,
                                             Inference inference);

/// What a message was made of, beyond the run that sent it: a run that stored what it received.
struct Input {
  InstanceId run = InstanceId::none;
  LinkKind kind = LinkKind::direct;
  std::size_t group = 0;
};

/// The causal links of a history.
class Causality {
 public:
  Causality(const History& history, const execution::Objects& objects, std::vector<Group> groups);

  [[nodiscard]] const std::vector<Group>& groups() const { return groups_; }
  /// Replaces `inputs` by what went into a message: first the run that sent it, if it is known,
  /// then what others had stored. O(inputs · log runs).
  void inputs(PublicationId message, std::vector<Input>& inputs) const;
  /// The messages that a run's message went into later, or that it sent.
  void outputs(InstanceId run, std::vector<std::pair<PublicationId, LinkKind>>& outputs) const;
  /// Whether what the callback receives goes into a group.
  [[nodiscard]] bool is_stored(execution::ObservedCallbackIndex callback) const;

 private:
  void find_used(std::size_t group);
  [[nodiscard]] bool binds_on_arrival(std::size_t group) const;
  void replay(std::size_t group, bool bound);
  void add_stored(const Message& message, const Run& sender, std::size_t group,
                  std::vector<Input>& inputs) const;

  const History& history_;
  const execution::Objects& objects_;
  std::vector<Group> groups_;
  /// The groups of each publisher, and of each callback as an input.
  std::vector<std::vector<std::size_t>> of_publisher_;
  std::vector<std::vector<std::size_t>> of_input_;
  /// The runs that sent a group's output, in order of their starts.
  std::vector<std::vector<InstanceId>> firings_;
  /// What each firing of a partial_sync group used, an entry for each input; the input that fired
  /// has none.
  std::vector<std::vector<InstanceId>> used_;
  /// The same the other way round: runs whose messages were stored, in ascending order, with the
  /// positions of the firings that used them.
  std::vector<std::vector<std::pair<InstanceId, std::size_t>>> users_;
};

}  // namespace takt::flow
