#include "takt/synthesis/synthesizer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "builder.hpp"
#include "chains.hpp"
#include "observations.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/provenance.hpp"

namespace takt::synthesis {

class Synthesizer::Implementation {
 public:
  [[nodiscard]] std::vector<std::string> left_out() const;

  Observations observations_;
  const execution::Interpreter* interpreter_ = nullptr;
};

std::vector<std::string> Synthesizer::Implementation::left_out() const {
  std::vector<std::string> ids;
  const auto all = execution::callback_ids(interpreter_->objects());
  for (const CallbackIndex callback : observations_.in_start_up()) {
    if (observations_.callback(callback) == nullptr) {
      ids.push_back(all[callback.value()]);
    }
  }
  return ids;
}

Synthesizer::Synthesizer() : implementation_(std::make_unique<Implementation>()) {}

Synthesizer::~Synthesizer() = default;

void Synthesizer::watch(const execution::Interpreter& interpreter) {
  implementation_->interpreter_ = &interpreter;
}

void Synthesizer::on_instance(const execution::CallbackInstance& instance) {
  implementation_->observations_.add(*implementation_->interpreter_, instance);
}

void Synthesizer::on_publication(const execution::Publication& publication) {
  implementation_->observations_.add(*implementation_->interpreter_, publication);
}

void Synthesizer::on_steady_state(Instant time) { implementation_->observations_.restart(time); }

Result<model::Model> Synthesizer::model(const events::Source& source, const execution::Pass& pass,
                                        const Options& options) const {
  const execution::Interpreter& interpreter = *implementation_->interpreter_;
  const Observations& observations = implementation_->observations_;
  const auto steady_since = observations.steady_since();
  model::Model model = Builder(observations, interpreter, source.threads(),
                               pass.last - steady_since.value_or(pass.first),
                               options.chains_from ? &*options.chains_from : nullptr)
                           .build();
  if (model.callbacks.empty()) {
    return error(
        "{}: no callback ran in it{}; record rclcpp or Takt programs with the ros2 events, longer "
        "than their start-up, and start rclpy programs with 'takt record -- COMMAND', as probes do "
        "not see their callbacks",
        source.inputs().front().path, steady_since ? " after start-up" : "");
  }
  model.name = options.name;

  nlohmann::ordered_json provenance =
      execution::provenance(source, interpreter, pass, steady_since);
  provenance["losses"] = execution::losses(source.losses(), interpreter.anomalies());
  provenance["left_out"] = implementation_->left_out();
  provenance["warnings"] = execution::warnings(source, interpreter);
  if (options.chains_from) {
    provenance["chains_not_found"] = transfer(*options.chains_from, model);
  } else {
    add_maximal_chains(model);
    if (model.chains.size() == max_chains) {
      provenance["warnings"].push_back(
          fmt::format("the callback graph has more than the {} chains listed", max_chains));
    }
  }
  if (options.supplies_from) {
    for (model::Executor& executor : model.executors) {
      const auto& known = options.supplies_from->executors;
      const auto same = std::find_if(known.begin(), known.end(), [&](const model::Executor& other) {
        return other.id == executor.id;
      });
      if (same != known.end() && std::holds_alternative<model::DedicatedSupply>(executor.supply)) {
        executor.supply = same->supply;
      }
    }
  }
  // Names come from the traced programs: what is not UTF-8 is replaced, not an error.
  model.provenance =
      provenance.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return model;
}

}  // namespace takt::synthesis
