#include "takt/analysis/bounds.hpp"

#include <nlohmann/json.hpp>

#include "takt/base/json_or_null.hpp"
#include "takt/base/json_text.hpp"
#include "takt/model/names.hpp"

namespace takt::analysis {

namespace {

using Json = nlohmann::ordered_json;

template <typename Bound>
Json list(const std::vector<Bound>& bounds);

Json write(const CallbackBound& callback) {
  return {{"id", callback.id},
          {"bound", or_null(callback.bound)},
          {callback.bound ? "by" : "reason", callback.bound ? callback.by : callback.reason}};
}

Json write(const LinkBound& hop) {
  return {{"link", hop.link},
          {"from", hop.from},
          {"topic", hop.topic},
          {"to", hop.to},
          {"bound", or_null(hop.bound)},
          {hop.bound ? "by" : "reason", hop.bound ? hop.by : hop.reason}};
}

Json write(const Bounds::Unexplored& executor) {
  return {{"executor", executor.executor}, {"reason", executor.reason}};
}

Json write(const Segment& segment) {
  Json object{{"executor", segment.executor},
              {"callbacks", segment.callbacks},
              {"bound", or_null(segment.bound)}};
  if (segment.bound) object["by"] = segment.by;
  if (segment.delay > Duration{0}) object["delay"] = segment.delay.count();
  if (segment.sampling > Duration{0}) object["sampling"] = segment.sampling.count();
  return object;
}

Json write(const ChainBound& chain) {
  const auto met = chain.met();
  Json object{{"id", chain.id},
              {"bound", or_null(chain.bound)},
              {"goal", or_null(chain.goal)},
              {"kind", model::to_string(chain.kind)},
              {"met", met ? Json(*met) : Json(nullptr)}};
  if (!chain.bound) object["reason"] = chain.reason;
  object["reaction_time"] = or_null(chain.reaction_time);
  if (!chain.reaction_time) object["reaction_time_reason"] = chain.reaction_time_reason;
  object["data_age"] = or_null(chain.data_age);
  if (!chain.data_age) object["data_age_reason"] = chain.data_age_reason;
  object["segments"] = list(chain.segments);
  return object;
}

template <typename Bound>
Json list(const std::vector<Bound>& bounds) {
  Json array = Json::array();
  for (const Bound& bound : bounds) array.push_back(write(bound));
  return array;
}

}  // namespace

std::string Bounds::to_json() const {
  Json document{
      {"format", "takt/bounds"},
      {"version", 1},
      {"analysis", analysis},
      {"converged", converged},
      {"seconds", seconds},
      {"provenance", {{"tool", "takt analyze"}, {"model", model}, {"horizon", horizon.count()}}},
      {"steps", steps},
      {"coarse", coarse},
      {"unexplored", list(unexplored)},
      {"depends_on_phases", depends_on_phases},
      {"queueing_joins", queueing_joins},
      {"full_queues", full_queues},
      {"callbacks", list(callbacks)},
      {"chains", list(chains)}};
  if (!links.empty()) document["links"] = list(links);
  return document_text(document);
}

}  // namespace takt::analysis
