#include "writer.hpp"

#include <algorithm>
#include <cstring>
#include <random>

#include "takt/base/try.hpp"
#include "takt/tracepoints/tracepoints.hpp"

namespace takt::simulation_trace {
namespace {

/// Tells process numbers of this trace apart from those of others.
constexpr std::uint64_t process_namespace = 1;

/// A clock of its own: no other recording has times of this run.
std::string clock_name() {
  std::random_device random;
  const auto part = [&] { return random() & 0xffff; };
  return fmt::format("{:04x}{:04x}-{:04x}-{:04x}-{:04x}-{:04x}{:04x}{:04x}", part(), part(), part(),
                     part(), part(), part(), part(), part());
}

std::int64_t now_since_epoch() {
  return std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

ctf::Description description(std::int64_t offset) {
  constexpr auto all = ~std::uint64_t{0};
  return {.clock = {.uuid = clock_name(), .offset = offset},
          .environment = {{"domain", ctf::literal("ust")},
                          {"tracer_name", ctf::literal("takt-simulate")},
                          {"tracer_major", "1"},
                          {"tracer_minor", "0"},
                          {"tracer_buffering_scheme", ctf::literal("uid")},
                          {"architecture_bit_width", "64"},
                          {"hostname", ctf::literal("simulated")}},
          .events = ctf::event_classes(all, Writer::gid_size),
          .contexts = ctf::context_declarations() +
                      "\t\tinteger { size = 64; align = 8; signed = 0; encoding = none; base = 10; "
                      "} _pid_ns;\n"};
}

}  // namespace

ThreadContext thread_context(std::int32_t process, std::uint32_t thread, std::string_view name) {
  std::array<char, 16> short_name{};
  std::ranges::copy(name.substr(0, short_name.size() - 1), short_name.begin());
  const ctf::Contexts contexts = ctf::contexts(process, thread, short_name);
  ThreadContext bytes{};
  std::ranges::copy(contexts, bytes.begin());
  std::memcpy(bytes.data() + contexts.size(), &process_namespace, sizeof process_namespace);
  return bytes;
}

Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& directory) {
  std::unique_ptr<Writer> writer(new Writer(directory));
  writer->offset_ = now_since_epoch() - before.count();
  writer->trace_ =
      TAKT_TRY(ctf::Trace::create(writer->files_, "simulated", description(writer->offset_)));
  writer->stream_ = writer->trace_->open_stream("events");
  return writer;
}

Result<void> Writer::finish() {
  stream_->flush();
  return files_.written();
}

}  // namespace takt::simulation_trace
