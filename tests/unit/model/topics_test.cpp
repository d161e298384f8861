#include "takt/model/topics.hpp"

#include <gtest/gtest.h>

namespace takt::model {
namespace {

Model with_ids(std::initializer_list<const char*> ids) {
  Model model;
  for (const char* id : ids) model.callbacks.emplace_back().id = id;
  return model;
}

std::string topic(const Model& model, std::size_t callback) {
  return topic_name(model, CallbackIndex{callback});
}

TEST(TopicNames, AreMadeOfIds) {
  Model model = with_ids({"plain_1", "/sensor:a", "named"});
  model.callbacks[2].topic = "image";
  EXPECT_EQ(topic(model, 0), "/takt/callback_plain_1");
  EXPECT_EQ(topic(model, 1), "/takt/callback__sensor_a");
  EXPECT_EQ(topic(model, 2), "/image");
}

TEST(TopicNames, DifferWhereIdsDifferOnlyInWhatTopicsCannotHave) {
  const Model model = with_ids({"sensor/a", "sensor_a", "sensor:a", "\u00e9", "\u00e8"});
  EXPECT_EQ(topic(model, 0), "/takt/callback_sensor_a/number_0");
  EXPECT_EQ(topic(model, 1), "/takt/callback_sensor_a");
  EXPECT_EQ(topic(model, 2), "/takt/callback_sensor_a/number_2");
  EXPECT_EQ(topic(model, 3), "/takt/callback___/number_3");
  EXPECT_EQ(topic(model, 4), "/takt/callback___/number_4");
}

}  // namespace
}  // namespace takt::model
