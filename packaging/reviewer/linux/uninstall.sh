#!/bin/sh
# Takes away what install.sh put there. The answers that a person gave stay: they are not the program's to delete.
set -eu
share=${XDG_DATA_HOME:-$HOME/.local/share}
settings=${XDG_CONFIG_HOME:-$HOME/.config}
program=$HOME/.local/lib/rosetta-review

rm -f "$share/applications/rosetta-review.desktop" "$share/mime/packages/rosetta-batch.xml"
rm -f "$share"/icons/hicolor/*/apps/rosetta-review.png "$share/icons/hicolor/scalable/apps/rosetta-review.svg"
for list in "$settings/mimeapps.list" "$share/applications/mimeapps.list"; do
    [ ! -f "$list" ] || sed -i -e '/^application\/vnd\.rosetta-batch=/d' "$list"
done
! command -v update-mime-database >/dev/null || update-mime-database "$share/mime"
! command -v update-desktop-database >/dev/null || update-desktop-database "$share/applications"
! command -v gtk-update-icon-cache >/dev/null || gtk-update-icon-cache -q -t -f "$share/icons/hicolor" || true
rm -rf "$program"
echo "Done. The program is gone. What you answered is still in ${ROSETTA_HOME:-$share/rosetta-tui}."
echo "C'est fait. Le programme est enlevé. Vos réponses sont toujours dans ${ROSETTA_HOME:-$share/rosetta-tui}."
