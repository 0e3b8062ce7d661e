#!/bin/sh
# Puts the program among this person's own programs, so that it is in the menu and opens files of reviews.
# Nothing outside this person's own folders is touched, and no password is needed. To undo: uninstall.sh.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
share=${XDG_DATA_HOME:-$HOME/.local/share}
programs=$HOME/.local/lib
program=$programs/rosetta-review

copy_program() {
    mkdir -p "$programs"
    rm -rf "$program.new"
    cp -R -P "$here" "$program.new"
    rm -rf "$program"
    mv "$program.new" "$program"
}

# What an Exec line puts between double quotes: \ " ` $ are written with a \ before them, and a \ twice more; % twice.
quoted() {
    printf '%s' "$1" | sed -e 's/[\\"`$]/\\&/g' -e 's/\\/\\\\/g' -e 's/%/%%/g'
}

add_to_menu() {
    mkdir -p "$share/applications" "$share/mime/packages"
    line=$(quoted "$program/rosetta-review" | sed -e 's/[\\&|]/\\&/g')
    sed -e "s|@PROGRAM@|\"$line\"|" "$here/share/rosetta-review.desktop" >"$share/applications/rosetta-review.desktop"
    cp "$here/share/rosetta-batch.xml" "$share/mime/packages/rosetta-batch.xml"
    for size in 32 48 64 128 256; do
        mkdir -p "$share/icons/hicolor/${size}x${size}/apps"
        cp "$here/share/rosetta-review-$size.png" "$share/icons/hicolor/${size}x${size}/apps/rosetta-review.png"
    done
    mkdir -p "$share/icons/hicolor/scalable/apps"
    cp "$here/share/rosetta-review.svg" "$share/icons/hicolor/scalable/apps/rosetta-review.svg"
}

# Each desktop keeps lists of what is there; a program that is missing here is one that nobody reads the list of.
tell_desktop() {
    ! command -v update-mime-database >/dev/null || update-mime-database "$share/mime"
    ! command -v update-desktop-database >/dev/null || update-desktop-database "$share/applications"
    ! command -v xdg-mime >/dev/null || xdg-mime default rosetta-review.desktop application/vnd.rosetta-batch
    ! command -v gtk-update-icon-cache >/dev/null || gtk-update-icon-cache -q -t -f "$share/icons/hicolor" || true
}

[ "$here" = "$program" ] || copy_program
add_to_menu
tell_desktop
echo "Done. Rosetta Review is in the menu, and a double click on a file that ends in .rosetta-batch opens it."
echo "C'est fait. Rosetta Review est dans le menu, et un double-clic sur un fichier .rosetta-batch l'ouvre."
