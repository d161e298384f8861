#pragma once

#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/events/event_stream.hpp"
#include "takt/execution/observer.hpp"
#include "takt/execution/pass.hpp"
#include "takt/links/declarations.hpp"
#include "takt/model/model.hpp"
#include "takt/synthesis/observations.hpp"

namespace takt::synthesis {

struct Options {
  std::string name = "recorded";
  /// A model whose chains (goals, ranks) and names of executors are taken over, and those of its
  /// joins with which the trace agrees.
  std::optional<model::Model> chains_from;
  /// A model whose supplies are taken over, by executor id, where the trace does not tell them.
  std::optional<model::Model> supplies_from;
  /// What people say of the links within nodes.
  std::optional<links::Declarations> links{};
};

/// Builds the timing model of what a trace shows (ros-llama S-4.4).
///
/// - Callbacks: the timers, subscriptions, services and clients that ran after start-up. Those that
///   ran only during start-up (parameter events, discovery) are left out and named in the
///   provenance.
/// - Execution times: thread processor time where recorded, else time from start to end.
/// - Edges: from the callback that published to the one that took the message, also from a caller
///   to the service and from there to the client's response; trigger sets keep callers apart.
///   Delays: the longest seen where the arrival of the message ended a wait.
/// - Activation: a timer's period; measured minimum distances for callbacks whose messages come
///   from outside of all callbacks; else derived from the edges.
/// - Trigger sets and joins: those with which the whole trace agrees.
class Synthesizer final : public execution::Observer {
 public:
  explicit Synthesizer(const Observing& observing = {}) : observations_(observing) {}

  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Database& database,
                      const execution::Publication& publication) override;
  void on_read(const execution::Database& database, const execution::Read& read) override;
  void on_late_source(const execution::Database& database, execution::InstanceId instance,
                      execution::PublicationId source) override;
  void on_steady_state(const execution::Database& database, Instant time) override;

  /// See Observations::forget().
  void forget() { observations_.forget(); }
  /// The executors of the model.
  [[nodiscard]] const execution::ExecutorFinder& executors() const {
    return observations_.executors();
  }
  /// The model of what was observed so far. Error: nothing ran.
  [[nodiscard]] Result<model::Model> model(const events::EventStream& source,
                                           const execution::Database& database,
                                           const execution::Pass& pass,
                                           const Options& options) const;

 private:
  /// Ids of the callbacks that ran during start-up or in earlier phases only.
  [[nodiscard]] std::vector<std::string> left_out(const execution::Objects& objects) const;

  Observations observations_;
};

}  // namespace takt::synthesis
