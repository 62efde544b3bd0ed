# Every dependency is a Debian 12 package (docs/dependencies.md says what each is for). What is
# linked is linked statically.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tl-expected REQUIRED)
# Becomes part of every HTML report.
find_file(HONE_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH
  REQUIRED
  DOC "Chart.js 3, minified, as one file")

function(hone_static_library target library header)
  find_library(${target}_ARCHIVE NAMES ${library} REQUIRED)
  find_path(${target}_INCLUDE ${header} REQUIRED)
  add_library(hone_dep_${target} STATIC IMPORTED GLOBAL)
  set_target_properties(hone_dep_${target} PROPERTIES
    IMPORTED_LOCATION ${${target}_ARCHIVE} INTERFACE_INCLUDE_DIRECTORIES ${${target}_INCLUDE})
endfunction()

hone_static_library(sqlite libsqlite3.a sqlite3.h)
hone_static_library(zstd libzstd.a zstd.h)
hone_static_library(xxhash libxxhash.a xxhash.h)
hone_static_library(yaml libyaml-cpp.a yaml-cpp/yaml.h)
set_property(TARGET hone_dep_sqlite PROPERTY INTERFACE_LINK_LIBRARIES ${CMAKE_DL_LIBS} Threads::Threads m)

add_library(hone_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_static.cc)
set_target_properties(hone_fmt PROPERTIES POSITION_INDEPENDENT_CODE ON)  # for tests/amd
target_include_directories(hone_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(hone_fmt PUBLIC Threads::Threads)
