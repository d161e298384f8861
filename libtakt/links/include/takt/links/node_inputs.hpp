#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "takt/execution/curves.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/objects.hpp"
#include "takt/links/held_messages.hpp"
#include "takt/model/model.hpp"

namespace takt::links {

using execution::ObservedCallbackIndex;
using execution::TopicIndex;

/// Finds evidence of joins in the runs of a node's subscriptions: which inputs had a message
/// whenever one of the subscriptions published on a topic, and which had one when none published.
/// Its memory is bounded by the node's subscriptions and topics; every run counts, however long
/// ago.
class NodeInputs {
 public:
  using Members = std::set<ObservedCallbackIndex>;

  /// Joins of more subscriptions than this are not looked for.
  static constexpr std::size_t max_subscriptions = 64;
  /// At most so many different situations are told apart for a topic; a topic with more is no
  /// join's.
  static constexpr std::size_t max_situations = 1024;
  /// A run this short can do no more than keep its message.
  static constexpr Duration longest_keeping = std::chrono::microseconds(20);
  /// One run in so many may not fit a join: the first after a loss, or one that failed.
  static constexpr std::uint64_t runs_per_exception = 20;

  /// The instance of a subscription ended, and had published on these topics.
  void add(const execution::CallbackInstance& instance, const std::set<TopicIndex>& outputs);
  /// Start-up is over: forgets its costs. Messages that inputs hold stay, as they may be from then.
  void restart();
  /// The node began another phase: forgets what its runs showed before, too.
  void begin_phase();

  struct Activity {
    std::uint64_t runs = 0;
    std::uint64_t short_runs = 0;
    std::uint64_t sending_runs = 0;
    /// Topics on which its runs published.
    std::set<TopicIndex> outputs;
    SetsOnArrival on_arrival;
  };
  [[nodiscard]] const std::map<ObservedCallbackIndex, Activity>& subscriptions() const {
    return activities_;
  }
  /// Topics on which runs of these subscriptions published.
  [[nodiscard]] std::set<TopicIndex> outputs_of(const Members& members) const;

  /// How many runs of `members` contradict this: they publish on `topic` when each of them has a
  /// message that was not used before, and only then. Where the executor completes sets when
  /// messages come, only what it did not choose and publishes contradicts it: which of its outputs
  /// a set goes on to may depend on the message that completed it. None if that is not known.
  [[nodiscard]] std::optional<std::uint64_t> exceptions(model::JoinKind kind,
                                                        const Members& members,
                                                        TopicIndex topic) const;
  /// Whether no run contradicts it.
  [[nodiscard]] bool agrees(model::JoinKind kind, const Members& members, TopicIndex topic) const {
    return exceptions(kind, members, topic) == std::uint64_t{0};
  }

  /// Subscriptions that had a message whenever one of the node's published on `topic`, or nearly
  /// so. Empty if that is not known.
  [[nodiscard]] Members usually_present(model::JoinKind kind, TopicIndex topic) const;

  /// At how many publications on the topic the subscription had no message; none if that is not
  /// known.
  [[nodiscard]] std::optional<std::uint64_t> absences(model::JoinKind kind,
                                                      ObservedCallbackIndex subscription,
                                                      TopicIndex topic) const;

  /// How many runs of `members` did not publish on `topic` although all of them but `absent` had a
  /// message. So often `absent` was seen to be waited for.
  [[nodiscard]] std::uint64_t waits_for(model::JoinKind kind, const Members& members,
                                        ObservedCallbackIndex absent, TopicIndex topic) const;

  /// How often a subscription published on the topic.
  [[nodiscard]] std::uint64_t publications(TopicIndex topic) const;

  /// How many different situations are remembered, over all topics.
  [[nodiscard]] std::size_t situations() const;

  /// The cost of all runs from one publication on `topic` to the next, as far as they were of
  /// subscriptions that might take part in a join; after start-up.
  [[nodiscard]] const execution::CostCurve& cost(model::JoinKind kind, TopicIndex topic) const;

 private:
  using Mask = std::uint64_t;

  /// What a join of one kind would hold. A newest-value join holds an input's last message until a
  /// publication; an AND join holds all that no publication has used, one each.
  struct Held {
    Mask fresh = 0;
    /// If it is an AND join: how many more runs each input had than there were publications.
    std::vector<std::int64_t> waiting;
    /// By input, the publications at which it held no message.
    std::vector<std::uint64_t> absences;
    execution::CostCurve cost;
    /// Publications by what was held, and runs without one by what was held and who ran.
    std::map<Mask, std::uint64_t> sets;
    std::map<std::pair<Mask, std::uint8_t>, std::uint64_t> silences;
  };
  struct Output {
    Held newest;
    Held all;
    std::uint64_t publications = 0;
    /// How many of these were in earlier phases.
    std::uint64_t publications_before = 0;
    /// Cost of each subscription's runs since the last publication.
    std::vector<Duration> since;
    /// By input, its runs that published though the executor had not chosen them.
    std::vector<std::uint64_t> unchosen;
    bool too_many = false;

    [[nodiscard]] std::uint64_t in_this_phase() const { return publications - publications_before; }
  };

  static void arrive(Held& held, std::size_t input, model::JoinKind kind);
  static void use(Output& output, Held& held, model::JoinKind kind);
  static void count_silence(Output& output, Held& held, std::size_t input);
  static void give_up(Output& output);
  [[nodiscard]] const Output* find(TopicIndex topic) const;
  [[nodiscard]] std::optional<Mask> mask_of(const Members& members) const;
  void run(Output& output, std::size_t input, bool publishes,
           const execution::CallbackInstance& instance);
  [[nodiscard]] bool complete_on_arrival(const Members& members) const;

  std::map<ObservedCallbackIndex, std::size_t> position_;
  std::map<ObservedCallbackIndex, Activity> activities_;
  /// The record that a topic would have on which nothing was published yet.
  Output unused_;
  std::map<TopicIndex, Output> outputs_;
  bool too_many_ = false;
};

}  // namespace takt::links
