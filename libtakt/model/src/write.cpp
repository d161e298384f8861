#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "description.hpp"
#include "takt/base/json_text.hpp"
#include "takt/model/json.hpp"

namespace takt::model {

namespace {

using Json = nlohmann::ordered_json;

/// The JSON value of a text; a text that is not JSON becomes a string.
Json parsed(const std::string& text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Json(text) : value;
}

/// Puts unknown fields where they were, or into the object itself if that place no longer exists.
void add_unknown(Json& object, const UnknownFields& unknown) {
  for (const auto& [name, text] : unknown) {
    const Json::json_pointer place("/" + name);
    const Json::json_pointer owner = place.parent_pointer();
    const bool stands = object.contains(owner) && object[owner].is_object();
    (stands ? object[owner] : object)[place.back()] = parsed(text);
  }
}

/// Writes one object by its description.
class Writer {
 public:
  explicit Writer(const Model& model) : model_(model) {}

  template <typename T>
  Json write(const T& object) {
    describe(*this, object);
    if constexpr (requires { object.unknown; }) add_unknown(json_, object.unknown);
    return std::move(json_);
  }

  void type(std::string_view, std::string_view) {}
  void header(std::string_view format, std::int64_t version, std::string_view) {
    json_["format"] = format;
    json_["version"] = version;
  }
  void provenance(std::string_view name, const std::string& text, const About&) {
    Json value = Json::parse(text, nullptr, false);
    json_[name] = value.is_object() ? std::move(value) : Json::object();
  }
  template <typename T>
  void field(std::string_view name, const T& value, const About&) {
    json_[name] = to_value(value);
  }
  template <typename T>
  void field_or(std::string_view name, const T& value, const T&, const About& about) {
    field(name, value, about);
  }
  template <typename... Alternatives>
  void one_of(const std::variant<Alternatives...>& value,
              const std::array<std::string_view, sizeof...(Alternatives)>& names) {
    json_["kind"] = names[value.index()];
    std::visit([&](const auto& alternative) { describe(*this, alternative); }, value);
  }

 private:
  Json to_value(const std::string& text) { return text; }
  Json to_value(std::int64_t integer) { return integer; }
  Json to_value(Duration time) { return time.count(); }
  Json to_value(ExecutorIndex executor) { return model_[executor].id; }
  Json to_value(CallbackIndex callback) { return model_[callback].id; }
  Json to_value(LinkIndex link) { return model_[link].id; }
  template <typename Kind>
  requires std::is_enum_v<Kind> Json to_value(const Kind& kind) { return to_string(kind); }
  template <typename T>
  Json to_value(const std::optional<T>& optional) {
    return optional ? to_value(*optional) : Json(nullptr);
  }
  template <typename T>
  Json to_value(const std::vector<T>& list) {
    Json array = Json::array();
    for (const T& element : list) array.push_back(to_value(element));
    return array;
  }
  template <typename T>
  Json to_value(const T& object) {
    return Writer(model_).write(object);
  }

  const Model& model_;
  Json json_ = Json::object();
};

}  // namespace

std::string to_json(const Model& model) { return document_text(Writer(model).write(model)); }

}  // namespace takt::model
