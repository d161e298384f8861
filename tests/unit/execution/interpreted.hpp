#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "scenario.hpp"
#include "takt/execution/interpreter.hpp"
#include "takt/execution/pass.hpp"

namespace takt::execution {

/// Remembers everything.
struct Witness final : Observer {
  std::vector<CallbackInstance> instances;
  std::vector<Publication> publications;
  std::vector<std::pair<InstanceId, PublicationId>> late;
  std::vector<PublicationId> takes;
  std::vector<Read> reads;
  std::optional<Instant> steady_since;

  void on_instance(const Database&, const CallbackInstance& instance) override {
    instances.push_back(instance);
  }
  void on_publication(const Database&, const Publication& publication) override {
    publications.push_back(publication);
  }
  void on_take(const Database&, const Take& take) override { takes.push_back(take.source); }
  void on_read(const Database&, const Read& read) override { reads.push_back(read); }
  void on_late_source(const Database&, InstanceId instance, PublicationId source) override {
    late.emplace_back(instance, source);
  }
  void on_steady_state(const Database&, Instant time) override { steady_since = time; }
};

class InterpreterTest : public testing::Test {
 protected:
  test::Scenario scenario;
  Witness seen;
  Interpreter interpreter{scenario.threads()};
  const Database& database = interpreter.database();

  InterpreterTest() { interpreter.add(seen); }

  const Objects& run() {
    execution::run(scenario, interpreter, {});
    return database.objects();
  }
};

}  // namespace takt::execution
