#pragma once

#include <functional>
#include <memory>
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
                   const execution::CallbackInstance& instance) override {
    if (measurer_) measurer_->on_instance(database, instance);
  }
  void on_late_source(const execution::Database& database, execution::InstanceId instance,
                      execution::PublicationId source) override {
    if (measurer_) measurer_->on_late_source(database, instance, source);
  }
  void on_steady_state(const execution::Database& database, Instant time) override {
    if (measurer_) measurer_->on_steady_state(database, time);
  }

  /// From now on measures the chains of this model. A chain that was measured before, through the
  /// same callbacks to the same goal, keeps its window; chains that have ended are counted in it.
  /// Does nothing if the model has the structure of the one before, unless `others` run what is
  /// called the same in it.
  void replace(const model::Model& model, const execution::Database& database, bool others = false);

  /// Counts the chains that ended before this time.
  void follow_until(Instant time) {
    if (measurer_) measurer_->follow_until(time);
  }
  /// Forgets the instances that ended before this time.
  void forget(Instant before) {
    for (ChainWindow& window : windows_) window.forget(before);
  }

  /// The chains that are measured; empty before there is a model.
  [[nodiscard]] const std::vector<model::Chain>& chains() const { return model_->chains; }
  /// By chain.
  [[nodiscard]] const std::vector<ChainWindow>& windows() const { return windows_; }

 private:
  CompletionListener completed_;
  /// The measurer refers to it.
  std::unique_ptr<const model::Model> model_ = std::make_unique<const model::Model>();
  std::unique_ptr<flow::Measurer> measurer_;
  std::vector<ChainWindow> windows_;
};

}  // namespace takt::live
