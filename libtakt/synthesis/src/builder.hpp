#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "joins.hpp"
#include "observations.hpp"
#include "takt/model/model.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::synthesis {

/// Makes a model of what was observed. Joins of `declared` are looked for; null: none are declared.
class Builder {
 public:
  Builder(const Observations& observations, const execution::Interpreter& interpreter,
          const events::Threads& threads, Duration observed, const model::Model* declared);

  /// Callbacks, executors, edges and joins; no chains and no provenance.
  [[nodiscard]] model::Model build();

 private:
  using Observed = execution::CallbackIndex;

  void choose_joins();
  [[nodiscard]] bool can_join(const ObservedJoin& join) const;
  void add_executors();
  void add_callbacks();
  void add_callback(Observed index, const std::string& id);
  void add_edges();
  [[nodiscard]] bool is_activated_from_outside(Observed index) const;
  [[nodiscard]] std::optional<model::Activation> activation(Observed index) const;
  [[nodiscard]] std::optional<std::vector<model::CallbackIndex>> triggers(Observed from,
                                                                          TopicIndex topic) const;
  [[nodiscard]] Duration delay(const EdgeObservation& edge, const model::Callback& from,
                               const model::Callback& to) const;
  [[nodiscard]] std::uint64_t messages_per_instance(Observed from, TopicIndex topic) const;

  const Observations& observations_;
  const execution::Interpreter& interpreter_;
  const execution::Objects& objects_;
  const events::Threads& threads_;
  Duration observed_;
  const model::Model* declared_;
  model::Model model_;
  std::vector<ObservedJoin> joins_;
  std::map<Observed, std::size_t> join_of_;
  std::map<Observed, model::ExecutorIndex> executor_of_;
  std::map<Observed, model::CallbackIndex> callback_of_;
};

}  // namespace takt::synthesis
