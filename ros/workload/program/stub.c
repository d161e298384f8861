/* A library without anything in it. */
extern int takt_stub;
