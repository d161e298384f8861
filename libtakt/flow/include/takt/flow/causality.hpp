#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/execution/database.hpp"
#include "takt/flow/history.hpp"
#include "takt/links/declarations.hpp"
#include "takt/links/evidence.hpp"
#include "takt/links/infer.hpp"
#include "takt/links/link.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// How the messages that a node received led to those that it sent (message-flow 3.5).
enum class LinkKind {
  direct,          ///< sent by the run that handled the message, on its thread
  periodic_async,  ///< a timer's run used the newest message that was stored, or that it took
  partial_sync,    ///< the run that completed a set of messages used those stored before
};

[[nodiscard]] std::string_view to_string(LinkKind kind);
[[nodiscard]] LinkKind kind_of(const links::Link& link);

/// Whether links are inferred from the behaviour of nodes where none are declared.
enum class Inference { off, on };

/// The links that are known without a look at what ran: those that programs declared, then the
/// model's joins (null: no model) for nodes without a declared one.
[[nodiscard]] std::vector<links::Link> known_links(const execution::Objects& objects,
                                                   const model::Model* model);

/// Links, and what nothing shows.
struct FoundLinks : links::Declared {
  links::Unknown unknown;
};

/// The links of all nodes: those of known_links(), then observed ones, then inferred ones of nodes
/// without known ones; all as `declarations` (may be null) change them. All name their outputs.
[[nodiscard]] FoundLinks find_links(const execution::Objects& objects,
                                    const links::Evidence& evidence, const model::Model* model,
                                    Inference inference, const links::Declarations* declarations);

/// Marks inferred links as ambiguous if several timers of a node could sample an input, as it is
/// not known which of them do. Returns whether there were any.
bool doubt_links(std::vector<links::Link>& links);

/// A run that went into a message: the run that sent it, or one that had stored what it received.
struct Input {
  InstanceId run = InstanceId::none;
  LinkKind kind = LinkKind::direct;
  std::size_t link = 0;
  /// Where the join matches stamps, or another thread got or stores the message, `run` is the
  /// newest that can have been used, and this the oldest; none if that is not known, or not whether
  /// the message was used at all. Else both are the same.
  InstanceId oldest = InstanceId::none;

  [[nodiscard]] bool is_certain() const { return oldest == run; }
};

/// The causal links of a history.
class Causality {
 public:
  Causality(const History& history, const execution::Objects& objects,
            std::vector<links::Link> links);

  [[nodiscard]] const std::vector<links::Link>& links() const { return links_; }
  /// Whether inputs may be uncertain.
  [[nodiscard]] bool has_uncertain() const {
    return !handed_.empty() || history_.store().has_reads() ||
           std::ranges::any_of(links_, [](const links::Link& link) {
             return link.matches_stamps || link.waits_for_transform;
           });
  }
  /// Replaces `inputs` by the runs that went into a message: the run that sent it, if it is known
  /// and its own message went into it, and the runs whose messages were stored for it. O(inputs ·
  /// log runs).
  void inputs(PublicationId message, std::vector<Input>& inputs) const;
  /// Replaces `outputs` by the messages that a run sent, and those into which its stored message
  /// went.
  void outputs(InstanceId run, std::vector<std::pair<PublicationId, LinkKind>>& outputs) const;
  /// Whether the callback is an input of a link, which stores its messages.
  [[nodiscard]] bool is_stored(execution::ObservedCallbackIndex callback) const;

 private:
  void find_used(std::size_t link);
  void find_range(std::size_t link);
  void find_by_stamps(std::size_t link);
  [[nodiscard]] bool is_whole(const links::Link& link) const;
  void find_handed(std::size_t link);
  void find_waiting(std::size_t link);
  [[nodiscard]] bool binds_on_arrival(std::size_t link) const;
  void replay(std::size_t link, bool bound);
  [[nodiscard]] bool is_stored_by(InstanceId run, Instant time) const;
  [[nodiscard]] LinkKind kind_of_use(execution::ObservedCallbackIndex reader) const;
  void add_reads(const Message& message, const Run& sender, std::size_t link,
                 std::vector<Input>& inputs) const;
  void add_stored(const Message& message, const Run& sender, std::size_t link,
                  std::vector<Input>& inputs) const;

  const History& history_;
  const execution::Objects& objects_;
  std::vector<links::Link> links_;
  /// The links of each publisher, of each callback that reads what others store, for the requests
  /// that it sends, and of each callback as an input.
  std::vector<std::vector<std::size_t>> of_publisher_;
  std::vector<std::vector<std::size_t>> of_reader_;
  std::vector<std::vector<std::size_t>> of_input_;
  /// The runs that sent a link's output, in order of their starts.
  std::vector<std::vector<InstanceId>> firings_;
  /// The runs that each firing of a join used, one for each input; none for the input
  /// that fired. The newest that it can have used where the link matches stamps.
  std::vector<std::vector<InstanceId>> used_;
  /// By link that matches stamps: the oldest runs that each firing can have used, like `used_`.
  std::vector<std::vector<InstanceId>> oldest_;
  /// What went into messages that were sent for a set, as its stamps tell, or for a message that
  /// waited for a transform.
  std::map<PublicationId, std::vector<Input>> sets_;
  /// What went into messages that threads sent to which callbacks hand theirs, by message.
  std::map<PublicationId, std::vector<Input>> handed_;
  /// The same the other way round: runs whose messages were stored, in ascending order, with the
  /// positions of the firings that used them.
  std::vector<std::vector<std::pair<InstanceId, std::size_t>>> users_;
};

}  // namespace takt::flow
