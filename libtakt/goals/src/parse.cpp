#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "takt/goals/goals.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/yaml/quantities.hpp"
#include "takt/yaml/read_yaml.hpp"

namespace takt::goals {

namespace {

using model::Findings;
using model::ObjectReader;
using nlohmann::json;

/// The longest name of a node or a topic in ROS 2.
constexpr std::size_t longest_name = 255;

class GoalsReader {
 public:
  explicit GoalsReader(Findings& findings) : findings_(findings) {}

  Goals read(const json& document) {
    ObjectReader object(document, "", findings_);
    Goals goals;
    if (const auto period = time(object, "period")) goals.period = *period;
    if (const json* chains =
            object.required("chains", "list the goals, the most important first")) {
      object.for_each(*chains, "chains", [&](const json& element, const std::string& path) {
        ObjectReader chain(element, path, findings_);
        if (findings_.fault.empty()) goals.chains.push_back(read_goal(chain));
      });
      if (chains->is_array() && chains->empty()) findings_.fail("chains: lists no goal");
    }
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
    goal.estimator = object.text("estimator", "");
    if (!goal.estimator.empty()) read_node(goal.estimator, object.path_of("estimator"));
    object.warn_of_unknown();
    return goal;
  }

  /// Checks the name of a node and adds the leading slash.
  void read_node(std::string& node, const std::string& path) {
    const auto allowed = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '_' || c == '/';
    };
    if (node.size() > longest_name || !std::ranges::all_of(node, allowed)) {
      findings_.fail("{}: \"{}\" is no name of a node", path, node);
    }
    if (!node.starts_with('/')) node.insert(node.begin(), '/');
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
