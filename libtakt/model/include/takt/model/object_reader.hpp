#pragma once

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.hpp"
#include "takt/model/model.hpp"
#include "takt/model/names.hpp"
#include "takt/time/time.hpp"

namespace takt::model {

/// What reading a document has found so far. Only the first fault is reported; after it, readers
/// yield defaults.
struct Findings {
  std::string fault;
  std::vector<std::string> warnings;

  template <typename... Args>
  void fail(fmt::format_string<Args...> format, Args&&... args) {
    if (fault.empty()) fault = fmt::format(format, std::forward<Args>(args)...);
  }
};

/// Reads the members of one JSON object and remembers which were asked for. `path` is its JSON
/// path.
class ObjectReader {
 public:
  ObjectReader(const nlohmann::json& value, std::string path, Findings& findings)
      : value_(value), path_(std::move(path)), findings_(findings) {
    if (value.is_object()) return;
    findings_.fail("{}: must be an object, is {}", path_.empty() ? "document" : path_,
                   value.type_name());
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  }

  /// The member, or nullptr if it is missing or null.
  const nlohmann::json* optional(std::string_view name) {
    known_.push_back(name);
    if (!value_.is_object()) return nullptr;
    const auto member = value_.find(name);
    return member == value_.end() || member->is_null() ? nullptr : &*member;
  }

  const nlohmann::json* required(std::string_view name, std::string_view meaning) {
    const nlohmann::json* member = optional(name);
    if (member == nullptr && value_.is_object()) {
      findings_.fail("{}: missing; {}", path_of(name), meaning);
    }
    return member;
  }

  std::string text(std::string_view name, std::string fallback = {}) {
    const nlohmann::json* member = optional(name);
    return member == nullptr ? std::move(fallback) : read_text(*member, path_of(name));
  }

  std::string required_text(std::string_view name, std::string_view meaning) {
    const nlohmann::json* member = required(name, meaning);
    return member == nullptr ? std::string{} : read_text(*member, path_of(name));
  }

  std::optional<std::string> optional_text(std::string_view name) {
    const nlohmann::json* member = optional(name);
    if (member == nullptr) return std::nullopt;
    return read_text(*member, path_of(name));
  }

  std::optional<std::int64_t> integer(std::string_view name) {
    const nlohmann::json* member = optional(name);
    if (member == nullptr) return std::nullopt;
    return read_integer(*member, path_of(name), "an integer");
  }

  std::optional<bool> boolean(std::string_view name) {
    const nlohmann::json* member = optional(name);
    if (member == nullptr) return std::nullopt;
    if (member->is_boolean()) return member->get<bool>();
    findings_.fail("{}: must be true or false, is {}", path_of(name), member->type_name());
    return std::nullopt;
  }

  std::optional<Duration> time(std::string_view name) {
    const nlohmann::json* member = optional(name);
    if (member == nullptr) return std::nullopt;
    return read_time(*member, path_of(name));
  }

  Duration required_time(std::string_view name, std::string_view meaning) {
    const nlohmann::json* member = required(name, meaning);
    return member == nullptr ? Duration{} : read_time(*member, path_of(name));
  }

  std::vector<Duration> times(const nlohmann::json& array, const std::string& path) {
    std::vector<Duration> values;
    for_each(array, path, [&](const nlohmann::json& element, const std::string& element_path) {
      values.push_back(read_time(element, element_path));
    });
    return values;
  }

  template <typename Kind>
  Kind kind(std::string_view name, Kind fallback) {
    const nlohmann::json* member = optional(name);
    if (member == nullptr) return fallback;
    const std::string text = read_text(*member, path_of(name));
    if (const auto known = from_string<Kind>(text)) return *known;
    findings_.fail("{}: \"{}\" is none of {}", path_of(name), text, all_names<Kind>());
    return fallback;
  }

  /// Calls read(element, path) for each element; a fault if it is no array.
  template <typename Read>
  void for_each(const nlohmann::json& array, const std::string& path, Read read) {
    if (!array.is_array()) {
      findings_.fail("{}: must be an array, is {}", path, array.type_name());
      return;
    }
    for (std::size_t i = 0; i < array.size() && findings_.fault.empty(); ++i) {
      read(array[i], fmt::format("{}[{}]", path, i));
    }
  }

  std::string read_text(const nlohmann::json& value, const std::string& path) {
    if (value.is_string()) return value.get<std::string>();
    findings_.fail("{}: must be a string, is {}", path, value.type_name());
    return {};
  }

  /// Keeps the members that were not asked for, under `prefix` and their names (see UnknownFields).
  void keep_unknown(UnknownFields& unknown, std::string_view prefix = "") {
    for_each_unknown([&](const std::string& name, const nlohmann::json& member) {
      findings_.warnings.push_back(
          fmt::format("{}: unknown field, kept but not used", path_of(name)));
      unknown[std::string(prefix) + escaped(name)] = member.dump();
    });
  }

  /// The same for documents that are not written again: only warns of these members.
  void warn_of_unknown() {
    for_each_unknown([&](const std::string& name, const nlohmann::json&) {
      findings_.warnings.push_back(fmt::format("{}: unknown field, not used", path_of(name)));
    });
  }

  std::int64_t read_integer(const nlohmann::json& value, const std::string& path,
                            std::string_view expected) {
    if (value.is_number_unsigned() &&
        value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
      findings_.fail("{}: {} is too large", path, value.dump());
      return 0;
    }
    if (value.is_number_integer()) return value.get<std::int64_t>();
    findings_.fail("{}: must be {}, is {}", path, expected,
                   value.is_number() ? value.dump() : value.type_name());
    return 0;
  }

  double read_number(const nlohmann::json& value, const std::string& path) {
    if (value.is_number()) {
      const double number = value.get<double>();
      if (std::isfinite(number)) return number;
    }
    findings_.fail("{}: must be a finite number, is {}", path,
                   value.is_number() ? value.dump() : value.type_name());
    return 0;
  }

  Duration read_time(const nlohmann::json& value, const std::string& path) {
    return Duration{read_integer(value, path, "an integer number of nanoseconds")};
  }

 private:
  template <typename Visit>
  void for_each_unknown(Visit visit) const {
    if (!value_.is_object()) return;
    for (const auto& [name, member] : value_.items()) {
      if (std::ranges::count(known_, name) == 0) visit(name, member);
    }
  }

  /// The name as a token of a JSON pointer.
  static std::string escaped(std::string_view name) {
    std::string token;
    for (const char c : name) {
      if (c == '~') {
        token += "~0";
      } else if (c == '/') {
        token += "~1";
      } else {
        token += c;
      }
    }
    return token;
  }

  const nlohmann::json& value_;
  std::string path_;
  Findings& findings_;
  std::vector<std::string_view> known_;  // string literals of the callers
};

}  // namespace takt::model
