#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "choices.hpp"
#include "takt/capture/ring/reader.hpp"
#include "takt/capture/ring/writer.hpp"

namespace {

using namespace takt;
using namespace takt::capture;
using namespace takt::capture::ring;
using takt::fuzz::Choices;
using takt::fuzz::require;

/// When the recording begins.
const std::uint64_t beginning = now();

/// The memory of a process, empty at first.
class Memory {
 public:
  Memory() : file_(memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    require(ftruncate(file_, memory_size()) == 0);
    require(fcntl(file_, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
    void* mapped = mmap(nullptr, memory_size(), PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    require(mapped != MAP_FAILED);
    bytes_ = static_cast<std::byte*>(mapped);
  }

  void clear() {
    const auto mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    require(fallocate(file_, mode, 0, memory_size()) == 0);
    Header& ring = header();
    ring.version = version;
    ring.gid_size = 16;
    ring.fingerprint = tracepoints::fingerprint();
    ring.magic = magic;
  }

  [[nodiscard]] int file() const { return file_; }
  Header& header() { return *reinterpret_cast<Header*>(bytes_); }
  /// The word at an offset, which is rounded and bounded.
  std::atomic<std::uint64_t>& word(std::size_t offset) {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(bytes_ + offset % memory_size() / 8 * 8);
  }

 private:
  int file_;
  std::byte* bytes_;
};

/// Writes words into the memory over and over, from a thread of its own, while a reader reads.
class Disturbance {
 public:
  struct Word {
    std::size_t offset;
    std::uint64_t value;
  };

  explicit Disturbance(Memory& memory) : memory_(memory) {
    std::thread([this] { run(); }).detach();
  }

  void begin(std::vector<Word> words) {
    words_ = std::move(words);
    state_ = State::on;
    state_.notify_one();
  }
  void end() {
    state_ = State::ending;
    state_.wait(State::ending);
  }

 private:
  enum class State { off, on, ending };

  [[noreturn]] void run() {
    for (;;) {
      state_.wait(State::off);
      while (state_ == State::on) {
        for (const Word& word : words_) {
          memory_.word(word.offset).store(word.value, std::memory_order_relaxed);
        }
      }
      state_ = State::off;
      state_.notify_one();
    }
  }

  Memory& memory_;
  std::atomic<State> state_ = State::off;
  std::vector<Word> words_;
};

/// An event that the reader hands on is one that a process can have written.
void check(const Event& event, const Reader& reader, std::uint64_t start) {
  require(event.number < tracepoints::of_programs.size());
  require(event.time >= start);
  require(event.time <= now());
  require(well_formed(event.number, reader.gid_size(), event.payload));
  require(event.thread_name.back() == '\0');
}

std::size_t offset_of(Choices& choices, std::uint64_t tail, std::uint64_t log_size) {
  switch (choices.next<std::uint8_t>() % 3) {
    case 0:
      return choices.next<std::uint16_t>() % sizeof(Header);
    case 1:  // a slot that is read soon
      return slots_offset + (tail + choices.next<std::uint8_t>()) % slot_count * slot_size +
             choices.next<std::uint8_t>() % slot_size;
    default:
      return log_offset() + choices.next<std::uint32_t>() % (log_size % log_capacity + slot_size);
  }
}

void read(Reader& reader) {
  for (std::uint64_t count = 0; const auto event = reader.next(); ++count) {
    check(*event, reader, beginning);
    if (count > slot_count) {  // a disturbed ring may go on without end; its readers do not
      return;
    }
  }
}

/// A record or an entry of the log, right or nearly so.
template <typename Head>
void write_text(Memory& memory, Choices& choices, Head&& write) {
  static const std::string letters(std::size_t{1} << 16, 'x');
  const auto size = choices.next<std::uint16_t>();
  const auto event = static_cast<std::uint8_t>(choices.next<std::uint8_t>() % 64);
  const Writer writer{choices.next<std::uint8_t>(), choices.next<std::uint8_t>()};
  const void* pointer = &memory;
  write(writer, event, pointer, std::string_view(letters).substr(0, size));
}

/// Does one thing to the ring or to its reader. Leaves no reader if the memory is no longer a ring.
void act(Memory& memory, std::unique_ptr<Reader>& reader, Choices& choices) {
  Header& ring = memory.header();
  switch (choices.next<std::uint8_t>() % 10) {
    case 0:
      return write_text(memory, choices, [&](auto... fields) { write(ring, fields...); });
    case 1:
      return write_text(memory, choices, [&](const Writer& writer, auto... fields) {
        if (ring.log_size % 8 == 0 && ring.log_size <= log_capacity) {  // as the library left it
          constexpr ThreadName name{'f', 'u', 'z', 'z'};
          const auto reach = [](std::size_t) { return true; };  // all of it is mapped
          log(ring, writer, name, choices.next<std::uint8_t>() % 2, reach, fields...);
        }
      });
    case 2:
      memory.word(offset_of(choices, ring.tail, ring.log_size)) = choices.next<std::uint64_t>();
      return;
    case 3: {  // a record that is complete, of any size
      const std::uint64_t slot = ring.tail + choices.next<std::uint8_t>() % 4;
      auto* record =
          reinterpret_cast<Record*>(&memory.word(slots_offset + slot % slot_count * slot_size));
      record->head = {now(), 1, choices.next<std::uint16_t>(), choices.next<std::uint8_t>(),
                      choices.next<std::uint8_t>()};
      record->commit = slot + 1;
      return;
    }
    case 4:
      ring.head = ring.tail + choices.next<std::uint16_t>();
      return;
    case 5:
      ring.log_size = choices.next<std::uint16_t>();  // a long one would take its time
      return;
    case 6:
      return read(*reader);
    case 7:
      while (const auto object = reader->next_object()) {
        check(*object, *reader, 0);
      }
      return;
    case 8:
      static_cast<void>(reader->pass_incomplete());
      static_cast<void>(reader->empty());
      require(reader->threads() <= thread_count);
      return;
    default: {
      reader.reset();
      if (auto next = Reader::attach(memory.file(), ~std::uint64_t{}, beginning)) {
        reader = std::move(*next);
      }
    }
  }
}

}  // namespace

/// Whatever a process does to the memory that it shares with its recorder, also while that reads:
/// the reader ends, stays within its memory, and hands on events that have their fields.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Memory memory;
  static Disturbance disturbance(memory);
  memory.clear();
  Choices choices(data, size);
  std::vector<Disturbance::Word> words(choices.next<std::uint8_t>() % 16 == 0 ? 3 : 0);
  for (auto& word : words) {
    const std::size_t offset = offset_of(choices, 0, slot_size);
    word = {offset, choices.next<std::uint64_t>()};
  }
  auto reader = Reader::attach(memory.file(), ~std::uint64_t{}, beginning);
  require(reader.has_value());
  const bool disturbed = !words.empty();
  if (disturbed) {
    disturbance.begin(std::move(words));
  }
  while (choices.any() && *reader) {
    act(memory, *reader, choices);
  }
  if (*reader) {
    read(**reader);
  }
  if (disturbed) {
    disturbance.end();
  }
  return 0;
}
