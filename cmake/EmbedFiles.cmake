# cmake -DOUTPUT=x.cc -DHEADER=a/b.h -DFUNCTION=ns::f -DFILES=a.py;b.py -P EmbedFiles.cmake
# Writes a source file that defines FUNCTION (declared in HEADER): the files as text, by name.
set(entries "")
foreach(file ${FILES})
  file(READ ${file} text)
  get_filename_component(name ${file} NAME)
  string(APPEND entries "    {\"${name}\", R\"hone_file(${text})hone_file\"},\n")
endforeach()
file(WRITE ${OUTPUT}.new "#include \"${HEADER}\"\n\nstd::span<const hone::EmbeddedFile> ${FUNCTION}() {
  static const hone::EmbeddedFile files[] = {\n${entries}  };\n  return files;\n}\n")
file(COPY_FILE ${OUTPUT}.new ${OUTPUT} ONLY_IF_DIFFERENT)
