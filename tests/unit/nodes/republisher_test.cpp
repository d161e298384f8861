#include "republisher.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <thread>

#include "ros.hpp"

namespace takt::gate {
namespace {

using executor::must;
using executor::unique;
using executor::wait_until;
using std::chrono::milliseconds;

class RepublisherTest : public executor::RosTest {
 protected:
  std::unique_ptr<raw::RawPublisher> publish(const rmw_qos_profile_t& quality) {
    return must(raw::RawPublisher::create(node_, input_, {.type = type_, .quality = quality}));
  }

  const std::string input_ = unique("input");
  const std::string output_ = unique("output");
  const std::string type_ = "std_msgs/msg/Empty";
};

TEST_F(RepublisherTest, HearsAPublisherThatComesLaterAndOffersLess) {
  const auto strong = publish(rmw_qos_profile_default);
  const std::atomic<bool> never = false;
  const auto gate = must(Republisher::create({.topic = output_,
                                              .input = input_,
                                              .period = milliseconds(10),
                                              .slots = {{milliseconds(0), milliseconds(1)}}},
                                             never));
  std::atomic<bool> stop = false;
  std::jthread running([&] { EXPECT_TRUE(gate->run(stop)); });
  const struct Ending {
    std::atomic<bool>& stop;
    ~Ending() { stop = true; }
  } ending{stop};
  const auto weak = publish(rmw_qos_profile_sensor_data);
  const auto released = must(raw::RawSubscription::create(node_, output_, {.type = type_}));
  raw::Bytes message;
  // An empty message: the encoding, and one byte.
  const std::array<std::byte, 5> empty{std::byte{0}, std::byte{1}};
  wait_until([&] {
    EXPECT_TRUE(weak->publish(empty));
    return must(released->take(message));
  });
}

}  // namespace
}  // namespace takt::gate
