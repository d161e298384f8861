#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "description.hpp"
#include "takt/curves/activation_curve.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/json.hpp"

namespace takt::model {

namespace {

using Json = nlohmann::ordered_json;

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// Makes the schema of one object from its description, and of the objects within it.
class Schema {
 public:
  explicit Schema(Json& definitions) : definitions_(definitions) {}

  /// `defaults`: an object as its constructor makes it.
  template <typename T>
  Json of(const T& defaults) {
    describe(*this, defaults);
    if (!required_.empty()) json_["required"] = required_;
    if (!properties_.empty()) json_["properties"] = properties_;
    return std::move(json_);
  }

  [[nodiscard]] const std::string& name() const { return name_; }

  void type(std::string_view name, std::string_view text) {
    name_ = name;
    json_["title"] = name;
    json_["description"] = text;
    json_["type"] = "object";
  }
  void header(std::string_view format, std::int64_t version, std::string_view) {
    add("format", {{"const", format}}, true);
    add("version", {{"const", version}}, true);
  }
  void provenance(std::string_view name, const std::string&, const About& about) {
    add(name,
        {{"description", about.text}, {"type", {"object", "null"}}, {"default", Json::object()}},
        false);
  }
  template <typename T>
  void field(std::string_view name, const T& value, const About& about) {
    add_field(name, value, about, true);
  }
  /// The default is another field's value, and so not in the schema.
  template <typename T>
  void field_or(std::string_view name, const T& value, const T&, const About& about) {
    add_field(name, value, about, false);
  }
  template <typename... Alternatives>
  void one_of(const std::variant<Alternatives...>&,
              const std::array<std::string_view, sizeof...(Alternatives)>& names) {
    Json references = Json::array();
    std::size_t next = 0;
    (references.push_back(alternative(Alternatives{}, names[next++])), ...);
    json_.erase("type");
    json_["oneOf"] = references;
  }

 private:
  void add(std::string_view name, Json schema, bool required) {
    if (required) required_.push_back(name);
    properties_[name] = std::move(schema);
  }

  template <typename T>
  void add_field(std::string_view name, const T& value, const About& about, bool has_default) {
    const bool required = !about.missing.empty();
    Json schema{{"description", about.text}};
    schema.update(of_value(value, about));
    if (!required) allow_null(schema);
    if constexpr (requires { default_of(value); }) {
      if (!required && has_default) schema["default"] = default_of(value);
    }
    add(name, std::move(schema), required);
  }

  static void allow_null(Json& schema) {
    if (schema.contains("$ref")) {
      schema["oneOf"] = {{{"$ref", schema["$ref"]}}, {{"type", "null"}}};
      schema.erase("$ref");
    } else if (schema.contains("enum")) {
      schema["enum"].push_back(nullptr);
    } else {
      schema["type"] = {schema["type"], "null"};
    }
  }

  static Json default_of(const std::string& text) { return text; }
  static Json default_of(std::int64_t integer) { return integer; }
  static Json default_of(Duration time) { return time.count(); }
  static Json default_of(const Supply&) { return {{"kind", dedicated}}; }
  template <typename T>
  static Json default_of(const std::vector<T>&) {
    return Json::array();
  }
  template <typename Kind>
  requires std::is_enum_v<Kind>
  static Json default_of(const Kind& kind) { return to_string(kind); }

  static Json of_value(const std::string&, const About& about) {
    Json schema{{"type", "string"}};
    if (about.nonempty) schema["minLength"] = 1;
    return schema;
  }
  static Json of_value(ExecutorIndex, const About&) { return reference_by_id("Executor"); }
  static Json of_value(CallbackIndex, const About&) { return reference_by_id("Callback"); }
  static Json of_value(LinkIndex, const About&) { return reference_by_id("Link"); }
  static Json of_value(std::int64_t, const About& about) {
    using Limits = std::numeric_limits<std::int64_t>;
    return {{"type", "integer"},
            {"minimum", about.least.value_or(Limits::min())},
            {"maximum", about.most.value_or(Limits::max())}};
  }
  static Json of_value(Duration, const About& about) {
    return {{"type", "integer"},
            {"unit", "ns"},
            {"minimum", about.least.value_or(0)},
            {"maximum", curves::longest_time.count()}};
  }
  template <typename Kind>
  requires std::is_enum_v<Kind>
  static Json of_value(const Kind&, const About&) {
    Json names = Json::array();
    for (const std::string_view name : list_names<Kind>()) names.push_back(name);
    return {{"enum", names}};
  }
  template <typename T>
  Json of_value(const std::optional<T>&, const About& about) {
    return of_value(T{}, about);
  }
  template <typename T>
  Json of_value(const std::vector<T>&, const About& about) {
    Json schema{{"type", "array"}, {"items", of_value(T{}, about)}};
    if (!about.first_is_zero.empty()) schema["prefixItems"] = {{{"const", 0}}};
    if (about.shortest > 0) schema["minItems"] = about.shortest;
    if (std::same_as<T, Duration> || std::same_as<T, std::int64_t> || std::same_as<T, Slot> ||
        std::same_as<T, SlotTable::Entry>) {
      schema["maxItems"] = curves::most_values;
    }
    if (about.unique) schema["uniqueItems"] = true;
    return schema;
  }
  template <typename T>
  Json of_value(const T& object, const About&) {
    Schema inner(definitions_);
    Json schema = inner.of(object);
    definitions_[inner.name()] = std::move(schema);
    return {{"$ref", "#/$defs/" + inner.name()}};
  }

  static Json reference_by_id(std::string_view type) {
    return {{"type", "string"}, {"minLength", 1}, {"id_of", type}};
  }

  template <typename T>
  Json alternative(const T& defaults, std::string_view kind) {
    Schema inner(definitions_);
    inner.add("kind", {{"const", kind}}, true);
    Json schema = inner.of(defaults);
    definitions_[inner.name()] = std::move(schema);
    return {{"$ref", "#/$defs/" + inner.name()}};
  }

  Json& definitions_;
  Json json_ = Json::object();
  std::string name_;
  Json required_ = Json::array();
  Json properties_ = Json::object();
};

}  // namespace

std::string schema() {
  Json definitions = Json::object();
  Json document{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                {"$id", "takt/model/1"}};
  document.update(Schema(definitions).of(Model{}));
  document["$defs"] = definitions;
  return document.dump(2) + "\n";
}

}  // namespace takt::model
