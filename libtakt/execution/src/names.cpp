#include "takt/execution/names.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <utility>

namespace takt::execution {
namespace {

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) {
    return symbol;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? std::string(name.get()) : symbol;
}

/// "std::_Bind<void (Localizer::*(Localizer*, …))(…)>" → "Localizer::bound-method". The method's
/// own name is not in the type.
std::string unbind(const std::string& symbol) {
  const auto member = symbol.find("::*(");
  if (!symbol.starts_with("std::_Bind<") || member == std::string::npos) {
    return symbol;
  }
  const auto begin = symbol.find_last_of("( ", member) + 1;
  return symbol.substr(begin, member - begin) + "::bound-method";
}

/// Drops everything between the bracket and its partner, the brackets included. Operators with the
/// bracket's characters in their name are not told apart; the result is for people.
std::string without(std::string_view text, char open, char close) {
  std::string kept;
  int depth = 0;
  for (const char c : text) {
    if (c == open) {
      ++depth;
    } else if (c == close && depth > 0) {
      --depth;
    } else if (depth == 0) {
      kept += c;
    }
  }
  return kept;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string source_stem(const Objects& objects, const EventSource& source) {
  if (source.period.count() > 0) {
    return "rate-" + compact_duration(source.period);
  }
  const std::string topic = source.topic ? objects[*source.topic] : "";
  return topic + (source.is_opaque ? ":sender" : ":source");
}

std::string id_stem(const Objects& objects, const Callback& callback) {
  const std::string node = objects.node_name(callback);
  switch (callback.kind) {
    case CallbackKind::timer:
      return fmt::format("{}:timer-{}", node, compact_duration(objects[*callback.timer].period));
    case CallbackKind::subscription:
    case CallbackKind::service:
      return fmt::format("{}:{}", node, objects[*objects.topic_of(callback)]);
    case CallbackKind::client:
      return fmt::format("{}:{}:response", node, objects[*objects.topic_of(callback)]);
    case CallbackKind::waitable:
      return fmt::format("{}:waitable", node);
    case CallbackKind::event_source:
      return fmt::format("{}:{}", node, source_stem(objects, objects[*callback.event_source]));
    case CallbackKind::unknown:
      break;
  }
  return fmt::format("unknown(0x{:x})", callback.handle);
}

}  // namespace

std::string readable_symbol(std::string_view symbol) {
  const bool is_function =
      symbol.starts_with("_Z") || symbol.find_first_of("(<") != std::string_view::npos;
  if (!is_function) return std::string(symbol);  // a name that the program gave
  std::string name = without(unbind(demangle(std::string(symbol))), '<', '>');
  name = without(name, '(', ')');
  replace_all(name, "{lambda#", "lambda#");
  replace_all(name, "}", "");
  replace_all(name, " const", "");
  const auto last_space = name.rfind(' ');  // a return type
  return last_space == std::string::npos ? name : name.substr(last_space + 1);
}

std::string compact_duration(Duration duration) {
  constexpr std::array<std::pair<std::int64_t, const char*>, 3> units{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}}};
  for (const auto& [size, unit] : units) {
    if (duration.count() != 0 && duration.count() % size == 0) {
      return fmt::format("{}{}", duration.count() / size, unit);
    }
  }
  return fmt::format("{}ns", duration.count());
}

bool is_infrastructure(std::string_view name) {
  constexpr std::array<std::string_view, 9> ends{
      "/describe_parameters",  "/get_parameter_types",       "/get_parameters",
      "/list_parameters",      "/set_parameters_atomically", "/set_parameters",
      "/get_type_description", "/parameter_events",          "/rosout"};
  return std::any_of(ends.begin(), ends.end(),
                     [name](std::string_view end) { return name.ends_with(end); });
}

std::string display_name(const Objects& objects, const Callback& callback) {
  return callback.symbol.empty() ? id_stem(objects, callback) : readable_symbol(callback.symbol);
}

std::vector<std::string> callback_ids(const Objects& objects) {
  std::vector<std::string> ids;
  std::unordered_map<std::string, int> used;
  for (const Callback& callback : objects.callbacks) {
    const std::string stem = id_stem(objects, callback);
    const int count = ++used[stem];
    ids.push_back(count == 1 ? stem : fmt::format("{}#{}", stem, count));
  }
  return ids;
}

}  // namespace takt::execution
