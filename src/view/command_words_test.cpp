// SPDX-License-Identifier: Apache-2.0
#include "view/command_words.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace gpulse::view {
namespace {

std::string brief(std::string_view line) { return brief_command(split(line, ' ')); }

TEST(BriefCommand, LeavesOutWhereTheProgramAndItsScriptLie) {
  EXPECT_EQ(brief("/home/ann/project/.venv/bin/python3 /home/ann/project/train.py --lr 1e-4"),
            "python3 train.py --lr 1e-4");
  EXPECT_EQ(brief("/opt/venv/bin/python3.11 /opt/venv/bin/vllm serve /models/llama"),
            "python3.11 vllm serve /models/llama");
  EXPECT_EQ(brief("/usr/lib/xorg/Xorg :0"), "Xorg :0");
  EXPECT_EQ(brief("./train --data /mnt/set"), "train --data /mnt/set");
}

TEST(BriefCommand, LeavesOutTheInterpretersOwnOptions) {
  EXPECT_EQ(brief("/usr/bin/python3 -u train.py -u"), "python3 train.py -u");
  EXPECT_EQ(brief("python -X dev -W ignore -B /x/train.py"), "python train.py");
  EXPECT_EQ(brief("/bin/bash -x /srv/run.sh 3"), "bash run.sh 3");
}

TEST(BriefCommand, KeepsWhatIsRunFromNoFile) {
  EXPECT_EQ(brief("/usr/bin/python3 -m torch.distributed.run /x/train.py"),
            "python3 -m torch.distributed.run /x/train.py");
  EXPECT_EQ(brief("/usr/bin/python3 -uc pass"), "python3 -uc pass");
  EXPECT_EQ(brief("/usr/bin/python3"), "python3");
  EXPECT_EQ(brief("/usr/bin/python3 -"), "python3 -");
  EXPECT_EQ(brief("python3 -X"), "python3");
}

TEST(BriefCommand, TakesWhateverAProcessCallsItself) {
  EXPECT_EQ(brief_command({}), "");
  EXPECT_EQ(brief("/"), "/");
  EXPECT_EQ(brief("nginx: worker process"), "nginx: worker process");
  EXPECT_EQ(brief("ray::Trainer.train()"), "ray::Trainer.train()");
}

}  // namespace
}  // namespace gpulse::view
