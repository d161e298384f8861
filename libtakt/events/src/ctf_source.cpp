#include "ctf_source.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <tuple>
#include <utility>

#include "clock.hpp"
#include "ctf_metadata.hpp"
#include "ctf_plan.hpp"
#include "doubles.hpp"
#include "layout.hpp"
#include "mapped_file.hpp"
#include "read_ahead.hpp"
#include "takt/base/try.hpp"

namespace takt::events {
namespace {

namespace fs = std::filesystem;

/// A stream as the merge sees it: its next event.
class MergedStream {
 public:
  MergedStream(std::unique_ptr<DecodedFile> file, const ctf::TraceContext& trace,
               std::size_t number)
      : file_(std::move(file)), trace_(trace), number_(number) {}

  [[nodiscard]] const ctf::TraceContext& trace() const { return trace_; }

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
  const ctf::TraceContext& trace_;
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
    thread = threads.thread(trace_.host, found.process, found.id, found.name);
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
  explicit CtfSource(bool foreign) : foreign_(foreign) {
    threads_.look_ahead([this] { return last_events(); });
  }

  /// Error: `is_beyond` says whether another decoder may read the traces.
  Result<void> add(const Given& traces, bool& is_beyond);

  bool read(Batch& batch) override;
  Position position() const override { return {done_, total_}; }
  std::map<std::string, std::uint64_t> counts() const override;

 private:
  Result<void> add(const fs::path& directory, const std::set<fs::path>& shorter, bool& is_beyond);
  Result<void> add_streams(const fs::path& directory, const ctf::TraceContext& context);
  /// The number of a trace, by its UUID.
  std::size_t number_of(const ctf::Metadata& metadata, HostIndex host);
  void leave_out_repeated_packets();
  void start();
  /// Takes the newest event back if another trace had it, too.
  void take_back_repeated(Batch& batch, std::size_t trace);
  /// Takes chunks of the stream until one has an event. False at the stream's end.
  bool refill(MergedStream& stream);
  /// Notes that a stream has no more events, and so perhaps its process.
  void end(const MergedStream& stream, const std::optional<Event>& last);
  /// Takes events of the first stream while none of the others has an earlier one.
  void take_run(Batch& batch);
  void complete_fingerprints();
  /// Decodes all streams from their start, beside what is being read.
  [[nodiscard]] Threads::LastEvents last_events() const;
  [[nodiscard]] bool is_full(const Batch& batch) const {
    return batch.events.size() >= most_events || payload_bytes_ >= most_payload_bytes;
  }

  static bool is_later(const MergedStream* a, const MergedStream* b) { return b->comes_before(*a); }

  /// Streams of a process that have not ended, and its last event.
  struct Streams {
    std::size_t streams = 0;
    std::optional<Event> last{};
  };

  std::map<std::pair<HostIndex, std::int64_t>, Streams> processes_;
  const bool foreign_;
  std::vector<std::unique_ptr<ctf::TracePlan>> plans_;
  std::vector<std::unique_ptr<ctf::TraceContext>> traces_;
  std::vector<std::unique_ptr<MergedStream>> streams_;
  std::vector<Fingerprint> fingerprints_;       // of each input; none once they are complete
  std::vector<std::size_t> streams_of_inputs_;  // how many up to and including each
  std::vector<ctf::StreamPart> parts_;          // the files that have been read
  std::map<std::pair<HostIndex, std::string>, std::size_t> numbers_;  // of traces, by their UUIDs
  /// The traces of each host, whatever recorded them; each with the number of the process that it
  /// is of, 0 for one with the events of all.
  std::map<HostIndex, std::set<std::pair<std::int64_t, std::size_t>>> recorded_;
  std::optional<Doubles> doubles_;  // if several traces may hold the same events
  std::array<std::uint64_t, event_type_count> repeated_events_{};
  std::vector<MergedStream*> queue_;  // a heap, the earliest event first
  std::size_t payload_bytes_ = 0;     // of the batch
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

bool has(const ctf::TypePointer& context, std::string_view name) {
  return context && std::ranges::any_of(context->members, [name](const ctf::Member& member) {
           return member.name == name;
         });
}

/// Whether nothing but their number tells the processes of a trace apart.
bool has_numbers_alone(const ctf::Metadata& metadata) {
  return environment(metadata, "domain") == "ust" && environment(metadata, "vpid").empty() &&
         std::ranges::none_of(metadata.streams, [](const ctf::StreamClass& stream) {
           return has(stream.event_context, "pid_ns");
         });
}

/// The contexts without which nobody knows which thread an event is of, if programs of ROS 2 were
/// recorded without them.
std::string missing_contexts(const ctf::Metadata& metadata) {
  std::string missing;
  for (const ctf::StreamClass& stream : metadata.streams) {
    const bool is_of_programs =
        std::ranges::any_of(metadata.events, [&stream](const ctf::EventClass& event) {
          return event.stream_id == stream.id && event.name.starts_with("ros2:");
        });
    if (!is_of_programs || !missing.empty()) continue;
    const bool lacks_process =
        !has(stream.event_context, "vpid") && environment(metadata, "vpid").empty();
    const bool lacks_thread = !has(stream.event_context, "vtid");
    if (!lacks_process && !lacks_thread) continue;
    missing = fmt::format("{}{}{}{}", lacks_process ? "vpid" : "",
                          lacks_process && lacks_thread ? ", " : "", lacks_thread ? "vtid" : "",
                          has(stream.event_context, "procname") ? "" : ", procname");
  }
  return missing;
}

Result<void> CtfSource::add(const Given& traces, bool& is_beyond) {
  inputs_.push_back(traces.input);
  auto fingerprint = TAKT_TRY(Fingerprint::of(traces.directories));
  fingerprints_.push_back(fingerprint);
  for (const fs::path& directory : traces.directories) {
    TAKT_TRY(add(directory, traces.shorter, is_beyond));
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

Result<void> CtfSource::add(const fs::path& directory, const std::set<fs::path>& shorter,
                            bool& is_beyond) {
  const auto text = read_metadata(directory);
  if (!text) {
    is_beyond = true;
    return tl::unexpected(text.error());
  }
  auto metadata = ctf::parse_metadata(*text);
  auto plan = metadata ? ctf::plan_decoding(std::move(*metadata), foreign_)
                       : Result<ctf::TracePlan>(tl::unexpected(metadata.error()));
  if (!plan) {
    is_beyond = true;
    return error("{}: {}", directory.string(), plan.error().message);
  }
  if (const auto missing = missing_contexts(plan->metadata); !missing.empty()) {
    return error(
        "{}: recorded without the contexts {}, so nobody knows which thread an event is of; record "
        "again after 'lttng add-context -u -t vpid -t vtid -t procname', as 'ros2 trace' does",
        traces_.empty() ? inputs_.back().path : directory.string(), missing);
  }
  plans_.push_back(std::make_unique<ctf::TracePlan>(std::move(*plan)));
  const ctf::Metadata& known = plans_.back()->metadata;
  const ctf::Clock clock = known.clock.value_or(ctf::Clock());

  ctf::TraceContext context;
  context.plan = plans_.back().get();
  context.host = threads_.host(environment(known, "hostname"), without_dashes(clock.uuid));
  context.process_id = std::strtoll(environment(known, "vpid").c_str(), nullptr, 10);
  context.name_space = std::strtoull(environment(known, "pid_ns").c_str(), nullptr, 10);
  context.process_name = environment(known, "procname");
  context.never_empty = environment(known, "tracer_name").starts_with("takt-");
  for (const fs::path& file : shorter) {
    if (file.parent_path() == directory) context.shorter.insert(file.filename());
  }
  // Recorders whose events do not all name their processor write how many the host has.
  const auto processors = std::strtoll(environment(known, "processors").c_str(), nullptr, 10);
  if (processors > 0 && processors <= most_processors) {
    processors_ = std::max(processors_, static_cast<std::uint32_t>(processors));
  }
  context.shift = shift_of(
      context.host, ClockScale{clock.frequency}.offset(clock.offset_seconds, clock.offset_cycles));
  context.number = number_of(known, context.host);
  knows_numbers_alone_ = knows_numbers_alone_ || has_numbers_alone(known);
  traces_.push_back(std::make_unique<ctf::TraceContext>(std::move(context)));
  return add_streams(directory, *traces_.back());
}

Result<void> CtfSource::add_streams(const fs::path& directory, const ctf::TraceContext& context) {
  const auto files = TAKT_TRY(stream_files(directory));
  for (const fs::path& path : files) {
    auto file = TAKT_TRY(MappedFile::open(path));
    const std::string name = path.filename().string();
    if (file.bytes().empty() && context.never_empty && !context.shorter.contains(name)) {
      StreamLosses fault;
      fault.discarded_packets = 1;  // at least
      fault.faults.push_back(fmt::format("{}: the file is empty: its events are missing", name));
      losses_ += fault;
    }
    total_ += file.bytes().size();
    streams_.push_back(std::make_unique<MergedStream>(
        std::make_unique<DecodedFile>(std::move(file), context, name), context, streams_.size()));
  }
  // Recorders that write a trace for each process show when it ends.
  if (context.process_id != 0) {
    threads_.tell_ends();
    processes_[{context.host, context.process_id}].streams += files.size();
  }
  return {};
}

std::size_t CtfSource::number_of(const ctf::Metadata& metadata, HostIndex host) {
  if (metadata.uuid.empty()) return traces_.size();
  const std::size_t number =
      numbers_.try_emplace({host, metadata.uuid}, traces_.size()).first->second;
  if (environment(metadata, "domain") != "kernel") {
    const auto process = std::strtoll(environment(metadata, "vpid").c_str(), nullptr, 10);
    auto& traces = recorded_[host];
    const bool may_repeat = std::ranges::any_of(traces, [&](const auto& other) {
      return other.second != number && (other.first == process || other.first * process == 0);
    });
    if (may_repeat) doubles_.emplace();
    traces.emplace(process, number);
  }
  return number;
}

/// Snapshots of one session share the packets that were still in memory at both times.
void CtfSource::leave_out_repeated_packets() {
  using Key = std::tuple<HostIndex, std::string, std::uint64_t, std::uint64_t>;
  std::map<Key, std::vector<DecodedFile*>> files;
  for (const auto& stream : streams_) {
    const auto first = stream->file().packets().next_packet();
    if (!first || first->place.trace.empty() || !first->place.instance) continue;
    const ctf::StreamPart& place = first->place;
    files[{stream->trace().host, place.trace, place.stream_class, *place.instance}].push_back(
        &stream->file());
  }
  struct Place {
    DecodedFile* file;
    std::uint64_t begin;
    std::uint64_t content_size;
  };
  for (const auto& [key, parts] : files) {
    if (parts.size() == 1) continue;
    std::map<std::uint64_t, Place> complete;  // by the packet's number in the stream
    std::map<DecodedFile*, std::set<std::uint64_t>> repeated;
    for (DecodedFile* const file : parts) {
      ctf::Stream packets = file->packets();
      while (const auto packet = packets.next_packet()) {
        if (!packet->place.first.sequence) continue;
        Place place{file, packet->begin, packet->content_size};
        const auto [other, is_new] = complete.try_emplace(*packet->place.first.sequence, place);
        if (is_new) continue;
        // The later snapshot may have more of the packet that was being filled.
        if (place.content_size > other->second.content_size) std::swap(place, other->second);
        repeated[place.file].insert(place.begin);
      }
    }
    for (auto& [file, packets] : repeated) {
      file->leave_out(std::move(packets));
    }
  }
}

void CtfSource::take_back_repeated(Batch& batch, std::size_t trace) {
  if (!doubles_->repeats(batch, trace)) return;
  const Event& event = batch.events.back();
  ++repeated_.events;
  ++repeated_events_[static_cast<std::size_t>(event.type)];
  if (event.payload != no_payload) {
    payload_bytes_ -= batch.payloads.back().bytes();
    batch.payloads.pop_back();
  }
  batch.events.pop_back();
}

void CtfSource::start() {
  leave_out_repeated_packets();
  // One processor is left to the thread that reads.
  const std::size_t processors = std::max(std::thread::hardware_concurrency(), 2u);
  read_ahead_.emplace(std::min(streams_.size(), processors - 1));
  for (const auto& stream : streams_) {
    read_ahead_->request(stream->file());
  }
  for (const auto& stream : streams_) {
    if (refill(*stream)) {
      queue_.push_back(stream.get());
    } else {
      end(*stream, std::nullopt);
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
    repeated_.packets += chunk.repeated_packets;
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
    if (!more) end(stream, batch.events.back());
    if (doubles_) [[unlikely]] {
      take_back_repeated(batch, stream.trace().number);
    }
  }
  if (more) {
    std::ranges::push_heap(queue_, is_later);
  } else {
    queue_.pop_back();
  }
}

void CtfSource::end(const MergedStream& stream, const std::optional<Event>& last) {
  const auto found = processes_.find({stream.trace().host, stream.trace().process_id});
  if (found == processes_.end()) return;
  Streams& streams = found->second;
  if (last) streams.last = last;
  if (--streams.streams == 0 && streams.last) {
    threads_.end(threads_[streams.last->thread].process, streams.last->time);
  }
}

Threads::LastEvents CtfSource::last_events() const {
  Threads::LastEvents last;
  for (const auto& stream : streams_) {
    ctf::Stream packets = stream->file().packets();
    for (ctf::Chunk chunk; !chunk.is_last;) {
      packets.read(chunk);
      for (const Event& event : chunk.events) {
        const ProcessId& process = chunk.threads[event.thread.value()].process;
        last.note({stream->trace().host, process.number, process.name_space}, event.time);
      }
    }
  }
  return last;
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
  for (std::size_t type = 0; type < repeated_events_.size(); ++type) {
    if (repeated_events_[type] != 0) result[schemas()[type].name] -= repeated_events_[type];
  }
  return result;
}

}  // namespace

Result<std::unique_ptr<EventStream>> open_ctf(const std::vector<Given>& given, bool foreign,
                                              bool& is_beyond) {
  is_beyond = false;
  auto source = std::make_unique<CtfSource>(foreign);
  for (const Given& traces : given) {
    TAKT_TRY(source->add(traces, is_beyond));
  }
  return source;
}

}  // namespace takt::events
