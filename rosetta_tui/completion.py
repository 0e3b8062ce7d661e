"""What a shell offers after TAB, from ``completion.txt`` and the store alone: importing click would cost twice as much again.

``docs/make_options.py`` writes the table from the commands. A line is a command, its arguments and options, and what it
does, with tabs between; a line ``=NAME`` lists values. ``--sort:metric`` takes a metric, ``@run*`` is an argument that may be
repeated, and what has no name after it takes a file, or anything.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_HARMLESS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:@+~=,")
"""What a value may hold: a name from outside must neither end a word nor be run by the shell that inserts it."""
_MOST = 200
_STORED = {
    "run": "SELECT substr(run_id, 1, 8), model_slug || ' ' || date(created, 'unixepoch', 'localtime') FROM runs WHERE put_away IS NULL ORDER BY created DESC LIMIT ?",
    "model": "SELECT DISTINCT model_slug, '' FROM runs WHERE put_away IS NULL ORDER BY created DESC LIMIT ?",
}
"""What the store knows: a value and a word on it. No text of a corpus, no name of a person and no key is among them."""


def answer(line: str) -> str:
    """Return the lines for a shell: what may stand at the end of a command line, each with a tab and a word on it."""
    words = _words(line)
    lines = [f"{value}\t{does}\n" for value, does in _candidates(words[1:-1], words[-1]) if set(value) <= _HARMLESS]
    return "".join(dict.fromkeys(lines))


def _words(line: str) -> list[str]:
    """Split a line as a shell does, but for variables; the last word is the one that is being written."""
    words, mark, quoted = [""], "", False
    for letter in line:
        if mark:
            mark, words[-1] = ("", words[-1]) if letter == mark else (mark, words[-1] + letter)
        elif quoted:
            quoted, words[-1] = False, words[-1] + letter
        elif letter in "'\"":
            mark = letter
        elif letter == "\\" and os.name != "nt":
            quoted = True
        elif letter.isspace():
            words += [""] if words[-1] else []
        else:
            words[-1] += letter
    return words if len(words) > 1 else [*words, ""]


def _candidates(given: list[str], last: str) -> Iterator[tuple[str, str]]:
    """Yield what may be the last word after the words before it, and a word on each."""
    commands, values = _table()
    name = ""
    while given and (longer := f"{name} {given[0]}".strip()) in commands:
        name, given = longer, given[1:]
    tokens, _ = commands.get(name, ([], ""))
    options = {token.partition(":")[0]: token for token in tokens if token.startswith("-")}
    if not given and not last.startswith("-"):
        start = f"{name} ".lstrip()
        for command, (_, does) in commands.items():
            rest = command.removeprefix(start)
            if command.startswith(start) and rest and " " not in rest and rest.startswith(last):
                yield rest, does
    option, equals, begun = last.partition("=")
    if given and ":" in options.get(given[-1], ""):  # the value of the option before it
        yield from _values(options[given[-1]].partition(":")[2], last, values)
    elif last.startswith("-") and equals:
        kind = options.get(option, "").partition(":")[2]
        yield from ((f"{option}={value}", does) for value, does in _values(kind, begun, values))
    elif last.startswith("-"):
        yield from ((option, "") for option in options if option.startswith(last))
    else:
        arguments = [token[1:] for token in tokens if token.startswith("@")]
        place = sum(not word.startswith("-") and ":" not in options.get(before, "") for before, word in zip(["", *given], given, strict=False))  # fmt: skip
        if arguments and (place < len(arguments) or arguments[-1].endswith("*")):
            yield from _values(arguments[min(place, len(arguments) - 1)].rstrip("*"), last, values)


def _values(kind: str, begun: str, values: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the values of a kind that begin so; of a list with commas the last one is being written."""
    before = begun[: begun.rfind(",") + 1] if kind.startswith("metric") else ""
    listed = values.get(kind.removesuffix("="), kind if "|" in kind else "").replace("|", " ").split()
    known = [(f"{value}=" if kind.endswith("=") else value, "") for value in listed]
    if kind in _STORED:
        known += _stored(kind)
    elif kind == "endpoint":
        known += [(name, "yours") for name in _own_endpoints()]
    yield from ((before + value, does) for value, does in known if value.startswith(begun[len(before) :]))


def _stored(kind: str) -> list[tuple[str, str]]:
    """Read values from the store, which is not touched; nothing where there is none, or one of another version."""
    named = [("last", "the newest"), ("last~1", "the one before")] if kind == "run" else []
    import _sqlite3 as sqlite3  # without the adapters for dates, which cost a tenth of the answer

    try:
        connection = sqlite3.connect(f"file:{_quoted(data_folder())}/rosetta.sqlite?mode=ro", uri=True, timeout=0.2)
        try:
            rows = connection.execute(_STORED[kind], (_MOST,)).fetchall()
        finally:
            connection.close()
    except (sqlite3.Error, ValueError, OSError):
        return named
    plain = ["".join(letter if letter.isprintable() else "?" for letter in does) for _, does in rows]
    return [*named, *((str(value), does) for (value, _), does in zip(rows, plain, strict=True))]


def _own_endpoints() -> Iterator[str]:
    """Yield the names of the settings' part ``[endpoints]``; a line of it is ``NAME = "URL"``."""
    part = ""
    try:
        with open(f"{data_folder()}/settings.toml", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
            for line in file:
                name, equals, _ = line.partition("=")
                part = line.strip() if line.startswith("[") else part
                if equals and part == "[endpoints]":
                    yield name.strip().strip("\"'")
    except OSError:  # there are no settings
        pass


def _quoted(path: str) -> str:
    return "".join(letter if letter not in "%?#" else f"%{ord(letter):02x}" for letter in path)


def data_folder() -> str:
    """Return what ``harness.store.sqlite.database.home`` does, without the library that it asks."""
    home = os.path.expanduser("~")  # noqa: PTH111  pathlib costs start-up time
    if chosen := os.environ.get("ROSETTA_HOME"):
        return os.path.expanduser(chosen)  # noqa: PTH111
    if sys.platform == "win32":
        place = os.environ.get("LOCALAPPDATA") or home
    elif sys.platform == "darwin":
        place = f"{home}/Library/Application Support"
    else:
        place = os.environ.get("XDG_DATA_HOME", "").strip() or f"{home}/.local/share"
    return os.path.join(place, "rosetta-tui")  # noqa: PTH118


def _table() -> tuple[dict[str, tuple[list[str], str]], dict[str, str]]:
    """Return command → its arguments and options and what it does, and kind → its values."""
    commands: dict[str, tuple[list[str], str]] = {}
    values: dict[str, str] = {}
    with open(f"{os.path.dirname(__file__)}/completion.txt", encoding="utf-8") as file:  # noqa: PTH120, PTH123
        for line in file:
            name, tokens, does = line.rstrip("\n").split("\t")
            if name.startswith("="):
                values[name[1:]] = tokens
            else:
                commands[name] = tokens.split(), does
    return commands, values


# ---- The scripts, which only ask ----

SCRIPTS = {
    "bash": r"""# Put this where bash looks for completions: rosetta completion bash > ~/.local/share/bash-completion/completions/rosetta
_rosetta() {
    local line=${COMP_LINE:0:COMP_POINT} current=${COMP_WORDS[COMP_CWORD]} word value
    word=${line##*[[:space:]]}
    [[ $current == [=:] ]] && current=
    COMPREPLY=()
    while IFS=$'\t' read -r value _; do
        COMPREPLY+=("${value#"${word%"$current"}"}")  # bash divides words at = and :
    done < <(rosetta completion bash "$line" 2>/dev/null)
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
}
complete -o default -o nosort -F _rosetta rosetta 2>/dev/null || complete -o default -F _rosetta rosetta
""",
    "zsh": r"""#compdef rosetta
# Put this into a folder of $fpath: rosetta completion zsh > ~/.zfunc/_rosetta
_rosetta() {
    local -a values shown end
    local value does
    while IFS=$'\t' read -r value does; do
        values+=("$value")
        [[ $value == *= ]] && end=(-S '')
        shown+=("$value${does:+  -- $does}")
    done < <(rosetta completion zsh "${(j: :)words[1,CURRENT]}" 2>/dev/null)
    if (( ${#values} )); then
        compadd -V rosetta "${end[@]}" -l -d shown -a values
    else
        _files
    fi
}
if [[ $funcstack[1] == _rosetta ]]; then _rosetta "$@"; else compdef _rosetta rosetta; fi
""",
    "fish": r"""# rosetta completion fish > ~/.config/fish/completions/rosetta.fish
function __rosetta_complete
    set -l values (rosetta completion fish (commandline -cp | string collect) 2>/dev/null)
    if test (count $values) -gt 0
        printf '%s\n' $values
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c rosetta -f -k -a '(__rosetta_complete)'
""",
    "powershell": r"""# rosetta completion powershell >> $PROFILE
Register-ArgumentCompleter -Native -CommandName rosetta -ScriptBlock {
    param($word, $ast, $cursor)
    $length = [Math]::Max(0, $cursor - $ast.Extent.StartOffset)
    $line = $ast.ToString().PadRight($length).Substring(0, $length)
    rosetta completion powershell "$line" 2>$null | ForEach-Object {
        $value, $does = $_ -split "`t", 2
        if (-not $does) { $does = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $does)
    }
}
""",
}
"""Shell → its script."""
