#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace takt::test {

/// A directory for one test, removed with its contents.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "takt-test-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& content) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::filesystem::path path_;
};

/// Bytes with integers of any number of bits, little-endian as CTF packs them.
class Bits {
 public:
  Bits& add(std::uint64_t value, std::uint32_t bits) {
    for (std::uint32_t i = 0; i < bits; ++i, ++size_) {
      if (size_ % 8 == 0) {
        bytes_ += '\0';
      }
      const auto bit = static_cast<unsigned>((value >> i) & 1) << (size_ % 8);
      bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | bit);
    }
    return *this;
  }
  Bits& align(std::uint32_t bits) { return add(0, (bits - size_ % bits) % bits); }
  Bits& byte_swapped(std::uint64_t value, std::uint32_t bits) {
    for (std::uint32_t i = bits; i > 0; i -= 8) {
      add(value >> (i - 8), 8);
    }
    return *this;
  }
  Bits& text(const std::string& value) {
    align(8);
    for (const char c : value) {
      add(static_cast<unsigned char>(c), 8);
    }
    return add(0, 8);
  }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
  std::uint32_t size_ = 0;
};

/// Writes traces as LTTng does, with any events.
class TraceWriter {
 public:
  enum class Header { compact, large };

  explicit TraceWriter(Header header = Header::large) : header_(header) {}

  std::string hostname = "robot";
  std::string boot_id = "b56af5b4-b61b-43cf-a191-9301eb8b3b13";
  std::string uuid = "aa41fc08-5e40-4903-8443-e0ae7e5ca206";
  std::int64_t offset = 1'000'000'000'000;
  /// Field declarations of the context; empty: none.
  std::string context =
      "integer { size = 32; align = 8; signed = 1; } _vpid;"
      "integer { size = 32; align = 8; signed = 1; } _vtid;"
      "integer { size = 8; align = 8; signed = 1; encoding = UTF8; } _procname[17];";
  std::string extra_environment;

  /// Declares an event class and returns its id.
  std::uint32_t declare(const std::string& name, const std::string& fields) {
    events_ += "event { name = \"" + name + "\"; id = " + std::to_string(count_) +
               "; stream_id = 0; loglevel = 13; fields := struct {" + fields + "}; };\n";
    return count_++;
  }

  /// The header of an event: `time` in full if `extended`.
  void header(Bits& packet, std::uint32_t id, std::uint64_t time, bool extended = false) const {
    packet.align(8);
    if (header_ == Header::large) {
      packet.add(extended ? 65535 : id, 16);
    } else {
      packet.add(extended ? 31 : id, 5);
    }
    if (extended) {
      packet.align(8).add(id, 32).add(time, 64);
    } else {
      packet.add(time, header_ == Header::large ? 32 : 27);
    }
  }
  static void add_context(Bits& packet, std::int32_t process, std::int32_t thread,
                          const std::string& name) {
    packet.add(static_cast<std::uint32_t>(process), 32).add(static_cast<std::uint32_t>(thread), 32);
    for (std::size_t i = 0; i < 17; ++i) {
      packet.add(i < name.size() ? static_cast<unsigned char>(name[i]) : 0, 8);
    }
  }

  struct PacketInfo {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t sequence = 0;
    std::uint64_t discarded = 0;
    std::uint32_t cpu = 0;
    std::uint32_t padding = 64;  // bytes after the content
  };
  /// A packet with the events in `content`.
  static std::string packet(const PacketInfo& info, const Bits& content) {
    return packet(info, content.bytes(), content.size());
  }
  /// Likewise, of events that take whole bytes.
  static std::string packet(const PacketInfo& info, const std::string& content) {
    return packet(info, content, 8 * content.size());
  }

  void write(const Scratch& scratch, const std::vector<std::string>& streams,
             const std::string& directory = "trace") const {
    scratch.write(directory + "/metadata", metadata());
    for (std::size_t i = 0; i < streams.size(); ++i) {
      scratch.write(directory + "/ros2_" + std::to_string(i), streams[i]);
    }
  }

  [[nodiscard]] std::string metadata() const {
    return R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;
trace { major = 1; minor = 8; uuid = ")" +
           uuid +
           R"("; byte_order = le;
  packet.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id;
                            uint64_t stream_instance_id; }; };
env { domain = "ust"; tracer_name = "lttng-ust"; hostname = ")" +
           hostname + "\"; " + extra_environment + R"( };
clock { name = "monotonic"; uuid = ")" +
           boot_id + R"("; freq = 1000000000; offset = )" + std::to_string(offset) + R"(; };
typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_monotonic_t;
typealias integer { size = 32; align = 8; signed = false; map = clock.monotonic.value; } := uint32_clock_monotonic_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_monotonic_t;
struct packet_context { uint64_clock_monotonic_t timestamp_begin; uint64_clock_monotonic_t timestamp_end;
  uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num; unsigned long events_discarded; uint32_t cpu_id; };
struct event_header_compact {
  enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
  variant <id> { struct { uint27_clock_monotonic_t timestamp; } compact;
                 struct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended; } v; } align(8);
struct event_header_large {
  enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;
  variant <id> { struct { uint32_clock_monotonic_t timestamp; } compact;
                 struct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended; } v; } align(8);
stream { id = 0; event.header := struct )" +
           (header_ == Header::large ? "event_header_large" : "event_header_compact") +
           "; packet.context := struct packet_context;" +
           (context.empty() ? "" : " event.context := struct {" + context + "};") + " };\n" +
           events_;
  }

 private:
  static std::string packet(const PacketInfo& info, const std::string& content,
                            std::uint64_t bits) {
    const std::uint32_t header_bits = 8 * (4 + 16 + 4 + 8 + 6 * 8 + 4);
    const std::uint64_t content_bits = header_bits + bits;
    const std::uint64_t bytes = (content_bits + 7) / 8 + info.padding;
    Bits all;
    all.add(0xc1fc1fc1, 32);
    for (const char c : uuid_bytes()) {
      all.add(static_cast<unsigned char>(c), 8);
    }
    all.add(0, 32).add(info.cpu, 64);  // class and number of the stream
    all.add(info.begin, 64).add(info.end, 64).add(content_bits, 64).add(8 * bytes, 64);
    all.add(info.sequence, 64).add(info.discarded, 64).add(info.cpu, 32);
    std::string result = all.bytes() + content;
    result.resize(bytes);
    return result;
  }

  static std::string uuid_bytes() {
    return "\xaa\x41\xfc\x08\x5e\x40\x49\x03\x84\x43\xe0\xae\x7e\x5c\xa2\x06";
  }

  Header header_;
  std::string events_;
  std::uint32_t count_ = 0;
};

}  // namespace takt::test
