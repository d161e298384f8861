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

/// How the messages that a node received led to those that it sent (message-flow 3.5).
enum class LinkKind {
  direct,          ///< sent by the run that handled the message, on its thread
  periodic_async,  ///< a timer's run used the newest message that was stored
  partial_sync,    ///< the run that completed a set of messages used those stored before
};

/// Where a link is known from. Documents name ambiguous links, but flows do not follow them.
enum class LinkOrigin { declared, model, inferred, ambiguous };

[[nodiscard]] std::string_view to_string(LinkKind kind);
[[nodiscard]] std::string_view to_string(LinkOrigin origin);

/// Subscriptions of a node whose messages go together into the messages of its publishers.
struct Group {
  LinkKind kind = LinkKind::periodic_async;
  LinkOrigin origin = LinkOrigin::declared;
  execution::ProcessIndex process;
  std::vector<execution::ObservedCallbackIndex> inputs;
  std::vector<execution::PublisherIndex> outputs;
  /// For a join: whether it uses every message, in the order of arrival. If not, it uses the newest
  /// message of each input and drops the older ones.
  bool is_queued = false;
  /// The timer that uses what is stored, if the program names it: else each of the process that
  /// publishes by one of `outputs`.
  std::optional<execution::ObservedCallbackIndex> reader{};
};

/// Whether links are inferred from the behaviour of nodes where none are declared.
enum class Inference { off, on };

/// The groups that are known without a look at what ran: links that programs declared
/// (message_link_*, inputs_linked), then those of the model's joins (null: no model) for nodes
/// without a declared one. Where `outputs` is empty, they are all publishers by which `reader`, or
/// else the inputs, send.
[[nodiscard]] std::vector<Group> known_groups(const execution::Objects& objects,
                                              const model::Model* model);

/// Finds the groups of all nodes. Links that programs declared (message_link_*, inputs_linked) come
/// first. Nodes without one take the groups of the model's joins (null: no model). Nodes that are
/// then left take those of infer_groups(), unless their program has declared all of its links.
[[nodiscard]] std::vector<Group> find_groups(const execution::Objects& objects,
                                             const History& history, const model::Model* model,
                                             Inference inference);

/// A run that went into a message: the run that sent it, or one that had stored what it received.
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
  /// Replaces `inputs` by the runs that went into a message: first the run that sent it, if it is
  /// known, then the runs whose messages were stored for it. O(inputs · log runs).
  void inputs(PublicationId message, std::vector<Input>& inputs) const;
  /// Replaces `outputs` by the messages that a run sent, and those into which its stored message
  /// went.
  void outputs(InstanceId run, std::vector<std::pair<PublicationId, LinkKind>>& outputs) const;
  /// Whether the callback is an input of a group, which stores its messages.
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
  /// The runs that each firing of a partial_sync group used, one for each input; none for the input
  /// that fired.
  std::vector<std::vector<InstanceId>> used_;
  /// The same the other way round: runs whose messages were stored, in ascending order, with the
  /// positions of the firings that used them.
  std::vector<std::vector<std::pair<InstanceId, std::size_t>>> users_;
};

}  // namespace takt::flow
