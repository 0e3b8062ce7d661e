"""What holds for all tests."""


def _can_draw() -> bool:
    """Tell whether Qt is installed and finds the libraries of the system that it needs."""
    try:
        import PySide6.QtWidgets  # noqa: F401
    except ImportError:
        return False
    return True


pytest_plugins = ["pytestqt.plugin"] if _can_draw() else []
"""Switched off by itself in pyproject.toml, because it ends every run where Qt is not there."""
