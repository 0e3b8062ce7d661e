#!/bin/sh
# Opens Rosetta Review from a stick: puts the program among this person's own programs where it is not there yet, or another
# one, and starts it. A stick's file system keeps neither links nor what may be run, so it cannot run from the stick itself.
# Nothing outside this person's own folders is touched. Where nothing opens by a double click: sh Start-Linux.sh
set -eu
stick=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
archive=$stick/Review-Linux.tar.xz
programs=$HOME/.local/lib
program=$programs/rosetta-review
unpacked=

say() {
    echo "$1" >&2
    if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
        if command -v zenity >/dev/null; then zenity --error --no-markup --text="$1" || true
        elif command -v kdialog >/dev/null; then kdialog --error "$1" || true
        elif command -v xmessage >/dev/null; then xmessage "$1" || true
        fi
    fi
}

stop() {
    [ -z "$unpacked" ] || rm -rf "$unpacked"
    say "$1"
    exit 1
}

# Which archive the program that is there came from.
sum() { cksum <"$archive"; }

install_program() {
    mkdir -p "$programs"
    unpacked=$(mktemp -d "$programs/rosetta-review.XXXXXX")
    tar -xJf "$archive" -C "$unpacked" ||
        stop "The program could not be unpacked: the stick is damaged, the disk is full, or xz is missing. / Le programme n'a pas pu être décompressé."
    sh "$unpacked/rosetta-review/install.sh" >&2 ||
        stop "The program could not be put into $program. / Le programme n'a pas pu être installé."
    sum >"$program/from-archive"
    rm -rf "$unpacked"
    unpacked=
}

[ -f "$archive" ] || stop "Review-Linux.tar.xz is not beside Start-Linux.sh. Copy the whole stick again. / Il manque Review-Linux.tar.xz sur la clé."
[ -x "$program/rosetta-review" ] && [ "$(cat "$program/from-archive" 2>/dev/null)" = "$(sum)" ] || install_program
exec "$program/rosetta-review" "$@"
