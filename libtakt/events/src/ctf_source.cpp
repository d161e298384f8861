#include "ctf_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ctf_metadata.hpp"
#include "ctf_plan.hpp"
#include "ctf_stream.hpp"
#include "layout.hpp"
#include "mapped_file.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t batch_size = 4096;
/// Memory of a file that was read is given back in pieces of this size.
constexpr std::uint64_t forget_distance = 16 << 20;
constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

struct OpenStream {
  MappedFile file;
  ctf::Stream stream;
  std::size_t number = 0;
  std::uint64_t forgotten = 0;

  /// Simultaneous events come in the order of the streams.
  [[nodiscard]] bool comes_before(const OpenStream& other) const {
    const Instant mine = stream.event().time;
    const Instant others = other.stream.event().time;
    return mine < others || (mine == others && number < other.number);
  }
};

class CtfSource final : public Source {
 public:
  explicit CtfSource(std::vector<Input> inputs) { inputs_ = std::move(inputs); }

  Result<void> add(const fs::path& directory);
  void start();

  bool read(Batch& batch) override;
  Position position() const override { return {done_, total_}; }
  std::map<std::string, std::uint64_t> counts() const override;

 private:
  Result<void> add_streams(const fs::path& directory, const ctf::TraceContext& context);
  /// Takes events of the first stream while none of the others has an earlier one.
  void take_run(Batch& batch);
  void update_progress(OpenStream& stream);

  static bool is_later(const OpenStream* a, const OpenStream* b) { return b->comes_before(*a); }

  std::vector<std::unique_ptr<ctf::TracePlan>> plans_;
  std::vector<std::unique_ptr<ctf::TraceContext>> traces_;
  std::vector<std::unique_ptr<OpenStream>> streams_;
  std::vector<OpenStream*> queue_;  // a heap, the earliest event first
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

std::string environment(const ctf::Metadata& metadata, const std::string& name) {
  const auto found = metadata.environment.find(name);
  return found == metadata.environment.end() ? std::string() : found->second;
}

std::string without_dashes(std::string uuid) {
  std::erase(uuid, '-');
  return uuid;
}

Result<void> CtfSource::add(const fs::path& directory) {
  const auto text = read_metadata(directory);
  if (!text) {
    return tl::unexpected(text.error());
  }
  auto metadata = ctf::parse_metadata(*text);
  auto plan = metadata ? ctf::make_plan(std::move(*metadata))
                       : Result<ctf::TracePlan>(tl::unexpected(metadata.error()));
  if (!plan) {
    return error("{}: {}", directory.string(), plan.error().message);
  }
  plans_.push_back(std::make_unique<ctf::TracePlan>(std::move(*plan)));
  const ctf::Metadata& known = plans_.back()->metadata;
  const ctf::Clock clock = known.clock.value_or(ctf::Clock());

  ctf::TraceContext context;
  context.plan = plans_.back().get();
  context.host = threads_.host(environment(known, "hostname"), without_dashes(clock.uuid));
  context.process_id = std::strtoll(environment(known, "vpid").c_str(), nullptr, 10);
  context.process_name = environment(known, "procname");
  context.threads = &threads_;
  context.losses = &losses_;
  // Hostile offsets wrap instead of overflowing.
  const Duration offset(static_cast<std::int64_t>(static_cast<std::uint64_t>(clock.offset_seconds) *
                                                      nanoseconds_per_second +
                                                  clock.offset_cycles));
  if (traces_.empty()) {
    epoch_offset_ = offset;
  }
  // Traces of one host share its monotonic clock, however their offsets were measured.
  if (context.host != HostIndex(0)) {
    constexpr std::int64_t longest_shift = std::int64_t{1} << 61;
    const auto difference =
        static_cast<std::int64_t>(static_cast<std::uint64_t>(offset.count()) -
                                  static_cast<std::uint64_t>(epoch_offset_.count()));
    context.shift = Duration(std::clamp(difference, -longest_shift, longest_shift));
  }
  traces_.push_back(std::make_unique<ctf::TraceContext>(std::move(context)));
  return add_streams(directory, *traces_.back());
}

Result<void> CtfSource::add_streams(const fs::path& directory, const ctf::TraceContext& context) {
  for (const fs::path& path : stream_files(directory)) {
    auto file = MappedFile::open(path);
    if (!file) {
      return tl::unexpected(file.error());
    }
    total_ += file->bytes().size();
    const auto bytes = file->bytes();
    streams_.push_back(std::make_unique<OpenStream>(OpenStream{
        std::move(*file), ctf::Stream(context, bytes, path.filename().string()), streams_.size()}));
  }
  return {};
}

void CtfSource::start() {
  for (const auto& stream : streams_) {
    if (stream->stream.advance()) {
      queue_.push_back(stream.get());
    }
  }
  std::make_heap(queue_.begin(), queue_.end(), is_later);
}

void CtfSource::update_progress(OpenStream& stream) {
  const std::uint64_t position = stream.stream.position();
  if (position >= stream.forgotten + forget_distance || position == stream.file.bytes().size()) {
    stream.file.forget(stream.forgotten, position);
    done_ += position - stream.forgotten;
    stream.forgotten = position;
  }
  processors_ = std::max(processors_, stream.stream.processor() + 1);
}

void CtfSource::take_run(Batch& batch) {
  std::pop_heap(queue_.begin(), queue_.end(), is_later);
  OpenStream& stream = *queue_.back();
  const OpenStream* const next = queue_.size() > 1 ? queue_.front() : nullptr;
  bool more = true;
  while (more && batch.events.size() < batch_size &&
         (next == nullptr || stream.comes_before(*next))) {
    Event& event = batch.events.emplace_back(stream.stream.event());
    if (stream.stream.has_payload()) {
      event.payload = static_cast<std::uint32_t>(batch.payloads.size());
      batch.payloads.push_back(std::move(stream.stream.payload()));
    }
    more = stream.stream.advance();
  }
  update_progress(stream);
  if (more) {
    std::push_heap(queue_.begin(), queue_.end(), is_later);
  } else {
    queue_.pop_back();
  }
}

bool CtfSource::read(Batch& batch) {
  batch.clear();
  while (batch.events.size() < batch_size && !queue_.empty()) {
    take_run(batch);
  }
  return !batch.events.empty();
}

std::map<std::string, std::uint64_t> CtfSource::counts() const {
  std::map<std::string, std::uint64_t> result;
  for (const auto& stream : streams_) {
    stream->stream.for_each_count(
        [&result](const std::string& name, std::uint64_t count) { result[name] += count; });
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<Source>> open_ctf(const std::vector<fs::path>& directories,
                                         std::vector<Input> inputs) {
  auto source = std::make_unique<CtfSource>(std::move(inputs));
  for (const fs::path& directory : directories) {
    if (auto added = source->add(directory); !added) {
      return tl::unexpected(added.error());
    }
  }
  source->start();
  return source;
}

}  // namespace takt::events
