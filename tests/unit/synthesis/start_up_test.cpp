#include <gmock/gmock.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../execution/scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"
#include "takt/synthesis/synthesizer.hpp"

namespace takt::synthesis {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Not;

/// A node with a timer that hears of the parameters of all nodes.
class StartUpTest : public testing::Test {
 protected:
  void work(int count) {
    for (int i = 0; i < count; ++i) {
      const std::int64_t begin = scenario_.now;
      scenario_.run(program_, tick_, 100);
      scenario_.now = begin + 10'000;
    }
  }
  std::vector<std::string> callbacks() {
    Synthesizer synthesizer;
    execution::Interpreter interpreter(scenario_.threads());
    interpreter.add(synthesizer);
    const auto pass = execution::run(scenario_, interpreter, {});
    const auto made = synthesizer.model(scenario_, interpreter.database(), pass, {}).value();
    EXPECT_TRUE(interpreter.database().steady_since());
    left_out_ = nlohmann::json::parse(made.provenance)["left_out"];
    std::vector<std::string> ids;
    for (const model::Callback& callback : made.callbacks) ids.push_back(callback.id);
    scenario_.rewind();
    return ids;
  }

  test::Scenario scenario_;
  test::Program program_ = scenario_.program(1, "h", "robot");
  std::uint64_t node_ = scenario_.node(program_, "node");
  test::Subscription on_parameters_ = scenario_.subscription(program_, node_, "/parameter_events");
  std::uint64_t tick_ = scenario_.timer(program_, node_, 10ms);
  test::Publisher parameters_ = scenario_.publisher(program_, node_, "/parameter_events");
  std::vector<std::string> left_out_;
  const std::string id_ = "/node:/parameter_events";
};

/// The processor is busy, so the executor gets round to it only seconds later.
TEST_F(StartUpTest, ParametersOfNodesThatWereMadeAreAPartOfIt) {
  scenario_.publish(program_, parameters_, 1);
  scenario_.now += 3'000'000;
  work(10);
  scenario_.handle(program_, on_parameters_, 1, 5'000);
  work(10);
  EXPECT_THAT(callbacks(), Not(Contains(id_)));
  EXPECT_THAT(left_out_, Contains(id_));
}

TEST_F(StartUpTest, AParameterThatIsSetLaterIsNone) {
  scenario_.now += 3'000'000;
  work(10);
  scenario_.publish(program_, parameters_, 1);
  scenario_.handle(program_, on_parameters_, 1, 5'000);
  work(10);
  EXPECT_THAT(callbacks(), Contains(id_));
}

/// A node that is made while the robot runs tells of its parameters, too.
TEST_F(StartUpTest, NodesThatJoinHaveTheirOwn) {
  scenario_.now += 3'000'000;
  work(10);
  test::Program joined = scenario_.program(2, "h", "other");
  const std::uint64_t node = scenario_.node(joined, "other");
  const test::Publisher parameters = scenario_.publisher(joined, node, "/parameter_events");
  scenario_.publish(joined, parameters, 2);
  scenario_.now += 1'500'000;
  scenario_.handle(program_, on_parameters_, 2, 5'000);
  work(10);
  EXPECT_THAT(callbacks(), Not(Contains(id_)));
}

}  // namespace
}  // namespace takt::synthesis
