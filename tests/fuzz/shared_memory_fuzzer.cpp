#include <sys/socket.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "exchange.hpp"
#include "introduction.hpp"
#include "takt/link/flow_control.hpp"
#include "two_streams.hpp"

namespace {

using namespace takt;
using namespace takt::transport;

constexpr std::size_t area_bytes = sizeof(SharedArea) + fuzz::chunk_bytes;

struct Unreachable final : link::Transport {
  void send(const link::Chunk&, std::span<const std::byte>, Instant) override {}
  std::optional<link::Outcome> poll(Instant) override { return link::Outcome::lost; }
};

struct alignas(SharedArea::line) Area {
  std::array<std::byte, area_bytes> bytes{};

  SharedArea& shared() { return *reinterpret_cast<SharedArea*>(bytes.data()); }
};

/// A peer with the key, which may write whatever it likes into its memory.
void exchange(fuzz::Choices& choices) {
  Unreachable nobody;
  const std::array<link::Transport*, 1> peers{&nobody};
  const auto flow =
      std::move(link::FlowControl::create(fuzz::two_streams(), peers, Instant{}).value());
  link::Sink& sink = flow->sink({});
  const auto mine = std::make_unique<Area>();
  const auto theirs = std::make_unique<Area>();
  Exchange::clear(mine->bytes);
  Exchange::clear(theirs->bytes);
  Exchange exchange(mine->bytes, theirs->bytes);
  const std::vector<std::byte> message(fuzz::chunk_bytes);
  std::uint64_t begun = 0;
  Instant now{};
  while (choices.any()) {
    now += Duration{1};
    // Small numbers mean something more often than large ones.
    SharedArea& area = theirs->shared();
    switch (choices.below(8)) {
      case 0:
        area.begun = choices.next<std::uint64_t>();
        break;
      case 1:
        area.ended = choices.next<std::uint8_t>();
        break;
      case 2:
        area.begun = ++begun;
        area.chunk[0] = choices.next<std::uint8_t>();
        area.chunk[1] =
            std::uint64_t{choices.next<std::uint8_t>()} << 32 | choices.next<std::uint16_t>();
        area.chunk[2] =
            std::uint64_t{choices.next<std::uint16_t>()} << 32 | choices.next<std::uint16_t>();
        break;
      default:
        area.chunk[choices.below(3)] = choices.next<std::uint64_t>();
        break;
    }
    if (!exchange.active()) {
      exchange.begin({.stream = 1,
                      .message = 1,
                      .message_bytes = fuzz::chunk_bytes,
                      .bytes = fuzz::chunk_bytes},
                     message);
    }
    static_cast<void>(exchange.ended());
    if (exchange.take(sink, now) == Exchange::Taken::malformed) begun = area.begun;
    flow->step(now);
  }
  sink.restarted();
  for (std::size_t channel = 0; channel < 2; ++channel) {
    // All but the newest message.
    fuzz::require(flow->free_slots(link::ChannelIndex(channel)) >= fuzz::slots - 1);
  }
}

/// A caller without the key cannot prove that it has it.
void introduce(fuzz::Choices& choices) {
  static const Key key{1};
  std::array<int, 2> ends{};
  const int type = choices.below(2) == 0 ? SOCK_SEQPACKET : SOCK_STREAM;
  fuzz::require(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) == 0);
  const Descriptor caller(ends[1]);
  Descriptor answerer(ends[0]);
  Introduction introduction(std::move(answerer), key, 1, 1);
  while (choices.any()) {
    std::vector<std::byte> bytes(choices.below(wire::hello_bytes + 3));
    for (std::byte& byte : bytes) byte = choices.next<std::byte>();
    if (send(caller.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
    const auto state = introduction.hear();
    fuzz::require(state == Introduction::State::waiting || state == Introduction::State::failed);
    if (state == Introduction::State::failed) return;
  }
}

/// The description that a peer with the key gives of its queue pair.
void describe(fuzz::Choices& choices) {
  std::vector<std::byte> body(choices.below(wire::memory_bytes + 3));
  for (std::byte& byte : body) byte = choices.next<std::byte>();
  const auto memory = wire::read_memory(body);
  if (!memory) return;
  fuzz::require(memory->queue_pair < 1U << 24 && memory->packet < 1U << 24);
  std::vector<std::byte> again(wire::memory_bytes);
  wire::write(*memory, again.data());
  fuzz::require(again == body);
}

}  // namespace

/// Nothing is written outside the channels, whatever a peer does to its memory; their slots do not
/// leak; and nobody gets in without the key.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Choices choices(data, size);
  switch (choices.below(8)) {
    case 0:
      introduce(choices);
      break;
    case 4:
      describe(choices);
      break;
    default:
      exchange(choices);
      break;
  }
  return 0;
}
