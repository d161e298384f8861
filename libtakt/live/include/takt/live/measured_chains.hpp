#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "takt/execution/observer.hpp"
#include "takt/flow/measurement.hpp"
#include "takt/live/window.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::live {

/// Called with each instance of a chain that is known to have been completed.
using CompletionListener =
    std::function<void(const std::string& chain, Instant activation, Instant completion)>;

/// Measures the chains of what runs by a model, which is replaced when programs come and go.
class MeasuredChains final : public execution::Observer {
 public:
  explicit MeasuredChains(CompletionListener completed = {}) : completed_(std::move(completed)) {}
  MeasuredChains(const MeasuredChains&) = delete;
  MeasuredChains& operator=(const MeasuredChains&) = delete;

  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Database& database,
                      const execution::Publication& publication) override;
  void on_read(const execution::Database& database, const execution::Read& read) override;
  void on_late_source(const execution::Database& database, execution::InstanceId instance,
                      execution::PublicationId source) override;
  void on_steady_state(const execution::Database& database, Instant time) override {
    if (measurer_) measurer_->on_steady_state(database, time);
  }

  /// From now on measures the chains of this model, also those whose messages are on their way. A
  /// chain that was measured before, through the same callbacks to the same goal, keeps its window.
  /// Does nothing if the model has the structure of the one before, unless `others` run what is
  /// called the same in it.
  void replace(const model::Model& model, const execution::Database& database, bool others = false);

  /// Counts the chains that ended before this time.
  void follow_until(Instant time) {
    followed_until_ = time;
    if (measurer_) measurer_->follow_until(time);
  }
  /// Counts the instances of a chain that have ended and wait for a sender to end.
  [[nodiscard]] std::size_t waiting(std::size_t chain) const { return measurer_->waiting(chain); }
  /// The instances of a thread that ended after this time, in the order of their ends. Only those
  /// are known that are remembered for the next model.
  [[nodiscard]] std::vector<execution::CallbackInstance> instances(execution::ThreadIndex thread,
                                                                   Instant after) const;
  /// Forgets the latencies of instances that ended before this time.
  void forget(Instant before) {
    for (ChainWindow& window : windows_) window.forget(before);
  }

  /// The chains that are measured; empty before there is a model.
  [[nodiscard]] const std::vector<model::Chain>& chains() const { return model_->chains; }
  /// By chain.
  [[nodiscard]] const std::vector<ChainWindow>& windows() const { return windows_; }

 private:
  CompletionListener completed_;
  /// At most so many instances are remembered for the next model.
  static constexpr std::size_t most_recent = std::size_t{1} << 15;

  /// Whether the end of a chain that was measured by the former model, too, was reported then.
  [[nodiscard]] bool was_reported(std::size_t chain, execution::InstanceId end,
                                  Instant completion) const;

  struct Recent {
    execution::CallbackInstance instance;
    /// One of the messages that it sent.
    std::optional<execution::Publication> sent;
  };

  /// The newest instances, in the order of their ends: a new measurer begins with them.
  std::deque<Recent> recent_;
  std::vector<std::optional<execution::Publication>> sent_;  // by thread: the newest message
  Instant followed_until_{};
  /// When the last instance ended that the former measurer saw, the ends that it had not reported,
  /// and by chain whether it measured it.
  Instant replaced_{};
  std::set<execution::InstanceId> unreported_;
  std::vector<bool> was_measured_;
  /// The measurer refers to it.
  std::unique_ptr<const model::Model> model_ = std::make_unique<const model::Model>();
  std::unique_ptr<flow::Measurer> measurer_;
  std::vector<ChainWindow> windows_;
};

}  // namespace takt::live
