#include "ctf_stream.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <ranges>
#include <utility>

#include "takt/events/utf8.hpp"

namespace takt::events::ctf {
namespace {

using Kind = Type::Kind;

constexpr auto longest_clock = static_cast<std::uint64_t>(longest_time.count());

void append_quoted(std::string_view text, std::string& json) {
  std::string valid;
  append_utf8(text, valid);
  json += '"';
  for (const char c : valid) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", c);
    } else {
      json += c;
    }
  }
  json += '"';
}

}  // namespace

void Chunk::clear() {
  events.clear();
  payloads.clear();
  threads.clear();
  counts.clear();
  losses = {};
  payload_bytes = 0;
  is_full = false;
  repeated_packets = 0;
  processors = 0;
  is_last = false;
  part.reset();
}

Stream::Stream(const TraceContext& trace, std::span<const std::uint8_t> bytes, std::string name)
    : trace_(trace),
      bytes_(bytes),
      name_(std::move(name)),
      slots_(static_cast<std::size_t>(trace.plan->metadata.slots)) {}

void Stream::add_fault(std::string_view reason, std::uint64_t bytes) {
  StreamLosses fault;
  fault.unreadable_bytes = bytes;
  fault.faults.push_back(fmt::format("{}: {}; {} bytes from byte {} on could not be read", name_,
                                     reason, bytes, packet_begin_));
  chunk_->losses += fault;
}

void Stream::give_up_packet(std::string_view reason) {
  add_fault(reason, cursor_.remaining() / 8);
  in_packet_ = false;
  packet_begin_ = packet_end_;
}

void Stream::give_up_stream(std::string_view reason, std::uint64_t bytes) {
  add_fault(reason, bytes);
  in_packet_ = false;
  packet_begin_ = packet_end_ = bytes_.size();
}

std::optional<std::uint64_t> Stream::length_of(const Type& type) const {
  if (type.kind == Kind::array) {
    return type.length;
  }
  // Each element takes at least a bit, so a longer sequence cannot be there.
  const std::uint64_t length = slots_[static_cast<std::size_t>(type.slot)];
  return length > cursor_.remaining() ? std::nullopt : std::optional(length);
}

template <typename Visitor>
bool Stream::walk(const Type& type, const std::string& name, int slot, Visitor& visitor) {
  switch (type.kind) {
    case Kind::integer: {
      std::uint64_t value = 0;
      if (!cursor_.read(type, value)) {
        return false;
      }
      if (slot >= 0) {
        slots_[static_cast<std::size_t>(slot)] = value;
      }
      visitor(name, type, value);
      return true;
    }
    case Kind::floating:
      return cursor_.align(type.align) && cursor_.skip(type.size);
    case Kind::string:
      return read_text(type, nullptr);
    case Kind::structure:
      return cursor_.align(type.align) &&
             std::all_of(type.members.begin(), type.members.end(), [&](const Member& member) {
               return walk(*member.type, member.name, member.slot, visitor);
             });
    case Kind::array:
    case Kind::sequence: {
      const auto length = length_of(type);
      if (!length || !cursor_.align(type.align)) {
        return false;
      }
      const Type& element = *type.element;
      if (element.kind == Kind::integer && element.size % element.align == 0) {
        return *length <= cursor_.remaining() / element.size &&
               cursor_.skip(*length * element.size);
      }
      for (std::uint64_t i = 0; i < *length; ++i) {
        const std::uint64_t before = cursor_.position();
        if (!walk(element, name, -1, visitor)) {
          return false;
        }
        if (cursor_.position() == before) {
          return true;  // elements without content
        }
      }
      return true;
    }
    case Kind::variant: {
      const auto tag = static_cast<std::int64_t>(slots_[static_cast<std::size_t>(type.slot)]);
      for (const Choice& choice : type.choices) {
        if (choice.lo <= tag && tag <= choice.hi) {
          const Member& option = type.members[choice.option];
          return walk(*option.type, option.name, -1, visitor);
        }
      }
      return false;
    }
  }
  return false;
}

bool Stream::skip(const Type& type, int slot) {
  auto ignore = [](const std::string&, const Type&, std::uint64_t) {};
  static const std::string no_name;
  return walk(type, no_name, slot, ignore);
}

bool Stream::read_packet_header(Cursor& cursor, std::uint64_t& stream_id,
                                std::optional<std::uint64_t>& instance) {
  const Type* const header = trace_.plan->metadata.packet_header.get();
  if (header == nullptr) {
    return true;
  }
  cursor_ = cursor;
  bool is_valid = true;
  auto visitor = [&](const std::string& name, const Type&, std::uint64_t value) {
    if (name == "magic") {
      is_valid = value == packet_magic;
    } else if (name == "stream_id") {
      stream_id = value;
    } else if (name == "stream_instance_id") {
      instance = value;
    }
  };
  const bool complete = walk(*header, {}, -1, visitor);
  cursor = cursor_;
  return complete && is_valid;
}

void Stream::read_packet_context(Cursor& cursor) {
  packet_ = {};
  if (plan_->packet_context == nullptr) {
    return;
  }
  cursor_ = cursor;
  auto visitor = [&](const std::string& name, const Type& type, std::uint64_t value) {
    if (name == "timestamp_begin") {
      packet_.counters.begin = value;
    } else if (name == "content_size") {
      packet_.content_size = value;
    } else if (name == "packet_size") {
      packet_.packet_size = value;
    } else if (name == "packet_seq_num") {
      packet_.counters.sequence = value;
    } else if (name == "events_discarded") {
      packet_.counters.discarded = value;
      packet_.counters.discarded_bits = type.size;
    } else if (name == "cpu_id") {
      packet_.processor = value;
    }
  };
  if (!walk(*plan_->packet_context, {}, -1, visitor)) {
    packet_.content_size = 1;  // too short for its own header: refused by the caller
  }
  cursor = cursor_;
}

bool Stream::open_packet() {
  const std::uint64_t left = bytes_.size() - packet_begin_;
  if (left == 0) {
    return false;
  }
  Cursor cursor(bytes_.data() + packet_begin_, left * 8);
  std::uint64_t stream_id = 0;
  std::optional<std::uint64_t> instance;
  if (!read_packet_header(cursor, stream_id, instance)) {
    give_up_stream("no packet begins here", left);
    return false;
  }
  const StreamPlan* const plan = trace_.plan->stream(stream_id);
  if (plan == nullptr || (plan_ != nullptr && plan_ != plan)) {
    give_up_stream(fmt::format("a packet of an unknown stream {}", stream_id), left);
    return false;
  }
  plan_ = plan;
  chunk_->counts.resize(plan_->events.size());
  read_packet_context(cursor);
  if (packet_.packet_size == 0) {
    packet_.packet_size = left * 8;
  }
  if (packet_.content_size == 0) {
    packet_.content_size = packet_.packet_size;
  }
  if (packet_.content_size < cursor.position() || packet_.packet_size < packet_.content_size ||
      packet_.packet_size % 8 != 0) {
    give_up_stream("a packet with a size that cannot be", left);
    return false;
  }
  if (left_out_.contains(packet_begin_)) {
    ++chunk_->repeated_packets;
    packet_begin_ += std::min(packet_.packet_size / 8, left);
    return true;
  }
  if (part_) {
    chunk_->losses += lost_between(part_->last, packet_.counters);
    part_->last = packet_.counters;
  } else {
    part_ = StreamPart{trace_.plan->metadata.uuid, stream_id, instance, packet_.counters,
                       packet_.counters};
  }
  set_processor(packet_.processor);
  clock_ = packet_.counters.begin;
  packet_end_ = packet_begin_ + packet_.packet_size / 8;
  cursor_ = cursor;
  if (packet_end_ > bytes_.size() || packet_end_ < packet_begin_) {
    const std::uint64_t available = left * 8;
    if (packet_.content_size > available && !trace_.shorter.contains(name_)) {
      add_fault("the file ends in the middle of a packet",
                std::min(packet_.content_size, packet_.packet_size) / 8 - left);
    }
    packet_end_ = bytes_.size();
    packet_.content_size = std::min(packet_.content_size, available);
  }
  cursor_.shorten(packet_.content_size);
  in_packet_ = true;
  return true;
}

std::optional<Stream::Packet> Stream::next_packet() {
  Chunk ignored;
  chunk_ = &ignored;
  part_.reset();
  if (!open_packet()) return std::nullopt;
  const Packet packet{packet_begin_, packet_.content_size, *part_};
  in_packet_ = false;
  packet_begin_ = packet_end_;
  return packet;
}

void Stream::read(Chunk& chunk) {
  chunk.clear();
  chunk_ = &chunk;
  if (plan_ != nullptr) {
    chunk.counts.resize(plan_->events.size());
  }
  const std::uint64_t begin = packet_begin_;
  const auto has_room = [&chunk] { return chunk.events.size() < most_events && !chunk.is_full; };
  while (has_room() && packet_begin_ - begin < chunk_bytes) {
    if (!in_packet_ && !open_packet()) {
      chunk.is_last = true;
      chunk.part = part_;
      break;
    }
    const std::uint64_t end = cursor_.position() + std::min(cursor_.remaining(), 8 * chunk_bytes);
    while (in_packet_ && cursor_.position() < end && has_room()) {
      decode_event();
    }
    if (in_packet_ && !cursor_.at_end()) {
      break;  // the next chunk goes on in the packet
    }
    if (in_packet_) {
      in_packet_ = false;
      packet_begin_ = packet_end_;
    }
  }
  chunk.plan = plan_;
  chunk.position = packet_begin_;
  chunk.decoded = packet_begin_ + (in_packet_ ? cursor_.position() / 8 : 0);
}

void Stream::update_clock(std::uint64_t value, std::uint32_t bits) {
  if (bits >= 64) {
    clock_ = value;
    return;
  }
  const std::uint64_t wrap = std::uint64_t{1} << bits;
  const std::uint64_t next = (clock_ & ~(wrap - 1)) | value;
  clock_ = next < clock_ ? next + wrap : next;
}

bool Stream::decode_other_header(std::uint64_t& id) {
  if (plan_->header == nullptr) {
    return false;
  }
  auto visitor = [&](const std::string& name, const Type& type, std::uint64_t value) {
    if (type.is_clock) {
      update_clock(value, type.size);
    } else if (name == "id") {
      id = value;
    }
  };
  return walk(*plan_->header, {}, -1, visitor);
}

bool Stream::decode_header(std::uint64_t& id) {
  constexpr std::uint64_t large_size = 6;
  constexpr std::uint64_t compact_size = 4;
  constexpr std::uint16_t large_escape = 65535;
  constexpr std::uint32_t compact_escape = 31;
  if (plan_->header_kind == HeaderKind::other) {
    return decode_other_header(id);
  }
  if (!cursor_.is_on_byte() && !cursor_.align(8)) {
    return false;
  }
  if (plan_->header_kind == HeaderKind::large && cursor_.remaining() >= 8 * large_size) {
    std::uint16_t short_id = 0;
    std::memcpy(&short_id, cursor_.byte(), sizeof short_id);
    if (short_id != large_escape) {
      std::uint32_t time = 0;
      std::memcpy(&time, cursor_.byte() + sizeof short_id, sizeof time);
      update_clock(time, 32);
      id = short_id;
      return cursor_.skip(8 * large_size);
    }
  } else if (plan_->header_kind == HeaderKind::compact && cursor_.remaining() >= 8 * compact_size) {
    std::uint32_t word = 0;
    std::memcpy(&word, cursor_.byte(), sizeof word);
    if ((word & compact_escape) != compact_escape) {
      update_clock(word >> 5, 27);
      id = word & compact_escape;
      return cursor_.skip(8 * compact_size);
    }
  }
  return decode_other_header(id);
}

std::uint64_t Stream::number(const FixedNumber& number) const {
  const std::uint8_t* const bytes = cursor_.byte() + number.offset;
  const auto load = [bytes, &number]<typename Unsigned, typename Signed>(Unsigned value, Signed) {
    std::memcpy(&value, bytes, sizeof value);
    return number.is_signed ? static_cast<std::uint64_t>(std::int64_t{static_cast<Signed>(value)})
                            : std::uint64_t{value};
  };
  switch (number.bytes) {
    case 1:
      return load(std::uint8_t{}, std::int8_t{});
    case 2:
      return load(std::uint16_t{}, std::int16_t{});
    case 4:
      return load(std::uint32_t{}, std::int32_t{});
    default:
      return load(std::uint64_t{}, std::int64_t{});
  }
}

void Stream::set_processor(std::uint64_t processor) {
  event_.cpu = static_cast<std::uint16_t>(std::min(processor, largest_processor));
}

void Stream::set_thread(ProcessId process, std::int64_t thread, std::string_view name) {
  auto& threads = chunk_->threads;
  const auto same = [=](const Chunk::Thread& known) {
    return known.id == thread && known.process == process;
  };
  // Mostly this is the thread of the event before.
  std::size_t position = event_.thread.value();
  if (position >= threads.size() || !same(threads[position]) || threads[position].name != name) {
    const auto newest = std::ranges::find_if(std::views::reverse(threads), same);
    position = static_cast<std::size_t>(threads.rend() - newest) - 1;
    if (newest == threads.rend() || newest->name != name) {
      position = threads.size();
      threads.push_back({process, thread, std::string(name)});
      chunk_->is_full = chunk_->is_full || threads.size() == Chunk::most_threads;
    }
  }
  event_.thread = ThreadIndex(position);
}

/// `is_known`: the event is of a known type. The contexts of others are skipped, so that events
/// that nobody sees add no threads.
bool Stream::decode_context(bool is_known) {
  ProcessId process(trace_.process_id, trace_.name_space);
  if (const auto& fixed = plan_->fixed_context) {
    if (!cursor_.align(8) || 8 * std::uint64_t{fixed->size} > cursor_.remaining()) {
      return false;
    }
    if (!is_known) {
      return cursor_.skip(8 * std::uint64_t{fixed->size});
    }
    if (fixed->processor) {
      set_processor(number(*fixed->processor));
    }
    if (fixed->process) {
      process.number = static_cast<std::int64_t>(number(*fixed->process));
    }
    if (fixed->name_space) {
      process.name_space = number(*fixed->name_space);
    }
    const std::int64_t thread =
        fixed->thread ? static_cast<std::int64_t>(number(*fixed->thread)) : process.number;
    std::string_view name = trace_.process_name;
    if (fixed->name_offset) {
      const auto* const begin = reinterpret_cast<const char*>(cursor_.byte()) + *fixed->name_offset;
      name = {begin, strnlen(begin, fixed->name_size)};
    }
    set_thread(process, thread, name);
    return cursor_.skip(8 * std::uint64_t{fixed->size});
  }
  if (!is_known) {
    return skip(*plan_->context, -1);
  }
  std::optional<std::int64_t> thread;
  std::string name = trace_.process_name;
  if (!cursor_.align(plan_->context->align)) {
    return false;
  }
  for (const Member& member : plan_->context->members) {
    auto visitor = [&](const std::string& field, const Type&, std::uint64_t value) {
      if (field == "vpid") {
        process.number = static_cast<std::int64_t>(value);
      } else if (field == "pid_ns") {
        process.name_space = value;
      } else if (field == "vtid") {
        thread = static_cast<std::int64_t>(value);
      } else if (field == "cpu_id") {
        set_processor(value);
      }
    };
    const bool is_text = member.name == "procname" && member.type->kind != Kind::integer;
    if (is_text ? !read_text(*member.type, &name)
                : !walk(*member.type, member.name, member.slot, visitor)) {
      return false;
    }
  }
  set_thread(process, thread.value_or(process.number), name);
  return true;
}

bool Stream::decode_fixed(const EventPlan& plan) {
  if (!cursor_.is_on_byte() && !cursor_.align(plan.align)) {
    return false;
  }
  if (8 * std::uint64_t{*plan.fixed_size} > cursor_.remaining()) {
    return false;
  }
  for (const FixedNumber& field : plan.numbers) {
    event_.values[field.value] = number(field);
  }
  return cursor_.skip(8 * std::uint64_t{*plan.fixed_size});
}

bool Stream::read_text(const Type& type, std::string* text) {
  if (type.kind == Kind::string) {
    if (!cursor_.align(8)) {
      return false;
    }
    const auto* const begin = reinterpret_cast<const char*>(cursor_.byte());
    const std::uint64_t most = cursor_.remaining() / 8;
    const std::uint64_t length = strnlen(begin, most);
    if (length == most) {
      return false;  // the text does not end in the packet
    }
    if (text != nullptr) {
      text->assign(begin, length);
    }
    return cursor_.skip(8 * (length + 1));
  }
  const bool is_characters = (type.kind == Kind::array || type.kind == Kind::sequence) &&
                             type.element->kind == Kind::integer && type.element->size == 8;
  const auto length = is_characters ? length_of(type) : std::nullopt;
  if (!is_characters || !length) {
    return is_characters ? false : skip(type, -1);
  }
  if (!cursor_.align(std::max(type.align, 8u)) || *length > cursor_.remaining() / 8) {
    return false;
  }
  if (text != nullptr) {
    const auto* const begin = reinterpret_cast<const char*>(cursor_.byte());
    text->assign(begin, strnlen(begin, *length));
  }
  return cursor_.skip(8 * *length);
}

bool Stream::read_list(const Type& type, const FieldPlan& field, Payload& payload) {
  const auto length = length_of(type);
  if (!length || !cursor_.align(type.align)) {
    return false;
  }
  for (std::uint64_t i = 0; i < *length; ++i) {
    std::uint64_t value = 0;
    if (!cursor_.read(*type.element, value)) {
      return false;
    }
    if (field.kind == FieldKind::gid && i < 16) {
      event_.values[field.position + i / 8] |= (value & 0xff) << (56 - 8 * (i % 8));
    } else if (field.kind == FieldKind::list && i < longest_list) {
      payload.lists[field.position].push_back(value);
    }
  }
  if (field.kind == FieldKind::list) {
    chunk_->losses.cut_elements += *length - std::min(*length, longest_list);
  }
  return true;
}

bool Stream::decode_field(const FieldPlan& field, Payload& payload) {
  if (!field.kind) {
    return skip(*field.type, field.slot);
  }
  switch (*field.kind) {
    case FieldKind::number:
    case FieldKind::handle: {
      std::uint64_t value = 0;
      if (!cursor_.read(*field.type, value)) {
        return false;
      }
      if (field.slot >= 0) {
        slots_[static_cast<std::size_t>(field.slot)] = value;
      }
      event_.values[field.position] = value;
      return true;
    }
    case FieldKind::text:
      return read_text(*field.type, &payload.texts[field.position]);
    case FieldKind::gid:
    case FieldKind::list:
      return read_list(*field.type, field, payload);
  }
  return false;
}

bool Stream::append_json_list(const Type& type, std::string& json) {
  const auto length = length_of(type);
  if (!length || !cursor_.align(type.align)) {
    return false;
  }
  json += '[';
  for (std::uint64_t i = 0; i < *length; ++i) {
    const std::uint64_t before = cursor_.position();
    json += i == 0 ? "" : ",";
    if (!append_json(*type.element, -1, json)) {
      return false;
    }
    if (cursor_.position() == before) {
      break;  // elements without content
    }
  }
  json += ']';
  return true;
}

bool Stream::append_json(const Type& type, int slot, std::string& json) {
  const bool is_list = type.kind == Kind::array || type.kind == Kind::sequence;
  if (type.kind == Kind::string ||
      (is_list && type.element->kind == Kind::integer && type.element->is_text)) {
    std::string text;
    if (!read_text(type, &text)) return false;
    append_quoted(text, json);
    return true;
  }
  switch (type.kind) {
    case Kind::integer: {
      std::uint64_t value = 0;
      if (!cursor_.read(type, value)) return false;
      if (slot >= 0) slots_[static_cast<std::size_t>(slot)] = value;
      json +=
          type.is_signed ? std::to_string(static_cast<std::int64_t>(value)) : std::to_string(value);
      return true;
    }
    case Kind::floating: {
      std::uint64_t bits = 0;
      if (!cursor_.read(type, bits)) return false;
      const double value = type.size == 32 ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                           : std::bit_cast<double>(bits);
      std::string text = std::isfinite(value) ? fmt::format("{}", value) : "null";
      // A reader of JSON takes 1 for a whole number.
      if (text.find_first_of(".en") == std::string::npos) text += ".0";
      json += text;
      return true;
    }
    case Kind::structure: {
      if (!cursor_.align(type.align)) return false;
      json += '{';
      for (const Member& member : type.members) {
        json += json.back() == '{' ? "" : ",";
        append_quoted(member.name, json);
        json += ':';
        if (!append_json(*member.type, member.slot, json)) return false;
      }
      json += '}';
      return true;
    }
    case Kind::variant: {
      const auto tag = static_cast<std::int64_t>(slots_[static_cast<std::size_t>(type.slot)]);
      for (const Choice& choice : type.choices) {
        if (choice.lo <= tag && tag <= choice.hi) {
          return append_json(*type.members[choice.option].type, -1, json);
        }
      }
      return false;
    }
    case Kind::array:
    case Kind::sequence:
      return append_json_list(type, json);
    case Kind::string:
      break;
  }
  return false;
}

bool Stream::decode_foreign(const EventPlan& plan) {
  Payload payload;
  payload.texts[0] = plan.name;
  std::string& fields = payload.texts[1];
  if (plan.foreign == nullptr) {
    fields = "{}";
  } else if (!append_json(*plan.foreign, -1, fields)) {
    return false;
  }
  event_.payload = static_cast<std::uint32_t>(chunk_->payloads.size());
  chunk_->payload_bytes += payload.bytes();
  chunk_->is_full = chunk_->is_full || chunk_->payload_bytes >= most_payload_bytes;
  chunk_->payloads.push_back(std::move(payload));
  return true;
}

bool Stream::decode_fields(const EventPlan& plan) {
  if (plan.context != nullptr && !skip(*plan.context, -1)) {
    return false;
  }
  if (plan.type == EventType::foreign) {
    return decode_foreign(plan);
  }
  if (plan.fixed_size) {
    return decode_fixed(plan);
  }
  Payload payload;
  const bool complete =
      cursor_.align(plan.align) && std::ranges::all_of(plan.fields, [&](const auto& field) {
        return decode_field(field, payload);
      });
  if (complete && plan.has_payload) {
    event_.payload = static_cast<std::uint32_t>(chunk_->payloads.size());
    chunk_->payload_bytes += payload.bytes();
    chunk_->is_full = chunk_->is_full || chunk_->payload_bytes >= most_payload_bytes;
    chunk_->payloads.push_back(std::move(payload));
  }
  return complete;
}

/// Decodes the next event, which is added to the chunk if it is of a known type. What cannot be
/// decoded ends the readable part of the packet.
void Stream::decode_event() {
  event_.values = {};
  event_.payload = no_payload;
  std::uint64_t id = 0;
  const std::uint64_t begin = cursor_.position();
  if (!decode_header(id)) {
    give_up_packet("an event's header is cut off");
    return;
  }
  if (id >= plan_->events.size() || plan_->events[id].name.empty()) {
    give_up_packet(fmt::format("an event of an unknown class {}", id));
    return;
  }
  const EventPlan& plan = plan_->events[id];
  if ((plan_->context != nullptr && !decode_context(plan.type.has_value())) ||
      !decode_fields(plan)) {
    give_up_packet("an event is cut off");
    return;
  }
  if (cursor_.position() == begin) {
    give_up_packet("events without content");
    return;
  }
  ++chunk_->counts[id];
  if (!plan.type) {
    return;
  }
  if (plan_->context == nullptr) {
    set_thread(trace_.process_id, trace_.process_id, trace_.process_name);
  }
  event_.type = *plan.type;
  chunk_->processors = std::max(chunk_->processors, event_.cpu + 1u);
  // A stream's clock does not run backwards; a damaged one must not upset the order.
  last_time_ = std::max(
      last_time_,
      Instant(Duration(static_cast<std::int64_t>(std::min(clock_, longest_clock))) + trace_.shift));
  event_.time = last_time_;
  chunk_->events.push_back(event_);
}

}  // namespace takt::events::ctf
