// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/fetch/internal/html_text.hpp>
#include <troupe/runtime/ascii_text.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include <libxml/HTMLparser.h>
#include <libxml/tree.h>

namespace troupe::net {
namespace {

constexpr std::array unseen = {std::string_view{"script"},   std::string_view{"style"},
                               std::string_view{"noscript"}, std::string_view{"template"},
                               std::string_view{"svg"},      std::string_view{"head"},
                               std::string_view{"iframe"},   std::string_view{"object"}};
constexpr std::array blocks = {
    std::string_view{"p"},       std::string_view{"div"},    std::string_view{"section"},
    std::string_view{"article"}, std::string_view{"header"}, std::string_view{"footer"},
    std::string_view{"main"},    std::string_view{"nav"},    std::string_view{"aside"},
    std::string_view{"ul"},      std::string_view{"ol"},     std::string_view{"table"},
    std::string_view{"tr"},      std::string_view{"form"},   std::string_view{"blockquote"},
    std::string_view{"pre"},     std::string_view{"dl"},     std::string_view{"dt"},
    std::string_view{"dd"},      std::string_view{"figure"}, std::string_view{"fieldset"},
    std::string_view{"h1"},      std::string_view{"h2"},     std::string_view{"h3"},
    std::string_view{"h4"},      std::string_view{"h5"},     std::string_view{"h6"},
    std::string_view{"li"}};

std::string_view text_of(const xmlChar* text) {
  return text == nullptr ? std::string_view{} : reinterpret_cast<const char*>(text);
}

std::string attribute(xmlNode* node, const char* name) {
  auto free = [](xmlChar* text) { xmlFree(text); };
  std::unique_ptr<xmlChar, decltype(free)> value{xmlGetProp(node, reinterpret_cast<const xmlChar*>(name)),
                                                 free};
  return std::string{text_of(value.get())};
}

// Text with blanks and lines as they are shown.
class page_text {
 public:
  explicit page_text(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  [[nodiscard]] bool full() const noexcept { return text_.size() >= max_bytes_; }

  void words(std::string_view piece) {
    for (char c : piece) {
      if (full())
        return;
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f') {
        blank_ = true;
        continue;
      }
      if (blank_ && !text_.empty() && text_.back() != '\n')
        text_ += ' ';
      blank_ = false;
      text_ += c;
    }
  }
  void as_is(std::string_view piece) {
    text_ += piece.substr(0, max_bytes_ - std::min(max_bytes_, text_.size()));
    blank_ = false;
  }
  void line() {
    while (!text_.empty() && text_.back() == ' ')
      text_.pop_back();
    if (!text_.empty() && text_.back() != '\n')
      text_ += '\n';
    blank_ = false;
  }
  void paragraph() {
    line();
    if (!text_.empty() && !text_.ends_with("\n\n"))
      text_ += '\n';
  }
  std::string take() {
    text_.resize(text_.find_last_not_of(" \n") + 1);
    if (!text_.empty())
      text_ += '\n';
    return std::move(text_);
  }

 private:
  std::size_t max_bytes_;
  std::string text_;
  bool blank_ = false;
};

// Walks the tree without recursion: pages nest as deep as they like.
class page_reader {
 public:
  explicit page_reader(std::size_t max_bytes) : out_(max_bytes) {}

  std::string read(xmlNode* root) {
    for (auto* node = root; node != nullptr && !out_.full();) {
      const bool inside = enter(node) && node->children != nullptr;
      node = inside ? node->children : after(node, root);
    }
    return out_.take();
  }

 private:
  // What follows a node that has been read, leaving the elements that end with it; null at the end.
  xmlNode* after(xmlNode* node, const xmlNode* root) {
    for (; node != nullptr; node = node->parent) {
      if (node->type == XML_ELEMENT_NODE)
        leave(node);
      if (node == root)
        return nullptr;
      if (node->next != nullptr)
        return node->next;
    }
    return nullptr;
  }

  // False for what is not looked into.
  bool enter(xmlNode* node) {
    if (node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE) {
      if (pre_ > 0)
        out_.as_is(text_of(node->content));
      else
        out_.words(text_of(node->content));
      return false;
    }
    if (node->type != XML_ELEMENT_NODE)
      return false;
    const auto name = text_of(node->name);
    if (is_one_of(unseen, name))
      return false;
    begin(node, name);
    return true;
  }

  void begin(xmlNode* node, std::string_view name) {
    if (is_one_of(blocks, name))
      name == "li" || name == "tr" || name == "dt" || name == "dd" ? out_.line() : out_.paragraph();
    if (name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6')
      out_.as_is(std::string(static_cast<std::size_t>(name[1] - '0'), '#') + " ");
    else if (name == "li")
      out_.as_is("- ");
    else if (name == "br")
      out_.line();
    else if (name == "pre")
      ++pre_;
    else if (name == "img")
      if (auto alt = attribute(node, "alt"); !alt.empty())
        out_.words(" [" + alt + "] ");
    if (name == "a")
      out_.words(" ");
  }

  void leave(xmlNode* node) {
    const auto name = text_of(node->name);
    if (name == "a") {
      const auto to = attribute(node, "href");
      if (!to.empty() && !to.starts_with('#') && !to.starts_with("javascript:"))
        out_.words(" (" + to + ")");
    } else if (name == "td" || name == "th") {
      out_.words(" | ");
    } else if (name == "pre" && pre_ > 0) {
      --pre_;
    }
    if (is_one_of(blocks, name))
      name == "li" || name == "tr" || name == "dt" || name == "dd" ? out_.line() : out_.paragraph();
  }

  page_text out_;
  int pre_ = 0;
};

} // namespace

namespace {

// The page without tags of very many attributes, whose cost for the library grows with their square.
std::string without_monsters(std::string_view html) {
  constexpr std::size_t max_words = 256;
  std::string out;
  out.reserve(html.size());
  while (!html.empty()) {
    const auto tag = html.find('<');
    out.append(html.substr(0, tag));
    if (tag == std::string_view::npos)
      break;
    html.remove_prefix(tag);
    std::size_t words = 0;
    char quote = 0;
    std::size_t end = 1;
    for (; end < html.size() && (quote != 0 || html[end] != '>'); ++end) {
      const char c = html[end];
      if (quote != 0)
        quote = c == quote ? '\0' : quote;
      else if (c == '"' || c == '\'')
        quote = html[end - 1] == '=' ? c : '\0';
      else if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '/' || c == '=')
        ++words;
    }
    // An open quote takes all that follows: then the tag ends where the next begins.
    if (quote != 0 && end >= html.size())
      end = std::min(html.find('<', 1), html.size() - 1);
    if (words <= max_words)
      out.append(html.substr(0, end + 1));
    html.remove_prefix(std::min(end + 1, html.size()));
  }
  return out;
}

} // namespace

std::string html_to_text(std::string_view html, const std::string& charset, std::size_t max_bytes) {
  if (html.empty() || html.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    return {};
  // Pages nest deeper than the library likes; what it costs is bounded by the bytes that it gets.
  constexpr int options = static_cast<int>(XML_PARSE_HUGE) | HTML_PARSE_RECOVER | HTML_PARSE_NOERROR |
                          HTML_PARSE_NOWARNING | HTML_PARSE_NONET;
  const auto sound = without_monsters(html);
  std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> page{
      htmlReadMemory(sound.data(), static_cast<int>(sound.size()), nullptr,
                     charset.empty() ? nullptr : charset.c_str(), options),
      xmlFreeDoc};
  auto* root = page == nullptr ? nullptr : xmlDocGetRootElement(page.get());
  if (root == nullptr)
    return {};
  std::string title;
  for (auto* part = root->children; part != nullptr; part = part->next)
    for (auto* child = text_of(part->name) == "head" ? part->children : nullptr; child != nullptr;
         child = child->next)
      if (text_of(child->name) == "title" && child->children != nullptr)
        title = text_of(child->children->content);
  auto text = page_reader{max_bytes}.read(root);
  page_text first{max_bytes};
  first.words(title);
  auto line = first.take();
  return line.empty() ? text : line + "\n" + text;
}

} // namespace troupe::net
