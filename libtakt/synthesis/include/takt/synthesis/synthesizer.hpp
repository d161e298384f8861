#pragma once

#include <memory>
#include <optional>
#include <string>

#include "takt/base/error.hpp"
#include "takt/events/source.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/model/model.hpp"

namespace takt::synthesis {

struct Options {
  std::string name = "recorded";
  /// A model whose chains (goals, ranks), joins as far as the trace agrees with them, and names of
  /// executors are taken over.
  std::optional<model::Model> chains_from;
  /// A model whose supplies are taken over where the trace does not tell, by executor id.
  std::optional<model::Model> supplies_from;
};

/// Builds the timing model of what a trace shows (ros-llama S-4.4).
///
/// - Callbacks: the timers, subscriptions and services that ran after start-up. Those that ran only
///   during start-up (parameter events, discovery) are left out and named in the provenance.
/// - Execution times: thread processor time where recorded, else time from start to end.
/// - Edges: from the callback that published to the one that took the message, also for requests to
///   services; delays: the longest seen where the arrival of the message ended a wait.
/// - Activation: a timer's period; measured minimum distances for callbacks whose messages come
/// from
///   outside of all callbacks; else derived from the edges.
/// - Trigger sets: as far as the whole trace agrees with them; joins: those declared, likewise.
class Synthesizer final : public execution::Observer {
 public:
  Synthesizer();
  ~Synthesizer() override;

  /// The interpreter that this observes, before the first event.
  void watch(const execution::Interpreter& interpreter);

  void on_instance(const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Publication& publication) override;
  void on_steady_state(Instant time) override;

  /// The model, after the trace's end. Errors: nothing ran.
  [[nodiscard]] Result<model::Model> model(const events::Source& source,
                                           const execution::Pass& pass,
                                           const Options& options) const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::synthesis
