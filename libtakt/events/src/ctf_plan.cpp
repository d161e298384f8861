#include "ctf_plan.hpp"

#include <algorithm>
#include <utility>

#include "clock.hpp"

namespace takt::events::ctf {
namespace {

using Kind = Type::Kind;

// LTTng has far fewer. The limits keep the tables of events by id small.
constexpr std::uint64_t max_event_id = 65535;
constexpr std::size_t max_table_size = 1 << 18;  // of all streams

bool is_whole_bytes(const Type& type) {
  return type.kind == Kind::integer && type.align == 8 && !type.is_big_endian &&
         (type.size == 8 || type.size == 16 || type.size == 32 || type.size == 64);
}

/// Big-endian integers that are not whole bytes are not decoded here.
bool is_supported(const Type* type) {
  if (type == nullptr) {
    return true;
  }
  if (type->kind == Kind::integer && type->is_big_endian &&
      (type->size % 8 != 0 || type->align % 8 != 0)) {
    return false;
  }
  return is_supported(type->element.get()) &&
         std::ranges::all_of(type->members,
                             [](const Member& member) { return is_supported(member.type.get()); });
}

HeaderKind header_kind(const Type* header) {
  if (header == nullptr || header->kind != Kind::structure || header->members.size() != 2 ||
      header->align != 8) {
    return HeaderKind::other;
  }
  const Type& id = *header->members[0].type;
  const Type& rest = *header->members[1].type;
  if (header->members[0].name != "id" || id.kind != Kind::integer || id.is_signed ||
      rest.kind != Kind::variant || rest.members.size() != 2 || rest.choices.size() != 2 ||
      rest.slot != header->members[0].slot) {
    return HeaderKind::other;
  }
  const auto has = [&rest](std::size_t option, std::size_t member, const char* name,
                           std::uint32_t size, std::uint32_t align) {
    const Type& structure = *rest.members[option].type;
    if (structure.kind != Kind::structure || structure.members.size() <= member) {
      return false;
    }
    const Member& found = structure.members[member];
    return found.name == name && found.type->kind == Kind::integer && found.type->size == size &&
           found.type->align == align && !found.type->is_signed &&
           found.type->is_clock == (found.name == "timestamp");
  };
  const auto selects = [&rest](std::size_t choice, std::int64_t lo, std::int64_t hi) {
    return rest.choices[choice].lo == lo && rest.choices[choice].hi == hi &&
           rest.choices[choice].option == choice;
  };
  const bool extends = rest.members[0].type->members.size() == 1 &&
                       rest.members[1].type->members.size() == 2 && has(1, 0, "id", 32, 8) &&
                       has(1, 1, "timestamp", 64, 8);
  if (extends && id.size == 5 && id.align == 1 && has(0, 0, "timestamp", 27, 1) &&
      selects(0, 0, 30) && selects(1, 31, 31)) {
    return HeaderKind::compact;
  }
  if (extends && id.size == 16 && id.align == 8 && has(0, 0, "timestamp", 32, 8) &&
      selects(0, 0, 65534) && selects(1, 65535, 65535)) {
    return HeaderKind::large;
  }
  return HeaderKind::other;
}

std::optional<FixedContext> fixed_context(const Type* context) {
  FixedContext fixed;
  if (context == nullptr) {
    return fixed;
  }
  if (context->align != 8) {
    return std::nullopt;
  }
  for (const Member& member : context->members) {
    const Type& type = *member.type;
    if (is_whole_bytes(type)) {
      const FixedNumber number{fixed.size, static_cast<std::uint8_t>(type.size / 8), type.is_signed,
                               0};
      if (member.name == "vpid") {
        fixed.process = number;
      } else if (member.name == "pid_ns") {
        fixed.name_space = number;
      } else if (member.name == "vtid") {
        fixed.thread = number;
      } else if (member.name == "cpu_id") {
        fixed.processor = number;
      }
      fixed.size += type.size / 8;
    } else if (type.kind == Kind::array && is_whole_bytes(*type.element) &&
               type.element->size == 8 && type.length <= 4096) {
      if (member.name == "procname") {
        fixed.name_offset = fixed.size;
        fixed.name_size = static_cast<std::uint32_t>(type.length);
      }
      fixed.size += static_cast<std::uint32_t>(type.length);
    } else {
      return std::nullopt;
    }
    if (member.slot >= 0) {
      return std::nullopt;
    }
  }
  return fixed;
}

/// Whether the type of a trace can fill the field.
bool fits(FieldKind kind, const Type& type) {
  const bool is_list = type.kind == Kind::array || type.kind == Kind::sequence;
  const bool holds_integers = is_list && type.element->kind == Kind::integer;
  switch (kind) {
    case FieldKind::number:
    case FieldKind::handle:
      return type.kind == Kind::integer;
    case FieldKind::gid:
    case FieldKind::list:
      return holds_integers;
    case FieldKind::text:
      return type.kind == Kind::string ||
             (holds_integers && type.element->size == 8 && type.element->is_text);
  }
  return false;
}

void plan_fields(const Type& fields, EventPlan& plan) {
  plan.align = fields.align;
  for (const Member& member : fields.members) {
    plan.fields.push_back({member.type.get(), member.slot, std::nullopt, 0});
  }
  if (!plan.type) {
    return;
  }
  const Schema& known = schema(*plan.type);
  for (const Field& field : known.fields) {
    for (std::size_t i = 0; i < fields.members.size(); ++i) {
      if (fields.members[i].name == field.name && fits(field.kind, *fields.members[i].type)) {
        plan.fields[i].kind = field.kind;
        plan.fields[i].position = field.position;
      }
    }
  }
  plan.has_payload = known.has_payload;
}

void plan_fixed(const Type& fields, EventPlan& plan) {
  std::uint32_t size = 0;
  std::vector<FixedNumber> numbers;
  if (fields.align > 8) {
    return;
  }
  for (const FieldPlan& field : plan.fields) {
    if (!is_whole_bytes(*field.type) || field.slot >= 0) {
      return;
    }
    const auto bytes = static_cast<std::uint8_t>(field.type->size / 8);
    if (field.kind) {
      numbers.push_back(
          {size, bytes, field.type->is_signed, static_cast<std::uint8_t>(field.position)});
    }
    size += bytes;
  }
  plan.numbers = std::move(numbers);
  plan.fixed_size = size;
}

}  // namespace

const StreamPlan* TracePlan::stream(std::uint64_t id) const {
  for (const StreamPlan& plan : streams) {
    if (plan.id == id) {
      return &plan;
    }
  }
  return nullptr;
}

Result<TracePlan> plan_decoding(Metadata metadata, bool foreign) {
  TracePlan plan;
  plan.metadata = std::move(metadata);
  if (!is_supported(plan.metadata.packet_header.get())) {
    return error("big-endian bit fields");
  }
  if (plan.metadata.clock && plan.metadata.clock->frequency != ClockScale::nanoseconds_per_second) {
    return error("a clock that does not count nanoseconds");
  }
  for (const StreamClass& stream : plan.metadata.streams) {
    for (const Type* type :
         {stream.packet_context.get(), stream.event_header.get(), stream.event_context.get()}) {
      if (!is_supported(type) || (type != nullptr && type->kind != Kind::structure)) {
        return error("a header or context that is no structure of known types");
      }
    }
    StreamPlan made;
    made.id = stream.id;
    made.packet_context = stream.packet_context.get();
    made.header = stream.event_header.get();
    made.context = stream.event_context.get();
    made.header_kind = header_kind(made.header);
    made.fixed_context = fixed_context(made.context);
    plan.streams.push_back(std::move(made));
  }
  std::size_t table_size = 0;
  for (const EventClass& event : plan.metadata.events) {
    const auto stream = std::ranges::find(plan.streams, event.stream_id, &StreamPlan::id);
    if (stream == plan.streams.end() || event.id > max_event_id) {
      return error("event {}: its stream is not described, or its id is out of range", event.name);
    }
    for (const Type* type : {event.context.get(), event.fields.get()}) {
      if (!is_supported(type) || (type != nullptr && type->kind != Kind::structure)) {
        return error("event {}: fields that are no structure of known types", event.name);
      }
    }
    EventPlan made;
    made.name = event.name;
    made.type = event_type(event.name);
    made.context = event.context.get();
    if (!made.type && foreign) {
      made.type = EventType::foreign;
      made.foreign = event.fields.get();
      made.has_payload = true;
    } else if (event.fields) {
      plan_fields(*event.fields, made);
      if (!event.context) {
        plan_fixed(*event.fields, made);
      }
    } else if (!event.context) {
      made.fixed_size = 0;
    }
    if (event.id >= stream->events.size()) {
      table_size += event.id + 1 - stream->events.size();
      if (table_size > max_table_size) {
        return error("event {}: the ids of events are too far apart", event.name);
      }
      stream->events.resize(event.id + 1);
    }
    stream->events[event.id] = std::move(made);
  }
  return plan;
}

}  // namespace takt::events::ctf
