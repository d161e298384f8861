#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "choices.hpp"
#include "gate.hpp"
#include "takt/capture/ring/reader.hpp"
#include "takt/capture/ring/writer.hpp"

namespace {

using namespace takt;
using namespace takt::capture;
using fuzz::Choices;
using fuzz::require;

/// Memory of this size and with these seals, which may be a ring.
int memory(off_t size, int seals, bool ring) {
  const int file = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  require(file >= 0 && ftruncate(file, size) == 0);
  if (ring) {
    ring::Header header{};
    header.version = ring::version;
    header.gid_size = 16;
    header.fingerprint = tracepoints::fingerprint();
    header.magic = ring::magic;
    require(pwrite(file, &header, sizeof header, 0) == sizeof header);
  }
  require(seals == 0 || fcntl(file, F_ADD_SEALS, seals) == 0);
  return file;
}

/// What a process may send in place of its ring.
int sent(std::size_t which) {
  constexpr auto whole = static_cast<off_t>(ring::memory_size());
  static const std::array files{
      memory(whole, F_SEAL_SHRINK, true),
      memory(whole, 0, true),
      memory(4096, F_SEAL_SHRINK, true),
      memory(whole, F_SEAL_SHRINK, false),
      memory(0, 0, false),
      open("/dev/zero", O_RDONLY),
      socket(AF_UNIX, SOCK_STREAM, 0),
      open("/", O_RDONLY),
  };
  return files[which % files.size()];
}

/// Sends some bytes with some descriptors, in one message.
void send(int gate, Choices& choices) {
  std::array<char, 4> text{};
  text[0] = choices.next<char>();
  iovec bytes{text.data(), 1 + choices.below(text.size())};
  constexpr std::size_t most = 8;
  const std::size_t count = choices.below(most + 1);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  if (count != 0) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    for (std::size_t i = 0; i < count; ++i) {
      const int file = sent(choices.below(256));
      std::memcpy(CMSG_DATA(header) + i * sizeof file, &file, sizeof file);
    }
  }
  static_cast<void>(sendmsg(gate, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

int connected(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int gate = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(connect(gate, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  return gate;
}

/// Waits until the gate has closed the connection. The fuzzer's alarm may interrupt this.
void wait_for_end(int peer) {
  char nothing = 0;
  ssize_t size = 0;
  do {
    size = read(peer, &nothing, 1);
  } while (size < 0 && errno == EINTR);
  require(size <= 0);
}

int open_descriptors() {
  DIR* directory = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(directory) != nullptr) {
    ++count;
  }
  closedir(directory);
  return count;
}

}  // namespace

/// Whatever processes say at the gate, each is let through, and no descriptor stays behind.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto gate = Gate::open([](pid_t process, const Descriptor& ring) {
    require(process == getpid());
    static_cast<void>(ring::Reader::attach(ring.get(), ~std::uint64_t{}, 0));
  });
  require(gate.has_value());
  static_cast<void>(sent(0));
  static const int before = open_descriptors();
  Choices choices(data, size);
  while (choices.any()) {
    const int peer = connected((*gate)->address());
    for (std::size_t messages = choices.below(3); messages != 0; --messages) {
      send(peer, choices);
    }
    shutdown(peer, SHUT_WR);
    wait_for_end(peer);
    close(peer);
  }
  require(open_descriptors() == before);
  return 0;
}
