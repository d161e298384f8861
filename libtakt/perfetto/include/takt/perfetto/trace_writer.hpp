#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/events/event_stream.hpp"
#include "takt/execution/observer.hpp"

namespace takt::perfetto {

/// Writes what happened as a trace that ui.perfetto.dev and its trace processor open, in one pass
/// and in memory bounded by the number of objects.
///
/// - A track for each thread, a slice for each callback instance, named by node and topic or timer;
///   its argument cpu_time_ns, where recorded.
/// - A slice for each publication, named by the topic, within the callback that published.
/// - A flow, drawn as an arrow, for each message that a callback received, from the instant at
///   which it was sent to the callback.
/// - The scheduler's switches and wake-ups, if recorded, which give Perfetto its processor tracks
///   and the states of threads.
/// - What the trace lost, as instants of a track of their own.
class TraceWriter final : public execution::Observer {
 public:
  /// Begins the file. The source outlives the writer.
  TraceWriter(const std::filesystem::path& path, const events::EventStream& source);
  ~TraceWriter() override;

  /// Adds the scheduler's events of a batch. The interpreter reports all other events.
  void add(const events::Batch& batch);
  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Database& database,
                      const execution::Publication& publication) override;
  void on_late_source(const execution::Database& database, execution::InstanceId instance,
                      execution::PublicationId source) override;

  /// To be called after the last event: writes the instances that are still open, the warnings, and
  /// the rest of the file. Error: the file could not be written.
  [[nodiscard]] Result<void> finish(const execution::Database& database,
                                    const std::vector<std::string>& warnings);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::perfetto
