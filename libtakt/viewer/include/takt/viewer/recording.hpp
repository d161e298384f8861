#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "takt/execution/executors.hpp"
#include "takt/execution/observer.hpp"
#include "takt/execution/timer_grid.hpp"
#include "takt/flow/arrival.hpp"
#include "takt/flow/matching.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/flow/message_times.hpp"
#include "takt/flow/stages.hpp"
#include "takt/model/model.hpp"
#include "takt/statistics/distribution.hpp"
#include "takt/viewer/array.hpp"
#include "takt/viewer/storage.hpp"

namespace takt::viewer {

/// Position of a run in Recording::runs().
enum class RunRow : std::uint32_t { none = UINT32_MAX };

/// A run of a callback, reduced to what is shown.
struct Run {
  Instant start;
  Instant end;
  /// When its message was taken; else its start.
  Instant taken;
  /// The message that it handled, if that is known.
  execution::PublicationId source = execution::PublicationId::none;
  execution::ObservedCallbackIndex callback;
  execution::ThreadIndex thread;
  flow::Idle idle;
  /// Without the correction of a timer's grid, see Recording::arrival().
  flow::Arrival arrival;
};

/// A message that was sent.
struct Sent {
  /// When the program called publish, and when the message went to the middleware.
  Instant begin;
  Instant time;
  execution::InstanceId instance = execution::InstanceId::none;
  execution::TopicIndex topic;
  bool is_known = false;
  /// Whether every subscription of the topic gets it. False if it stays within its process, or if
  /// it went through the buffers of its process just before.
  bool to_all = false;
  /// It went through rclcpp's buffers.
  bool intra_process = false;
};

/// A message that the subscription of a callback took.
struct Take {
  execution::PublicationId source = execution::PublicationId::none;
  Instant time;
  execution::ObservedCallbackIndex callback;
};

/// An instance of a chain that was measured.
struct Complete {
  /// From when the time counts that the chain's goal is about; before the activation for reactions.
  Instant since;
  Instant activation;
  /// When it ended: its last run, or what that published (model::Chain::end_topic).
  Instant end;
  /// Where its runs begin, see Recording::path(); `length` says how many they are.
  std::uint64_t path = 0;
  std::uint32_t chain = 0;
  std::uint32_t length = 0;
};

/// Keeps runs, messages and chains in memory or on disk, up to the storage's limit. What is beyond
/// that is counted, and nothing is to be concluded from its absence.
class Recording final : public execution::Observer {
 public:
  enum class Keep {
    all_chains,
    /// Instances of chains take no more room than all else that is kept, however many chains there
    /// are. The model's last chains are left out first, and those with a goal after all others.
    chains_that_fit,
  };

  /// The model outlives the recording.
  explicit Recording(const model::Model& model, const Storage& storage = {},
                     Keep keep = Keep::chains_that_fit);

  /// An instance of a chain of the model was measured (flow::ChainListener).
  void add(const flow::ChainInstance& instance);
  /// Error: the disk was full, or failed; what happened since is not kept.
  [[nodiscard]] const Result<void>& filled() const { return writer_.result(); }
  /// To be called after the last event. Error: as that of filled().
  [[nodiscard]] Result<void> finish();

  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Database& database,
                      const execution::Publication& publication) override;
  void on_take(const execution::Database& database, const execution::Take& take) override;
  void on_dds_write(const execution::Database& database, const execution::DdsMessage& message,
                    Instant time) override;
  void on_dds_receive(const execution::Database& database, const execution::DdsMessage& message,
                      execution::ProcessIndex process, Instant time) override;
  void on_late_source(const execution::Database& database, execution::InstanceId instance,
                      execution::PublicationId source) override;
  void on_steady_state(const execution::Database& database, Instant time) override;

  /// Whether the instances of a chain of the model are kept.
  [[nodiscard]] bool keeps(std::size_t chain) const { return keeps_[chain]; }
  /// Measured instances of chains, without those of the start-up.
  [[nodiscard]] const Array<Complete>& chains() const { return chains_; }
  /// The ids of the instances on its path.
  [[nodiscard]] std::span<const std::uint32_t> path(const Complete& instance) const {
    return paths_.part(instance.path, instance.length);
  }
  /// In the order of their ends.
  [[nodiscard]] const Array<Run>& runs() const { return runs_; }
  /// Positions in runs() by the numbers of instances, plus one; 0 for those that were left out or
  /// are not over.
  [[nodiscard]] const Array<std::uint32_t>& positions() const { return positions_; }
  [[nodiscard]] std::optional<std::size_t> find(execution::InstanceId id) const;
  /// When the message of a run came, or its timer was due.
  [[nodiscard]] flow::Arrival arrival(const Run& run) const;
  /// By PublicationId.
  [[nodiscard]] const Array<Sent>& sent() const { return sent_; }
  [[nodiscard]] const Sent* find(execution::PublicationId id) const;
  /// Messages that subscriptions took. Some are left out if a run of their callback handled them.
  [[nodiscard]] const Array<Take>& takes() const { return takes_; }
  [[nodiscard]] const execution::ExecutorFinder& executors() const { return executors_; }
  /// By ObservedCallbackIndex: the matching callback of the model, and how long the callback ran.
  [[nodiscard]] const std::vector<std::optional<model::CallbackIndex>>& matches() const {
    return matches_;
  }
  [[nodiscard]] const std::vector<statistics::Distribution>& execution_times() const {
    return execution_times_;
  }
  /// Counts of rows left out because the storage was full.
  struct LeftOut {
    std::uint64_t runs = 0;
    std::uint64_t messages = 0;
    std::uint64_t takes = 0;
    std::uint64_t chains = 0;  // instances of chains
  };
  [[nodiscard]] const LeftOut& left_out() const { return left_out_; }
  /// Whether runs or takes of a callback were left out.
  [[nodiscard]] bool misses_some_of(execution::ObservedCallbackIndex callback) const {
    return misses_some_of_.contains(callback);
  }
  /// Until when nothing was left out that an instance of a chain may consist of.
  [[nodiscard]] Instant whole_until(std::size_t chain) const {
    return std::min(whole_until_, chain_whole_until_[chain]);
  }

 private:
  void miss_from(Instant time) { whole_until_ = std::min(whole_until_, time); }
  void keep(const execution::Database& database, const execution::CallbackInstance& instance);
  /// What the recording has of how the instance was activated; a timer's is due without the
  /// correction of its grid.
  [[nodiscard]] flow::Activation activation(const execution::Database& database,
                                            const execution::CallbackInstance& instance);
  void keep(const execution::Publication& publication);
  void keep(const execution::Database& database, const execution::Take& take);
  void keep(const flow::ChainInstance& instance);
  void drop_chains(std::size_t most_steps);

  flow::Matcher matcher_;
  execution::ExecutorFinder executors_;
  flow::MessageTimes message_times_;
  StorageWriter writer_;
  std::size_t most_;
  Keep keep_;
  Array<Run> runs_;
  Array<std::uint32_t> positions_;
  Array<Sent> sent_;
  Array<Take> takes_;
  /// Takes that a run may follow, by message and subscription.
  std::map<std::pair<execution::PublicationId, execution::SubscriptionIndex>, Take> open_;
  Array<Complete> chains_;
  Array<std::uint32_t> paths_;
  /// The chains that are kept, the first to be dropped last.
  std::vector<std::size_t> kept_;
  std::vector<bool> keeps_;         // by chain
  std::vector<std::size_t> steps_;  // by chain: steps of its kept instances
  std::vector<std::optional<model::CallbackIndex>> matches_;
  std::vector<statistics::Distribution> execution_times_;
  std::map<execution::ObservedCallbackIndex, execution::TimerGrid> grids_;
  flow::ArrivalOrder arrival_order_;
  LeftOut left_out_;
  std::set<execution::ObservedCallbackIndex> misses_some_of_;
  Instant whole_until_ = Instant::max();
  std::vector<Instant> chain_whole_until_;
};

}  // namespace takt::viewer
