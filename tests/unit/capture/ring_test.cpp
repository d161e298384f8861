#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ring/held_selection.hpp"
#include "takt/capture/ring/reader.hpp"
#include "takt/capture/ring/selection_text.hpp"
#include "takt/capture/ring/writer.hpp"
#include "wait_for_work.hpp"

namespace takt::capture::ring {
namespace {

constexpr auto register_callback =
    static_cast<std::uint8_t>(tracepoints::EventType::rclcpp_callback_register);  // pointer, string

/// The memory of a traced process, made as libtracetools.so makes it.
class Process {
 public:
  explicit Process(std::uint64_t slots = slot_count)
      : memory_(memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING)), size_(memory_size(slots)) {
    EXPECT_EQ(ftruncate(memory_, static_cast<off_t>(size_)), 0);
    EXPECT_EQ(fcntl(memory_, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, memory_, 0);
    ring_ = static_cast<Header*>(mapped);
    ring_->version = version;
    ring_->gid_size = 16;
    ring_->fingerprint = tracepoints::fingerprint();
    ring_->magic = magic;
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    munmap(ring_, size_);
    close(memory_);
  }

  [[nodiscard]] int memory() const { return memory_; }
  Header& ring() { return *ring_; }
  std::byte* bytes() { return reinterpret_cast<std::byte*>(ring_); }

  [[nodiscard]] std::unique_ptr<Reader> read() const {
    auto reader = Reader::attach(memory_, 1, 0);
    EXPECT_TRUE(reader.has_value());
    return std::move(*reader);
  }

 private:
  int memory_;
  std::size_t size_;
  Header* ring_;
};

std::int64_t number_in(const Event& event) {
  std::int64_t number = 0;
  std::memcpy(&number, event.payload.data(), sizeof number);
  return number;
}

std::string text_in(const Event& event) {
  return reinterpret_cast<const char*>(event.payload.data()) + sizeof(void*);
}

TEST(Ring, HandsOverEventsInOrder) {
  Process process;
  const auto reader = process.read();
  for (std::int64_t i = 0; i < 100; ++i) {
    write(process.ring(), {7, 0}, wait_for_work, i);
  }
  std::uint64_t last = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto event = reader->next();
    ASSERT_TRUE(event);
    EXPECT_EQ(event->number, wait_for_work);
    EXPECT_EQ(event->thread, 7U);
    EXPECT_EQ(number_in(*event), i);
    EXPECT_GE(event->time, last);
    last = event->time;
  }
  EXPECT_FALSE(reader->next());
  EXPECT_TRUE(reader->empty());
}

TEST(Ring, CarriesPayloadsOfEverySizeAroundItsEnd) {
  Process process;
  const auto reader = process.read();
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> length(0, 5000);
  for (int i = 0; i < 2000; ++i) {  // about 80 slots each: five times around
    const std::string text(length(random), static_cast<char>('a' + i % 26));
    const void* pointer = &random;
    write(process.ring(), {1, 0}, register_callback, pointer, std::string_view(text));
    const auto event = reader->next();
    ASSERT_TRUE(event);
    ASSERT_EQ(text_in(*event), text);
    ASSERT_FALSE(reader->next());
  }
}

TEST(Ring, CountsWhatItDropsExactly) {
  Process process;
  const auto reader = process.read();
  const std::uint64_t more = 1234;
  for (std::uint64_t i = 0; i < slot_count + more; ++i) {
    write(process.ring(), {1, 3}, wait_for_work, static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(reader->dropped(3), more);
  std::uint64_t count = 0;
  while (const auto event = reader->next()) {
    ASSERT_EQ(number_in(*event), static_cast<std::int64_t>(count));
    ++count;
  }
  EXPECT_EQ(count, slot_count);
  write(process.ring(), {1, 3}, wait_for_work, std::int64_t{-1});
  const auto event = reader->next();
  ASSERT_TRUE(event);
  EXPECT_EQ(number_in(*event), -1);
}

TEST(Ring, HasAsManySlotsAsItsMemoryHasRoomFor) {
  for (const std::uint64_t slots : {least_slot_count, 4 * slot_count}) {
    Process process(slots);
    const auto reader = process.read();
    const Writer writer{1, 0, slots};
    for (int round = 0; round < 3; ++round) {
      for (std::uint64_t i = 0; i < slots; ++i) {
        write(process.ring(), writer, wait_for_work, static_cast<std::int64_t>(i));
      }
      ASSERT_EQ(reader->dropped(0), static_cast<std::uint64_t>(round));
      write(process.ring(), writer, wait_for_work, std::int64_t{-1});
      ASSERT_EQ(reader->dropped(0), static_cast<std::uint64_t>(round + 1));
      for (std::uint64_t i = 0; i < slots; ++i) {
        auto event = reader->next();
        const bool is_next_turn = !event && i % slot_count == 0;
        if (is_next_turn) event = reader->next();
        ASSERT_TRUE(event);
        ASSERT_EQ(number_in(*event), static_cast<std::int64_t>(i));
      }
      ASSERT_FALSE(reader->next());
    }
    const auto reach = [](std::size_t) { return true; };
    log(process.ring(), writer, {}, 0, reach, wait_for_work, std::int64_t{7});
    const auto object = reader->next_object();
    ASSERT_TRUE(object);
    EXPECT_EQ(number_in(*object), 7);
  }
  for (const std::uint64_t slots : {slot_count + 1, least_slot_count / 2, 3 * slot_count}) {
    EXPECT_FALSE(Reader::attach(Process(slots).memory(), 1, 0)) << slots;
  }
}

/// Other rings wait for its turn's end, and a process chooses how large its memory is.
TEST(Ring, TakesNoLongerTurnsHoweverLargeItIs) {
  Process process(4 * slot_count);
  const Writer writer{1, 0, 4 * slot_count};
  const auto fill = [&] {
    for (std::uint64_t i = 0; i < 4 * slot_count; ++i) {
      write(process.ring(), writer, wait_for_work, static_cast<std::int64_t>(i));
    }
  };
  auto reader = process.read();
  fill();
  const auto turn = [&reader] {
    std::uint64_t events = 0;
    while (reader->next()) ++events;
    return events;
  };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(turn(), slot_count);
  EXPECT_EQ(turn(), 0U);
  fill();
  reader.reset();
  reader = process.read();  // what is older than a reader is passed over, turns or not
  EXPECT_EQ(turn(), 0U);
  EXPECT_EQ(reader->malformed(), 0U);
}

TEST(Ring, HasTheSelectionOfItsReader) {
  Process process;
  const Selection wanted{{"/scan", "/camera/*"}, {"planner:/tf*"}};
  { const auto reader = Reader::attach(process.memory(), 1, 0, selection_text(wanted)).value(); }
  const std::uint32_t number = process.ring().selection;
  EXPECT_NE(number, 0U);
  const Selection read = selection_of(selection_text(process.ring()));
  EXPECT_EQ(read.include, wanted.include);
  EXPECT_EQ(read.exclude, wanted.exclude);
  { const auto same = Reader::attach(process.memory(), 1, 0, selection_text(wanted)).value(); }
  EXPECT_EQ(process.ring().selection, number) << "nothing is to be decided anew";
  { const auto everything = Reader::attach(process.memory(), 1, 0).value(); }
  EXPECT_NE(process.ring().selection, number);
  EXPECT_TRUE(selection_of(selection_text(process.ring())).is_everything());
  process.ring().patterns_size = ~0U;  // by a process that scribbles
  EXPECT_EQ(selection_text(process.ring()).size(), patterns_limit);
}

TEST(Ring, HasTheSelectionOfARecorderThatDoesNotReadItAsLongAsThatRecords) {
  Process process;
  const std::string wanted = selection_text(Selection{{}, {"/scan"}});
  auto held = HeldSelection::put(process.memory(), wanted);
  ASSERT_TRUE(held);
  EXPECT_EQ(selection_text(process.ring()), wanted);
  EXPECT_FALSE(Reader::attach(process.memory(), 1, 0)) << "whose selection would be another";
  EXPECT_FALSE(HeldSelection::put(process.memory(), ""));
  EXPECT_EQ(selection_text(process.ring()), wanted);
  held.reset();
  EXPECT_EQ(selection_text(process.ring()), "");
  const auto reader = Reader::attach(process.memory(), 1, 0, wanted);
  ASSERT_TRUE(reader);
  EXPECT_FALSE(HeldSelection::put(process.memory(), ""));
  EXPECT_EQ(selection_text(process.ring()), wanted);
}

/// A selection of which half is there would leave out what nobody wanted left out.
TEST(Ring, HasEverythingWhileASelectionIsNotComplete) {
  Process process;
  const std::string wanted = selection_text(Selection{{}, {"/scan", "/camera"}});
  put_selection(process.ring(), wanted);
  const std::uint32_t former = process.ring().selection;
  process.ring().selection = former + 1;  // as who changes it has it, and who was killed leaves it
  EXPECT_EQ(selection_text(process.ring()), "");
  put_selection(process.ring(), wanted);
  EXPECT_EQ(selection_text(process.ring()), wanted);
  EXPECT_EQ(process.ring().selection, former + 2) << "a process decides anew";
}

TEST(Ring, IsReadWithAWholeSelectionOrNoneWhoeverChangesIt) {
  Process process;
  const std::string first = selection_text(Selection{{std::string(2000, 'a')}, {}});
  const std::string second = selection_text(Selection{{}, {std::string(3000, 'b')}});
  const std::jthread writer([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      put_selection(process.ring(), first);
      put_selection(process.ring(), second);
    }
  });
  int whole = 0;
  for (int looks = 0; looks < 20000 || whole == 0; ++looks) {
    const std::string text = selection_text(process.ring());
    ASSERT_TRUE(text.empty() || text == first || text == second);
    whole += text.empty() ? 0 : 1;
  }
}

/// It writes any number there.
TEST(Ring, AProcessThatScribblesHasLostNoMoreThanItCanHaveEmitted) {
  Process process;
  const std::uint64_t begin = now();
  const auto reader = process.read();
  for (Thread& thread : process.ring().thread_table) thread.dropped = ~std::uint64_t{0};
  process.ring().log_dropped = ~std::uint64_t{0};
  const std::uint64_t lost = reader->dropped_by_all();
  const std::uint64_t nanoseconds = now() - begin;
  const auto processors = static_cast<std::uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_GT(lost, 0U);
  EXPECT_LE(lost, nanoseconds * processors);
  EXPECT_LE(reader->dropped_objects(), 1U << 24);
}

/// ros-llama fact 18: whoever writes to a full ring goes on at once. The document has the writer
/// wake the reader then; here the reader looks every 10 ms by itself. The document has 1024 slots
/// of 256 bytes for each process; here there are more bytes than that.
TEST(Ring, F18_AFullRingStopsNobody) {
  static_assert(slot_size * slot_count >= 1024 * 256);
  Process process;
  const auto reader = process.read();
  for (std::uint64_t i = 0; i < slot_count + 1; ++i) {
    write(process.ring(), {1, 3}, wait_for_work, std::int64_t{0});
  }
  EXPECT_EQ(reader->dropped(3), 1u);
}

TEST(Ring, DropsAnEventThatIsTooLarge) {
  Process process;
  const auto reader = process.read();
  const std::string text(payload_limit, 'x');
  const void* pointer = nullptr;
  write(process.ring(), {1, 0}, register_callback, pointer, std::string_view(text));
  EXPECT_EQ(reader->dropped(0), 1U);
  EXPECT_FALSE(reader->next());
}

// Every event of every thread is either read, in the thread's order, or counted as dropped.
TEST(Ring, LosesNothingUncountedAmongManyWriters) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP()
      << "the reader maps the ring a second time, so that the sanitizer does not see how it "
         "hands slots back to the writers";
#endif
  Process process;
  const auto reader = process.read();
  constexpr std::size_t writers = 4;
  constexpr std::int64_t each = 200'000;
  std::atomic<std::size_t> done = 0;
  std::vector<std::jthread> threads;
  for (std::size_t writer = 0; writer < writers; ++writer) {
    threads.emplace_back([&process, &done, writer] {
      for (std::int64_t i = 0; i < each; ++i) {
        write(process.ring(),
              {static_cast<std::uint32_t>(writer), static_cast<std::uint8_t>(writer)},
              wait_for_work, i);
      }
      ++done;
    });
  }
  std::array<std::int64_t, writers> read{};
  std::array<std::int64_t, writers> last;
  last.fill(-1);
  for (bool finished = false; !finished || !reader->empty();) {
    finished = done == writers;
    while (const auto event = reader->next()) {
      ASSERT_GT(number_in(*event), last[event->thread]);
      last[event->thread] = number_in(*event);
      ++read[event->thread];
    }
  }
  for (std::size_t writer = 0; writer < writers; ++writer) {
    EXPECT_EQ(read[writer] + static_cast<std::int64_t>(reader->dropped(writer)), each);
  }
  EXPECT_EQ(reader->malformed(), 0U);
}

TEST(Ring, PassesOverWhatAKilledProcessLeftIncomplete) {
  Process process;
  const auto reader = process.read();
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{1});
  std::uint64_t claimed = 0;
  ASSERT_TRUE(claim(process.ring(), slot_count, 3, claimed));  // and then the process was killed
  write(process.ring(), {2, 0}, wait_for_work, std::int64_t{2});
  ASSERT_TRUE(claim(process.ring(), slot_count, 1, claimed));

  EXPECT_EQ(number_in(*reader->next()), 1);
  EXPECT_FALSE(reader->next());
  EXPECT_TRUE(reader->pass_incomplete());
  EXPECT_EQ(number_in(*reader->next()), 2);
  EXPECT_FALSE(reader->next());
  EXPECT_FALSE(reader->pass_incomplete());
  EXPECT_EQ(reader->malformed(), 2U);
}

// A thread may be stopped in an event when a recording ends, and go on in the next one.
TEST(Ring, KeepsTheSlotsOfAThreadThatMayCompleteItsEvent) {
  Process process;
  auto reader = process.read();
  std::uint64_t stopped = 0;
  ASSERT_TRUE(claim(process.ring(), slot_count, 1, stopped));
  write(process.ring(), {2, 0}, wait_for_work, std::int64_t{2});
  ASSERT_FALSE(reader->next());
  ASSERT_TRUE(reader->pass_incomplete());
  EXPECT_EQ(number_in(*reader->next()), 2);
  EXPECT_EQ(process.ring().tail, stopped);
  reader.reset();

  auto* record = reinterpret_cast<Record*>(process.bytes() + slots_offset + stopped * slot_size);
  record->head = {now(), 1, sizeof(std::int64_t), wait_for_work, 0};
  record->commit = stopped + 1;
  reader = process.read();
  write(process.ring(), {2, 0}, wait_for_work, std::int64_t{3});
  EXPECT_EQ(number_in(*reader->next()), 3);
  EXPECT_TRUE(reader->empty());
  EXPECT_EQ(reader->malformed(), 0U);
}

TEST(Ring, HasOneReader) {
  Process process;
  auto reader = process.read();
  const auto second = Reader::attach(process.memory(), 1, 0);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, testing::HasSubstr("reads this ring already"));
  EXPECT_EQ(process.ring().enabled, 1U);
  reader.reset();
  EXPECT_EQ(process.ring().enabled, 0U);
  EXPECT_TRUE(Reader::attach(process.memory(), 1, 0));
}

// Whether the number of a killed recorder is used again does not matter.
TEST(Ring, HasNoReaderWhenThatWasKilled) {
  Process process;
  const pid_t recorder = fork();
  if (recorder == 0) {
    const auto reader = process.read();
    kill(getpid(), SIGKILL);
  }
  waitpid(recorder, nullptr, 0);
  EXPECT_EQ(process.ring().enabled, 1U);
  EXPECT_TRUE(Reader::attach(process.memory(), 1, 0));
}

// The child of a fork goes on before a recorder has its ring; nothing of that is lost.
TEST(Ring, HandsOverWhatWasWrittenForTheParentsReader) {
  Process process;
  process.ring().inherited = 1;
  process.ring().recording = 1;
  process.ring().enabled = 1;
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{5});
  process.ring().thread_table[0].dropped = 2;
  const auto written = now();
  auto reader = process.read();
  auto event = reader->next();
  ASSERT_TRUE(event);
  EXPECT_EQ(number_in(*event), 5);
  EXPECT_LE(event->time, written);
  EXPECT_GT(event->time, 0U);
  EXPECT_EQ(reader->dropped(0), 2U);

  // What another killed recorder left is not the next one's.
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{6});
  reader.reset();
  reader = process.read();
  EXPECT_FALSE(reader->next());
  EXPECT_EQ(reader->dropped(0), 0U);
}

TEST(Ring, NothingThatIsHandedOverIsBeforeTheRecording) {
  Process process;
  process.ring().inherited = 1;
  write(process.ring(), {1, 0}, wait_for_work, std::int64_t{5});
  const auto beginning = now();
  const auto reader = Reader::attach(process.memory(), 1, beginning).value();
  const auto event = reader->next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->time, beginning);
}

TEST(Ring, RefusesOtherMemory) {
  const int small = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_FALSE(Reader::attach(small, 1, 0));
  ASSERT_EQ(ftruncate(small, memory_size()), 0);
  EXPECT_FALSE(Reader::attach(small, 1, 0)) << "it could shrink under the reader";
  ASSERT_EQ(fcntl(small, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  EXPECT_FALSE(Reader::attach(small, 1, 0)) << "it is not a ring";
  close(small);
  EXPECT_FALSE(Reader::attach(-1, 1, 0));

  Process process;
  process.ring().fingerprint ^= 1;
  EXPECT_FALSE(Reader::attach(process.memory(), 1, 0));
}

/// Its memory may have another size.
TEST(Ring, OfAnotherVersionIsCalledSo) {
  for (const std::uint64_t slots : {slot_count, slot_count + 1}) {
    Process process(slots);
    process.ring().version = version - 1;
    const auto reader = Reader::attach(process.memory(), 1, 0);
    ASSERT_FALSE(reader);
    EXPECT_THAT(reader.error().message, testing::HasSubstr("of another version of Takt"));
  }
}

/// Writes complete records that make no sense, as fast as they are read.
class Flood {
 public:
  static constexpr std::uint64_t slots_of_each = slots_of(payload_limit);

  explicit Flood(Process& process) : writer_([this, &process] { write(process); }) {
    full_.wait(false);
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;
  ~Flood() { stopped_ = true; }

 private:
  void write(Process& process) {
    for (std::uint64_t slot = 0;; slot += slots_of_each) {
      while (slot + slots_of_each - process.ring().tail > slot_count) {
        full_ = true;
        full_.notify_one();
        if (stopped_) {
          return;
        }
      }
      auto* record =
          reinterpret_cast<Record*>(process.bytes() + slots_offset + slot % slot_count * slot_size);
      record->head = {now(), 1, payload_limit, wait_for_work, 0};
      record->commit = slot + 1;
      process.ring().head = slot + slots_of_each;
    }
  }

  std::atomic<bool> full_ = false;
  std::atomic<bool> stopped_ = false;
  std::jthread writer_;
};

// Whoever reads until there is nothing more holds a lock meanwhile.
TEST(Ring, AProcessThatWritesNonsenseWithoutEndKeepsNoReader) {
  constexpr std::uint64_t at_once = slot_count / Flood::slots_of_each + 1;
  Process process;
  const auto reader = process.read();
  const Flood flood(process);
  EXPECT_FALSE(reader->next());
  EXPECT_LE(reader->malformed(), at_once);
  EXPECT_FALSE(reader->next());
  EXPECT_LE(reader->malformed(), 2 * at_once) << "it goes on where it has stopped";
  do {
    EXPECT_FALSE(reader->next());
  } while (reader->pass_incomplete());
  EXPECT_LE(reader->malformed(), 4 * at_once + slot_count);
}

// A trace with an event of the far future could not be read.
TEST(Ring, TakesNoEventsOfAnotherTime) {
  Process process;
  const auto before = now();
  const auto reader = process.read();
  std::byte* slot = process.bytes() + slots_offset;
  for (const std::uint64_t time : {UINT64_MAX, now() + 3'600'000'000'000, std::uint64_t{1}}) {
    write(process.ring(), {1, 0}, wait_for_work, std::int64_t{1});
    reinterpret_cast<Record*>(slot)->head.time = time;
    slot += slot_size;
  }
  const auto event = reader->next();
  EXPECT_EQ(reader->malformed(), 2U);
  ASSERT_TRUE(event);
  EXPECT_GE(event->time, before);
  EXPECT_LE(event->time, now());
}

TEST(Ring, BelievesNoImpossibleCounts) {
  Process process;
  const auto reader = process.read();
  process.ring().thread_table[3].dropped = 5;
  EXPECT_EQ(reader->dropped(3), 5U);
  process.ring().thread_table[3].dropped = UINT64_MAX;
  process.ring().log_dropped = UINT64_MAX;
  EXPECT_LT((reader->dropped(3) + reader->dropped_objects()) * (thread_count + 1), UINT64_MAX / 2);
}

TEST(Ring, ReadsNoObjectBeyondTheLogsMemory) {
  Process process;
  const auto reader = process.read();
  process.ring().log_size = UINT64_MAX;
  // Entries without a payload as far as the memory goes, and a last one that says it has one.
  constexpr std::size_t entries = log_capacity / sizeof(LogEntry);
  auto* log = reinterpret_cast<LogEntry*>(process.bytes() + log_offset());
  log[entries - 1].size = UINT16_MAX;
  EXPECT_FALSE(reader->next_object());
  EXPECT_EQ(reader->malformed(), entries);
  EXPECT_FALSE(reader->next_object());
}

// Whatever a process writes into its ring, the reader ends, stays within its memory (the sanitizers
// watch), and hands on only events that have their fields.
TEST(Ring, SurvivesAMaliciousProcess) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 50; ++round) {
    Process process;
    const auto reader = process.read();
    for (std::size_t slot = 0; slot < slot_count; ++slot) {
      auto* record = reinterpret_cast<Record*>(process.bytes() + slots_offset + slot * slot_size);
      for (std::size_t i = 0; i < slot_size; i += 8) {
        const std::uint64_t noise = random();
        std::memcpy(reinterpret_cast<std::byte*>(record) + i, &noise, sizeof noise);
      }
      if (random() % 4 != 0) {  // plausible enough to be looked at
        record->commit = slot + 1;
        record->head.time = now();
        record->head.size = static_cast<std::uint16_t>(random() % (round % 2 == 0 ? 64 : 65536));
        record->head.event = static_cast<std::uint8_t>(random() % 50);
        record->head.thread_entry = 0;
      }
    }
    process.ring().head = random();
    process.ring().threads = static_cast<std::uint32_t>(random());
    std::uint64_t events = 0;
    do {
      while (const auto event = reader->next()) {
        ASSERT_LT(event->number, tracepoints::of_programs.size());
        ++events;
        ASSERT_LE(events, slot_count);
      }
    } while (reader->pass_incomplete());
    EXPECT_LE(reader->threads(), thread_count);
  }
}

}  // namespace
}  // namespace takt::capture::ring
