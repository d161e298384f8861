#pragma once

#include <memory>
#include <string>

#include "takt/events/source.hpp"
#include "takt/execution/instances.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/model/model.hpp"

namespace takt::flow {

/// Measures the callbacks and chains of a model in a trace.
///
/// Activation of a timer is its due time; of a message-driven callback the publication plus the
/// longest delay of the model's edge (but not after the message was taken); of one whose message is
/// not in the trace the start. Response time is completion minus activation; a chain's latency is
/// completion of its last minus activation of its first instance, linked by the messages that
/// triggered each. Where Fast DDS's moments were recorded, the way of an edge's messages is split
/// by them: from rmw_publish to dds:write, to dds:receive, to rmw_take. Start-up is left out
/// (Observer::on_steady_state).
class Measurement final : public execution::Observer {
 public:
  explicit Measurement(const model::Model& model);
  ~Measurement() override;

  /// The interpreter that this observes, before the first event.
  void watch(const execution::Interpreter& interpreter);

  void on_instance(const execution::CallbackInstance& instance) override;
  void on_dds_write(const execution::DdsMessage& message, Instant time) override;
  void on_dds_receive(const execution::DdsMessage& message, execution::ProcessIndex process,
                      Instant time) override;
  void on_late_source(execution::InstanceId instance, execution::PublicationId source) override;
  void on_steady_state(Instant time) override;

  /// The `takt/measurement` version 1 document.
  [[nodiscard]] std::string to_json(const events::Source& source, const execution::Pass& pass);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::flow
