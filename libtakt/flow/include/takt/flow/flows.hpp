#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/execution/observer.hpp"
#include "takt/flow/paths.hpp"
#include "takt/flow/store.hpp"
#include "takt/links/declarations.hpp"
#include "takt/links/evidence.hpp"
#include "takt/links/link.hpp"

namespace takt::flow {

struct FlowOptions {
  /// Where flows begin and end, by name (selection.hpp); none: at every source and every sink.
  std::optional<std::string> from;
  std::optional<std::string> to;
  /// Whether to list every instance.
  bool instances = false;
  /// Whether the document has the parts of the worst instances, which make up most of it.
  bool parts = true;
  /// The number of an instance (PathInstance) whose latency is reported in parts.
  std::optional<std::uint64_t> asked;
  Inference inference = Inference::on;
  /// The document names its callbacks. May be null; outlives the tracker.
  const model::Model* model = nullptr;
  /// Whether the model's joins are used for nodes whose programs declared no links.
  bool joins_of_model = true;
  /// What people say of the links within nodes.
  std::optional<links::Declarations> links{};
  /// How many rows are kept at once: runs, messages, and times that threads were off their
  /// processors. Flows that reach back over more than half of them are cut, and counted.
  std::uint64_t window = std::uint64_t{1} << 23;
};

/// Observes an execution to find the flows of its messages (message-flow 3.4 to 3.7). Memory is
/// bounded by the window, the number of paths and, if asked for, of listed instances.
class FlowTracker final : public execution::Observer {
 public:
  explicit FlowTracker(FlowOptions options);

  void on_instance(const execution::Database& database,
                   const execution::CallbackInstance& instance) override;
  void on_publication(const execution::Database& database,
                      const execution::Publication& publication) override;
  void on_take(const execution::Database& database, const execution::Take& take) override;
  void on_read(const execution::Database& database, const execution::Read& read) override;
  void on_dds_write(const execution::Database& database, const execution::DdsMessage& message,
                    Instant time) override;
  void on_dds_receive(const execution::Database& database, const execution::DdsMessage& message,
                      execution::ProcessIndex process, Instant time) override;
  void on_late_source(const execution::Database& database, InstanceId instance,
                      PublicationId source) override;
  void on_switch(const execution::Database& database, const execution::Occurrence& at,
                 const tracepoints::SchedSwitch& change) override;
  void on_wakeup(const execution::Database& database, const execution::Occurrence& at,
                 const tracepoints::SchedWakeup& wakeup) override;
  void on_steady_state(const execution::Database& database, Instant time) override;

  /// To be called after the last event. Error: nothing in the trace has a name of the options.
  [[nodiscard]] Result<void> finish(const execution::Database& database);

  [[nodiscard]] const FlowOptions& options() const { return options_; }
  /// Complete after finish().
  [[nodiscard]] const PathCollector& collected() const { return collector_; }
  [[nodiscard]] const std::vector<links::Link>& links() const { return links_; }
  /// A line for each declaration that has no effect.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] const links::Unknown& unknown() const { return unknown_; }
  [[nodiscard]] const Store& store() const { return store_; }
  [[nodiscard]] const ThreadStates& states() const { return states_; }
  /// Runs of which no flow was followed: they ended when those of their part of the recording had
  /// been followed, an eighth of the window after they began or later.
  [[nodiscard]] std::uint64_t runs_too_long() const { return runs_too_long_; }
  /// By host; the first is the reference.
  [[nodiscard]] const std::vector<HostClock>& clocks() const { return clocks_; }

 private:
  /// A moment of the recording.
  struct Mark {
    Store::Position rows;
    std::vector<std::uint64_t> times_off;  // ThreadStates::counts()
  };

  [[nodiscard]] bool is_made_of_messages(const execution::Objects& objects,
                                         execution::ObservedCallbackIndex callback) const;
  /// Follows the flows of what is older and forgets it, if the window is full.
  void make_room(const execution::Database& database);
  [[nodiscard]] Result<void> evaluate(const execution::Database& database, std::uint64_t end);

  FlowOptions options_;
  Store store_;
  ThreadStates states_;
  PathCollector collector_;
  links::Evidence evidence_;
  std::vector<links::Link> links_;
  std::vector<std::string> lines_;
  links::Unknown unknown_;
  std::vector<HostClock> clocks_;
  std::uint64_t next_ = 1;
  /// The moments since the oldest row at which another part of the window was full.
  std::deque<Mark> marks_;
  std::uint64_t runs_too_long_ = 0;
};

}  // namespace takt::flow
