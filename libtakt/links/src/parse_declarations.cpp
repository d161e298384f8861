#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "takt/links/declarations.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/yaml/quantities.hpp"
#include "takt/yaml/read_yaml.hpp"

namespace takt::links {
namespace {

using model::Findings;
using model::ObjectReader;
using nlohmann::json;

class Reader {
 public:
  Reader(Findings& findings, std::string_view source) : findings_(findings), source_(source) {}

  Declarations read(const json& document) {
    ObjectReader object(document, "", findings_);
    if (const json* links = object.optional("links")) {
      object.for_each(*links, "links", [&](const json& element, const std::string& path) {
        ObjectReader entry(element, path, findings_);
        if (findings_.fault.empty()) read_entry(entry);
      });
    }
    declarations_.inferred.exclude = names(object, "exclude");
    declarations_.inferred.include = names(object, "include");
    return std::move(declarations_);
  }

 private:
  void read_entry(ObjectReader& entry) {
    if (const auto join = entry.optional_text("join")) {
      Declarations::Join& made = declarations_.joins.emplace_back();
      made.inputs = names(entry, "with");
      made.inputs.insert(made.inputs.begin(), *join);
      made.kind = kind(entry);
      made.where = where(entry);
      if (made.inputs.size() < 2) findings_.fail("{}.with: name the other inputs", entry.path());
    } else if (const auto denied = entry.optional_text("no_join")) {
      declarations_.joins.push_back(
          {.inputs = {*denied}, .is_denied = true, .where = where(entry)});
    } else if (const json* no_link = entry.optional("no_link")) {
      ObjectReader object(*no_link, entry.path_of("no_link"), findings_);
      if (findings_.fault.empty()) read_use(object, "from", true);
      object.warn_of_unknown();
    } else {
      read_use(entry, "uses", false);
    }
    entry.warn_of_unknown();
  }

  void read_use(ObjectReader& object, std::string_view topics, bool is_denied) {
    Declarations::Use& use = declarations_.uses.emplace_back();
    use.node =
        object.required_text("node", "the node of the callback; or write join, no_join or no_link");
    use.callback = object.text("callback");
    use.topics = names(object, topics);
    use.is_denied = is_denied;
    use.where = where(object);
    if (const auto period = object.optional_text("timer")) {
      use.timer = yaml::parse_time(*period);
      if (!use.timer) {
        findings_.fail("{}: \"{}\" is no period with its unit; write 100ms",
                       object.path_of("timer"), *period);
      }
    }
    if (!is_denied && !use.timer && use.callback.empty()) {
      findings_.fail("{}: say which callback uses them: timer: 100ms, or callback: NAME",
                     object.path());
    }
    if (use.topics.empty()) findings_.fail("{}: names no topic", object.path_of(topics));
  }

  Declarations::Join::Kind kind(ObjectReader& entry) {
    using enum Declarations::Join::Kind;
    const std::string text = entry.text("kind", "newest");
    for (const auto& [name, value] :
         {std::pair("newest", newest), std::pair("and", and_), std::pair("exact_time", exact_time),
          std::pair("approximate_time", approximate_time), std::pair("latest_time", latest_time)}) {
      if (text == name) return value;
    }
    findings_.fail("{}: \"{}\" is none of newest, and, exact_time, approximate_time, latest_time",
                   entry.path_of("kind"), text);
    return newest;
  }

  /// A text, or a list of texts.
  std::vector<std::string> names(ObjectReader& object, std::string_view name) {
    std::vector<std::string> found;
    const json* const value = object.optional(name);
    if (value == nullptr) return found;
    if (value->is_string()) return {value->get<std::string>()};
    object.for_each(*value, object.path_of(name), [&](const json& text, const std::string& path) {
      found.push_back(object.read_text(text, path));
    });
    return found;
  }

  [[nodiscard]] std::string where(const ObjectReader& object) const {
    return fmt::format("{}: {}", source_, object.path());
  }

  Findings& findings_;
  std::string_view source_;
  Declarations declarations_;
};

}  // namespace

Result<Declarations> parse_declarations(std::string_view text, std::string_view source) {
  const Result<json> document = yaml::read_yaml(text, "links, or a list of goals");
  if (!document) return error("{}: {}", source, document.error().message);
  Findings findings;
  Declarations declarations = Reader(findings, source).read(*document);
  if (!findings.fault.empty()) return error("{}: {}", source, findings.fault);
  if (!findings.warnings.empty()) return error("{}: {}", source, findings.warnings.front());
  return declarations;
}

}  // namespace takt::links
