#include "wire.hpp"

#include <concepts>
#include <cstring>

namespace takt::transport::wire {

namespace {

/// Writes one field after the other.
class Writer {
 public:
  explicit Writer(std::byte* to) : to_(to) {}

  template <std::unsigned_integral Integer>
  Writer& put(Integer value) {
    for (std::size_t i = 0; i < sizeof value; ++i) {
      *to_++ = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i));
    }
    return *this;
  }
  Writer& put(const Nonce& nonce) {
    std::memcpy(to_, nonce.data(), nonce.size());
    to_ += nonce.size();
    return *this;
  }

 private:
  std::byte* to_;
};

/// Reads one field after the other from memory that is long enough.
class Reader {
 public:
  explicit Reader(const std::byte* from) : from_(from) {}

  template <std::unsigned_integral Integer>
  void get(Integer& value) {
    std::uint64_t read = 0;
    for (std::size_t i = 0; i < sizeof value; ++i) {
      read |= static_cast<std::uint64_t>(*from_++) << (8 * i);
    }
    value = static_cast<Integer>(read);
  }
  void get(Nonce& nonce) {
    std::memcpy(nonce.data(), from_, nonce.size());
    from_ += nonce.size();
  }

 private:
  const std::byte* from_;
};

constexpr unsigned char aes_flag = 1;

/// Whether a packet has this kind and our version. Its third byte may have these flags only.
bool begins_with(std::span<const std::byte> packet, unsigned char kind, unsigned char flags) {
  return packet[0] == std::byte{kind} && packet[1] == std::byte{version} &&
         (packet[2] | std::byte{flags}) == std::byte{flags} && packet[3] == std::byte{0};
}

constexpr std::uint8_t value(BodyKind kind) { return static_cast<std::uint8_t>(kind); }
constexpr std::uint16_t nothing = 0;

}  // namespace

void write(const Data& data, std::byte* to) {
  Writer(to)
      .put(value(BodyKind::data))
      .put(data.answer ? answer_flag : std::uint8_t{0})
      .put(data.round)
      .put(data.sequence)
      .put(data.chunk.stream)
      .put(data.chunk.message)
      .put(data.chunk.message_bytes)
      .put(data.chunk.offset)
      .put(data.chunk.bytes)
      .put(data.index);
}

void write(const Answer& answer, std::byte* to) {
  Writer(to)
      .put(value(BodyKind::answer))
      .put(static_cast<std::uint8_t>(answer.status))
      .put(answer.round)
      .put(answer.sequence);
  if (!answer.present.empty()) {
    std::memcpy(to + answer_header_bytes, answer.present.data(), answer.present.size());
  }
}

void write(const Hello& hello, std::byte* to) {
  Writer(to)
      .put(hello_kind)
      .put(version)
      .put(hello.aes ? aes_flag : std::uint8_t{0})
      .put(std::uint8_t{0})
      .put(hello.incarnation)
      .put(hello.mine)
      .put(hello.yours);
}

void write(const Memory& memory, std::byte* to) {
  Writer(to)
      .put(value(BodyKind::memory))
      .put(memory.mtu)
      .put(memory.room)
      .put(memory.queue_pair)
      .put(memory.packet)
      .put(memory.key)
      .put(memory.address);
}

void write_sealed_header(std::uint64_t counter, std::byte* to) {
  Writer(to).put(sealed_kind).put(version).put(nothing).put(counter);
}

std::optional<Data> read_data(std::span<const std::byte> body) {
  if (body.size() < data_header_bytes) return std::nullopt;
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;
  Data data;
  Reader reader(body.data());
  reader.get(kind);
  reader.get(flags);
  reader.get(data.round);
  reader.get(data.sequence);
  reader.get(data.chunk.stream);
  reader.get(data.chunk.message);
  reader.get(data.chunk.message_bytes);
  reader.get(data.chunk.offset);
  reader.get(data.chunk.bytes);
  reader.get(data.index);
  data.answer = (flags & answer_flag) != 0;
  const link::Chunk& chunk = data.chunk;
  if (kind != value(BodyKind::data) || chunk.offset > chunk.message_bytes ||
      chunk.bytes > chunk.message_bytes - chunk.offset || data.index >= packets_of(chunk.bytes)) {
    return std::nullopt;
  }
  const std::size_t before = std::size_t{data.index} * payload_bytes;
  const std::size_t payload = std::min(payload_bytes, chunk.bytes - before);
  if (body.size() != data_header_bytes + payload) return std::nullopt;
  return data;
}

std::optional<Answer> read_answer(std::span<const std::byte> body) {
  if (body.size() < answer_header_bytes) return std::nullopt;
  std::uint8_t kind = 0;
  std::uint8_t status = 0;
  Answer answer;
  Reader reader(body.data());
  reader.get(kind);
  reader.get(status);
  reader.get(answer.round);
  reader.get(answer.sequence);
  if (kind != value(BodyKind::answer) || status > static_cast<std::uint8_t>(Status::rejected)) {
    return std::nullopt;
  }
  answer.status = static_cast<Status>(status);
  answer.present = body.subspan(answer_header_bytes);
  return answer;
}

std::optional<Memory> read_memory(std::span<const std::byte> body) {
  if (body.size() != memory_bytes) return std::nullopt;
  constexpr std::uint32_t most_number = (1U << 24) - 1;
  std::uint8_t kind = 0;
  Memory memory;
  Reader reader(body.data());
  reader.get(kind);
  reader.get(memory.mtu);
  reader.get(memory.room);
  reader.get(memory.queue_pair);
  reader.get(memory.packet);
  reader.get(memory.key);
  reader.get(memory.address);
  if (kind != value(BodyKind::memory) || memory.queue_pair > most_number ||
      memory.packet > most_number) {
    return std::nullopt;
  }
  return memory;
}

std::optional<Hello> read_hello(std::span<const std::byte> packet) {
  if (packet.size() != hello_bytes || !begins_with(packet, hello_kind, aes_flag))
    return std::nullopt;
  Hello hello{.aes = (packet[2] & std::byte{aes_flag}) != std::byte{0}};
  Reader reader(packet.data() + 4);
  reader.get(hello.incarnation);
  reader.get(hello.mine);
  reader.get(hello.yours);
  return hello;
}

std::optional<std::uint64_t> read_sealed_header(std::span<const std::byte> packet) {
  if (packet.size() <= sealed_header_bytes + tag_bytes || !begins_with(packet, sealed_kind, 0)) {
    return std::nullopt;
  }
  std::uint64_t counter = 0;
  Reader(packet.data() + 4).get(counter);
  return counter;
}

}  // namespace takt::transport::wire
