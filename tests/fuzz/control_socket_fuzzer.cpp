#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "choices.hpp"
#include "control_socket.hpp"

/// Whatever a client says: it gets the one answer to its first line, or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using takt::fuzz::require;
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("takt-fuzz-" + std::to_string(getpid()))).string();
  static std::string request;
  static const auto served = takt::manager::ControlSocket::listen(path, [](std::string_view line) {
    require(!line.empty() && line.size() < std::size_t{8} << 10);
    require(line.find_first_of("\r\n") == std::string_view::npos);
    return request = std::string(line);
  });
  require(served.has_value());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  require(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  request.clear();
  static_cast<void>(send(client, data, size, MSG_NOSIGNAL | MSG_DONTWAIT));
  shutdown(client, SHUT_WR);
  (*served)->serve();
  std::string answer;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = read(client, part.data(), part.size())) > 0;) {
    answer.append(part.data(), static_cast<std::size_t>(count));
  }
  close(client);
  require(answer == request);
  return 0;
}
