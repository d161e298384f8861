#include "recipe.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>

namespace takt::capture::ebpf {

namespace {

/// The kinds of fields.h that programs use, including those that are no field or no argument.
enum class Kind { pointer, pointers, string, signed64, unsigned64, flag, gid, version, unused };

struct Kinds {
  constexpr Kinds(std::initializer_list<Kind> list) {
    for (const Kind kind : list) {
      kinds[count++] = kind;
    }
  }
  std::array<Kind, 10> kinds{};
  std::size_t count = 0;
};

#define TAKT_KINDS(fields) TAKT_LIST(TAKT_EACH(TAKT_KIND_A fields))
#define TAKT_KIND_A(kind, name) , Kind::kind TAKT_KIND_B
#define TAKT_KIND_B(kind, name) , Kind::kind TAKT_KIND_A
#define TAKT_KIND_A_END
#define TAKT_KIND_B_END

#define TAKT_TRACEPOINT(name, Fields, phase, fields) Kinds{TAKT_KINDS(fields)},
constexpr std::array all_kinds{
#include "takt/tracepoints/programs.def"
};
#undef TAKT_TRACEPOINT

template <typename Value>
void put_number(std::vector<std::byte>& fields, Value value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  fields.insert(fields.end(), bytes, bytes + sizeof value);
}

void put_text(std::vector<std::byte>& fields, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  fields.insert(fields.end(), bytes.begin(), bytes.end());
  fields.push_back(std::byte{0});
}

}  // namespace

takt_recipe recipe_of(tracepoints::EventType event) {
  takt_recipe recipe{};
  const auto& kinds = all_kinds[static_cast<std::size_t>(event)];
  std::size_t position = 0;
  const auto keep = [&](takt_argument what) {
    recipe.arguments[position++] = static_cast<unsigned char>(what);
    recipe.texts = static_cast<unsigned char>(recipe.texts + (what >= TAKT_ARGUMENT_STRING));
  };
  for (std::size_t i = 0; i < kinds.count; ++i) {
    switch (kinds.kinds[i]) {
      case Kind::version:
        break;
      case Kind::string:
        keep(TAKT_ARGUMENT_STRING);
        break;
      case Kind::gid:
        keep(TAKT_ARGUMENT_GID);
        break;
      case Kind::pointers:
        keep(TAKT_ARGUMENT_POINTERS);
        keep(TAKT_ARGUMENT_VALUE);
        break;
      default:
        keep(TAKT_ARGUMENT_VALUE);
    }
  }
  assert(recipe.texts <= TAKT_BPF_TEXTS);
  return recipe;
}

std::vector<std::byte> fields_of(const takt_call& call, std::span<const std::byte> texts,
                                 std::string_view version) {
  std::vector<std::byte> fields;
  const auto& kinds = all_kinds[call.event];
  const unsigned long long* argument = call.arguments;
  const auto next_text = [&] {
    const auto text = texts.first(call.text_room);
    texts = texts.subspan(call.text_room);
    return text;
  };
  for (std::size_t i = 0; i < kinds.count; ++i) {
    switch (kinds.kinds[i]) {
      case Kind::version:
        put_text(fields, version);
        break;
      case Kind::unused:
        ++argument;
        break;
      case Kind::pointer:
      case Kind::signed64:
      case Kind::unsigned64:
        put_number(fields, std::uint64_t{*argument++});
        break;
      case Kind::flag:
        // A bool fills the lowest byte of its register; the rest is arbitrary.
        put_number(fields, static_cast<std::int32_t>((*argument++ & 0xff) != 0));
        break;
      case Kind::string: {
        const auto text = next_text();
        const auto* characters = reinterpret_cast<const char*>(text.data());
        const bool null = *argument++ == 0;
        put_text(fields,
                 null ? "(null)" : std::string_view(characters, strnlen(characters, text.size())));
        break;
      }
      case Kind::gid: {
        const auto text = next_text();
        std::array<std::byte, 24> gid{};
        std::copy_n(text.begin(), 16, gid.begin());
        fields.insert(fields.end(), gid.begin(),
                      gid.begin() + std::min<std::ptrdiff_t>(call.gid_size, 24));
        ++argument;
        break;
      }
      case Kind::pointers: {
        const auto text = next_text();
        const std::uint64_t count = std::min<std::uint64_t>(argument[1], call.text_room / 8);
        put_number(fields, count);
        fields.insert(fields.end(), text.begin(),
                      text.begin() + static_cast<std::ptrdiff_t>(count * 8));
        argument += 2;
        break;
      }
    }
  }
  return fields;
}

std::string function_of(tracepoints::EventType event) {
  const auto& tracepoint = tracepoints::of_programs[static_cast<std::size_t>(event)];
  const bool upstreams =
      tracepoint.provider == "ros2" && !tracepoint.name.starts_with("message_link_");
  return std::string(upstreams ? "ros_trace_" : "takt_trace_") + std::string(tracepoint.name);
}

}  // namespace takt::capture::ebpf
