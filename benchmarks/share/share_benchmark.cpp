// How long messages take from one process to another through libtakt/memory alone, without a
// middleware.
//
//   share_benchmark                                   prints a table
//   share_benchmark BYTES MESSAGES copy|loan          prints the nanoseconds of each message
//
// `copy` has the publisher copy each message from memory of its own, and the subscription into
// memory of its own. `loan` has both use the shared memory: the publisher writes number and time,
// and the subscription reads them. The subscription waits without a busy loop.

#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "takt/memory/receiver.hpp"
#include "takt/memory/sender.hpp"

namespace {

using namespace takt;

constexpr timespec period{.tv_sec = 0, .tv_nsec = 2'000'000};
constexpr std::uint32_t depth = 10;
constexpr std::ptrdiff_t warming_up = 10;  // messages

/// CLOCK_MONOTONIC, which all processes share, in nanoseconds.
std::uint64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

struct Head {
  std::uint64_t number;
  std::uint64_t sent;
};

[[noreturn]] void fail(std::string_view what) {
  fmt::print(stderr, "share_benchmark: {}\n", what);
  std::exit(1);
}

void wait_for(int descriptor) {
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  poll(&waiting, 1, -1);
}

struct Run {
  std::size_t bytes;
  std::uint64_t messages;
  bool copies;
};

/// Writes the time of each message to `results`.
void subscribe(const std::string& path, const Run& run, int results) {
  const auto made = memory::Receiver::connect(path, depth);
  if (made.receiver == nullptr) fail("nobody listens");
  memory::Receiver& receiver = *made.receiver;
  std::vector<std::byte> own(run.bytes, std::byte{1});
  std::vector<std::uint64_t> taken;
  taken.reserve(run.messages);
  std::uint64_t newest = 0;
  while (newest < run.messages) {
    if (!receiver.hear()) fail("the publisher is gone");
    if (receiver.is_joined()) {
      memory::RingReader& ring = receiver.ring();
      ring.arm();
      while (ring.unread() > 0) {
        const auto lease = ring.lease(ring.next());
        if (!lease) continue;
        ring.skip_to(lease->number);
        const auto bytes = receiver.bytes(lease->message);
        if (!bytes) fail("a message is not there");
        const std::byte* read = bytes->data();
        if (run.copies) {
          std::memcpy(own.data(), bytes->data(), bytes->size());
          read = own.data();
        }
        Head head{};
        std::memcpy(&head, read, sizeof head);
        taken.push_back(now() - head.sent);
        newest = head.number;
        ring.release(*lease);
      }
    }
    if (newest < run.messages) wait_for(receiver.socket());
  }
  for (const std::uint64_t time : taken) dprintf(results, "%lu\n", time);
}

void publish(const Descriptor& listening, const Run& run) {
  wait_for(listening.get());
  auto accepted = memory::accept_from(listening);
  if (!accepted) fail("nobody has come");
  memory::Sender sender;
  sender.add(std::move(*accepted));
  memory::Sender::Peer& peer = *sender.peers().back();
  while (!peer.is_joined()) {
    wait_for(peer.socket());
    if (!sender.hear(peer)) fail("the subscription is gone");
  }
  std::vector<std::byte> own(run.bytes, std::byte{1});
  for (std::uint64_t number = 1; number <= run.messages; ++number) {
    nanosleep(&period, nullptr);
    const Head head{.number = number, .sent = now()};
    const auto slot = sender.prepare(run.bytes);
    if (!slot) fail("no memory is left");
    std::byte* const to = sender.bytes(*slot).data();
    if (run.copies) {
      std::memcpy(own.data(), &head, sizeof head);
      std::memcpy(to, own.data(), own.size());
    } else {
      std::memcpy(to, &head, sizeof head);
    }
    sender.publish(*slot, {.size = run.bytes});
  }
  wait_for(peer.socket());  // until the subscription has taken all, and ends
}

/// The times of all messages, in the order in which they were taken.
std::vector<std::uint64_t> times_of(const Run& run) {
  std::string folder = (std::filesystem::temp_directory_path() / "takt-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) fail("no folder can be made");
  const std::string path = folder + "/socket";
  auto listening = memory::listen_at(path);
  FILE* const results = tmpfile();
  if (!listening || results == nullptr) fail("no file can be made");
  const pid_t child = fork();
  if (child == 0) {
    subscribe(path, run, fileno(results));
    std::_Exit(0);
  }
  publish(*listening, run);
  int status = 0;
  waitpid(child, &status, 0);
  std::filesystem::remove_all(folder);
  if (status != 0) fail("the subscription has failed");
  std::vector<std::uint64_t> times;
  std::rewind(results);
  for (std::uint64_t time = 0; std::fscanf(results, "%lu", &time) == 1;) times.push_back(time);
  std::fclose(results);
  return times;
}

void print_table() {
  fmt::print(
      "| bytes | copied on both sides, p50, µs | lent on both sides, p50, µs |\n|---|---|---|\n");
  for (const std::size_t bytes :
       {std::size_t{1} << 10, std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 23}) {
    fmt::print("| {} |", bytes);
    for (const bool copies : {true, false}) {
      auto times = times_of({.bytes = bytes, .messages = 200, .copies = copies});
      times.erase(times.begin(), times.begin() + warming_up);
      const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
      std::ranges::nth_element(times, middle);
      fmt::print(" {:.1f} |", static_cast<double>(*middle) / 1000);
    }
    fmt::print("\n");
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 1) {
    print_table();
    return 0;
  }
  if (count != 4) {
    fmt::print(stderr, "usage: share_benchmark [BYTES MESSAGES copy|loan]\n");
    return 2;
  }
  const Run run{.bytes = std::max(std::strtoul(arguments[1], nullptr, 10), sizeof(Head)),
                .messages = std::strtoul(arguments[2], nullptr, 10),
                .copies = std::string_view(arguments[3]) == "copy"};
  for (const std::uint64_t time : times_of(run)) fmt::print("{}\n", time);
  return 0;
}
