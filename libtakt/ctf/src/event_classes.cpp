#include "takt/ctf/event_classes.hpp"

#include <fmt/format.h>

#include <cstring>

namespace takt::ctf {

namespace {

using tracepoints::Kind;

std::string integer(int size, bool is_signed, int base) {
  return fmt::format("integer {{ size = {}; align = 8; signed = {}; encoding = none; base = {}; }}",
                     size, is_signed ? 1 : 0, base);
}

std::string declaration(const tracepoints::Field& field, std::size_t gid_size) {
  switch (field.kind) {
    case Kind::pointer:
      return fmt::format("\t\t{} _{};\n", integer(64, false, 16), field.name);
    case Kind::pointers:
      return fmt::format("\t\t{} __{}_length;\n\t\t{} _{}[ __{}_length ];\n",
                         integer(64, false, 10), field.name, integer(64, false, 16), field.name,
                         field.name);
    case Kind::string:
      return fmt::format("\t\tstring _{};\n", field.name);
    case Kind::signed64:
      return fmt::format("\t\t{} _{};\n", integer(64, true, 10), field.name);
    case Kind::unsigned64:
      return fmt::format("\t\t{} _{};\n", integer(64, false, 10), field.name);
    case Kind::flag:
      return fmt::format("\t\t{} _{};\n", integer(32, true, 10), field.name);
    case Kind::gid:
      return fmt::format("\t\t{} _{}[{}];\n", integer(8, false, 10), field.name, gid_size);
    case Kind::signed32:
      return fmt::format("\t\t{} _{};\n", integer(32, true, 10), field.name);
    case Kind::thread_name:
      return fmt::format(
          "\t\tinteger {{ size = 8; align = 8; signed = 1; encoding = UTF8; base = 10; }} "
          "_{}[{}];\n",
          field.name, tracepoints::thread_name_size);
  }
  return {};
}

}  // namespace

std::string literal(std::string_view text) {
  std::string text_literal = "\"";
  for (const char character : text) {
    if (character >= ' ' && character <= '~' && character != '"' && character != '\\') {
      text_literal += character;
    }
  }
  return text_literal + '"';
}

EventClass event_class(tracepoints::EventType type, std::size_t gid_size) {
  const auto& tracepoint = tracepoints::of(type);
  std::string declarations;
  for (std::size_t i = 0; i < tracepoint.field_count; ++i) {
    declarations += declaration(tracepoint.fields[i], gid_size);
  }
  return {static_cast<std::uint16_t>(type), tracepoints::full_name(type), std::move(declarations)};
}

std::vector<EventClass> event_classes(std::uint64_t events, std::size_t gid_size) {
  std::vector<EventClass> classes;
  for (std::size_t number = 0; number < tracepoints::choosable; ++number) {
    if ((events >> number & 1) != 0) {
      classes.push_back(event_class(static_cast<tracepoints::EventType>(number), gid_size));
    }
  }
  return classes;
}

std::string context_declarations() {
  return fmt::format(
      "\t\t{0} _vpid;\n\t\t{0} _vtid;\n\t\tinteger {{ size = 8; align = 8; signed = 1; encoding = "
      "UTF8; base = 10; }} _procname[17];\n",
      integer(32, true, 10));
}

Contexts contexts(pid_t process, std::uint32_t thread, std::span<const char, 16> name) {
  Contexts bytes{};
  const std::int32_t vpid = process;
  std::memcpy(bytes.data(), &vpid, sizeof vpid);
  std::memcpy(bytes.data() + 4, &thread, sizeof thread);
  std::memcpy(bytes.data() + 8, name.data(), strnlen(name.data(), name.size()));
  return bytes;
}

}  // namespace takt::ctf
