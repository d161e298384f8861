#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include "ctf_metadata.hpp"
#include "ctf_plan.hpp"
#include "ctf_stream.hpp"
#include "trace_writer.hpp"

namespace {

using namespace takt::events;
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
  if (!made) {
    std::abort();
  }
  return std::move(*made);
}

}  // namespace

/// A stream of any bytes is decoded as far as it goes, in order.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::array plans{plan(TraceWriter::Header::compact),
                                plan(TraceWriter::Header::large)};
  if (size == 0) {
    return 0;
  }
  ctf::TraceContext context;
  context.plan = &plans[data[0] % plans.size()];
  ctf::Stream stream(context, std::span(data, size).subspan(1), "fuzz");
  ctf::Chunk chunk;
  takt::Instant last;
  while (!chunk.is_last) {
    stream.read(chunk);
    for (const Event& event : chunk.events) {
      if (event.time < last || event.thread.value() >= chunk.threads.size() ||
          (event.payload != no_payload && event.payload >= chunk.payloads.size())) {
        std::abort();
      }
      last = event.time;
    }
  }
  return 0;
}
