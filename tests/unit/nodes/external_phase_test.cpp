#include "external_phase.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "takt/base/descriptor.hpp"

namespace takt::gate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Instant at(std::int64_t time) { return Instant{Duration{time}}; }

TEST(ExternalPhase, LinesThatTellNoBeginningAreCounted) {
  const std::string path =
      (std::filesystem::path(testing::TempDir()) / ("takt-cycles-" + std::to_string(getpid())))
          .string();
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto pipe = ExternalPhase::open("pipe:" + path, Duration{1000});
  ASSERT_TRUE(pipe) << pipe.error().message;
  const Descriptor writing(open(path.c_str(), O_RDWR | O_CLOEXEC));
  const std::string text = "12\n\n-\n12x\n" + std::string(1000, '9') + "\n13\n1";
  ASSERT_EQ(write(writing.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  std::vector<Instant> beginnings;
  EXPECT_EQ((*pipe)->poll(beginnings), 4u);
  EXPECT_THAT(beginnings, ElementsAre(at(12), at(13)));
  EXPECT_EQ((*pipe)->poll(beginnings), 0u) << "the last line may go on";
  std::filesystem::remove(path);
}

TEST(ExternalPhase, DatagramsThatTellNoBeginningAreCounted) {
  // A port that was free a moment ago.
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  {
    const Descriptor probe(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(probe.get(), generic, length), 0);
    ASSERT_EQ(getsockname(probe.get(), generic, &length), 0);
  }
  const auto told = ExternalPhase::open("udp:" + std::to_string(ntohs(address.sin_port)), {});
  ASSERT_TRUE(told) << told.error().message;
  const Descriptor sender(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (const std::string_view text : {"12", "what", "13"}) {
    ASSERT_EQ(sendto(sender.get(), text.data(), text.size(), 0, generic, length),
              static_cast<ssize_t>(text.size()));
  }
  std::vector<Instant> beginnings;
  EXPECT_EQ((*told)->poll(beginnings), 1u);
  EXPECT_THAT(beginnings, ElementsAre(at(12), at(13)));
}

}  // namespace
}  // namespace takt::gate
