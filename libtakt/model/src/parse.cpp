#include <algorithm>
#include <unordered_map>

#include "description.hpp"
#include "takt/base/try.hpp"
#include "takt/model/json.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/model/parse_document.hpp"
#include "takt/model/validate.hpp"

namespace takt::model {

namespace {

using nlohmann::json;

/// The ids of a list's elements, for references to them from anywhere in the document. If ids are
/// equal, the first element counts (validate() reports the others).
class Ids {
 public:
  Ids(const json& document, std::string_view list) {
    const auto elements = document.is_object() ? document.find(list) : document.end();
    if (elements == document.end() || !elements->is_array()) return;
    for (std::size_t i = 0; i < elements->size(); ++i) {
      const json& element = (*elements)[i];
      const auto id = element.is_object() ? element.find("id") : element.end();
      if (id != element.end() && id->is_string()) ids_.emplace(id->get<std::string>(), i);
    }
  }

  [[nodiscard]] std::optional<std::size_t> find(const std::string& id) const {
    const auto found = ids_.find(id);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  std::unordered_map<std::string, std::size_t> ids_;
};

/// The state that all readers of one document share.
struct Context {
  explicit Context(const json& document)
      : executors(document, "executors"),
        callbacks(document, "callbacks"),
        links(document, "links") {}

  Findings findings;
  Ids executors;
  Ids callbacks;
  Ids links;
};

/// Reads one object by its description.
class Reader {
 public:
  /// Unknown fields go to `unknown`, their names after `place`.
  Reader(const json& value, std::string path, UnknownFields& unknown, std::string place,
         Context& context)
      : object_(value, std::move(path), context.findings),
        unknown_(unknown),
        place_(std::move(place)),
        context_(context) {}

  /// `object` holds its defaults when this is called.
  template <typename T>
  void read(T& object) {
    if (failed()) return;
    describe(*this, object);
    object_.keep_unknown(unknown_, place_);
  }

  void type(std::string_view, std::string_view) {}

  void header(std::string_view format, std::int64_t version, std::string_view missing) {
    const std::string found = object_.required_text("format", missing);
    if (!failed() && found != format) {
      context_.findings.fail("format: \"{}\" is not {}", found, format);
    }
    object_.required("version", fmt::format("this version of takt reads version {}", version));
    const auto number = object_.integer("version");
    if (number && *number != version) {
      context_.findings.fail("version: {} is not supported; this version of takt reads version {}",
                             *number, version);
    }
  }

  void provenance(std::string_view name, std::string& text, const About&) {
    const json* member = object_.optional(name);
    if (member == nullptr) return;
    if (!member->is_object())
      context_.findings.fail("{}: must be an object", object_.path_of(name));
    text = member->dump();
  }

  template <typename T>
  void field(std::string_view name, T& value, const About& about) {
    if (failed()) return;
    const json* member =
        about.missing.empty() ? object_.optional(name) : object_.required(name, about.missing);
    if (member != nullptr) read_value(*member, object_.path_of(name), name, value);
  }

  template <typename T>
  void field_or(std::string_view name, T& value, const T& otherwise, const About& about) {
    value = otherwise;
    field(name, value, about);
  }

  template <typename... Alternatives>
  void one_of(std::variant<Alternatives...>& value,
              const std::array<std::string_view, sizeof...(Alternatives)>& names) {
    const std::string kind = object_.required_text("kind", in_words(names));
    const auto found = std::ranges::find(names, kind);
    if (found == names.end()) {
      return context_.findings.fail("{}: \"{}\" is none of {}", object_.path_of("kind"), kind,
                                    fmt::join(names, ", "));
    }
    const auto chosen = static_cast<std::size_t>(found - names.begin());
    std::size_t index = 0;
    const auto choose = [&]<typename Alternative>(const Alternative& defaults) {
      if (index++ == chosen) value = defaults;
    };
    (choose(Alternatives{}), ...);
    std::visit([&](auto& alternative) { describe(*this, alternative); }, value);
  }

 private:
  [[nodiscard]] bool failed() const { return !context_.findings.fault.empty(); }

  /// "a, b or c"
  static std::string in_words(std::span<const std::string_view> names) {
    return fmt::format("{} or {}", fmt::join(names.first(names.size() - 1), ", "), names.back());
  }

  void read_value(const json& value, const std::string& path, std::string_view, std::string& text) {
    text = object_.read_text(value, path);
  }
  void read_value(const json& value, const std::string& path, std::string_view,
                  std::int64_t& integer) {
    integer = object_.read_integer(value, path, "an integer");
  }
  void read_value(const json& value, const std::string& path, std::string_view, Duration& time) {
    time = object_.read_time(value, path);
  }
  void read_value(const json& value, const std::string& path, std::string_view,
                  ExecutorIndex& executor) {
    find(context_.executors, value, path, "executor", executor);
  }
  void read_value(const json& value, const std::string& path, std::string_view,
                  CallbackIndex& callback) {
    find(context_.callbacks, value, path, "callback", callback);
  }
  void read_value(const json& value, const std::string& path, std::string_view, LinkIndex& link) {
    find(context_.links, value, path, "link", link);
  }
  template <typename Kind>
  requires std::is_enum_v<Kind>
  void read_value(const json& value, const std::string& path, std::string_view, Kind& kind) {
    const std::string text = object_.read_text(value, path);
    if (failed()) return;
    const auto known = from_string<Kind>(text);
    if (known) {
      kind = *known;
    } else {
      context_.findings.fail("{}: \"{}\" is none of {}", path, text, all_names<Kind>());
    }
  }
  template <typename T>
  void read_value(const json& value, const std::string& path, std::string_view name,
                  std::optional<T>& optional) {
    read_value(value, path, name, optional.emplace());
  }
  template <typename T>
  void read_value(const json& value, const std::string& path, std::string_view name,
                  std::vector<T>& list) {
    object_.for_each(value, path, [&](const json& element, const std::string& element_path) {
      const std::string element_name = fmt::format("{}/{}", name, list.size());
      read_value(element, element_path, element_name, list.emplace_back());
    });
  }
  /// Reads a described object. If it cannot keep unknown fields, the object around it keeps them.
  template <typename T>
  void read_value(const json& value, const std::string& path, std::string_view name, T& object) {
    if constexpr (requires { object.unknown; }) {
      Reader(value, path, object.unknown, "", context_).read(object);
    } else {
      Reader(value, path, unknown_, fmt::format("{}{}/", place_, name), context_).read(object);
    }
  }

  template <typename Index>
  void find(const Ids& ids, const json& value, const std::string& path, std::string_view kind,
            Index& index) {
    const std::string id = object_.read_text(value, path);
    if (failed()) return;
    if (const auto found = ids.find(id)) {
      index = Index{*found};
    } else {
      context_.findings.fail("{}: there is no {} \"{}\"", path, kind, id);
    }
  }

  ObjectReader object_;
  UnknownFields& unknown_;
  std::string place_;
  Context& context_;
};

}  // namespace

Result<ParsedModel> parse(std::string_view text, std::string_view source) {
  const auto document = TAKT_TRY(parse_document(text, source));
  Context context(document);
  ParsedModel parsed;
  Reader(document, "", parsed.model.unknown, "", context).read(parsed.model);
  const Findings& findings = context.findings;
  if (!findings.fault.empty()) return error("{}: {}", source, findings.fault);
  TAKT_TRY(validate(parsed.model, source));
  for (const auto& warning : findings.warnings) {
    parsed.warnings.push_back(fmt::format("{}: {}", source, warning));
  }
  return parsed;
}

}  // namespace takt::model
