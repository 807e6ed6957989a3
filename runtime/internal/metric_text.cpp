// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/metric_text.hpp>
#include <troupe/runtime/telemetry/shown_buckets.hpp>

#include <charconv>

namespace troupe::internal {

metric_text& metric_text::family(const char* name, const char* help, const char* type) {
  name_ = name;
  head_ = "# HELP " + name_ + ' ' + help + "\n# TYPE " + name_ + ' ' + type + '\n';
  return *this;
}

void metric_text::label(std::string_view name, std::string_view value, bool& first) {
  out_ += first ? '{' : ',';
  first = false;
  out_.append(name).append("=\"");
  for (char c : value) {
    if (c == '\n')
      out_ += "\\n";
    else if (c == '"' || c == '\\')
      (out_ += '\\') += c;
    else
      out_ += c;
  }
  out_ += '"';
}

void metric_text::begin(std::string_view suffix, labels of, std::string_view bound) {
  out_ += std::exchange(head_, {});
  out_.append(name_).append(suffix);
  bool first = true;
  for (const auto& [name, value] : of)
    label(name, value, first);
  if (!bound.empty())
    label("le", bound, first);
  out_.append(first ? " " : "} ");
}

void metric_text::number(double n) {
  char digits[336]; // the longest double without an exponent
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, n, std::chars_format::fixed).ptr);
}

void metric_text::number(std::uint64_t n) {
  char digits[24];
  out_.append(digits, std::to_chars(digits, digits + sizeof digits, n).ptr);
}

metric_text& metric_text::value(labels of, std::uint64_t count) {
  begin({}, of);
  number(count);
  out_ += '\n';
  return *this;
}

metric_text& metric_text::value(labels of, double n) {
  begin({}, of);
  number(n);
  out_ += '\n';
  return *this;
}

metric_text& metric_text::spread(labels of, const latency_histogram& times) {
  const shown_buckets shown{times};
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < shown_buckets::bounds; ++i) {
    below += shown.counts[i];
    char bound[32];
    const auto end =
        std::to_chars(bound, bound + sizeof bound, shown_buckets::bound(i), std::chars_format::fixed).ptr;
    begin("_bucket", of, {bound, static_cast<std::size_t>(end - bound)});
    number(below);
    out_ += '\n';
  }
  begin("_bucket", of, "+Inf");
  number(times.count());
  out_ += '\n';
  begin("_sum", of);
  number(static_cast<double>(times.sum_us) / 1e6);
  out_ += '\n';
  begin("_count", of);
  number(times.count());
  out_ += '\n';
  return *this;
}

} // namespace troupe::internal
