#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "takt/goals/goals.hpp"
#include "takt/model/names.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/yaml/names.hpp"
#include "takt/yaml/quantities.hpp"
#include "takt/yaml/read_yaml.hpp"

namespace takt::goals {

namespace {

using model::Findings;
using model::ObjectReader;
using nlohmann::json;

constexpr int most_percent = 1000;

class GoalsReader {
 public:
  explicit GoalsReader(Findings& findings) : findings_(findings) {}

  Goals read(const json& document) {
    ObjectReader object(document, "", findings_);
    Goals goals;
    if (const auto period = time(object, "period")) goals.period = *period;
    if (const auto tolerance = object.optional_text("tolerance")) {
      goals.tolerance = percent(*tolerance);
    }
    if (const json* chains =
            object.required("chains", "list the goals, the most important first")) {
      object.for_each(*chains, "chains", [&](const json& element, const std::string& path) {
        ObjectReader chain(element, path, findings_);
        if (findings_.fault.empty()) goals.chains.push_back(read_goal(chain));
      });
      if (chains->is_array() && chains->empty()) findings_.fail("chains: lists no goal");
    }
    for (const auto* of_links : {"links", "exclude", "include"}) object.optional(of_links);
    object.warn_of_unknown();
    return goals;
  }

 private:
  Goal read_goal(ObjectReader& object) {
    Goal goal;
    goal.from = object.required_text("from", "where the chain begins: a topic, node or callback");
    goal.to = object.required_text("to", "where the chain ends: a topic, node or callback");
    goal.name = object.text("name", fmt::format("{} -> {}", goal.from, goal.to));
    if (!names_.insert(goal.name).second) {
      findings_.fail("{}: another chain is called \"{}\" too", object.path_of("name"), goal.name);
    }
    if (const json* via = object.optional("via")) {
      if (via->is_string()) {
        goal.via.push_back(via->get<std::string>());
      } else {
        object.for_each(*via, object.path_of("via"),
                        [&](const json& name, const std::string& path) {
                          goal.via.push_back(object.read_text(name, path));
                        });
      }
    }
    object.required("latency", "the longest time that is good enough, such as 125ms");
    if (const auto latency = time(object, "latency")) goal.latency = *latency;
    if (const auto end = object.optional_text("end")) {
      if (*end == "publication" || *end == "completion") {
        goal.end = *end == "publication" ? End::publication : End::completion;
      } else {
        findings_.fail(
            "{}: \"{}\" is no end; write publication (of the last message) or completion (of the "
            "last callback)",
            object.path_of("end"), *end);
      }
    }
    if (const auto kind = object.optional_text("kind")) {
      const auto known = model::from_string<model::GoalKind>(*kind);
      if (!known) {
        findings_.fail("{}: \"{}\" is no kind of goal; write {}", object.path_of("kind"), *kind,
                       model::all_names<model::GoalKind>());
      }
      goal.kind = known.value_or(model::GoalKind::latency);
    }
    if (const auto estimator = object.optional_text("estimator")) {
      const auto node = yaml::parse_node(*estimator);
      if (!node) {
        findings_.fail("{}: \"{}\" is no name of a node", object.path_of("estimator"), *estimator);
      }
      goal.estimator = node.value_or("");
    }
    object.warn_of_unknown();
    return goal;
  }

  std::optional<double> percent(std::string_view text) {
    double value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault == std::errc{} && end == text.data() + text.size() && value >= 0 &&
        value <= most_percent) {
      return value;
    }
    findings_.fail("tolerance: \"{}\" is no number of percent from 0 to {}", text, most_percent);
    return std::nullopt;
  }

  std::optional<Duration> time(ObjectReader& object, std::string_view name) {
    const std::optional<std::string> text = object.optional_text(name);
    if (!text || !findings_.fault.empty()) return std::nullopt;
    const std::optional<Duration> value = yaml::parse_time(*text);
    if (!value) {
      findings_.fail("{}: \"{}\" is no time above 0 with its unit; write 125ms, 0.5s or 800us",
                     object.path_of(name), *text);
    }
    return value;
  }

  Findings& findings_;
  std::set<std::string> names_;
};

}  // namespace

Result<ParsedGoals> parse(std::string_view text, std::string_view source) {
  const Result<json> document = yaml::read_yaml(text, "a list of goals");
  if (!document) return error("{}: {}", source, document.error().message);
  Findings findings;
  Goals goals = GoalsReader(findings).read(*document);
  if (!findings.fault.empty()) return error("{}: {}", source, findings.fault);
  for (std::string& warning : findings.warnings) warning = fmt::format("{}: {}", source, warning);
  return ParsedGoals{std::move(goals), std::move(findings.warnings)};
}

}  // namespace takt::goals
