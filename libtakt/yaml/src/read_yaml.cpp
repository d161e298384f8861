#include "takt/yaml/read_yaml.hpp"

#include <yaml-cpp/yaml.h>

#include <nlohmann/json.hpp>
#include <string>

#include "takt/base/json_text.hpp"

namespace takt::yaml {

namespace {

using nlohmann::json;

constexpr std::size_t largest_document = std::size_t{1} << 20;
constexpr std::size_t most_values = 100'000;
constexpr std::size_t deepest_nesting = 16;

/// The text with U+FFFD for every byte that is no UTF-8.
std::string as_utf8(const std::string& text) { return json::parse(json_text(text)); }

/// Counts values and their bytes: aliases may stand for far more of them than the text shows, even
/// for infinitely many if an alias contains itself. Yields null once there is a fault.
class Conversion {
 public:
  explicit Conversion(std::string_view what) : what_(what) {}

  json convert(const YAML::Node& node, std::size_t depth = 0) {
    if (++values_ > most_values || bytes_ > largest_document || depth > deepest_nesting)
      fault = fmt::format("too many values, or too deep; it is not {}", what_);
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

  std::string_view what_;
  std::size_t values_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<json> read_yaml(std::string_view text, std::string_view what) {
  if (text.size() > largest_document) return error("larger than 1 MiB; it is not {}", what);
  try {
    Conversion conversion(what);
    json document = conversion.convert(YAML::Load(std::string(text)));
    if (!conversion.fault.empty()) return error("{}", conversion.fault);
    return document;
  } catch (const YAML::Exception& fault) {
    // The message may quote the first byte of a character alone.
    return error("line {}, column {}: not valid YAML: {}", fault.mark.line + 1,
                 fault.mark.column + 1, as_utf8(fault.msg));
  }
}

}  // namespace takt::yaml
