#include "cli/application.h"

int main(int argc, char** argv) {
  return hone::cli::run(argc, argv);
}
