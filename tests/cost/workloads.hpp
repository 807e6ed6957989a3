// Pieces of work whose cost is guarded: always the same, without time, threads and I/O.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>

namespace troupe::cost {

// What is done once, and once more when it is counted. Made with all that it needs, so that only its own work counts.
using work = std::function<void()>;

// By name: how it is made.
using workloads = std::map<std::string, std::function<work()>>;

void add_machine(workloads& to);
void add_text(workloads& to);
void add_records(workloads& to);
void add_actors(workloads& to);

} // namespace troupe::cost
