# cmake -DPAGE=folder -DOUT=folder -DGZIP=program -P troupe_web_pack.cmake
#
# Compresses the files that OUT/files.txt lists and writes OUT/table.cpp, which holds their bytes and has a row for each.
# The assembler reads the bytes: a compiler needs long for large arrays.
file(READ "${OUT}/files.txt" files)

function(mime_of path result)
  get_filename_component(extension "${path}" LAST_EXT)
  set(html "text/html; charset=utf-8")
  set(js "text/javascript; charset=utf-8")
  set(css "text/css; charset=utf-8")
  set(svg "image/svg+xml")
  set(json "application/json")
  set(txt "text/plain; charset=utf-8")
  set(png "image/png")
  set(ico "image/x-icon")
  set(woff2 "font/woff2")
  string(REGEX REPLACE "^[.]" "" extension "${extension}")
  if(extension MATCHES "^(html|js|css|svg|json|txt|png|ico|woff2)$")
    set(${result} "${${extension}}" PARENT_SCOPE)
  else()
    set(${result} "application/octet-stream" PARENT_SCOPE)
  endif()
endfunction()

# By the bytes of the path, which is how they are looked up.
set(paths "")
foreach(file ${files})
  file(RELATIVE_PATH path "${PAGE}" "${file}")
  if(NOT path MATCHES "^[A-Za-z0-9._/-]+$")
    message(FATAL_ERROR "The dashboard's file '${path}' needs a plainer name.")
  endif()
  list(APPEND paths "/${path}")
endforeach()
list(SORT paths COMPARE STRING)

set(bytes "")
set(declarations "")
set(rows "")
set(number 0)
foreach(path ${paths})
  set(packed "${OUT}/${number}.gz")
  execute_process(COMMAND "${GZIP}" -9 -n -c "${PAGE}${path}" OUTPUT_FILE "${packed}" RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "'${path}' could not be compressed.")
  endif()
  file(SIZE "${packed}" size)
  file(SHA256 "${PAGE}${path}" hash)
  string(SUBSTRING "${hash}" 0 32 hash)
  mime_of("${path}" mime)
  set(immutable false)
  if(path MATCHES "-[A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-][A-Za-z0-9_-]\\.[a-z0-9]+$")
    set(immutable true)
  endif()
  set(symbol "troupe_web_asset_${number}")
  # The hash tells caches of compiled files that the bytes are others.
  string(APPEND bytes "    \".global ${symbol}\\n${symbol}: .incbin \\\"${packed}\\\" /* ${hash} */\\n\"\n")
  string(APPEND declarations "extern const std::byte ${symbol}[${size}];\n")
  string(APPEND rows "    {\"${path}\", \"${mime}\", \"${hash}\", ${symbol}, ${immutable}},\n")
  math(EXPR number "${number} + 1")
endforeach()

file(WRITE "${OUT}/table.cpp" "#include <troupe/web/assets.hpp>

asm(\".pushsection .rodata\\n\"
${bytes}    \".popsection\\n\");

extern \"C\" {
${declarations}}

namespace troupe::web {
namespace {

constexpr asset assets[] = {
${rows}};

} // namespace

std::span<const asset> all_assets() noexcept {
  return assets;
}

} // namespace troupe::web
")
