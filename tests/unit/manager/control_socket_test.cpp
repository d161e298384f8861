#include "control_socket.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "takt/base/descriptor.hpp"

namespace takt::manager {
namespace {

/// A socket that answers with the request, in a folder of its own.
class ControlSocketTest : public testing::Test {
 protected:
  ControlSocketTest() {
    std::string name = std::filesystem::temp_directory_path() / "takt-control-XXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "socket";
    socket_ = ControlSocket::listen(path_, [](std::string_view request) {
                return "heard " + std::string(request);
              }).value();
  }
  ~ControlSocketTest() override {
    socket_.reset();
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] Descriptor connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    Descriptor client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    return client;
  }
  static bool send(const Descriptor& client, std::string_view text) {
    return ::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(text.size());
  }
  /// All that comes until the connection ends.
  static std::string receive(const Descriptor& client) {
    std::string answer;
    std::array<char, 256> part{};
    for (ssize_t size = 0; (size = read(client.get(), part.data(), part.size())) > 0;) {
      answer.append(part.data(), static_cast<std::size_t>(size));
    }
    return answer;
  }

  std::filesystem::path folder_;
  std::string path_;
  std::unique_ptr<ControlSocket> socket_;
};

TEST_F(ControlSocketTest, AnswersTheFirstLine) {
  const Descriptor client = connect();
  ASSERT_TRUE(send(client, "sta"));
  ASSERT_TRUE(send(client, "tus\nreload\n"));
  socket_->serve();
  EXPECT_EQ(receive(client), "heard status");
}

TEST_F(ControlSocketTest, DropsAClientThatSaysTooMuch) {
  const Descriptor client = connect();
  ASSERT_TRUE(send(client, std::string(5000, 'a')));
  socket_->serve();
  EXPECT_EQ(receive(client), "");
}

/// The client sends a byte every millisecond, so no single wait for it is long. Its waits of a
/// millisecond alone would keep the manager for four seconds until the request is too long.
TEST_F(ControlSocketTest, DropsAClientThatKeepsSendingALittle) {
  const Descriptor client = connect();
  std::size_t sent = 0;
  std::jthread slow([&] {
    pollfd dropped{.fd = client.get(), .events = 0, .revents = 0};
    while (poll(&dropped, 1, 1) == 0 && send(client, "a")) ++sent;
  });
  socket_->serve();
  slow.join();
  EXPECT_LT(sent, 4096U);
}

/// Its clients wait while it plans: a second manager must not take its socket away.
TEST_F(ControlSocketTest, IsStillThereWhenItHasMoreClientsThanItHolds) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  std::vector<Descriptor> clients;
  do {
    clients.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  } while (::connect(clients.back().get(), reinterpret_cast<const sockaddr*>(&address),
                     sizeof address) == 0);
  const auto second = ControlSocket::listen(path_, [](std::string_view) { return ""; });
  ASSERT_FALSE(second.has_value());
  EXPECT_NE(second.error().message.find("another takt manage runs already"), std::string::npos);
}

}  // namespace
}  // namespace takt::manager
