#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <span>
#include <vector>

#include "takt/execution/executors.hpp"
#include "takt/execution/observer.hpp"
#include "takt/flow/matching.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/flow/message_times.hpp"
#include "takt/flow/timer_grid.hpp"
#include "takt/model/model.hpp"
#include "takt/viewer/storage.hpp"

namespace takt::viewer {

/// A run of a callback, with what is known of the message that it handled.
struct Run {
  execution::CallbackInstance instance;
  /// If Fast DDS's moments of the message were recorded.
  std::optional<flow::MessageTimes::Times> message;
  /// A timer's: when it was due, up to the correction of its grid (Recording::due()).
  std::optional<Instant> due;
};

/// A message that was sent.
struct Sent {
  execution::TopicIndex topic;
  execution::InstanceId instance = execution::InstanceId::none;
  Instant time;
  /// Whether every subscription of the topic gets it: not if it stays within its process, or went
  /// through the buffers of its process just before.
  bool to_all = false;
};

/// An instance of a chain that was measured.
struct Complete {
  std::uint32_t chain = 0;
  std::uint32_t length = 0;
  Instant activation;
  /// Its runs: of Recording::path().
  std::uint64_t path = 0;
};

/// Keeps what happened, in the storage's memory and up to its limit; what goes beyond is counted.
class Recording final : public execution::Observer {
 public:
  /// The model and the storage's memory outlive the recording.
  explicit Recording(const model::Model& model, const Storage& storage = {});

  /// An instance of a chain of the model was measured (flow::ChainListener).
  void add(const flow::ChainInstance& instance);

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

  /// Measured instances of chains, without those of the start-up.
  [[nodiscard]] const std::pmr::vector<Complete>& chains() const { return chains_; }
  [[nodiscard]] std::span<const execution::InstanceId> path(const Complete& instance) const {
    return std::span(paths_).subspan(instance.path, instance.length);
  }
  /// In the order of their ends.
  [[nodiscard]] const std::pmr::vector<Run>& runs() const { return runs_; }
  /// Position in runs(); nothing if that run was left out or is not over.
  [[nodiscard]] std::optional<std::size_t> find(execution::InstanceId id) const;
  /// When a timer's run was due. Nothing: no timer runs it.
  [[nodiscard]] std::optional<Instant> due(const Run& run) const;
  /// By PublicationId; those that are not known have no time.
  [[nodiscard]] const std::pmr::vector<std::optional<Sent>>& sent() const { return sent_; }
  [[nodiscard]] const Sent* find(execution::PublicationId id) const;
  /// Messages that subscriptions took, with or without a callback that followed.
  [[nodiscard]] const std::pmr::vector<execution::Take>& takes() const { return takes_; }
  [[nodiscard]] const execution::ExecutorFinder& executors() const { return executors_; }
  /// The callback of the model that each callback of the trace is, by ObservedCallbackIndex.
  [[nodiscard]] const std::vector<std::optional<model::CallbackIndex>>& matches() const {
    return matches_;
  }
  /// Runs that were left out.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  flow::Matcher matcher_;
  execution::ExecutorFinder executors_;
  flow::MessageTimes message_times_;
  std::size_t most_;
  std::pmr::vector<Run> runs_;
  std::pmr::vector<std::uint32_t> position_;  // by InstanceId: position in runs_ plus one
  std::pmr::vector<std::optional<Sent>> sent_;
  std::pmr::vector<execution::Take> takes_;
  std::pmr::vector<Complete> chains_;
  std::pmr::vector<execution::InstanceId> paths_;
  std::vector<std::optional<model::CallbackIndex>> matches_;
  std::map<execution::ObservedCallbackIndex, flow::TimerGrid> grids_;
  /// Sources that came to light while their instances were running; the newest of them.
  std::map<execution::InstanceId, execution::PublicationId> late_sources_;
  std::uint64_t left_out_ = 0;
};

}  // namespace takt::viewer
