#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "choices.hpp"
#include "ctf_metadata.hpp"
#include "ctf_plan.hpp"
#include "ctf_stream.hpp"
#include "trace_writer.hpp"

namespace {

using namespace takt::events;
using takt::fuzz::require;
using takt::test::TraceWriter;

/// Metadata with every kind of field.
ctf::TracePlan plan(TraceWriter::Header header) {
  TraceWriter writer(header);
  const std::string handle = "integer { size = 64; align = 8; base = 16; } ";
  writer.declare("ros2:callback_end", handle + "_callback;");
  writer.declare("ros2:rcl_node_init", handle + "_node_handle;" + handle +
                                           "_rmw_handle; string _node_name; string _namespace;");
  writer.declare("ros2:rmw_publisher_init", handle + "_rmw_publisher_handle; uint8_t _gid[24];");
  writer.declare("ros2:message_link_partial_sync",
                 "uint32_t __subs_length; " + handle + "_subs[__subs_length];");
  writer.declare("my:event",
                 "enum : uint5_t { a = 0 ... 1, b = 2 } tag;"
                 "variant <tag> { struct { uint32_t x; string s; } a; uint16_t b; } choice;"
                 "uint64_t count; struct { uint16_t y; struct {} z; } points[count];"
                 "integer { size = 8; align = 8; signed = 1; encoding = UTF8; } text[count];");
  auto metadata = ctf::parse_metadata(writer.metadata());
  auto made = metadata ? ctf::plan_decoding(std::move(*metadata))
                       : takt::Result<ctf::TracePlan>(tl::unexpected(metadata.error()));
  require(made.has_value());
  return std::move(*made);
}

/// The stream is decoded as far as it goes, in order.
void decode(const ctf::TracePlan& plan, std::span<const std::uint8_t> bytes) {
  ctf::TraceContext context;
  context.plan = &plan;
  ctf::Stream stream(context, bytes, "fuzz");
  ctf::Chunk chunk;
  takt::Instant last = takt::Instant::min();
  while (!chunk.is_last) {
    stream.read(chunk);
    for (const Event& event : chunk.events) {
      require(event.time >= last && event.thread.value() < chunk.threads.size() &&
              (event.payload == no_payload || event.payload < chunk.payloads.size()));
      last = event.time;
    }
  }
}

}  // namespace

/// A stream of any bytes is decoded, by metadata of ours or by metadata that the input begins with
/// and that ends with a zero.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array plans{plan(TraceWriter::Header::compact),
                                plan(TraceWriter::Header::large)};
  if (size == 0) {
    return 0;
  }
  const auto bytes = std::span(data, size).subspan(1);
  if (data[0] < 0xc0) {
    decode(plans[data[0] % plans.size()], bytes);
    return 0;
  }
  const auto end = std::ranges::find(bytes, 0);
  auto metadata = ctf::parse_metadata(std::string(bytes.begin(), end));
  if (!metadata) {
    return 0;
  }
  if (const auto made = ctf::plan_decoding(std::move(*metadata)); made && end != bytes.end()) {
    decode(*made, {end + 1, bytes.end()});
  }
  return 0;
}
