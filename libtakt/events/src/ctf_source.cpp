#include "ctf_source.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <thread>
#include <utility>

#include "clock.hpp"
#include "ctf_metadata.hpp"
#include "ctf_plan.hpp"
#include "layout.hpp"
#include "mapped_file.hpp"
#include "read_ahead.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

/// A stream as the merge sees it: its next event.
class MergedStream {
 public:
  MergedStream(std::unique_ptr<DecodedFile> file, HostIndex host, std::size_t number)
      : file_(std::move(file)), host_(host), number_(number) {}

  [[nodiscard]] DecodedFile& file() { return *file_; }
  [[nodiscard]] const Event& event() const { return chunk_.events[next_]; }

  /// Appends the event to the batch. Returns the size of its payload.
  std::size_t move_to(Batch& batch, Threads& threads);
  /// Goes to the next event of the chunk. False after the last one.
  bool advance() { return ++next_ < chunk_.events.size(); }

  /// The chunk whose events are being merged; empty at first.
  [[nodiscard]] const ctf::Chunk& chunk() const { return chunk_; }
  /// Goes to the next chunk as soon as it is decoded.
  void take_chunk();
  template <typename Function>
  void for_each_count(Function&& function) const {
    for (std::size_t id = 0; id < counts_.size(); ++id) {
      if (counts_[id] != 0) {
        function(chunk_.plan->events[id].name, counts_[id]);
      }
    }
  }

  /// Simultaneous events come in the order of the streams.
  [[nodiscard]] bool comes_before(const MergedStream& other) const {
    const Instant mine = event().time;
    const Instant others = other.event().time;
    return mine < others || (mine == others && number_ < other.number_);
  }

 private:
  std::unique_ptr<DecodedFile> file_;
  HostIndex host_;
  std::size_t number_ = 0;
  ctf::Chunk chunk_;
  std::size_t next_ = 0;
  /// The source's numbers of the chunk's threads, for those that had events so far.
  std::vector<std::optional<ThreadIndex>> threads_;
  std::vector<std::uint64_t> counts_;  // by event id
};

std::size_t MergedStream::move_to(Batch& batch, Threads& threads) {
  Event& event = batch.events.emplace_back(chunk_.events[next_]);
  auto& thread = threads_[event.thread.value()];
  if (!thread) {
    const ctf::Chunk::Thread& found = chunk_.threads[event.thread.value()];
    thread = threads.thread(host_, found.process, found.id, found.name);
  }
  event.thread = *thread;
  if (event.payload == no_payload) {
    return 0;
  }
  batch.payloads.push_back(std::move(chunk_.payloads[event.payload]));
  event.payload = static_cast<std::uint32_t>(batch.payloads.size() - 1);
  return batch.payloads.back().bytes();
}

void MergedStream::take_chunk() {
  file_->take(chunk_);
  next_ = 0;
  threads_.assign(chunk_.threads.size(), std::nullopt);
  counts_.resize(std::max(counts_.size(), chunk_.counts.size()));
  for (std::size_t id = 0; id < chunk_.counts.size(); ++id) {
    counts_[id] += chunk_.counts[id];
  }
}

/// Merges streams, which are decoded ahead in other threads.
class CtfSource final : public EventStream {
 public:
  Result<void> add(const Given& traces);

  bool read(Batch& batch) override;
  Position position() const override { return {done_, total_}; }
  std::map<std::string, std::uint64_t> counts() const override;

 private:
  Result<void> add(const fs::path& directory);
  Result<void> add_streams(const fs::path& directory, const ctf::TraceContext& context);
  void start();
  /// Takes chunks of the stream until one has an event. False at the stream's end.
  bool refill(MergedStream& stream);
  /// Takes events of the first stream while none of the others has an earlier one.
  void take_run(Batch& batch);
  void complete_fingerprints();
  [[nodiscard]] bool is_full(const Batch& batch) const {
    return batch.events.size() >= most_events || payload_bytes_ >= most_payload_bytes;
  }

  static bool is_later(const MergedStream* a, const MergedStream* b) { return b->comes_before(*a); }

  std::vector<std::unique_ptr<ctf::TracePlan>> plans_;
  std::vector<std::unique_ptr<ctf::TraceContext>> traces_;
  std::vector<std::unique_ptr<MergedStream>> streams_;
  std::vector<Fingerprint> fingerprints_;       // of each input; none once they are complete
  std::vector<std::size_t> streams_of_inputs_;  // how many up to and including each
  std::vector<ctf::StreamPart> parts_;          // the files that have been read
  std::vector<MergedStream*> queue_;            // a heap, the earliest event first
  std::size_t payload_bytes_ = 0;               // of the batch
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::optional<ReadAhead> read_ahead_;  // begun by the first read; ends before the streams
};

/// A larger number of processors is not believed.
constexpr std::int64_t most_processors = 1 << 16;

std::string environment(const ctf::Metadata& metadata, const std::string& name) {
  const auto found = metadata.environment.find(name);
  return found == metadata.environment.end() ? std::string() : found->second;
}

std::string without_dashes(std::string uuid) {
  std::erase(uuid, '-');
  return uuid;
}

Result<void> CtfSource::add(const Given& traces) {
  inputs_.push_back(traces.input);
  auto fingerprint = Fingerprint::of(traces.directories);
  if (!fingerprint) {
    return tl::unexpected(fingerprint.error());
  }
  fingerprints_.push_back(*fingerprint);
  for (const fs::path& directory : traces.directories) {
    if (auto added = add(directory); !added) {
      return added;
    }
  }
  streams_of_inputs_.push_back(streams_.size());
  return {};
}

void CtfSource::complete_fingerprints() {
  std::size_t next = 0;
  for (std::size_t i = 0; i < fingerprints_.size(); ++i) {
    for (; next < streams_of_inputs_[i]; ++next) {
      DecodedFile& file = streams_[next]->file();
      fingerprints_[i].add(file.name(), file.content());
    }
    inputs_[i].fingerprint = fingerprints_[i].hex();
  }
  fingerprints_.clear();
}

Result<void> CtfSource::add(const fs::path& directory) {
  const auto text = read_metadata(directory);
  if (!text) {
    return tl::unexpected(text.error());
  }
  auto metadata = ctf::parse_metadata(*text);
  auto plan = metadata ? ctf::plan_decoding(std::move(*metadata))
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
  // Recorders whose events do not all name their processor write how many the host has.
  const auto processors = std::strtoll(environment(known, "processors").c_str(), nullptr, 10);
  if (processors > 0 && processors <= most_processors) {
    processors_ = std::max(processors_, static_cast<std::uint32_t>(processors));
  }
  context.shift = shift_of(
      context.host, ClockScale{clock.frequency}.offset(clock.offset_seconds, clock.offset_cycles));
  traces_.push_back(std::make_unique<ctf::TraceContext>(std::move(context)));
  return add_streams(directory, *traces_.back());
}

Result<void> CtfSource::add_streams(const fs::path& directory, const ctf::TraceContext& context) {
  const auto files = stream_files(directory);
  if (!files) {
    return tl::unexpected(files.error());
  }
  for (const fs::path& path : *files) {
    auto file = MappedFile::open(path);
    if (!file) {
      return tl::unexpected(file.error());
    }
    total_ += file->bytes().size();
    streams_.push_back(std::make_unique<MergedStream>(
        std::make_unique<DecodedFile>(std::move(*file), context, path.filename().string()),
        context.host, streams_.size()));
  }
  return {};
}

void CtfSource::start() {
  // One processor is left to the thread that reads.
  const std::size_t processors = std::max(std::thread::hardware_concurrency(), 2u);
  read_ahead_.emplace(std::min(streams_.size(), processors - 1));
  for (const auto& stream : streams_) {
    read_ahead_->request(stream->file());
  }
  for (const auto& stream : streams_) {
    if (refill(*stream)) {
      queue_.push_back(stream.get());
    }
  }
  std::ranges::make_heap(queue_, is_later);
}

bool CtfSource::refill(MergedStream& stream) {
  while (!stream.chunk().is_last) {
    const std::uint64_t before = stream.chunk().position;
    stream.take_chunk();
    const ctf::Chunk& chunk = stream.chunk();
    if (!chunk.is_last) {
      read_ahead_->request(stream.file());
    }
    done_ += chunk.position - before;
    losses_ += chunk.losses;
    if (chunk.part) parts_.push_back(*chunk.part);
    processors_ = std::max(processors_, chunk.processors);
    if (!chunk.events.empty()) {
      return true;
    }
  }
  return false;
}

void CtfSource::take_run(Batch& batch) {
  std::ranges::pop_heap(queue_, is_later);
  MergedStream& stream = *queue_.back();
  const MergedStream* const next = queue_.size() > 1 ? queue_.front() : nullptr;
  bool more = true;
  while (more && !is_full(batch) && (next == nullptr || stream.comes_before(*next))) {
    payload_bytes_ += stream.move_to(batch, threads_);
    more = stream.advance() || refill(stream);
  }
  if (more) {
    std::ranges::push_heap(queue_, is_later);
  } else {
    queue_.pop_back();
  }
}

bool CtfSource::read(Batch& batch) {
  batch.clear();
  if (!read_ahead_) {
    start();
  }
  payload_bytes_ = 0;
  while (!is_full(batch) && !queue_.empty()) {
    take_run(batch);
  }
  if (batch.events.empty()) {
    losses_ += ctf::lost_between_parts(std::exchange(parts_, {}));
    complete_fingerprints();
    return false;
  }
  return true;
}

std::map<std::string, std::uint64_t> CtfSource::counts() const {
  std::map<std::string, std::uint64_t> result;
  for (const auto& stream : streams_) {
    stream->for_each_count(
        [&result](const std::string& name, std::uint64_t count) { result[name] += count; });
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<EventStream>> open_ctf(const std::vector<Given>& given) {
  auto source = std::make_unique<CtfSource>();
  for (const Given& traces : given) {
    if (auto added = source->add(traces); !added) {
      return tl::unexpected(added.error());
    }
  }
  return source;
}

}  // namespace takt::events
