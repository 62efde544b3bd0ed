#include "provider/iree/compiler/onnx_import.h"

#include <gtest/gtest.h>

namespace hone::iree {
namespace {

TEST(OnnxImport, ItsErrorIsSaidWithoutTheWayToIt) {
  EXPECT_EQ(error_in_traceback("Traceback (most recent call last):\n"
                               "  File \"a.py\", line 1, in <module>\n"
                               "    f()\n"
                               "    ^^^\n"
                               "onnx.ValidationError: No Op registered for Foo\n"
                               "\n"
                               "==> Context: Bad node spec for node. Name:  OpType: Foo\n"),
            "onnx.ValidationError: No Op registered for Foo\n"
            "\n"
            "==> Context: Bad node spec for node. Name:  OpType: Foo");
  EXPECT_EQ(error_in_traceback("Traceback (most recent call last):\n"
                               "  f()\n"
                               "ValueError: 3\n\n"
                               "During handling of the above exception, another occurred:\n\n"
                               "Traceback (most recent call last):\n"
                               "  g()\n"
                               "ImportError: tensor {\n  dim: 3\n}\n"),
            "ImportError: tensor {\n  dim: 3\n}");
  const std::string error = "E: " + std::string(2000, '1');
  EXPECT_EQ(error_in_traceback("Traceback (most recent call last):\n" + error),
            error.substr(0, 1000) + "\n[... 1003 bytes left out ...]");
  EXPECT_EQ(error_in_traceback("killed\n"), "killed\n");
  EXPECT_EQ(error_in_traceback(""), "");
}

}  // namespace
}  // namespace hone::iree
