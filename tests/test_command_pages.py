"""The command line told in other forms: manual pages and completions, which say what the help says."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

from harness import BUILD, Result, environment, gpulse, run

PAGES = BUILD / "pages"
MANUALS = PAGES / "man" / "man1"
SHELLS = {
    "bash": PAGES / "bash-completion" / "completions" / "gpulse",
    "zsh": PAGES / "zsh" / "site-functions" / "_gpulse",
    "fish": PAGES / "fish" / "vendor_completions.d" / "gpulse.fish",
}
DROP_INS = {"smi", "gpustat"}


def commands() -> list[str]:
    """As the help lists them."""
    listed = gpulse("--help").out.split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z]+) ", listed, re.MULTILINE)


def options_of(command: str) -> set[str]:
    """The long options in the help of a command; "" is the program itself."""
    listed = gpulse(*command.split(), "--help").out.split("Options:\n")[1].split("\n\n")[0]
    return set(re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", listed, re.MULTILINE))


def own_commands() -> list[str]:
    return [name for name in commands() if name not in DROP_INS]


def manual(command: str) -> str:
    """As man shows it, without markup."""
    page = MANUALS / (f"gpulse-{command}.1" if command else "gpulse.1")
    env = environment(MANWIDTH="100", MANROFFOPT="-ww", MAN_KEEP_FORMATTING="")
    done = run(["man", "--warnings=w", "-l", page], env)
    assert (done.code, done.err) == (0, ""), done.err
    return re.sub(".\b", "", done.out)


@pytest.mark.parametrize("command", ["", *own_commands()])
def test_every_command_has_a_manual_page_with_all_its_options(command: str) -> None:
    text = manual(command)
    name = f"gpulse-{command}" if command else "gpulse"
    assert text.startswith(f"{name.upper()}(1)") and re.search(rf"^NAME\n +{name} +- ", text, re.MULTILINE)
    assert options_of(command) - set(re.findall(r"--[a-z0-9-]+", text)) == set()


def test_the_first_page_names_the_commands_the_files_and_the_others() -> None:
    text = manual("")
    sections = re.findall(r"^[A-Z][A-Z ]+$", text, re.MULTILINE)
    assert ["COMMANDS", "OPTIONS", "NOTES", "FILES", "ENVIRONMENT", "SEE ALSO"] == [s for s in sections if s not in ("NAME", "SYNOPSIS")]
    for name in commands():
        assert re.search(rf"^ +{name}\b", text, re.MULTILINE), name
    assert "gpulse-top(1)" in text and "gpulse-smi(1)" not in text


def test_a_page_can_be_had_without_being_installed() -> None:
    assert gpulse("help", "--man", "top").out == (MANUALS / "gpulse-top.1").read_text()
    assert gpulse("help", "--man").out == (MANUALS / "gpulse.1").read_text()


@pytest.mark.parametrize("shell", SHELLS)
def test_what_a_shell_gets_is_what_is_installed(shell: str) -> None:
    assert gpulse("completion", shell).out == SHELLS[shell].read_text()
    with tempfile.TemporaryDirectory() as home:
        assert run([shell, "-n", SHELLS[shell]], environment(HOME=home)) == Result(0, "", "")


def bash_offers(*words: str) -> set[str]:
    """What bash offers for the last of these."""
    script = 'source "$1"; shift; COMP_WORDS=(gpulse "$@"); COMP_CWORD=$#; _gpulse 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"'
    return set(run(["bash", "-c", script, "bash", SHELLS["bash"], *words], environment()).out.split())


def fish_offers(*words: str) -> set[str]:
    line = " ".join(["gpulse", *words])
    # It makes its folders at home, whatever it is told.
    with tempfile.TemporaryDirectory() as home:
        done = run(["fish", "--no-config", "-c", f"source {SHELLS['fish']}; complete -C '{line}'"], environment(HOME=home))
    return {each.split("\t")[0] for each in done.lines}


OFFERS = {"bash": bash_offers, "fish": fish_offers}


@pytest.mark.parametrize("shell", OFFERS)
def test_shells_offer_commands_options_and_values(shell: str) -> None:
    offers = OFFERS[shell]
    assert set(commands()) <= offers("")
    assert {"top"} <= offers("to") <= {"top", "--top"}
    assert offers("top", "--the") == {"--theme"}
    assert offers("top", "--theme", "d") == {"dark"}
    assert offers("agent", "re") == {"release", "resume"}
    assert "--rotate-size" in offers("log", "--") and "--rotate-size" not in offers("top", "--")


@pytest.mark.parametrize("command", ["", *own_commands()])
def test_bash_offers_every_option_of_the_help(command: str) -> None:
    assert options_of(command) <= bash_offers(*command.split(), "--")


def test_files_and_folders_are_completed_where_an_option_takes_one(tmp_path: Path) -> None:
    (tmp_path / "night.gpr").touch()
    (tmp_path / "nights").mkdir()
    assert bash_offers("--replay", f"{tmp_path}/ni") == {f"{tmp_path}/night.gpr", f"{tmp_path}/nights"}
    assert bash_offers("--sysroot", f"{tmp_path}/ni") == {f"{tmp_path}/nights"}


def test_zsh_finds_no_fault_in_what_it_is_told() -> None:
    """Loaded as compinit does it, and asked for the description of every command."""
    script = f"""
fpath=({SHELLS['zsh'].parent} $fpath)
autoload -Uz compinit && compinit -u -D
autoload +X -Uz _gpulse
[[ $_comps[gpulse] == _gpulse ]] && print registered
"""
    done = run(["zsh", "--no-rcs", "-c", script], environment())
    assert (done.code, done.out, done.err) == (0, "registered\n", "")


@pytest.mark.parametrize("words, same", [(["help"], ["--help"]), (["help", "top"], ["top", "--help"]),
                                         (["help", "smi"], ["smi", "--help"]), (["version"], ["--version"]),
                                         (["-V"], ["--version"])], ids=" ".join)  # fmt: skip
def test_help_and_version_by_their_other_names(words: list[str], same: list[str]) -> None:
    told = gpulse(*words)
    assert told == gpulse(*same) and told.code == 0 and told.out


def test_the_help_of_no_command_names_the_nearest() -> None:
    assert gpulse("help", "tpo") == Result(2, "", "gpulse: tpo is no command: did you mean top?\n")
    assert gpulse("help", "--man", "tpo") == Result(2, "", "gpulse: tpo is no command: did you mean top?\n")
