#include "external_phase.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include "takt/base/descriptor.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::gate {

namespace {

/// More than the decimal digits of any time.
constexpr std::size_t longest_text = 64;
/// The most readings in a row, so that a source that tells without end does not keep outputs
/// waiting.
constexpr int most_at_once = 256;

Instant to_instant(const timespec& time) {
  return Instant(Duration(std::int64_t{1'000'000'000} * time.tv_sec + time.tv_nsec));
}

Duration read_clock(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return to_instant(time).time_since_epoch();
}

std::optional<Instant> parse_instant(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  std::int64_t time = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), time);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return Instant(Duration(time));
}

class Datagrams final : public ExternalPhase {
 public:
  explicit Datagrams(Descriptor socket) : socket_(std::move(socket)) {}

  std::size_t poll(std::vector<Instant>& beginnings) override {
    const Duration to_monotonic = read_clock(CLOCK_MONOTONIC) - read_clock(CLOCK_REALTIME);
    std::size_t unreadable = 0;
    for (int left = most_at_once; left > 0; --left) {
      std::array<char, longest_text> text{};
      alignas(cmsghdr) std::array<char, 256> control{};
      iovec part{.iov_base = text.data(), .iov_len = text.size()};
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      const ssize_t size = recvmsg(socket_.get(), &message, MSG_DONTWAIT);
      if (size < 0) break;
      const auto told = size > 0 ? parse_instant({text.data(), static_cast<std::size_t>(size)})
                                 : arrival(message);
      if (told) {
        beginnings.push_back(size > 0 ? *told : *told + to_monotonic);
      } else {
        ++unreadable;
      }
    }
    return unreadable;
  }

 private:
  /// The arrival of the datagram as the kernel noted it, on CLOCK_REALTIME.
  static std::optional<Instant> arrival(msghdr& message) {
    for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
      if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_TIMESTAMPNS) continue;
      timespec time{};
      std::memcpy(&time, CMSG_DATA(one), sizeof time);
      return to_instant(time);
    }
    return std::nullopt;
  }

  Descriptor socket_;
};

class Lines final : public ExternalPhase {
 public:
  explicit Lines(Descriptor pipe) : pipe_(std::move(pipe)) {}

  std::size_t poll(std::vector<Instant>& beginnings) override {
    std::array<char, 4096> read_now{};
    std::size_t unreadable = 0;
    for (int left = most_at_once; left > 0; --left) {
      const ssize_t size = read(pipe_.get(), read_now.data(), read_now.size());
      if (size <= 0) break;
      for (const char one : std::string_view(read_now.data(), static_cast<std::size_t>(size))) {
        if (one != '\n') {
          if (line_.size() < longest_text) line_.push_back(one);
          continue;
        }
        if (const auto told = parse_instant(line_)) {
          beginnings.push_back(*told);
        } else {
          ++unreadable;
        }
        line_.clear();
      }
    }
    return unreadable;
  }

 private:
  Descriptor pipe_;
  std::string line_;
};

class SharedMemory final : public ExternalPhase {
 public:
  explicit SharedMemory(Descriptor memory) : memory_(std::move(memory)) {}

  std::size_t poll(std::vector<Instant>& beginnings) override {
    std::int64_t time = 0;
    // Read and not mapped, as its owner may make it smaller.
    if (pread(memory_.get(), &time, sizeof time, 0) != sizeof time || time == last_) return 0;
    last_ = time;
    beginnings.emplace_back(Duration(time));
    return 0;
  }

 private:
  Descriptor memory_;
  std::int64_t last_ = 0;
};

class Clock final : public ExternalPhase {
 public:
  /// `device`: is kept open.
  Clock(clockid_t clock, Descriptor device, Duration period)
      : clock_(clock), device_(std::move(device)), period_(period) {}

  std::size_t poll(std::vector<Instant>& beginnings) override {
    if (linux_os::monotonic_now() < next_) return 0;
    // The reading that took the least time is the most exact.
    constexpr int readings = 5;
    Duration shortest = Duration::max();
    Instant beginning{};
    for (int i = 0; i < readings; ++i) {
      const Instant before = linux_os::monotonic_now();
      const Duration there = read_clock(clock_);
      const Duration took = linux_os::monotonic_now() - before;
      if (took >= shortest) continue;
      shortest = took;
      beginning = before + took / 2 - there % period_;
    }
    beginnings.push_back(beginning);
    // In the middle of the next cycle at the earliest, so that none is told twice.
    next_ = beginning + period_ + period_ / 2;
    return 0;
  }

 private:
  clockid_t clock_;
  Descriptor device_;
  Duration period_;
  Instant next_ = Instant::min();
};

using Opened = Result<std::unique_ptr<ExternalPhase>>;

Opened open_datagrams(const std::string& where) {
  const std::size_t colon = where.rfind(':');
  const std::string host = colon == std::string::npos ? "127.0.0.1" : where.substr(0, colon);
  const std::string_view port_text =
      std::string_view(where).substr(colon == std::string::npos ? 0 : colon + 1);
  std::uint16_t port = 0;
  const auto [end, fault] =
      std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (fault != std::errc{} || end != port_text.data() + port_text.size() || port == 0 ||
      inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
    return error("udp:{}: not of the form udp:PORT or udp:ADDRESS:PORT", where);
  }
  address.sin_port = htons(port);
  Descriptor made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!made || setsockopt(made.get(), SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on) != 0 ||
      bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return error("udp:{}: {}", where, std::strerror(errno));
  }
  return std::make_unique<Datagrams>(std::move(made));
}

Opened open_pipe(const std::string& path) {
  // Opened for writing, too, so that it does not end when a writer does.
  Descriptor made(::open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!made) {
    return error("pipe:{}: {}; make it with mkfifo", path, std::strerror(errno));
  }
  struct stat kind {};
  if (fstat(made.get(), &kind) != 0 || !S_ISFIFO(kind.st_mode)) {
    return error("pipe:{}: no named pipe; make one with mkfifo", path);
  }
  return std::make_unique<Lines>(std::move(made));
}

Opened open_shared_memory(const std::string& name) {
  Descriptor made(
      shm_open(name.starts_with('/') ? name.c_str() : ("/" + name).c_str(), O_RDONLY, 0));
  if (!made) return error("shm:{}: {}", name, std::strerror(errno));
  return std::make_unique<SharedMemory>(std::move(made));
}

Opened open_clock(const std::string& name, Duration period) {
  if (name == "realtime") return std::make_unique<Clock>(CLOCK_REALTIME, Descriptor(), period);
  if (name == "tai") return std::make_unique<Clock>(CLOCK_TAI, Descriptor(), period);
  Descriptor device(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!device) {
    return error("clock:{}: {}; realtime, tai or the path of a PTP hardware clock", name,
                 std::strerror(errno));
  }
  // The kernel's encoding of the clock of an open device.
  const auto clock = static_cast<clockid_t>((~static_cast<unsigned>(device.get()) << 3U) | 3U);
  if (timespec time{}; clock_gettime(clock, &time) != 0) {
    return error("clock:{}: {}; is it a PTP hardware clock?", name, std::strerror(errno));
  }
  return std::make_unique<Clock>(clock, std::move(device), period);
}

}  // namespace

Opened ExternalPhase::open(const std::string& source, Duration period) {
  const std::size_t colon = source.find(':');
  const std::string kind = source.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : source.substr(colon + 1);
  if (kind == "udp") return open_datagrams(rest);
  if (kind == "pipe") return open_pipe(rest);
  if (kind == "shm") return open_shared_memory(rest);
  if (kind == "clock") return open_clock(rest, period);
  return error("{}: no loop outside of ROS 2; udp:, pipe:, shm: or clock:", source);
}

}  // namespace takt::gate
