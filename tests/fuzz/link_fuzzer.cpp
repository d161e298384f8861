#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "choices.hpp"
#include "incoming.hpp"
#include "outgoing.hpp"
#include "takt/link/flow_control.hpp"
#include "takt/transport/connection.hpp"
#include "two_streams.hpp"
#include "wire.hpp"

namespace {

using namespace takt;
using namespace takt::transport;

struct Nowhere final : Datagrams {
  bool send(std::span<const std::byte>, std::size_t) override { return true; }
};

}  // namespace

/// Any packets: from anybody to a connection, and from a hostile peer that has the key to the code
/// that reads its packets. Nothing is written outside the channels, and their slots do not leak.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using takt::fuzz::require;
  static const Key key{};
  Nowhere nowhere;
  Connection connection(key, {}, nowhere, Instant{});
  const std::array<link::Transport*, 1> peers{&connection};
  const auto flow =
      std::move(link::FlowControl::create(fuzz::two_streams(), peers, Instant{}).value());
  link::Sink& sink = flow->sink({});
  connection.deliver_to(sink);

  Incoming incoming;
  Outgoing outgoing;
  const std::vector<std::byte> message(fuzz::chunk_bytes);
  fuzz::Choices choices(data, size);
  Instant now{};
  while (choices.any()) {
    now += Duration{1};
    std::vector<std::byte> bytes(choices.next<std::uint16_t>() % 1600);
    // Only the first bytes are chosen, the others are 0: most of a payload does not matter.
    const std::size_t chosen = std::min<std::size_t>(bytes.size(), 64);
    for (std::size_t i = 0; i < chosen; ++i) bytes[i] = choices.next<std::byte>();
    std::vector<std::byte> copy = bytes;
    connection.receive(copy, now);
    if (const auto packet = wire::read_data(bytes)) {
      const auto payload = std::span<const std::byte>(bytes).subspan(wire::data_header_bytes);
      const auto reaction = incoming.take(*packet, payload, sink, now);
      if (reaction.answer) {
        require(reaction.answer->present.size() <= (PacketSet::most + 7) / 8);
      }
    }
    if (!outgoing.active()) {
      outgoing.begin({.stream = 1,
                      .message = 1,
                      .message_bytes = fuzz::chunk_bytes,
                      .bytes = fuzz::chunk_bytes},
                     message);
    }
    for (; outgoing.has_packet(); outgoing.sent(now)) {
      require(outgoing.payload().size() <= wire::payload_bytes);
      require(outgoing.packet().index < wire::packets_of(message.size()));
    }
    if (const auto answer = wire::read_answer(bytes)) {
      static_cast<void>(outgoing.hear(*answer, now));
    }
    if (outgoing.active() && !outgoing.has_packet()) outgoing.ask();
    flow->step(now);
  }
  sink.restarted();
  for (std::size_t channel = 0; channel < 2; ++channel) {
    // All but the newest message.
    require(flow->free_slots(link::ChannelIndex(channel)) >= fuzz::slots - 1);
  }
  return 0;
}
