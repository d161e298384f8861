#include "takt/transport/connection.hpp"

#include <sodium.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "incoming.hpp"
#include "outgoing.hpp"
#include "session.hpp"
#include "wire.hpp"

namespace takt::transport {

namespace {

/// Packets that are sealed before the first of them is sent, which must not take long, and given to
/// the kernel as one. A token bucket that lets less than that through at once takes it apart, and
/// then every packet costs the processor interrupts of its own.
constexpr std::size_t most_packets_at_once = 16;
/// How often an idle peer pings within the time of silence after which it is lost.
constexpr std::int64_t pings_in_silence = 4;

}  // namespace

class Connection::State {
 public:
  State(const Key& key, Settings settings, Datagrams& datagrams, Instant now)
      : key_(key), settings_(settings), datagrams_(datagrams), heard_(now), next_call_(now) {
    [[maybe_unused]] const int ready = sodium_init();
    assert(ready >= 0);
    aes_ = settings.aes && has_aes();
    randombytes_buf(&incarnation_, sizeof incarnation_);
    mine_ = make_nonce();
  }

  void send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) {
    if (!session_) {
      outcome_ = link::Outcome::lost;
      return;
    }
    outgoing_.begin(chunk, bytes);
    pump(now);
  }

  void receive(std::span<std::byte> datagram, Instant now) {
    ++counts.packets_received;
    if (const auto hello = wire::read_hello(datagram)) return hear_hello(*hello, datagram, now);
    const auto counter = wire::read_sealed_header(datagram);
    if (!counter) {
      ++counts.malformed;
      return;
    }
    if (!session_) {
      ++counts.forged;
      return;
    }
    std::span<std::byte> body;
    switch (session_->open(datagram, *counter, body)) {
      case Session::Verdict::forged:
        ++counts.forged;
        return;
      case Session::Verdict::replayed:
        ++counts.replayed;
        return;
      case Session::Verdict::genuine:
        heard_ = now;
        hear(body, now);
        return;
    }
  }

  Instant step(Instant now) {
    if (session_ && now - heard_ >= settings_.silence) lose();
    if (!session_ && now >= next_call_) call(now);
    if (!session_) return next_call_;
    pump(now);
    const auto overdue = outgoing_.overdue();
    if (overdue && now >= *overdue) {
      outgoing_.ask();
      pump(now);
    }
    if (now >= next_ping_) {
      send_ping(true);
      next_ping_ = now + settings_.silence / pings_in_silence;
    }
    Instant next = std::min(next_ping_, heard_ + settings_.silence);
    if (const auto answer = outgoing_.overdue()) next = std::min(next, *answer);
    return next;
  }

  link::Sink* sink = nullptr;
  ConnectionCounts counts;
  std::optional<link::Outcome> outcome_;

  [[nodiscard]] bool waits_for_room() const { return batch_bytes_ > 0; }
  [[nodiscard]] bool connected() const { return session_.has_value(); }

 private:
  void call(Instant now) {
    say_hello(mine_, {});
    next_call_ = now + settings_.call;
  }

  void say_hello(const wire::Nonce& mine, const wire::Nonce& yours) {
    std::array<std::byte, wire::hello_bytes> packet{};
    wire::write(wire::Hello{.aes = aes_, .incarnation = incarnation_, .mine = mine, .yours = yours},
                packet.data());
    authenticate(key_, packet);
    // A hello that finds no room is lost like any other packet.
    static_cast<void>(datagrams_.send(packet, packet.size()));
    ++counts.packets_sent;
  }

  /// A session begins when the peer has answered to the nonce that was made for it. So an old hello
  /// neither begins nor ends a session: it answers to another nonce. A call answers to none.
  ///
  ///   A: hello(a, -)   B: hello(b, a)   A: begins, hello(a, b)   B: begins
  void hear_hello(const wire::Hello& hello, std::span<const std::byte> packet, Instant now) {
    if (!is_authentic(key_, packet) || hello.mine == mine_ || hello.mine == session_nonce_) {
      ++counts.forged;  // or our own, sent back
      return;
    }
    const bool calls = hello.yours == wire::Nonce{};
    if (session_ && hello.mine == theirs_) {
      // The peer has not heard that the session began.
      if (calls) say_hello(session_nonce_, theirs_);
    } else if (hello.yours == mine_) {
      begin_session(hello, now);
      say_hello(session_nonce_, theirs_);
    } else if (calls) {
      say_hello(mine_, hello.mine);
    } else {
      ++counts.replayed;
    }
  }

  void begin_session(const wire::Hello& hello, Instant now) {
    if (session_) lose();
    theirs_ = hello.mine;
    session_nonce_ = std::exchange(mine_, make_nonce());
    const Cipher cipher = aes_ && hello.aes ? Cipher::aes_256_gcm : Cipher::chacha20_poly1305;
    session_.emplace(packets_, cipher, key_, session_nonce_, theirs_);
    incoming_.reset();
    heard_ = now;
    next_ping_ = now + settings_.silence / pings_in_silence;
    ++counts.sessions;
    if (std::exchange(peer_, hello.incarnation) != hello.incarnation && sink != nullptr) {
      sink->restarted();
    }
  }

  void lose() {
    if (outgoing_.active()) outcome_ = link::Outcome::lost;
    outgoing_.reset();
    batch_bytes_ = 0;
    session_.reset();
    ++counts.peers_lost;
  }

  void hear(std::span<const std::byte> body, Instant now) {
    if (const auto data = wire::read_data(body)) {
      if (sink == nullptr) return;
      const auto reaction =
          incoming_.take(*data, body.subspan(wire::data_header_bytes), *sink, now);
      if (reaction.malformed) ++counts.malformed;
      if (reaction.answer) send_answer(*reaction.answer);
    } else if (const auto answer = wire::read_answer(body)) {
      if (const auto outcome = outgoing_.hear(*answer, now)) outcome_ = outcome;
      pump(now);
    } else if (body.size() == wire::ping_bytes &&
               body[0] == static_cast<std::byte>(wire::BodyKind::ping)) {
      if (body[1] == std::byte{wire::answer_flag}) send_ping(false);
    } else {
      ++counts.malformed;
    }
  }

  /// Sends the rest of the round, as far as there is room.
  void pump(Instant now) {
    while (outgoing_.has_packet() || batch_bytes_ > 0) {
      while (outgoing_.has_packet() && batch_bytes_ + wire::packet_bytes <= batch_.size() &&
             batch_bytes_ % wire::packet_bytes == 0) {
        seal_packet();
        outgoing_.sent(now);
      }
      if (!datagrams_.send(std::span(batch_).first(batch_bytes_), wire::packet_bytes)) return;
      batch_bytes_ = 0;
    }
  }

  void seal_packet() {
    assert(session_ && "a chunk is under way in a session alone");
    const std::span<const std::byte> payload = outgoing_.payload();
    const std::size_t bytes =
        wire::sealed_header_bytes + wire::data_header_bytes + payload.size() + wire::tag_bytes;
    const std::span<std::byte> packet = std::span(batch_).subspan(batch_bytes_, bytes);
    std::byte* body = packet.data() + wire::sealed_header_bytes;
    wire::write(outgoing_.packet(), body);
    if (!payload.empty()) {
      std::memcpy(body + wire::data_header_bytes, payload.data(), payload.size());
    }
    session_->seal(packet);
    batch_bytes_ += bytes;
    ++counts.packets_sent;
    if (outgoing_.repeats()) ++counts.packets_repeated;
  }

  template <std::size_t most>
  void send_small(std::array<std::byte, most>& packet, std::size_t body_bytes) {
    const auto sealed =
        std::span(packet).first(wire::sealed_header_bytes + body_bytes + wire::tag_bytes);
    assert(session_ && "there is somebody to hear it");
    session_->seal(sealed);
    static_cast<void>(datagrams_.send(sealed, sealed.size()));
    ++counts.packets_sent;
  }

  void send_answer(const wire::Answer& answer) {
    constexpr std::size_t most_present = (PacketSet::most + 7) / 8;
    std::array<std::byte, wire::sealed_header_bytes + wire::answer_header_bytes + most_present +
                              wire::tag_bytes>
        packet{};
    wire::write(answer, packet.data() + wire::sealed_header_bytes);
    send_small(packet, wire::answer_header_bytes + answer.present.size());
  }

  void send_ping(bool answer) {
    std::array<std::byte, wire::sealed_header_bytes + wire::ping_bytes + wire::tag_bytes> packet{};
    packet[wire::sealed_header_bytes] = static_cast<std::byte>(wire::BodyKind::ping);
    packet[wire::sealed_header_bytes + 1] = answer ? std::byte{wire::answer_flag} : std::byte{0};
    send_small(packet, wire::ping_bytes);
  }

  Key key_;
  Settings settings_;
  Datagrams& datagrams_;
  std::uint64_t incarnation_ = 0;
  /// The incarnation of the peer's process; 0: none yet.
  std::uint64_t peer_ = 0;
  /// Our nonce for the next session.
  wire::Nonce mine_{};
  /// Our nonce and the peer's in this session.
  wire::Nonce session_nonce_{};
  wire::Nonce theirs_{};
  /// Whether we want AES.
  bool aes_ = false;
  PacketCipher packets_;
  std::optional<Session> session_;
  Outgoing outgoing_;
  Incoming incoming_;
  Instant heard_;
  Instant next_call_;
  Instant next_ping_{};
  std::array<std::byte, most_packets_at_once * wire::packet_bytes> batch_{};
  std::size_t batch_bytes_ = 0;
};

Connection::Connection(const Key& key, Settings settings, Datagrams& datagrams, Instant now)
    : state_(std::make_unique<State>(key, settings, datagrams, now)) {}
Connection::~Connection() = default;

void Connection::deliver_to(link::Sink& sink) { state_->sink = &sink; }

void Connection::send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) {
  state_->send(chunk, bytes, now);
}

std::optional<link::Outcome> Connection::poll(Instant /*now*/) {
  return std::exchange(state_->outcome_, std::nullopt);
}

void Connection::receive(std::span<std::byte> datagram, Instant now) {
  state_->receive(datagram, now);
}

Instant Connection::step(Instant now) { return state_->step(now); }
bool Connection::waits_for_room() const { return state_->waits_for_room(); }
bool Connection::connected() const { return state_->connected(); }
const ConnectionCounts& Connection::counts() const { return state_->counts; }

}  // namespace takt::transport
