#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "takt/execution/observer.hpp"
#include "takt/links/node_inputs.hpp"

namespace takt::links {

/// When a callback ran and published first, start-up included.
struct Beginning {
  std::optional<Instant> run;
  std::optional<Instant> publication;
  /// Runs before the first publication.
  std::uint64_t silent_runs = 0;
};

/// Observes what shows the links within nodes: which callbacks published what, and which inputs
/// held a message then. Memory is bounded by the number of objects.
class Evidence final : public execution::Observer {
 public:
  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Database& database,
                      const execution::Publication& publication) override;
  void on_read(const execution::Database& database, const execution::Read& read) override;
  void on_steady_state(const execution::Database& /*database*/, Instant /*time*/) override {
    keep_start_up();
    restart();
  }
  /// Nodes that published nothing after start-up are judged by what they did in it.
  void use_start_up(const execution::Objects& objects);
  /// Start-up is over: forgets what ran in it, except the messages that inputs of joins hold, which
  /// may be from then, and when each callback ran and published first.
  void restart();
  /// A node began another phase: forgets what its callbacks did before.
  void begin_phase(const execution::Objects& objects, execution::NodeIndex node);

  /// The subscriptions of each node, without those that ROS itself makes; by node, as far as they
  /// ran.
  [[nodiscard]] const std::vector<NodeInputs>& inputs() const { return inputs_; }
  [[nodiscard]] const NodeInputs& inputs(execution::NodeIndex node) const;

  /// What a callback did after start-up.
  struct Activity {
    bool ran = false;
    /// The topics and services on which it sent, those of ROS itself left out, and by what.
    std::set<TopicIndex> topics;
    std::set<execution::PublisherIndex> publishers;
    /// The callbacks whose messages it handled.
    std::set<ObservedCallbackIndex> senders;
    /// The subscriptions' callbacks whose messages it took itself, start-up included.
    std::set<ObservedCallbackIndex> reads;
    /// Of a subscription: the callbacks that took its messages themselves, start-up included; its
    /// own if a thread did that only stores them.
    std::set<ObservedCallbackIndex> read_by{};
    /// Whether a thread that serves no executor took its messages: its run is then from that take
    /// on, and `reads` are of before it.
    bool is_of_thread = false;
    Beginning beginning;
    /// When it ran last.
    std::optional<Instant> last{};
    /// Of a timer: the subscriptions of its node that had run less than its period before it ran.
    std::set<ObservedCallbackIndex> soon_after{};
    /// Of a timer: the subscriptions of its node that had not run since it ran before.
    std::set<ObservedCallbackIndex> again_after{};
  };
  [[nodiscard]] const Activity& of(ObservedCallbackIndex callback) const;
  /// Whether the timer seems to be reset by what the subscription receives: in a node in which the
  /// subscription ran often, the timer never ran less than its period after it. It runs where
  /// messages fail to come, so it does not read them. One that ran at most once after each message
  /// is started by it, to do something later.
  [[nodiscard]] bool is_watchdog(const execution::Objects& objects, ObservedCallbackIndex timer,
                                 ObservedCallbackIndex subscription) const;
  /// So many of the first times are kept, start-up included.
  static constexpr std::size_t most_times = 500;
  /// The messages that a publisher sent outside of callbacks.
  struct SentOutside {
    std::uint64_t count = 0;
    /// When publish was called for the first of them.
    std::vector<Instant> times{};
    /// The thread that sent them all; none: several did.
    std::optional<execution::ThreadIndex> thread{};
  };
  [[nodiscard]] const SentOutside& sent_outside(execution::PublisherIndex publisher) const;
  /// The runs of a subscription that published nothing.
  struct SilentRuns {
    std::uint64_t count = 0;
    /// When the first of them began, in the order of their ends.
    std::vector<Instant> times{};
  };
  [[nodiscard]] const SilentRuns& silent_runs(ObservedCallbackIndex callback) const;
  /// Whether callbacks ran on the thread, or it took messages itself.
  [[nodiscard]] bool serves(execution::ThreadIndex thread) const {
    return thread.value() < serving_.size() && serving_[thread.value()] != 0;
  }
  /// Whether callbacks or threads take the subscription's messages themselves, and publish nothing.
  [[nodiscard]] bool is_taken_to_store(ObservedCallbackIndex subscription) const;

 private:
  /// What the instance that runs on a thread has published.
  struct Sent {
    execution::InstanceId instance = execution::InstanceId::none;
    std::set<TopicIndex> topics;
  };

  static void forget(Activity& activity);
  void keep_start_up();

  std::vector<NodeInputs> inputs_;   // by node
  std::vector<Activity> callbacks_;  // by callback
  std::vector<Sent> sent_;           // by thread
  std::map<execution::PublisherIndex, SentOutside> sent_outside_;
  std::vector<SilentRuns> silent_runs_;  // by callback
  std::vector<char> serving_;            // by thread
  /// The first two of these, as they were at the end of start-up.
  std::vector<NodeInputs> start_up_inputs_;
  std::vector<Activity> start_up_callbacks_;
};

}  // namespace takt::links
