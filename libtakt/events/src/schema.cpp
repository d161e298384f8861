#include "takt/events/schema.hpp"

#include <unordered_map>

namespace takt::events {
namespace {

Schema make_schema(EventType type) {
  const auto& tracepoint = tracepoints::of(type);
  Schema schema{type, tracepoints::full_name(type), tracepoint.phase, {}, false};
  RecordSize size;
  for (std::size_t i = 0; i < tracepoint.field_count; ++i) {
    const FieldKind kind = field_kind(tracepoint.fields[i].kind);
    schema.fields.push_back({tracepoint.fields[i].name, kind, size.position(kind)});
    size.add(kind);
  }
  schema.has_payload = size.texts + size.lists != 0;
  return schema;
}

}  // namespace

std::span<const Schema> schemas() {
  static const auto table = [] {
    std::vector<Schema> made;
    for (std::size_t i = 0; i < event_type_count; ++i) {
      made.push_back(make_schema(static_cast<EventType>(i)));
    }
    return made;
  }();
  return table;
}

const Schema& schema(EventType type) { return schemas()[static_cast<std::size_t>(type)]; }

std::optional<EventType> event_type(std::string_view name) {
  static const auto types = [] {
    std::unordered_map<std::string_view, EventType> map;
    for (const Schema& entry : schemas()) {
      map.emplace(entry.name, entry.type);
    }
    return map;
  }();
  const auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace takt::events
