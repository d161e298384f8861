#include "takt/viewer/document.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "../execution/relay_chain.hpp"
#include "takt/model/json.hpp"
#include "takt/viewer/stored_document.hpp"
#include "takt/viewer/table.hpp"

namespace takt::viewer {
namespace {

using nlohmann::json;
using test::Scenario;
using testing::ElementsAre;

/// A block's columns by name, read as docs/viewer-data.md describes them.
std::map<std::string, std::vector<std::int64_t>> decode(const std::string& block) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    length |= std::size_t{static_cast<unsigned char>(block.at(i))} << (8 * i);
  }
  const json header = json::parse(block.substr(4, length));
  std::size_t at = 4 + length;
  std::map<std::string, std::vector<std::int64_t>> columns;
  for (const json& column : header.at("columns")) {
    const std::size_t end = at + column.at("bytes").get<std::size_t>();
    auto& values = columns[column.at("name")];
    while (at < end) {
      std::uint64_t zigzag = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(block.at(at++));
        zigzag |= std::uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) break;
      }
      auto value = static_cast<std::int64_t>(zigzag >> 1);
      if ((zigzag & 1) != 0) {
        value = -value - 1;
      }
      if (column.at("coding") == "delta" && !values.empty()) {
        value += values.back();
      }
      values.push_back(value);
    }
    EXPECT_EQ(values.size(), header.at("rows").get<std::size_t>());
  }
  EXPECT_EQ(at, block.size());
  return columns;
}

TEST(Table, HoldsWhatWasAdded) {
  Table table{{"plain"}, {"near", Coding::delta}};
  const std::vector<std::int64_t> values{0,   -1,      1,          63,       64,         -64,
                                         -65, 1 << 20, -(1 << 20), 1L << 50, -(1L << 50)};
  for (const std::int64_t value : values) {
    table.add({value, value});
  }
  const auto columns = decode(table.block());
  EXPECT_EQ(columns.at("plain"), values);
  EXPECT_EQ(columns.at("near"), values);
}

TEST(Table, TakesAByteForWhatIsSmall) {
  Table table{{"a"}};
  table.add({-64});
  table.add({63});
  const std::string block = table.block();
  EXPECT_EQ(block.substr(block.size() - 2), "\x7f\x7e");
}

const char* const trivial = R"({"format": "takt/model", "version": 1, "name": "trivial",
  "executors": [{"id": "a"}, {"id": "b"}, {"id": "c"}],
  "callbacks": [
    {"id": "timer", "node": "/source", "executor": "a", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 5000000}},
    {"id": "relay", "node": "/sync_one_to_one", "executor": "b", "kind": "subscription",
     "topic": "/topic_a", "execution_time": {"curve": [1]}},
    {"id": "sink", "node": "/sink", "executor": "c", "kind": "subscription", "topic": "/topic_b",
     "execution_time": {"curve": [1]}}],
  "edges": [{"from": "timer", "to": "relay", "topic": "/topic_a"},
            {"from": "relay", "to": "sink", "topic": "/topic_b"}],
  "chains": [{"id": "all", "callbacks": ["timer", "relay", "sink"]}]})";

class Viewed : public test::RelayChain {
 protected:
  static model::Model trivial_model() {
    const auto parsed = model::parse(trivial, "test");
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    return parsed->model;
  }
  Document view(const Storage& storage = {}) { return view(trivial_model(), storage); }
  Document view(const model::Model& model, const Storage& storage) {
    auto document = try_to_view(model, storage);
    EXPECT_TRUE(document) << (document ? "" : document.error().message);
    return document ? std::move(*document) : Document{};
  }
  Result<Document> try_to_view(const model::Model& model, const Storage& storage) {
    Recording recording(model, storage);
    flow::Measurer measurer(model,
                            [&](const flow::ChainInstance& instance) { recording.add(instance); });
    execution::Interpreter interpreter(scenario.threads());
    interpreter.add(measurer);
    interpreter.add(recording);
    Scheduling scheduling(scenario.threads(), storage);
    execution::Pass pass;
    events::Batch batch;
    while (execution::advance(scenario, interpreter, batch, pass)) {
      scheduling.add(batch);
    }
    measurer.finish();
    latency = measurer.measurement().chains.at(0).latency;
    Work work;
    const auto finished = recording.finish().and_then([&] { return scheduling.finish(pass.last); });
    if (!finished) {
      return tl::unexpected(finished.error());
    }
    return make_document(
        {model, scenario, interpreter.database(), pass, recording, scheduling, measurer}, storage,
        work);
  }

  /// The scheduler takes a processor from one thread and gives it to another.
  void change(std::int32_t from, std::int64_t state, std::int32_t to) {
    scenario.add(middle, tracepoints::SchedSwitch{.prev_comm = from == 99 ? "hog" : "middle",
                                                  .prev_tid = from,
                                                  .prev_state = state,
                                                  .next_comm = to == 99 ? "hog" : "middle",
                                                  .next_tid = to});
  }

  flow::Distribution latency;
};

TEST_F(Viewed, SaysWhenARunWasPreemptedAndByWhom) {
  constexpr std::int64_t sleeping = 1;
  flow(5000, 1);
  scenario.now = 10000;
  scenario.run(source, timer, 100, std::pair(a, 2));
  scenario.now += 50;
  change(0, 0, 2);
  scenario.take(middle, on_a, 2);
  scenario.start(middle, on_a.callback);
  scenario.now += 50;
  change(2, 0, 99);
  scenario.now += 70;
  change(99, sleeping, 2);
  scenario.now += 30;
  change(2, sleeping, 0);
  scenario.now += 15;
  scenario.add(middle, tracepoints::SchedWakeup{.comm = "middle", .tid = 2});
  scenario.now += 5;
  change(0, 0, 2);
  scenario.publish(middle, b, 2);
  scenario.end(middle, on_a.callback);
  scenario.handle(sink, on_b, 2, 10);
  const Document document = view();
  const json index = json::parse(document.index);
  EXPECT_EQ(index.at("scheduling"), true);
  EXPECT_THAT(index.at("actors"), ElementsAre("middle (2)", "hog (99)"));
  EXPECT_EQ(index.at("tracks").back().at("kind"), "cpu");
  EXPECT_EQ(index.at("tracks").back().at("name"), "CPU 0");

  const auto spans = decode(document.tables.at("spans"));
  const auto segments = decode(document.tables.at("segments"));
  ASSERT_THAT(segments.at("state"), ElementsAre(0, 1, 0));
  EXPECT_THAT(segments.at("start"), ElementsAre(50'000, 150'000, 165'000));
  EXPECT_THAT(segments.at("duration"), ElementsAre(70'000, 15'000, 5'000));
  EXPECT_THAT(segments.at("actor"), ElementsAre(1, -1, -1));
  EXPECT_EQ(spans.at("duration")[static_cast<std::size_t>(segments.at("span")[0])], 170'000);

  // What the processor ran: middle, the hog, middle, middle.
  const auto cpu = static_cast<std::int64_t>(index.at("tracks").size()) - 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> ran;
  for (std::size_t i = 0; i < spans.at("track").size(); ++i) {
    if (spans.at("track")[i] == cpu) {
      ran.emplace_back(spans.at("subject")[i], spans.at("duration")[i]);
    }
  }
  using Ran = std::pair<std::int64_t, std::int64_t>;
  EXPECT_THAT(ran, ElementsAre(Ran(0, 50'000), Ran(1, 70'000), Ran(0, 30'000), Ran(0, 10'000)));

  // The parts of the second instance: 80 µs of running at the relay, and the rest as above.
  const auto parts = decode(document.tables.at("parts"));
  std::map<std::int64_t, std::int64_t> by_kind;
  for (std::size_t i = 0; i < parts.at("kind").size(); ++i) {
    by_kind[parts.at("kind")[i]] += parts.at("duration")[i];
  }
  EXPECT_EQ(by_kind[1], 75'000);
  EXPECT_EQ(by_kind[2], 15'000);

  // The worst instance in a sentence, made of the phrases that the page has for all others.
  ASSERT_EQ(index.at("phrases").size(), 10u);
  EXPECT_THAT(index.at("phrases")[1],
              ElementsAre("{own} waited for a processor", "{own} was preempted by {other}"));
  const std::string cause = index.at("chains")[0].at("cause");
  EXPECT_THAT(cause,
              testing::EndsWith(" of the worst instance's 0.4 ms: /sync_one_to_one:/topic_a ran."));
}

TEST_F(Viewed, SaysThatItDoesNotKnowOfPreemptionWhereNobodyRecordedIt) {
  flow(5000, 1);
  const json index = json::parse(view().index);
  const std::string unknown = " (the trace does not say whether it was preempted)";
  EXPECT_EQ(index.at("phrases")[0], json::array({"{own} ran" + unknown, "{own} ran" + unknown}));
  EXPECT_THAT(index.at("chains")[0].at("cause"),
              testing::EndsWith("/sync_one_to_one:/topic_a ran" + unknown + "."));
}

/// A folder that vanishes with it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "takt-viewer-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

TEST_F(Viewed, OnDiskAnswersWhatThePageHolds) {
  for (std::int64_t i = 1; i < 200; ++i) {
    flow(5000 * i, i, i % 7 != 0);
  }
  const Document page = view();
  scenario.rewind();
  const Folder folder;
  const Storage storage(folder.path);
  const Document stored = view(storage);
  Work work;
  ASSERT_TRUE(complete_tables(storage, work));
  EXPECT_EQ(stored.index, page.index);
  EXPECT_TRUE(stored.tables.empty());
  const auto document = StoredDocument::open(folder.path);
  ASSERT_TRUE(document) << document.error().message;

  const auto spans = decode(page.tables.at("spans"));
  const auto messages = decode(page.tables.at("messages"));
  for (std::size_t i = 0; i < spans.at("start").size(); ++i) {
    const json span = json::parse(document->span(static_cast<std::int64_t>(i)));
    for (const char* const name : {"track", "start", "duration", "subject"}) {
      EXPECT_EQ(span.at(name), spans.at(name)[i]);
    }
  }
  EXPECT_EQ(document->span(-1), "null");
  EXPECT_EQ(document->span(static_cast<std::int64_t>(spans.at("start").size())), "null");
  const json all = json::parse(document->messages(0, INT64_MAX / 2, 1000));
  ASSERT_EQ(all.size(), messages.at("sent").size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const char* const name : {"topic", "source", "sent", "taken", "target", "fate"}) {
      EXPECT_EQ(all[i].at(name), messages.at(name)[i]);
    }
  }
  EXPECT_EQ(document->messages(0, INT64_MAX / 2, 10), "null");

  // A span stands for itself or for several, and every level has all of them once.
  for (const int level : {0, 1, 5, 8, 16}) {
    const std::string tile = document->tile(level, 0);
    const auto length = *reinterpret_cast<const std::uint32_t*>(tile.data());
    const auto columns = decode(tile.substr(4, length));
    std::int64_t count = 0;
    std::int64_t busy = 0;
    for (std::size_t i = 0; i < columns.at("count").size(); ++i) {
      count += columns.at("count")[i];
      busy += columns.at("busy")[i];
    }
    if (level >= 8) {
      EXPECT_EQ(static_cast<std::size_t>(count), spans.at("start").size());
      EXPECT_EQ(busy, std::accumulate(spans.at("duration").begin(), spans.at("duration").end(),
                                      std::int64_t{0}));
    }
  }

  const json index = json::parse(page.index);
  const json worst = json::parse(document->instances(0, {.limit = 3}));
  EXPECT_EQ(worst.at("total"), index.at("chains")[0].at("count"));
  EXPECT_EQ(worst.at("rows").size(), 3u);
  EXPECT_EQ(worst.at("rows")[0].at("latency"), index.at("chains")[0].at("max"));
  const json incomplete = json::parse(document->instances(0, {.incomplete = true, .limit = 100}));
  EXPECT_EQ(incomplete.at("total"), index.at("chains")[0].at("incomplete"));
  const json histogram = json::parse(document->histogram(0, 40));
  const auto counts = histogram.at("counts").get<std::vector<int>>();
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), index.at("chains")[0].at("count"));

  for (std::int64_t callback = 0; callback < 3; ++callback) {
    std::vector<std::pair<std::int64_t, std::int64_t>> runs;
    for (std::size_t row = 0; row < spans.at("start").size(); ++row) {
      if (spans.at("subject")[row] == callback) {
        runs.emplace_back(spans.at("start")[row], spans.at("duration")[row]);
      }
    }
    std::ranges::sort(runs);
    const json series = json::parse(document->series(callback, 7));
    const auto most = [&](const char* name) {
      return std::ranges::max(series.at(name).get<std::vector<std::int64_t>>());
    };
    std::int64_t longest = -1;
    std::int64_t farthest = -1;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      longest = std::max(longest, runs[i].second);
      if (i > 0) farthest = std::max(farthest, runs[i].first - runs[i - 1].first);
    }
    const auto each = series.at("counts").get<std::vector<std::size_t>>();
    EXPECT_EQ(std::accumulate(each.begin(), each.end(), std::size_t{0}), runs.size());
    EXPECT_EQ(series.at("from"), runs.empty() ? 0 : runs.front().first);
    EXPECT_EQ(most("longest"), longest);
    EXPECT_EQ(most("farthest"), farthest);
  }

  // The flow of a relay's run: the timer before it, the sink after it.
  const auto relay = static_cast<std::int64_t>(std::ranges::find(messages.at("fate"), 0) -
                                               messages.at("fate").begin());
  const json flow =
      json::parse(document->flow(messages.at("target")[static_cast<std::size_t>(relay)]));
  EXPECT_EQ(flow.at("spans").size(), 3u);
  EXPECT_EQ(flow.at("messages").size(), 2u);
  EXPECT_EQ(json::parse(document->flow(-5)).at("spans").size(), 0u);
}

TEST(StoredTable, HasTheValuesThatWereAdded) {
  const Folder folder;
  const Storage storage(folder.path);
  constexpr std::int64_t farthest = std::int64_t{1} << 51;
  const std::vector<std::int64_t> far{-farthest, farthest, -1, 0, 1};
  std::vector<std::int64_t> values(far);
  // Blocks of one value, of small and of large differences, with and without -1 among them.
  for (std::int64_t i = 0; i < 3000; ++i) {
    values.push_back(i < 600    ? 7
                     : i < 1200 ? (std::int64_t{1} << 40) + i * i
                     : i < 1800 ? (i % 3 == 0 ? -1 : 5'000'000 + i)
                     : i < 2400 ? -1
                                : i % 5 - 1);
  }
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{256}, values.size()}) {
    Table table(storage, "table", {{"column"}});
    for (std::size_t row = 0; row < rows; ++row) {
      table.add({values[row]});
    }
    ASSERT_TRUE(table.close());
    const auto read = read_column(folder.path, "table", "column");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read,
              std::vector(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rows)));
  }
  // 3005 values of eight bytes take a fraction of that.
  EXPECT_LT(std::filesystem::file_size(folder.path / "table.column"), 8000u);
}

TEST(StoredTable, ThatIsDamagedIsNotRead) {
  const Folder folder;
  for (const std::size_t length :
       {std::size_t{0}, std::size_t{8}, std::size_t{17}, std::size_t{32}}) {
    std::ofstream(folder.path / "table.column") << std::string(length, 'x');
    EXPECT_FALSE(read_column(folder.path, "table", "column"));
  }
  EXPECT_FALSE(read_column(folder.path, "table", "missing"));
}

TEST(StoredTable, WhoseBlockPointsOutOfTheFileIsNotRead) {
  const Folder folder;
  Table table(Storage(folder.path), "table", {{"column"}});
  for (std::int64_t i = 0; i < 100; ++i) {
    table.add({i * i});
  }
  ASSERT_TRUE(table.close());
  const std::filesystem::path file = folder.path / "table.column";
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file));
  std::string whole(static_cast<std::size_t>(size), '\0');
  std::ifstream(file, std::ios::binary).read(whole.data(), size);
  ASSERT_TRUE(read_column(folder.path, "table", "column"));
  // The block's place, and how many bits each value has, before the 16 bytes of the end.
  for (const auto& [from_end, value] : {std::pair(24, '\x7f'), {18, '\x3f'}, {18, '\x40'}}) {
    std::string damaged = whole;
    damaged[whole.size() - static_cast<std::size_t>(from_end)] = value;
    std::ofstream(file, std::ios::binary) << damaged;
    EXPECT_FALSE(read_column(folder.path, "table", "column")) << from_end;
  }
}

TEST_F(Viewed, OnDiskIsNotReadWhereDamagedRowsPoint) {
  for (std::int64_t i = 1; i < 20; ++i) {
    flow(5000 * i, i, i % 7 != 0);
  }
  const Folder folder;
  const Storage storage(folder.path);
  view(storage);
  Work work;
  ASSERT_TRUE(complete_tables(storage, work));
  constexpr std::int64_t nowhere = std::int64_t{1} << 40;
  for (const auto& [table, column] : {std::pair("messages", "by_source"),
                                      {"messages", "by_target"},
                                      {"messages", "source"},
                                      {"messages", "target"},
                                      {"links", "by_to"},
                                      {"instances", "first"},
                                      {"instances", "parts"},
                                      {"instances", "latency"},
                                      {"parts", "message"},
                                      {"parts", "span"}}) {
    const auto values = read_column(folder.path, table, column);
    ASSERT_TRUE(values);
    const auto write = [&](auto value_at) {
      Table written(storage, table, {{column}});
      for (std::size_t row = 0; row < values->size(); ++row) {
        written.add({value_at(row)});
      }
      ASSERT_TRUE(written.close());
    };
    for (const std::int64_t value : {nowhere, -nowhere}) {
      write([&](std::size_t) { return value; });
      const auto document = StoredDocument::open(folder.path);
      ASSERT_TRUE(document) << document.error().message;
      for (std::int64_t row = 0; row < 50; ++row) {
        EXPECT_TRUE(json::accept(document->flow(row)));
        EXPECT_TRUE(json::accept(document->instance(row)));
      }
      EXPECT_TRUE(json::accept(document->messages(0, INT64_MAX / 2, 1000)));
      EXPECT_TRUE(json::accept(document->histogram(0, 40)));
    }
    write([&](std::size_t row) { return (*values)[row]; });
  }
}

/// Files of this process may not become larger while it lives, as if the disk were full.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit limit{bytes, former_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    former_action_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &former_);
    std::signal(SIGXFSZ, former_action_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit former_{};
  void (*former_action_)(int) = nullptr;
};

TEST_F(Viewed, OnAFullDiskIsAnError) {
  for (std::int64_t i = 1; i < 2000; ++i) {
    flow(5000 * i, i);
  }
  const Folder folder;
  const Storage storage(folder.path);
  {
    const SmallDisk disk(std::size_t{100} << 10);
    const auto document = try_to_view(trivial_model(), storage);
    ASSERT_FALSE(document);
    EXPECT_THAT(document.error().message, testing::HasSubstr("the index cannot be kept"));
    Table table(storage, "table", {{"column"}});
    for (std::int64_t i = 0; i < 100'000; ++i) {
      table.add({i * i * i});
    }
    const auto closed = table.close();
    ASSERT_FALSE(closed);
    EXPECT_THAT(closed.error().message, testing::EndsWith("cannot be written: File too large"));
  }
  scenario.rewind();
  EXPECT_FALSE(view(storage).index.empty());
}

TEST_F(Viewed, LeavesOutInstancesOfChainsThatTakeMoreRoomThanAllElse) {
  const auto parsed = model::parse(trivial, "test");
  ASSERT_TRUE(parsed);
  model::Model model = parsed->model;
  model::Chain important = model.chains.front();
  important.goal = Duration{1};
  model.chains.assign(20, model.chains.front());
  model.chains.push_back(important);
  Recording all(model, {}, Recording::Keep::all_chains);
  Recording some(model, {}, Recording::Keep::chains_that_fit);
  const std::vector<execution::InstanceId> path(1000, execution::InstanceId(1));
  for (std::size_t i = 0; i < 200; ++i) {
    for (std::size_t chain = 0; chain < model.chains.size(); ++chain) {
      all.add({chain, {}, {}, {}, path});
      some.add({chain, {}, {}, {}, path});
    }
  }
  EXPECT_EQ(all.chains().size(), 200 * 21u);
  // Two million steps are within the limit of a short recording.
  EXPECT_LE(some.chains().size(), 2100u);
  EXPECT_GE(some.chains().size(), 1000u);
  EXPECT_TRUE(some.keeps(20)) << "it has a goal";
  EXPECT_TRUE(some.keeps(0));
  EXPECT_FALSE(some.keeps(19));
  std::map<std::uint32_t, int> counts;
  for (const Complete& instance : some.chains()) {
    ++counts[instance.chain];
    EXPECT_THAT(some.path(instance), testing::SizeIs(1000));
  }
  for (std::uint32_t chain = 0; chain < 21; ++chain) {
    EXPECT_EQ(counts[chain], some.keeps(chain) ? 200 : 0);
  }
}

TEST_F(Viewed, HasAnInstanceForEachMeasuredLatencyWhosePartsAddUpToIt) {
  flow(5000, 1);
  flow(10000, 2);
  flow(15000, 3, false);
  flow(20000, 4);
  const Document document = view();
  const json index = json::parse(document.index);
  const json& chain = index.at("chains").at(0);
  EXPECT_EQ(chain.at("name"), "all");
  EXPECT_EQ(chain.at("count"), 3);
  EXPECT_EQ(chain.at("incomplete"), 1);
  EXPECT_EQ(chain.at("max"), latency.max().count());
  ASSERT_EQ(chain.at("endings").size(), 1u);
  EXPECT_EQ(chain.at("endings")[0].at("step"), 1);
  EXPECT_EQ(chain.at("endings")[0].at("count"), 1);

  const auto instances = decode(document.tables.at("instances"));
  const auto parts = decode(document.tables.at("parts"));
  ASSERT_THAT(instances.at("ending"), ElementsAre(-1, -1, 0, -1));
  std::size_t part = 0;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < instances.at("parts").size(); ++i) {
    std::int64_t sum = 0;
    for (std::int64_t k = 0; k < instances.at("parts")[i]; ++k, ++part) {
      EXPECT_GT(parts.at("duration")[part], 0);
      sum += parts.at("duration")[part];
    }
    if (instances.at("ending")[i] == -1) {
      EXPECT_GE(sum, latency.min().count());
      EXPECT_LE(sum, latency.max().count());
      longest = std::max(longest, sum);
    }
  }
  EXPECT_EQ(part, parts.at("duration").size());
  EXPECT_EQ(longest, latency.max().count());
}

TEST_F(Viewed, HasAMessageForEachPublicationAndTakeAndSaysWhichWereLost) {
  flow(5000, 1);
  flow(10000, 2, false);
  flow(15000, 3);
  const Document document = view();
  const json index = json::parse(document.index);
  const auto spans = decode(document.tables.at("spans"));
  const auto messages = decode(document.tables.at("messages"));
  EXPECT_EQ(spans.at("start").size(), 8u);
  // Two messages for each flow; the one that did not reach the sink was lost.
  ASSERT_THAT(messages.at("fate"), ElementsAre(0, 0, 0, 1, 0, 0));
  for (std::size_t i = 0; i < 6; ++i) {
    const auto from = static_cast<std::size_t>(messages.at("source")[i]);
    EXPECT_GE(messages.at("sent")[i], spans.at("start")[from]);
    EXPECT_LE(messages.at("sent")[i], spans.at("start")[from] + spans.at("duration")[from]);
    if (messages.at("fate")[i] == 0) {
      const auto to = static_cast<std::size_t>(messages.at("target")[i]);
      const auto callback = static_cast<std::size_t>(spans.at("subject")[to]);
      EXPECT_EQ(index.at("callbacks")[callback].at("topic"), messages.at("topic")[i]);
    }
  }
  EXPECT_EQ(index.at("tracks").size(), 3u);
  EXPECT_EQ(index.at("edges").size(), 2u);
}

TEST_F(Viewed, HasNoLostMessagesToSubscriptionsThatAreGone) {
  test::Program echo = scenario.program(4, "h", "echo");
  const auto node = scenario.node(echo, "echo");
  const test::Subscription ended = scenario.subscription(echo, node, "/topic_b");
  flow(5000, 1);
  scenario.handle(echo, ended, 1, 10);
  flow(10000, 2);
  flow(15000, 3);
  EXPECT_THAT(decode(view().tables.at("messages")).at("fate"), ElementsAre(0, 0, 0, 0, 0, 0, 0));
}

TEST_F(Viewed, HasLostMessagesToASubscriptionUntilItsAddressIsUsedAgain) {
  const test::Subscription first = scenario.subscription(sink, sink_node, "/topic_b");
  flow(5000, 1);  // to the first one as well, which loses it
  scenario.add(sink, tracepoints::RclSubscriptionInit{.subscription_handle = first.handle,
                                                      .node_handle = sink_node,
                                                      .rmw_subscription_handle = first.rmw_handle,
                                                      .topic_name = "/elsewhere",
                                                      .queue_depth = 5});
  flow(10000, 2);
  flow(15000, 3);
  const auto fates = decode(view().tables.at("messages")).at("fate");
  EXPECT_EQ(std::ranges::count(fates, 1), 1);
  EXPECT_EQ(fates.size(), 7u);
}

std::vector<std::string> titles_of_warnings(const json& index) {
  std::vector<std::string> titles;
  for (const json& warning : index.at("warnings")) {
    titles.push_back(warning.at("title"));
  }
  return titles;
}

TEST_F(Viewed, GivesNoReasonsForWhatItHasNoRoomFor) {
  flow(5000, 1);
  flow(10000, 2, false);
  flow(15000, 3);
  flow(20000, 4);
  const Document document = view(Storage::in_memory(8));  // all runs but those of the last flow
  const json index = json::parse(document.index);
  const json& chain = index.at("chains")[0];
  EXPECT_EQ(chain.at("count"), 3);
  EXPECT_EQ(chain.at("incomplete"), 1);
  ASSERT_EQ(chain.at("endings").size(), 1u);
  EXPECT_EQ(chain.at("endings")[0].at("count"), 1);
  EXPECT_EQ(chain.at("endings")[0].at("step"), 1);
  EXPECT_THAT(decode(document.tables.at("instances")).at("ending"), ElementsAre(-1, 0, -1));
  EXPECT_THAT(decode(document.tables.at("messages")).at("fate"),
              ElementsAre(0, 0, 0, 1, 0, 0, 3, 3));
  EXPECT_THAT(titles_of_warnings(index),
              testing::IsSupersetOf({testing::StartsWith("3 callback runs are not shown"),
                                     testing::StartsWith("1 complete instances of chains")}));
}

TEST_F(Viewed, DoesNotCallAnInstanceIncompleteOfWhichItKeepsTheRunsOnly) {
  for (std::int64_t i = 1; i <= 3; ++i) {
    flow(5000 * i, i);
  }
  model::Model model = trivial_model();
  model.chains.assign(4, model.chains.front());
  const Document document = view(model, Storage::in_memory(9));  // nine runs, twelve instances
  const json index = json::parse(document.index);
  for (const json& chain : index.at("chains")) {
    EXPECT_EQ(chain.at("count"), 3);
    EXPECT_EQ(chain.at("incomplete"), 0);
    EXPECT_TRUE(chain.at("endings").empty());
  }
  EXPECT_EQ(decode(document.tables.at("instances")).at("ending"), std::vector<std::int64_t>(9, -1));
  EXPECT_THAT(titles_of_warnings(index),
              testing::Contains(testing::StartsWith("3 complete instances of chains")));
}

/// "/j" joins /ta and /tb; the timer of "/c" samples what its subscription keeps.
const char* const linked = R"({"format": "takt/model", "version": 1,
  "executors": [{"id": "e"}],
  "callbacks": [
    {"id": "a", "node": "/source", "executor": "e", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 5000000}},
    {"id": "b", "node": "/b", "executor": "e", "kind": "timer", "execution_time": {"curve": [1]},
     "activation": {"kind": "periodic", "period": 4000000}},
    {"id": "join", "node": "/j", "executor": "e", "kind": "subscription",
     "execution_time": {"curve": [1]}},
    {"id": "keep", "node": "/c", "executor": "e", "kind": "subscription", "topic": "/tb",
     "execution_time": {"curve": [1]}},
    {"id": "control", "node": "/c", "executor": "e", "kind": "timer",
     "execution_time": {"curve": [1]}, "activation": {"kind": "periodic", "period": 25000000}}],
  "edges": [{"from": "a", "to": "join", "topic": "/topic_a"},
            {"from": "b", "to": "join", "topic": "/tb"},
            {"from": "b", "to": "keep", "topic": "/tb"}, {"from": "keep", "to": "control"}],
  "joins": [{"callback": "join", "kind": "newest", "inputs": ["a", "b"]}],
  "chains": [{"id": "c", "callbacks": ["a", "join"]}]})";

TEST_F(Viewed, LinksRunsAsProgramsDeclareAndElsewhereAsTheModelDoes) {
  test::Program program = scenario.program(7, "h", "inputs");
  const auto node_b = scenario.node(program, "b");
  const auto node_j = scenario.node(program, "j");
  const auto node_c = scenario.node(program, "c");
  const auto tb = scenario.publisher(program, node_b, "/tb");
  const auto joined = scenario.publisher(program, node_j, "/joined");
  const auto command = scenario.publisher(program, node_c, "/command");
  const auto timer_b = scenario.timer(program, node_b, std::chrono::milliseconds(4));
  const auto control = scenario.timer(program, node_c, std::chrono::milliseconds(25));
  const auto j_on_a = scenario.subscription(program, node_j, "/topic_a");
  const auto j_on_b = scenario.subscription(program, node_j, "/tb");
  const auto keep = scenario.subscription(program, node_c, "/tb");
  scenario.subscription(program, node_b, "/joined");
  scenario.subscription(program, node_b, "/command");
  // A link that another program declares; it says nothing of these nodes.
  scenario.add(middle, test::EventType::message_link_periodic_async, {}, {},
               {{on_a.handle}, {b.handle}});
  scenario.now = 5000;
  scenario.run(source, timer, 10, std::pair(a, 1));
  scenario.handle(program, j_on_a, 1, 10);
  scenario.run(program, timer_b, 10, std::pair(tb, 2));
  scenario.handle(program, j_on_b, 2, 10, std::pair(joined, 3));
  scenario.handle(program, keep, 2, 10);
  scenario.run(program, control, 10, std::pair(command, 4));
  const auto parsed = model::parse(linked, "test");
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Document document = view(parsed->model, {});
  const json index = json::parse(document.index);
  const auto spans = decode(document.tables.at("spans"));
  const auto links = decode(document.tables.at("links"));
  std::vector<std::string> found;
  for (std::size_t i = 0; i < links.at("from").size(); ++i) {
    const auto name = [&](std::int64_t span) {
      const auto callback = spans.at("subject")[static_cast<std::size_t>(span)];
      const json& shown = index.at("callbacks")[static_cast<std::size_t>(callback)];
      const auto topic = shown.at("topic").get<std::int64_t>();
      const std::string node = shown.at("node");
      return topic < 0 ? node
                       : node + index.at("topics")[static_cast<std::size_t>(topic)]
                                    .at("name")
                                    .get<std::string>();
    };
    found.push_back(name(links.at("from")[i]) + " > " + name(links.at("to")[i]) +
                    (links.at("kind")[i] == 0 ? " stored" : " completed"));
  }
  EXPECT_THAT(found,
              testing::UnorderedElementsAre("/j/topic_a > /j/tb completed", "/c/tb > /c stored"));
}

TEST_F(Viewed, OfNothingIsADocumentToo) {
  const Document document = view();
  const json index = json::parse(document.index);
  EXPECT_EQ(index.at("format"), "takt/viewer");
  EXPECT_EQ(index.at("chains")[0].at("worst"), -1);
  EXPECT_TRUE(decode(document.tables.at("spans")).at("start").empty());
}

}  // namespace
}  // namespace takt::viewer
