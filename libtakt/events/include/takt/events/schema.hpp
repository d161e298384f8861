#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "takt/events/event.hpp"

namespace takt::events {

using tracepoints::Phase;

struct Field {
  std::string_view name;
  FieldKind kind = FieldKind::number;
  /// Its place among the record's values, texts or lists; a gid has the next place, too.
  std::size_t position = 0;
};

/// Name and fields of an event type: the union over the ROS 2 distributions from Humble on
/// (message-flow 1.4), and Takt's own. Fields that a trace has beyond these are skipped.
struct Schema {
  EventType type;
  /// "ros2:callback_start".
  std::string name;
  Phase phase;
  std::vector<Field> fields;
  /// Whether there are fields that go into the payload.
  bool has_payload = false;
};

/// All schemas, in the order of EventType.
[[nodiscard]] std::span<const Schema> schemas();

[[nodiscard]] const Schema& schema(EventType type);

/// The type of an event by its full name, "ros2:callback_start".
[[nodiscard]] std::optional<EventType> event_type(std::string_view name);

}  // namespace takt::events
