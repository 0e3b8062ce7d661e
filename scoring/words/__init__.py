"""Words of texts: taken apart, spelled, told apart by language, found as renderings of terms."""
