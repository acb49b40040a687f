/* slow_point: a named place where a test build can be made slow, so that a test can plant a delay
 * that nothing else can.
 *
 * In a build with -Dkill_points=true, MILLRACE_SLOW_AT="gpud.key_load:1500,synthd.matrices:200"
 * sleeps so many milliseconds each time such a place is passed. In a release build it is nothing.
 * Places: desk.grant, synthd.matrices, synthd.ring, gpud.key_load, cpu.copy_in, gpud.finish,
 * finisher.check. */
#pragma once
#ifdef MILLRACE_KILL_POINTS
void slow_point(const char *name);
#define SLOW_POINT(name) slow_point(name)
#else
#define SLOW_POINT(name) ((void)0)
#endif
