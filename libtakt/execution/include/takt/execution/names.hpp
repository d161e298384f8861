#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "takt/execution/objects.hpp"

namespace takt::execution {

/// A C++ function's name as people read it: demangled, without template arguments, parameters and
/// the wrappers of std::bind. "Planner::Planner()::{lambda()#2}" → "Planner::Planner::lambda#2".
[[nodiscard]] std::string readable_symbol(std::string_view symbol);

/// A time with the unit that keeps it whole: "100ms", "12500us".
[[nodiscard]] std::string compact_duration(Duration duration);

/// A callback's name for people: that of its function; if that was not recorded, its node with the
/// topic, service or period; "unknown(0x…)" if nothing of it is known.
[[nodiscard]] std::string display_name(const Objects& objects, const Callback& callback);

/// Ids of callbacks that may still be registered. O(1) for each callback in all.
class CallbackIds {
 public:
  /// The id of a callback, which stays what it is at the first call. It is the id that
  /// callback_ids() gives if the callbacks registered before have their nodes by now.
  const std::string& of(const Objects& objects, ObservedCallbackIndex callback);

 private:
  void assign(const Objects& objects, std::size_t callback);

  std::vector<std::string> ids_;  // empty: not assigned
  std::unordered_map<std::string, int> used_;
};

/// Ids of all callbacks, in the order of Objects::callbacks: "/planner:timer-100ms",
/// "/planner:/robot/pose" (node:topic), unique by a suffix "#2", "#3" … in order of registration.
[[nodiscard]] std::vector<std::string> callback_ids(const Objects& objects);
/// The id without such a suffix.
[[nodiscard]] std::string_view without_number(std::string_view id);

/// The use of a topic or service that is no part of an application. `parameters` includes the
/// descriptions of types.
enum class Housekeeping { none, parameters, logging, clock };
[[nodiscard]] Housekeeping housekeeping_of(std::string_view name);

/// Whether a topic or service is one that every node has besides its own: parameters, type
/// descriptions, logging.
[[nodiscard]] bool is_infrastructure(std::string_view name);

/// Whether transforms between frames are sent on a topic. Each user of transforms stores all of
/// them, whichever it looks up.
[[nodiscard]] bool is_transform(std::string_view topic);
/// Whether the topic is a part of an action, whose client library keeps what it needs of it.
[[nodiscard]] bool is_of_action(std::string_view topic);
/// Whether nodes tell on the topic how they are (diagnostic_updater), whatever they receive.
[[nodiscard]] bool is_diagnosis(std::string_view topic);

}  // namespace takt::execution
