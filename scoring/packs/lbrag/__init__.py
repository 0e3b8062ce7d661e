"""Answers of cross-lingual retrieval (crosslingual-rag-metrics)."""
