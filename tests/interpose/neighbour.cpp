// SPDX-License-Identifier: Apache-2.0
// A library that only the RUNPATH of opener.cpp leads to.
extern "C" int neighbour_answer() { return 42; }
