#include "takt/raw/endpoints.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "ros.hpp"

namespace takt::raw {
namespace {

using executor::must;
using executor::unique;
using executor::wait_until;

class Endpoints : public executor::RosTest {
 protected:
  std::unique_ptr<RawPublisher> publish(const NodePointer& node, const rmw_qos_profile_t& quality) {
    return must(RawPublisher::create(node, topic, {.type = type, .quality = quality}));
  }
  std::size_t offers(executor::Node& node, std::span<const Gid> own = {}) {
    return must(find_offers(node, topic, 3, own)).size();
  }

  const std::string topic = unique("topic");
  const std::string type = "std_msgs/msg/String";
};

TEST_F(Endpoints, NodesOfOneNameSeeEachOthersPublishers) {
  const auto other = must(executor::Node::create(context_, unique("node")));
  const auto publisher = publish(node_, rmw_qos_profile_default);
  wait_until([&] { return offers(*node_) == 1 && offers(*other) == 1; });
  const std::vector<Gid> own{publisher->gid()};
  EXPECT_EQ(offers(*node_, own), 0u);
  EXPECT_EQ(offers(*other), 1u);
}

TEST_F(Endpoints, AWeakenedOfferReachesAllPublishers) {
  rmw_qos_profile_t strong = rmw_qos_profile_default;
  strong.durability = RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL;
  const auto first = publish(node_, strong);
  const auto second = publish(node_, rmw_qos_profile_sensor_data);
  wait_until([&] { return offers(*node_) == 2; });
  rmw_qos_profile_t quality = strong;
  for (const Offer& offer : must(find_offers(*node_, topic, 3, {}))) {
    weaken(quality, offer.quality);
  }
  const auto taken =
      must(RawSubscription::create(node_, topic, {.type = type, .quality = quality}));
  wait_until([&] { return first->matched() && second->matched(); });
}

}  // namespace
}  // namespace takt::raw
