// SPDX-License-Identifier: Apache-2.0
#include "source/host/framework.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/temporary_folder.hpp"

namespace gpulse::host {
namespace {

using namespace std::chrono_literals;

const std::string kSite = "/opt/venv/lib/python3.12/site-packages/";

std::string maps_of(const std::vector<std::string> &paths) {
  std::string text =
      "55d0-55d1 r--p 00000000 08:01 42                         /usr/bin/python3.12\n7f00-7f01 rw-p 0 00:00 0\n";
  for (const auto &path : paths) {
    text += "7f10-7f11 r--p 00000000 08:01 77                         " + path + "\n";
    text += "7f11-7f12 r-xp 00001000 08:01 77                         " + path + "\n";
  }
  return text + "7ffc-7ffd rw-p 00000000 00:00 0                          [stack]\n";
}

struct Case {
  std::vector<std::string> libraries;
  std::string framework;
};

// The names of the libraries as the wheels and packages of these projects have them.
TEST(Framework, IsToldByLibraries) {
  const std::string torch = kSite + "torch/lib/libtorch_cpu.so";
  const std::string flow = kSite + "tensorflow/libtensorflow_framework.so.2";
  const std::vector<Case> cases = {
      {{torch}, "PyTorch"},
      {{flow}, "TensorFlow"},
      {{kSite + "tensorflow/python/_pywrap_tensorflow_internal.so"}, "TensorFlow"},
      {{kSite + "jaxlib/xla_extension.so"}, "JAX"},
      {{kSite + "jaxlib/libjax_common.so"}, "JAX"},
      {{torch, kSite + "vllm/_C.abi3.so"}, "vLLM"},
      {{"/home/ann/vllm/lib/python3.12/site-packages/torch/lib/libtorch.so"}, "PyTorch"},
      {{"/usr/local/lib/libggml-cuda.so", "/usr/local/lib/libllama.so"}, "llama.cpp"},
      {{torch, kSite + "tensorrt_llm/libs/libtensorrt_llm.so"}, "TensorRT-LLM"},
      {{"/opt/tritonserver/lib/libtritonserver.so", "/opt/tritonserver/backends/onnxruntime/libonnxruntime.so"},
       "Triton Server"},
      {{kSite + "onnxruntime/capi/onnxruntime_pybind11_state.so"}, "ONNX Runtime"},
      {{"/usr/lib/libonnxruntime.so.1", "/usr/lib/libnvinfer.so.10"}, "ONNX Runtime"},
      {{"/usr/lib/libnvinfer.so.10"}, "TensorRT"},
      {{kSite + "cupy/_core/core.cpython-312-x86_64-linux-gnu.so"}, "CuPy"},
      {{kSite + "cupy/_core/core.so", kSite + "libcudf/lib64/libcudf.so"}, "RAPIDS"},
      // TensorFlow is there for the logs, PyTorch for its loaders.
      {{flow, torch}, "PyTorch"},
      {{torch, kSite + "jax_plugins/xla_cuda12/xla_cuda_plugin.so", kSite + "jaxlib/libjax_common.so"}, "JAX"},
      {{"/usr/lib/libc.so.6"}, ""},
      {{"/data/libtorch_notes.txt"}, ""},
      {{}, ""},
  };
  for (const auto &[libraries, framework] : cases) {
    EXPECT_EQ(find_framework(maps_of(libraries)), framework) << (libraries.empty() ? "none" : libraries.front());
  }
  EXPECT_EQ(find_framework(""), "");
  EXPECT_EQ(find_framework("/"), "");
}

class FrameworksTest : public testing::Test {
 protected:
  TextReading look(double running_seconds) {
    Process process{.pid = 10, .device = {}, .start_ticks = 1000, .texts = texts};
    process.row[process_metric("running_seconds")] = running_seconds;
    frameworks.add_to(process, now);
    return (*process.texts)[process_metric("framework")];
  }
  void put(const std::vector<std::string> &paths) const { folder.write("/proc/10/maps", maps_of(paths)); }

  TemporaryFolder folder;
  Frameworks frameworks{folder.root()};
  std::shared_ptr<const TextRow> texts = std::make_shared<const TextRow>(Scope::process);
  Monotonic now{100s};
};

TEST_F(FrameworksTest, AProgramThatStartsIsLookedAtAgain) {
  put({});
  EXPECT_EQ(look(1), TextReading(Reason::not_supported));
  put({"/lib/libtorch.so"});
  now += 1s;
  EXPECT_EQ(look(2), TextReading(Reason::not_supported)) << "not yet";
  now += 1s;
  EXPECT_EQ(look(3), TextReading("PyTorch"));
  put({"/lib/libtorch.so", kSite + "vllm/_C.abi3.so"});
  now += 10s;
  EXPECT_EQ(look(13), TextReading("vLLM")) << "what stands on the other comes later";
}

TEST_F(FrameworksTest, OneThatRunsForLongIsLookedAtOnce) {
  put({"/lib/libtorch.so"});
  EXPECT_EQ(look(3600), TextReading("PyTorch"));
  put({kSite + "vllm/_C.abi3.so"});
  for (int i = 0; i < 10; ++i) {
    now += 200s;
    EXPECT_EQ(look(4000), TextReading("PyTorch"));
  }
}

TEST_F(FrameworksTest, AfterSomeLooksItIsGivenUp) {
  put({});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(look(3600), TextReading(Reason::not_supported));
    now += 120s;
  }
  put({"/lib/libtorch.so"});
  EXPECT_EQ(look(3600), TextReading(Reason::not_supported));
}

}  // namespace
}  // namespace gpulse::host
