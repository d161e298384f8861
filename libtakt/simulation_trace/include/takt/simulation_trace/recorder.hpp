#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/simulation/observer.hpp"
#include "takt/simulation/options.hpp"

/// A simulated run as a recording: what `takt record` would have written if `takt run` had run the
/// model as it was simulated.
namespace takt::simulation_trace {

/// Writes a trace while a simulation runs. Its memory does not grow with time.
class Recorder final : public simulation::Observer {
 public:
  /// Begins a trace in the directory. The model and the options outlive the recorder. Errors: a
  /// model that no program of ROS 2 could behave as, or one with links; a directory that cannot be
  /// written.
  [[nodiscard]] static Result<std::unique_ptr<Recorder>> create(
      const model::Model& model, const simulation::Options& options,
      const std::filesystem::path& directory);
  ~Recorder() override;

  simulation::MessageTag on_outside(Instant now, model::CallbackIndex callback) override;
  void on_release(model::CallbackIndex callback, Instant activation, Instant origin) override;
  void on_input(std::size_t edge, simulation::MessageTag message, bool completes) override;
  void on_decision(Instant now, simulation::ThreadId thread, bool polls, bool chosen) override;
  void on_start(Instant now, simulation::ThreadId thread,
                const simulation::StartedInstance& instance) override;
  simulation::MessageTag on_send(Instant now, simulation::ThreadId thread,
                                 std::size_t edge) override;
  void on_end(Instant now, simulation::ThreadId thread) override;

  /// Writes what is buffered. Errors: something could not be written.
  [[nodiscard]] Result<void> finish();
  /// Lines about what the model has and the recording cannot say.
  [[nodiscard]] const std::vector<std::string>& warnings() const;

 private:
  class Implementation;
  explicit Recorder(std::unique_ptr<Implementation> implementation);

  std::unique_ptr<Implementation> implementation_;
};

}  // namespace takt::simulation_trace
