"""What macOS is told of the program: its files, and from which system on it runs."""

from __future__ import annotations

from typing import Any

import recipe

KIND = "Sentences to judge"
"""What a person reads beside such a file."""


def entries() -> dict[str, Any]:
    """Return the entries of Info.plist; files of reviews are exported types, which the program owns."""
    return {
        "CFBundleDisplayName": recipe.TITLE,
        "CFBundleDocumentTypes": [
            {
                "CFBundleTypeName": KIND,
                "CFBundleTypeRole": "Viewer",
                "LSHandlerRank": "Owner",
                "LSItemContentTypes": [f"{recipe.IDENTIFIER}.batch"],
            }
        ],
        "UTExportedTypeDeclarations": [
            {
                "UTTypeIdentifier": f"{recipe.IDENTIFIER}.batch",
                "UTTypeDescription": KIND,
                "UTTypeConformsTo": ["public.data"],
                "UTTypeTagSpecification": {
                    "public.filename-extension": [recipe.SUFFIX.removeprefix(".")],
                    "public.mime-type": [recipe.MIME],
                },
            }
        ],
        "LSApplicationCategoryType": "public.app-category.education",
        "LSMinimumSystemVersion": "12.0",
        "NSHighResolutionCapable": True,
        "NSSupportsAutomaticGraphicsSwitching": True,
    }
