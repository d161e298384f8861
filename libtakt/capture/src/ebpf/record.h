#pragma once

// The records that the probes in the kernel hand to the recorder. Shared between BPF C and C++.

#define TAKT_BPF_ARGUMENTS 10
#define TAKT_BPF_TEXTS 4
#define TAKT_BPF_EVENTS 64

// Room for each text of a call, in the common record and in the one for calls that it cannot hold.
// Calls with a longer text are not recorded but counted.
#define TAKT_BPF_TEXT_SIZE 512
#define TAKT_BPF_LONG_TEXT_SIZE 16384

// What a probe does with an argument of a tracing function.
enum takt_argument {
  TAKT_ARGUMENT_NONE = 0,
  TAKT_ARGUMENT_VALUE,     // keep it
  TAKT_ARGUMENT_STRING,    // keep the text it points to
  TAKT_ARGUMENT_GID,       // keep the bytes it points to
  TAKT_ARGUMENT_POINTERS,  // keep the array it points to; the next argument is its length
};

struct takt_recipe {
  unsigned char arguments[TAKT_BPF_ARGUMENTS];
  unsigned char texts;  // arguments that are more than a value
};

// The role of a process: it starts processes that are traced, or it is traced itself. The processes
// that it starts are traced in both cases.
enum takt_process_role { TAKT_STARTER, TAKT_TRACED };

// A process's number alone does not say which process it is: numbers are used again.
struct takt_process {
  unsigned int role;
  unsigned int start;  // when it began, in hundredths of a second as /proc/pid/stat has it
};

enum takt_record_kind { TAKT_RECORD_CALL, TAKT_RECORD_SCHED };

// The number that a probe gets when it is attached.
// `detail`: for a call, the number of the library; for a message, the offset of its time.
#define TAKT_COOKIE(event, gid_size, detail)                           \
  ((unsigned long long)(event) | (unsigned long long)(gid_size) << 8 | \
   (unsigned long long)(detail) << 16)

// Bytes of a buffer for records.
#define TAKT_BPF_BUFFER_SIZE (16ul * 1024 * 1024)

// Libraries beyond this many share a number.
#define TAKT_BPF_LIBRARIES 256

// A call of a watched function; with texts, they follow, all with the same room.
struct takt_call {
  unsigned int kind;
  unsigned int process;
  unsigned int start;
  unsigned int thread;
  unsigned short event;
  unsigned char gid_size;
  unsigned char library;   // of a call: its number
  unsigned int text_room;  // bytes for each text
  unsigned long long time;
  char name[16];
  unsigned long long arguments[TAKT_BPF_ARGUMENTS];
  // The processor time of the thread, and one more than how often it has waited, since its first
  // call. No waits: the thread has no clock.
  unsigned long long cpu_time;
  unsigned long long waits;
};

enum takt_sched_event {
  TAKT_SCHED_SWITCH,
  TAKT_SCHED_WAKEUP,
  TAKT_SCHED_WAKEUP_NEW,
  TAKT_SCHED_FORK,
  TAKT_SCHED_EXIT,
  TAKT_SCHED_PAGE_FAULT
};

struct takt_task {
  char name[16];
  int thread;
  int process;
  int priority;
};

// An event of the scheduler. first: previous, woken, parent, exiting or faulting; second: next or
// child. Threads outside of the recorder's namespace of processes have negative numbers.
struct takt_sched {
  unsigned int kind;
  unsigned int event;
  unsigned int cpu;
  int target_cpu;
  unsigned long long time;
  long long state;           // of a page fault: the address
  unsigned long long place;  // of a page fault: in the program
  unsigned int first_traced;
  unsigned int second_traced;
  struct takt_task first;
  struct takt_task second;
};

// Counts of records that found no room or could not be kept whole, and of processes that found no
// room among those that are followed.
struct takt_dropped {
  unsigned long long calls;
  unsigned long long sched;
  unsigned long long processes;
};
