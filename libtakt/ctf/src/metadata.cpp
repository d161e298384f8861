#include "metadata.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <bit>
#include <cstdint>

namespace takt::ctf {

namespace {

// Byte for byte what LTTng writes where a reader may care: type names, packet header and context
// (without the processor, which these events do not name) and event header.
constexpr const char* head_format = R"(/* CTF 1.8 */

typealias integer {{ size = 8; align = 8; signed = false; }} := uint8_t;
typealias integer {{ size = 16; align = 8; signed = false; }} := uint16_t;
typealias integer {{ size = 32; align = 8; signed = false; }} := uint32_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := uint64_t;
typealias integer {{ size = 64; align = 8; signed = false; }} := unsigned long;

trace {{
	major = 1;
	minor = 8;
	uuid = "{uuid}";
	byte_order = {byte_order};
	packet.header := struct {{
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	}};
}};

env {{
{environment}}};

clock {{
	name = "monotonic";
	uuid = "{clock_uuid}";
	description = "Monotonic Clock";
	freq = 1000000000; /* Frequency, in Hz */
	absolute = TRUE;
	/* clock value offset from Epoch is: offset * (1/freq) */
	offset = {offset};
}};

typealias integer {{
	size = 32; align = 8; signed = false;
	map = clock.monotonic.value;
}} := uint32_clock_monotonic_t;

typealias integer {{
	size = 64; align = 8; signed = false;
	map = clock.monotonic.value;
}} := uint64_clock_monotonic_t;

struct packet_context {{
	uint64_clock_monotonic_t timestamp_begin;
	uint64_clock_monotonic_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	unsigned long events_discarded;
}};

struct event_header_large {{
	enum : uint16_t {{ compact = 0 ... 65534, extended = 65535 }} id;
	variant <id> {{
		struct {{
			uint32_clock_monotonic_t timestamp;
		}} compact;
		struct {{
			uint32_t id;
			uint64_clock_monotonic_t timestamp;
		}} extended;
	}} v;
}} align(8);

stream {{
	id = 0;
	event.header := struct event_header_large;
	packet.context := struct packet_context;
	event.context := struct {{
{contexts}	}};
}};
)";

constexpr const char* event_class_format = R"(
event {{
	name = "{name}";
	id = {id};
	stream_id = 0;
	loglevel = 13;
	fields := struct {{
{declarations}	}};
}};
)";

std::string text_of(const std::array<std::byte, 16>& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    text += fmt::format("{}{:02x}", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                        std::to_integer<unsigned>(uuid[i]));
  }
  return text;
}

}  // namespace

std::array<std::byte, 16> make_uuid() {
  std::array<std::byte, 16> uuid{};
  while (getrandom(uuid.data(), uuid.size(), 0) != static_cast<ssize_t>(uuid.size())) {
  }
  uuid[6] = (uuid[6] & std::byte{0x0f}) | std::byte{0x40};
  uuid[8] = (uuid[8] & std::byte{0x3f}) | std::byte{0x80};
  return uuid;
}

std::string metadata(const Description& description, const std::array<std::byte, 16>& uuid) {
  std::string environment;
  for (const auto& [name, value] : description.environment) {
    environment += fmt::format("\t{} = {};\n", name, value);
  }
  std::string text = fmt::format(
      head_format, fmt::arg("uuid", text_of(uuid)),
      fmt::arg("byte_order", std::endian::native == std::endian::little ? "le" : "be"),
      fmt::arg("environment", environment), fmt::arg("clock_uuid", description.clock.uuid),
      fmt::arg("offset", description.clock.offset), fmt::arg("contexts", description.contexts));
  for (const auto& event : description.events) {
    text += fmt::format(event_class_format, fmt::arg("name", event.name), fmt::arg("id", event.id),
                        fmt::arg("declarations", event.declarations));
  }
  return text;
}

}  // namespace takt::ctf
