#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/execution/provenance.hpp"
#include "takt/live/monitor.hpp"
#include "takt/model/labels.hpp"
#include "takt/model/names.hpp"

namespace takt::live {

namespace {

using Json = nlohmann::ordered_json;

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

Json chain_entry(const model::Chain& chain, const analysis::ChainBound& bound,
                 const ChainWindow& measured, Duration window) {
  const ChainWindow::Figures figures = measured.figures();
  const auto number = [&](Duration value) {
    return figures.count == 0 ? Json() : Json(value.count());
  };
  return {{"id", chain.id},
          {"rate", static_cast<double>(figures.count) / seconds(window)},
          {"count", figures.count},
          {"p50", number(figures.p50)},
          {"p99", number(figures.p99)},
          {"max", number(figures.max)},
          {"total", measured.total()},
          {"worst", measured.total() == 0 ? Json() : Json(measured.worst().count())},
          {"end", chain.end_topic ? "publication" : "completion"},
          {"kind", model::to_string(chain.kind)},
          {"bound", or_null(bound.bound)},
          {"goal", or_null(chain.goal)},
          {"missed", measured.missed()}};
}

}  // namespace

nlohmann::ordered_json to_json(const std::vector<Alert>& alerts) {
  Json list = Json::array();
  for (const Alert& alert : alerts) {
    list.push_back({{"kind", to_string(alert.kind)},
                    {"chain", alert.chain},
                    {"since", alert.since.time_since_epoch().count()}});
  }
  return list;
}

std::string Monitor::to_json() const {
  Json document{
      {"format", "takt/watch"},
      {"version", 1},
      {"backend", capture::to_string(options_.tracer)},
      {"seconds", pass_.events == 0 ? 0 : seconds(pass_.last - pass_.first)},
      {"window", options_.window.count()},
      {"events", pass_.events},
      {"lost", {{"events", losses().discarded_events}, {"programs", losses().discarded_packets}}},
      {"chains", Json::array()},
      {"executors", Json::array()},
      {"alerts", live::to_json(alerts())},
      {"unseen", execution::unseen(stream_->threads(), database(), "watch")},
      {"goals_not_found", Json::array()}};
  if (model_) {
    // A window that began before the first event is not over yet.
    const Duration seen = std::max(Duration{1}, now_ - pass_.first);
    const Duration window = std::min(options_.window, seen);
    for (std::size_t c = 0; c < model_->chains.size(); ++c) {
      document["chains"].push_back(
          chain_entry(model_->chains[c], bounds_.chains[c], chains()[c], window));
    }
    const auto running = threads();
    const std::vector<std::string> labels = model::executor_labels(*model_);
    for (std::size_t e = 0; e < model_->executors.size(); ++e) {
      document["executors"].push_back({{"id", model_->executors[e].id},
                                       {"name", labels[e]},
                                       {"process", running[e].process},
                                       {"threads", running[e].threads},
                                       {"busy", running[e].busy}});
    }
    for (const MissingGoal& goal : missing_) {
      document["goals_not_found"].push_back({{"name", goal.name}, {"reason", goal.reason}});
    }
  }
  return json_text(document) + "\n";
}

}  // namespace takt::live
