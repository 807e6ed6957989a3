# The library troupe_web: the files of the dashboard, compressed, inside the program.
#
# `./dev web` builds the dashboard into TROUPE_WEB_DIST. What is there when the library is built gets packed, and is
# packed anew when it changes; when nothing is there, the library has a page that says so.
set(TROUPE_WEB_DIST "${CMAKE_CURRENT_SOURCE_DIR}/build/web/dist" CACHE PATH "The built dashboard")

find_program(TROUPE_GZIP gzip REQUIRED)

function(troupe_web_library)
  set(page "${TROUPE_WEB_DIST}")
  file(GLOB_RECURSE files CONFIGURE_DEPENDS "${TROUPE_WEB_DIST}/*")
  if(NOT EXISTS "${TROUPE_WEB_DIST}/index.html")
    set(page "${CMAKE_CURRENT_BINARY_DIR}/web_not_built")
    configure_file(web/not_built.html "${page}/index.html" COPYONLY)
    set(files "${page}/index.html")
  endif()

  set(out "${CMAKE_CURRENT_BINARY_DIR}/web_assets")
  set(pack "${CMAKE_CURRENT_SOURCE_DIR}/cmake/troupe_web_pack.cmake")
  # The list is a file of its own: a file that went away changes it.
  file(CONFIGURE OUTPUT "${out}/files.txt" CONTENT "${files}" @ONLY)
  add_custom_command(
    OUTPUT "${out}/table.cpp"
    COMMAND "${CMAKE_COMMAND}" "-DPAGE=${page}" "-DOUT=${out}" "-DGZIP=${TROUPE_GZIP}" -P "${pack}"
    DEPENDS "${pack}" "${out}/files.txt" ${files}
    COMMENT "Packing the dashboard"
    VERBATIM)

  troupe_library(web)
  target_sources(troupe_web PRIVATE "${out}/table.cpp")
endfunction()

troupe_web_library()
