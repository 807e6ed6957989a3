// Writes metrics in the text format of Prometheus: one family after the other, each with its samples.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/latency_histogram.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::internal {

// Names and help are literals of ours; values of labels may be anything and are escaped. A family without samples is
// left out.
class metric_text {
 public:
  using labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  metric_text& counter(const char* name, const char* help) { return family(name, help, "counter"); }
  metric_text& gauge(const char* name, const char* help) { return family(name, help, "gauge"); }
  metric_text& histogram(const char* name, const char* help) { return family(name, help, "histogram"); }

  // Samples of the family that was begun last.
  metric_text& value(labels of, std::uint64_t count);
  metric_text& value(labels of, double number);
  // Buckets in seconds, three a decade, of the bounds between the shortest and the longest that is of use.
  metric_text& spread(labels of, const latency_histogram& times);

  [[nodiscard]] std::string text() && { return std::move(out_); }

 private:
  metric_text& family(const char* name, const char* help, const char* type);
  void begin(std::string_view suffix, labels of, std::string_view bound = {});
  void label(std::string_view name, std::string_view value, bool& first);
  void number(double n);
  void number(std::uint64_t n);

  std::string out_;
  std::string name_;
  std::string head_; // of the family, until it has a sample
};

} // namespace troupe::internal
