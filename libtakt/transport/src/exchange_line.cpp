#include "exchange_line.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstring>

#include "takt/base/try.hpp"

namespace takt::transport {

namespace {

/// The most calls that wait to be accepted.
constexpr int most_waiting = 8;
constexpr int yes = 1;

/// TCP tells when the peer's process ends. It tells when the peer's machine ends only if it probes.
void ask_for_signs_of_life(int socket, Duration silence) {
  const auto milliseconds =
      static_cast<unsigned>(std::chrono::duration_cast<std::chrono::milliseconds>(silence).count());
  // These options count in whole seconds.
  const int seconds = static_cast<int>((milliseconds + 999) / 1000);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}

}  // namespace

ExchangeLine::ExchangeLine(const Ends& ends, std::size_t said_bytes, const Key& key,
                           const Settings& settings, Instant now)
    : ends_(ends), said_bytes_(said_bytes), key_(key), settings_(settings), next_call_(now) {
  [[maybe_unused]] const int ready = sodium_init();
  assert(ready >= 0);
  randombytes_buf(&incarnation_, sizeof incarnation_);
}

Result<void> ExchangeLine::open_socket() {
  auto made_socket = TAKT_TRY(bound());
  if (ends_.listens && listen(made_socket.get(), most_waiting) != 0) {
    return error("{}", std::strerror(errno));
  }
  socket_ = std::move(made_socket);
  return {};
}

Result<Descriptor> ExchangeLine::bound() const {
  Descriptor made(
      socket(ends_.local.address.ss_family, ends_.type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return error("{}", std::strerror(errno));
  if (ends_.type == SOCK_STREAM) {
    // Connections of a process that has ended do not keep its successor from listening.
    setsockopt(made.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    ask_for_signs_of_life(made.get(), settings_.silence);
  }
  if (bind(made.get(), ends_.local.get(), ends_.local.length) != 0) {
    return error("{}", std::strerror(errno));
  }
  return made;
}

void ExchangeLine::send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) {
  if (!session_) {
    outcome_ = link::Outcome::lost;
    return;
  }
  session_->exchange.begin(chunk, bytes);
  session_->begun = now;
  if (!show_chunk(session_->socket.get(), bytes.size())) lose(now);
}

void ExchangeLine::receive(Instant now) {
  if (answers_) answer(now);
  if (introduction_) introduce(*introduction_, now);
  if (session_ && !serve(*session_, now)) lose(now);
}

/// Whether a caller is on the peer's host. Unix sockets do not tell.
bool ExchangeLine::may_call(const SocketAddress& caller) const {
  return ends_.type != SOCK_STREAM || caller.host() == ends_.remote.host();
}

/// Accepts one caller at a time. A caller that does not prove itself makes way for the next one
/// after a while (Settings::call).
void ExchangeLine::answer(Instant now) {
  SocketAddress from{.length = sizeof(sockaddr_storage)};
  Descriptor caller(accept4(socket_.get(), reinterpret_cast<sockaddr*>(&from.address), &from.length,
                            SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!caller && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (caller && !may_call(from)) {
    ++counts_.forged;
    return;
  }
  // Also if no descriptor was free, so that accepting is not tried again and again.
  introduced_by_ = now + settings_.call;
  if (!caller) return;
  if (introduction_) {
    ++counts_.forged;
    if (!session_) disconnect();
  }
  introduction_.emplace(std::move(caller), key_, incarnation_, said_bytes_);
}

/// Continues the introduction with the end that called, or was called.
void ExchangeLine::introduce(Introduction& introduction, Instant now) {
  using State = Introduction::State;
  Agreement agreement = Agreement::open;
  State state = State::waiting;
  while (agreement == Agreement::open) {
    state = introduction.hear();
    switch (state) {
      case State::waiting:
        return;
      case State::proven:
        // It is the peer, and it has no other session any more.
        if (session_) lose(now);
        agreement = begin(introduction);
        break;
      case State::said:
        agreement = hear(introduction);
        break;
      case State::absent:
      case State::failed:
        agreement = Agreement::failed;
        break;
    }
  }
  introduced_by_ = now;
  if (agreement == Agreement::reached) {
    begin_session(introduction, now);
  } else {
    if (state != State::absent) ++counts_.forged;
    if (!session_) disconnect();
  }
  introduction_.reset();
}

void ExchangeLine::begin_session(Introduction& introduction, Instant now) {
  session_.emplace(
      Connected{.socket = introduction.take_socket(), .exchange = exchange(), .begun = now});
  const std::uint64_t process = introduction.peer();
  ++counts_.sessions;
  if (std::exchange(peer_, process) != process && sink_ != nullptr) sink_->restarted();
}

/// Takes in what the peer has told. False: it has gone, or must be hung up.
bool ExchangeLine::serve(Connected& session, Instant now) {
  const News news = look(session.socket.get());
  // Also if the peer has gone: a chunk that it had finished is finished.
  if (news.ended) {
    if (const auto ended = session.exchange.ended()) outcome_ = ended;
  }
  if (sink_ == nullptr || !news.chunk) return !news.gone;
  switch (session.exchange.take(*sink_, now)) {
    case Exchange::Taken::nothing:
      break;
    case Exchange::Taken::chunk:
      if (!show_ended(session.socket.get())) return false;
      break;
    case Exchange::Taken::malformed:
      ++counts_.malformed;
      return false;
  }
  return !news.gone;
}

void ExchangeLine::lose(Instant now) {
  assert(session_ && "there is something to lose");
  if (session_->exchange.active()) outcome_ = link::Outcome::lost;
  session_.reset();
  disconnect();
  ++counts_.peers_lost;
  // A peer that has started again is waiting already.
  next_call_ = now;
}

std::optional<Instant> ExchangeLine::step(Instant now) {
  if (session_ && session_->exchange.active() && now - session_->begun >= settings_.silence) {
    if (under_way()) {
      session_->begun = now;
    } else {
      lose(now);
    }
  }
  if (ends_.listens) {
    answers_ = now >= introduced_by_;
  } else {
    if (introduction_ && now >= introduced_by_) {
      introduction_.reset();
      if (!session_) disconnect();
    }
    if (!session_ && !introduction_ && now >= next_call_) call(now);
  }
  std::optional<Instant> due;
  const auto sooner = [&due](Instant instant) { due = due ? std::min(*due, instant) : instant; };
  if (session_ && session_->exchange.active()) sooner(session_->begun + settings_.silence);
  if (ends_.listens ? !answers_ : introduction_.has_value()) sooner(introduced_by_);
  if (!ends_.listens && !session_ && !introduction_) sooner(next_call_);
  return due;
}

void ExchangeLine::call(Instant now) {
  next_call_ = now + settings_.call;
  if (!socket_) {
    // The name may still be in use for a moment.
    auto again = bound();
    if (!again) return;
    socket_ = std::move(*again);
  }
  if (connect(socket_.get(), ends_.remote.get(), ends_.remote.length) != 0 &&
      errno != EINPROGRESS) {
    return;
  }
  introduction_.emplace(std::move(socket_), key_, incarnation_, said_bytes_);
  introduced_by_ = now + settings_.silence;
}

std::array<pollfd, Line::most_watched> ExchangeLine::watched() const {
  pollfd introduced = nothing;
  if (introduction_) {
    introduced = reading(introduction_->descriptor());
    if (introduction_->calling()) introduced.events = POLLOUT;
  }
  return {session_ ? reading(session_->socket.get()) : nothing,
          session_ ? watched_memory() : nothing, introduced,
          answers_ ? reading(socket_.get()) : nothing};
}

}  // namespace takt::transport
