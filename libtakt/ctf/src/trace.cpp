#include "takt/ctf/trace.hpp"

#include <array>
#include <cstring>
#include <ctime>

#include "metadata.hpp"

namespace takt::ctf {

namespace {

constexpr std::uint32_t packet_magic = 0xc1fc1fc1;
constexpr std::uint16_t extended_id = 65535;

/// The beginning of every packet; its fields are in the order of the metadata.
struct [[gnu::packed]] PacketHead {
  std::uint32_t magic;
  std::array<std::byte, 16> trace;
  std::uint32_t stream_class;
  std::uint64_t stream;
  std::uint64_t begin;
  std::uint64_t end;
  std::uint64_t content_bits;
  std::uint64_t packet_bits;
  std::uint64_t sequence;
  std::uint64_t discarded;
};

/// A packet is written when it has grown beyond this.
constexpr std::size_t packet_size = std::size_t{32} << 10;

template <typename Value>
void put(std::vector<std::byte>& bytes, const Value& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

}  // namespace

Stream::Stream(Storage& storage, std::filesystem::path file, Kept kept,
               std::array<std::byte, 16> trace, std::uint64_t number)
    : storage_(storage), file_(std::move(file)), kept_(kept), packet_(sizeof(PacketHead)) {
  PacketHead head{};
  head.magic = packet_magic;
  head.trace = trace;
  head.stream = number;
  std::memcpy(packet_.data(), &head, sizeof head);
}

void Stream::append(std::uint64_t time, std::uint16_t id, std::span<const std::byte> contexts,
                    std::span<const std::byte> fields) {
  time = std::max(time, last_);
  if (packet_.size() == sizeof(PacketHead)) {
    begin_ = time;
    last_ = time;
  }
  if (time - last_ <= UINT32_MAX) {  // a reader takes the upper bits from the event before
    put(packet_, id);
    put(packet_, static_cast<std::uint32_t>(time));
  } else {
    put(packet_, extended_id);
    put(packet_, std::uint32_t{id});
    put(packet_, time);
  }
  packet_.insert(packet_.end(), contexts.begin(), contexts.end());
  packet_.insert(packet_.end(), fields.begin(), fields.end());
  last_ = time;
  ++events_;
  if (packet_.size() >= packet_size) {
    flush();
  }
}

void Stream::flush() {
  const bool no_events = packet_.size() == sizeof(PacketHead);
  if (no_events && discarded_ == discarded_written_) {
    return;
  }
  if (no_events) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    last_ = std::max(last_, static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
                                static_cast<std::uint64_t>(now.tv_nsec));
    begin_ = last_;
  }
  PacketHead head{};
  std::memcpy(&head, packet_.data(), sizeof head);
  head.begin = begin_;
  head.end = last_;
  head.content_bits = packet_.size() * 8;
  head.packet_bits = packet_.size() * 8;
  head.sequence = sequence_++;
  head.discarded = discarded_;
  std::memcpy(packet_.data(), &head, sizeof head);
  if (!storage_.append(file_, packet_, kept_)) {
    unwritten_ += events_;
  }
  packet_.resize(sizeof head);
  events_ = 0;
  discarded_written_ = discarded_;
}

Result<std::unique_ptr<Trace>> Trace::create(Storage& storage,
                                             const std::filesystem::path& directory,
                                             const Description& description) {
  std::unique_ptr<Trace> trace(new Trace(storage, directory));
  trace->uuid_ = make_uuid();
  const std::string text = metadata(description, trace->uuid_);
  if (!storage.append(directory / "metadata", std::as_bytes(std::span(text)),
                      Kept::with_their_trace)) {
    return tl::unexpected(storage.written().error());
  }
  return trace;
}

std::unique_ptr<Stream> Trace::open_stream(const std::string& name, Kept kept) {
  return std::make_unique<Stream>(storage_, directory_ / name, kept, uuid_, streams_++);
}

}  // namespace takt::ctf
