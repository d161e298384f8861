#include "decode.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "takt/tracepoints/tracepoints.hpp"

namespace takt::live {

namespace {

using tracepoints::Kind;

class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename Integer>
  Integer number() {
    Integer value{};
    if (bytes_.size() >= sizeof value) {
      std::memcpy(&value, bytes_.data(), sizeof value);
      bytes_ = bytes_.subspan(sizeof value);
    }
    return value;
  }
  std::string text() {
    const auto end = std::ranges::find(bytes_, std::byte{0});
    const auto length = static_cast<std::size_t>(end - bytes_.begin());
    std::string text(reinterpret_cast<const char*>(bytes_.data()), length);
    bytes_ = bytes_.subspan(std::min(length + 1, bytes_.size()));
    return text;
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

bool decode(std::uint8_t number, std::span<const std::byte> bytes, std::size_t gid_size,
            events::Event& event, events::Payload& payload) {
  const tracepoints::Tracepoint& tracepoint = tracepoints::of_programs[number];
  event.type = static_cast<events::EventType>(number);
  Bytes rest(bytes);
  events::RecordSize size;
  for (std::size_t i = 0; i < tracepoint.field_count; ++i) {
    const Kind kind = tracepoint.fields[i].kind;
    switch (kind) {
      case Kind::pointer:
      case Kind::signed64:
      case Kind::unsigned64:
        event.values[size.values] = rest.number<std::uint64_t>();
        break;
      case Kind::flag:
        event.values[size.values] = rest.number<std::uint32_t>();
        break;
      case Kind::signed32:
        event.values[size.values] =
            static_cast<std::uint64_t>(std::int64_t{rest.number<std::int32_t>()});
        break;
      case Kind::gid:
        event.values[size.values] = event.values[size.values + 1] = 0;
        for (std::size_t byte = 0; byte < gid_size; ++byte) {
          const std::uint64_t value = rest.number<std::uint8_t>();
          if (byte < 16) event.values[size.values + byte / 8] |= value << (56 - 8 * (byte % 8));
        }
        break;
      case Kind::string:
      case Kind::thread_name:
        payload.texts[size.texts] = rest.text();
        break;
      case Kind::pointers: {
        const auto count = rest.number<std::uint64_t>();
        auto& list = payload.lists[size.lists];
        for (std::uint64_t k = 0; k < count; ++k) list.push_back(rest.number<std::uint64_t>());
        break;
      }
    }
    size.add(events::field_kind(kind));
  }
  return size.texts + size.lists != 0;
}

}  // namespace takt::live
