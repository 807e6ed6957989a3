// Does one piece of work in `counted`, where callgrind counts; or counts the allocations of all. scripts/check_cost runs it.
//
// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "cost/workloads.hpp"

namespace {

std::atomic<unsigned long> allocated{0};

void* allocate(std::size_t size, std::size_t alignment) {
  allocated.fetch_add(1, std::memory_order_relaxed);
  const auto rounded = (size + alignment - 1) / alignment * alignment;
  if (void* p =
          alignment > alignof(std::max_align_t) ? std::aligned_alloc(alignment, rounded) : std::malloc(size))
    return p;
  throw std::bad_alloc{};
}

} // namespace

void* operator new(std::size_t size) {
  return allocate(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}

extern "C" __attribute__((noinline)) void counted(const troupe::cost::work& what) {
  what();
}

int main(int argc, char** argv) {
  using namespace troupe::cost;
  doctest::Context asserts; // for what the tests' helpers require
  asserts.setAsDefaultForAssertsOutOfTestCases();
  asserts.setAssertHandler([](const doctest::AssertData& what) {
    std::fprintf(stderr, "%s:%d: %s does not hold\n", what.m_file, what.m_line, what.m_expr);
    std::exit(1);
  });
  workloads all;
  add_machine(all);
  add_text(all);
  add_records(all);
  add_actors(all);
  const std::string_view asked = argc == 2 ? argv[1] : "";
  try {
    for (const auto& [name, make] : all) {
      if (asked == "--list") {
        std::printf("%s\n", name.c_str());
      } else if (asked == "--allocations" || asked == name) {
        const auto what = make();
        what(); // what is made once in a process does not count
        const auto before = allocated.load();
        counted(what);
        std::printf("%s %lu\n", name.c_str(), allocated.load() - before);
      }
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
