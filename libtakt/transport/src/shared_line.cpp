#include "shared_line.hpp"

#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace takt::transport {

namespace {

constexpr std::string_view prefix = "takt-link ";
constexpr std::size_t most_characters = 90;
/// Calls that nobody has answered yet.
constexpr int most_waiting = 8;
/// So that a peer that wakes us without end keeps nothing else from its turn.
constexpr int most_wakes_in_turn = 64;

}  // namespace

Result<SharedLine::Name> SharedLine::name(const std::string& text) {
  static_assert(1 + prefix.size() + most_characters <= sizeof sockaddr_un::sun_path);
  if (text.empty() || text.size() > most_characters) {
    return error("\"{}\": a name of shared memory has 1 to {} characters", text, most_characters);
  }
  Name name;
  name.address.sun_family = AF_UNIX;
  // After a first 0 it is no file.
  std::ranges::copy(text, std::ranges::copy(prefix, name.address.sun_path + 1).out);
  name.length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + prefix.size() + text.size());
  return name;
}

Result<std::unique_ptr<SharedLine>> SharedLine::open(const SharedMemoryOptions& options,
                                                     std::size_t chunk_bytes, const Key& key,
                                                     const Settings& settings, Instant now) {
  const auto local = name(options.local);
  if (!local) return tl::unexpected(local.error());
  const auto remote = name(options.remote);
  if (!remote) return tl::unexpected(remote.error());
  if (options.local == options.remote) {
    return error("\"{}\": both ends of shared memory have this name", options.local);
  }
  auto memory = OwnMemory::make(sizeof(SharedArea) + chunk_bytes);
  if (!memory) return tl::unexpected(memory.error());
  std::unique_ptr<SharedLine> opened(new SharedLine(*local, *remote, options.local < options.remote,
                                                    std::move(*memory), key, settings, now));
  auto door = opened->bound();
  if (door && opened->listens_ && listen(door->get(), most_waiting) != 0) {
    door = error("{}", std::strerror(errno));
  }
  if (!door) return error("shared memory \"{}\": {}", options.local, door.error().message);
  opened->door_ = std::move(*door);
  return opened;
}

SharedLine::SharedLine(Name local, Name remote, bool listens, OwnMemory memory, const Key& key,
                       const Settings& settings, Instant now)
    : local_(local),
      remote_(remote),
      listens_(listens),
      memory_(std::move(memory)),
      key_(key),
      settings_(settings),
      next_call_(now) {
  [[maybe_unused]] const int ready = sodium_init();
  assert(ready >= 0);
  randombytes_buf(&incarnation_, sizeof incarnation_);
}

Result<Descriptor> SharedLine::bound() const {
  Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made ||
      bind(made.get(), reinterpret_cast<const sockaddr*>(&local_.address), local_.length) != 0) {
    return error("{}", std::strerror(errno));
  }
  return made;
}

void SharedLine::send(const link::Chunk& chunk, std::span<const std::byte> bytes, Instant now) {
  if (!session_) {
    outcome_ = link::Outcome::lost;
    return;
  }
  session_->exchange.begin(chunk, bytes);
  session_->begun = now;
  wake(*session_);
}

/// The socket keeps what is not read yet, so that there is no need to wake anybody twice, and a
/// peer that does not read cannot make us wait.
void SharedLine::wake(const Session& session) {
  constexpr std::byte any{};
  static_cast<void>(::send(session.socket.get(), &any, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
  ++counts_.packets_sent;
}

void SharedLine::receive(Instant now) {
  if (door_open_) answer(now);
  if (introduction_) introduce(*introduction_, now);
  if (session_ && !serve(*session_, now)) lose(now);
}

/// One caller at a time: who says nothing has to make way for the next after a while.
void SharedLine::answer(Instant now) {
  Descriptor caller(accept4(door_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!caller && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  // Also without a free descriptor, so that nobody tries again and again.
  patience_ = now + settings_.call;
  if (!caller) return;
  if (introduction_) ++counts_.forged;
  introduction_.emplace(std::move(caller), key_, incarnation_);
}

/// Hears of whoever called, or was called.
void SharedLine::introduce(Introduction& introduction, Instant now) {
  using State = Introduction::State;
  State state = introduction.hear();
  if (state == State::proven) {
    // It is the peer, which knows of no other session any more, and must not see what is left of
    // one in the memory.
    if (session_) lose(now);
    Exchange::clear(memory_.bytes());
    introduction.hand_over(memory_);
    state = introduction.hear();
  }
  if (state == State::waiting) return;
  patience_ = now;
  if (state == State::done) begin_session(introduction, now);
  if (state == State::failed) ++counts_.forged;
  introduction_.reset();
}

void SharedLine::begin_session(Introduction& introduction, Instant now) {
  PeerMemory theirs = introduction.take_memory();
  const Exchange exchange(memory_.bytes(), theirs.bytes());
  session_.emplace(Session{.socket = introduction.take_socket(),
                           .theirs = std::move(theirs),
                           .exchange = exchange,
                           .begun = now});
  const std::uint64_t process = introduction.peer();
  ++counts_.sessions;
  if (std::exchange(peer_, process) != process && sink_ != nullptr) sink_->restarted();
}

/// False: the peer has gone, or should.
bool SharedLine::serve(Session& session, Instant now) {
  bool gone = false;
  for (int left = most_wakes_in_turn; left > 0 && !gone; --left) {
    std::byte any{};
    const ssize_t count = recv(session.socket.get(), &any, 1, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count > 0) ++counts_.packets_received;
    gone = count == 0 || (count < 0 && errno != EINTR);
  }
  // Also of a peer that has gone: what it has finished is finished.
  if (const auto ended = session.exchange.ended()) outcome_ = ended;
  if (sink_ == nullptr) return !gone;
  switch (session.exchange.take(*sink_, now)) {
    case Exchange::Taken::nothing:
      break;
    case Exchange::Taken::chunk:
      wake(session);
      break;
    case Exchange::Taken::malformed:
      ++counts_.malformed;
      return false;
  }
  return !gone;
}

void SharedLine::lose(Instant now) {
  assert(session_ && "there is something to lose");
  if (session_->exchange.active()) outcome_ = link::Outcome::lost;
  session_.reset();
  ++counts_.peers_lost;
  // If it has started again, it waits already.
  next_call_ = now;
}

std::optional<Instant> SharedLine::step(Instant now) {
  if (session_ && session_->exchange.active() && now - session_->begun >= settings_.silence) {
    lose(now);
  }
  if (listens_) {
    door_open_ = now >= patience_;
  } else {
    if (introduction_ && now >= patience_) introduction_.reset();
    if (!session_ && !introduction_ && now >= next_call_) call(now);
  }
  std::optional<Instant> due;
  const auto sooner = [&due](Instant instant) { due = due ? std::min(*due, instant) : instant; };
  if (session_ && session_->exchange.active()) sooner(session_->begun + settings_.silence);
  if (listens_ ? !door_open_ : introduction_.has_value()) sooner(patience_);
  if (!listens_ && !session_ && !introduction_) sooner(next_call_);
  return due;
}

void SharedLine::call(Instant now) {
  next_call_ = now + settings_.call;
  if (!door_) {
    // The name may still be in use for a moment.
    auto again = bound();
    if (!again) return;
    door_ = std::move(*again);
  }
  if (connect(door_.get(), reinterpret_cast<const sockaddr*>(&remote_.address), remote_.length) !=
      0) {
    return;
  }
  introduction_.emplace(std::move(door_), key_, incarnation_);
  patience_ = now + settings_.silence;
}

std::array<pollfd, Line::most_watched> SharedLine::watched() const {
  return {session_ ? reading(session_->socket.get()) : nothing,
          introduction_ ? reading(introduction_->descriptor()) : nothing,
          door_open_ ? reading(door_.get()) : nothing};
}

}  // namespace takt::transport
