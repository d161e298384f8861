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

/// Whether the demangled symbol cannot be much longer than the symbol. Names come from the traced
/// programs. A reference ("S1_", "T_") repeats a part, which may hold references itself, and a pack
/// expansion ("Dp", "sp", "sZ", "sP") repeats its pattern: 300 characters can stand for gigabytes.
/// Looks for the characters alone, also within identifiers, so it may refuse a harmless symbol.
bool is_bounded(std::string_view symbol) {
  constexpr std::size_t longest = 1024;
  constexpr int most = 16;
  constexpr int pack = 6;  // references within a pack are repeated for each of its elements
  if (symbol.size() > longest) {
    return false;
  }
  int repetitions = 0;
  for (std::size_t i = 0; i + 1 < symbol.size(); ++i) {
    const std::string_view pair = symbol.substr(i, 2);
    if (pair == "Dp" || pair == "sp" || pair == "sZ" || pair == "sP") {
      repetitions += pack;
    } else if (symbol[i] == 'S' || symbol[i] == 'T') {
      const auto end = symbol.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1);
      repetitions += end != std::string_view::npos && symbol[end] == '_' ? 1 : 0;
    }
  }
  return repetitions <= most;
}

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z") || !is_bounded(symbol)) {
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

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string replaced;
  for (auto at = text.find(from); at != std::string_view::npos; at = text.find(from)) {
    replaced.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return replaced.append(text);
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
  name = replace_all(name, "{lambda#", "lambda#");
  name = replace_all(name, "}", "");
  name = replace_all(name, " const", "");
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

Housekeeping housekeeping_of(std::string_view name) {
  constexpr std::array<std::string_view, 8> parameters{
      "/describe_parameters",  "/get_parameter_types",       "/get_parameters",
      "/list_parameters",      "/set_parameters_atomically", "/set_parameters",
      "/get_type_description", "/parameter_events"};
  const auto ends = [name](std::string_view end) { return name.ends_with(end); };
  if (std::ranges::any_of(parameters, ends)) {
    return Housekeeping::parameters;
  }
  if (ends("/rosout")) {
    return Housekeeping::logging;
  }
  return name == "/clock" ? Housekeeping::clock : Housekeeping::none;
}

bool is_infrastructure(std::string_view name) {
  const Housekeeping use = housekeeping_of(name);
  return use == Housekeeping::parameters || use == Housekeeping::logging;
}

bool is_transform(std::string_view topic) {
  return topic.ends_with("/tf") || topic.ends_with("/tf_static");
}

bool is_of_action(std::string_view topic) {
  return topic.find("/_action/") != std::string_view::npos;
}

bool is_diagnosis(std::string_view topic) { return topic.ends_with("/diagnostics"); }

std::string display_name(const Objects& objects, const Callback& callback) {
  return callback.symbol.empty() ? id_stem(objects, callback) : readable_symbol(callback.symbol);
}

void CallbackIds::assign(const Objects& objects, std::size_t callback) {
  if (const auto& goes_on_as = objects.callbacks[callback].continues) {
    ids_[callback] = of(objects, *goes_on_as);
    return;
  }
  std::string id = id_stem(objects, objects.callbacks[callback]);
  const int count = ++used_[id];
  if (count > 1) {
    id += fmt::format("#{}", count);
  }
  ids_[callback] = std::move(id);
}

const std::string& CallbackIds::of(const Objects& objects, ObservedCallbackIndex callback) {
  // Callbacks that were registered before get their numbers first, as far as they are described.
  while (ids_.size() <= callback.value()) {  // what one goes on as may be assigned on the way
    const std::size_t i = ids_.size();
    ids_.emplace_back();
    if (objects.node_of(objects.callbacks[i])) assign(objects, i);
  }
  if (ids_[callback.value()].empty()) {
    assign(objects, callback.value());
  }
  return ids_[callback.value()];
}

std::vector<std::string> callback_ids(const Objects& objects) {
  CallbackIds ids;
  std::vector<std::string> all;
  for (std::size_t i = 0; i < objects.callbacks.size(); ++i) {
    all.push_back(ids.of(objects, ObservedCallbackIndex(i)));
  }
  return all;
}

std::string_view without_number(std::string_view id) {
  const std::size_t mark = id.rfind('#');
  const bool is_number = mark != std::string_view::npos && mark + 1 < id.size() &&
                         id.find_first_not_of("0123456789", mark + 1) == std::string_view::npos;
  return is_number ? id.substr(0, mark) : id;
}

}  // namespace takt::execution
