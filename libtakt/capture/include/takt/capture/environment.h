#pragma once

// Environment variables by which a recorder speaks to the libtracetools.so of the processes that it
// starts.

// Path of a Unix-domain stream socket. The process connects to it before its own code runs and goes
// on when the recorder, ready to record this process, closes the connection.
#define TAKT_GATE_VARIABLE "TAKT_GATE"
