#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "takt/base/json_text.hpp"
#include "takt/goals/goals.hpp"
#include "takt/goals/parse_time.hpp"
#include "takt/model/object_reader.hpp"

namespace takt::goals {

namespace {

using model::Findings;
using model::ObjectReader;
using nlohmann::json;

constexpr std::size_t largest_document = std::size_t{1} << 20;
constexpr std::size_t most_values = 100'000;
constexpr std::size_t deepest_nesting = 16;

/// The text with U+FFFD for every byte that is no UTF-8.
std::string as_utf8(const std::string& text) { return json::parse(json_text(text)); }

/// A YAML value as JSON, in which every scalar is a string. Counts values and their bytes, as
/// aliases may stand for far more of them than the text shows, without end if one stands for what
/// it is in. Null once there is a fault.
class Conversion {
 public:
  json convert(const YAML::Node& node, std::size_t depth = 0) {
    if (++values_ > most_values || bytes_ > largest_document || depth > deepest_nesting)
      fault = "too many values, or too deep; it is not a list of goals";
    if (!fault.empty() || node.IsNull()) return nullptr;
    if (node.IsScalar()) return text(node);
    json result = node.IsMap() ? json::object() : json::array();
    for (const auto& member : node) {
      if (!node.IsMap()) {
        result.push_back(convert(member, depth + 1));
        continue;
      }
      const std::string key = member.first.IsScalar() ? text(member.first) : "";
      if (!fault.empty()) return nullptr;
      if (result.contains(key)) fault = fmt::format("the field \"{}\" is there twice", key);
      result[key] = convert(member.second, depth + 1);
    }
    return result;
  }

  std::string fault;

 private:
  std::string text(const YAML::Node& scalar) {
    const std::string& text = scalar.Scalar();
    bytes_ += text.size();
    if (as_utf8(text) != text) {
      fault = fmt::format("line {}: a text that is not UTF-8", scalar.Mark().line + 1);
    }
    return text;
  }

  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

Result<json> read_yaml(std::string_view text) {
  if (text.size() > largest_document) return error("larger than 1 MiB; it is not a list of goals");
  try {
    Conversion conversion;
    json document = conversion.convert(YAML::Load(std::string(text)));
    if (!conversion.fault.empty()) return error("{}", conversion.fault);
    return document;
  } catch (const YAML::Exception& fault) {
    // The message may quote the first byte of a character alone.
    return error("line {}, column {}: not valid YAML: {}", fault.mark.line + 1,
                 fault.mark.column + 1, as_utf8(fault.msg));
  }
}

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
    warn_of_unknown(object);
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
    warn_of_unknown(object);
    return goal;
  }

  std::optional<Duration> time(ObjectReader& object, std::string_view name) {
    const std::optional<std::string> text = object.optional_text(name);
    if (!text || !findings_.fault.empty()) return std::nullopt;
    const std::optional<Duration> value = parse_time(*text);
    if (!value) {
      findings_.fail("{}: \"{}\" is no time above 0 with its unit; write 125ms, 0.5s or 800us",
                     object.path_of(name), *text);
    }
    return value;
  }

  void warn_of_unknown(ObjectReader& object) {
    // Unlike those of a model they are not written again.
    const std::size_t warnings = findings_.warnings.size();
    model::UnknownFields unknown;
    object.keep_unknown(unknown);
    findings_.warnings.resize(warnings);
    for (const auto& [name, value] : unknown) {
      findings_.warnings.push_back(
          fmt::format("{}: unknown field, not used", object.path_of(name)));
    }
  }

  Findings& findings_;
  std::set<std::string> names_;
};

}  // namespace

Result<ParsedGoals> parse(std::string_view text, std::string_view source) {
  const Result<json> document = read_yaml(text);
  if (!document) return error("{}: {}", source, document.error().message);
  Findings findings;
  Goals goals = GoalsReader(findings).read(*document);
  if (!findings.fault.empty()) return error("{}: {}", source, findings.fault);
  for (std::string& warning : findings.warnings) warning = fmt::format("{}: {}", source, warning);
  return ParsedGoals{std::move(goals), std::move(findings.warnings)};
}

}  // namespace takt::goals
